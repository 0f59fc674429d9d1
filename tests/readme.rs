//! What the documents say exists, and what they show runs.

mod common;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

use common::Server;

/// The address in the documents; the examples have one that is there.
const ADDRESS: &str = r#""redis://127.0.0.1/""#;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every document: the README's neighbours and those in docs/.
fn documents() -> Vec<PathBuf> {
    let inside = |dir: PathBuf| fs::read_dir(dir).expect("the directory is there");
    let entries = inside(root().into()).chain(inside(root().join("docs")));
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let documents: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect();
    assert!(documents.len() >= 4, "only {documents:?} were found");
    documents
}

/// The lines of the blocks that are marked as `language`, block by block.
fn blocks(document: &str, language: &str) -> Vec<Vec<String>> {
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if line == format!("```{language}") {
            let block = lines.by_ref().take_while(|line| *line != "```");
            blocks.push(block.map(|line| line.trim().to_owned()).collect());
        }
    }
    blocks
}

/// The examples, by the names that cargo gives them.
fn examples() -> Vec<String> {
    let entries = fs::read_dir(root().join("examples")).expect("there are examples");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut names: Vec<_> = paths
        .filter(|path| path.is_file() || path.join("main.rs").is_file())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into())
        .collect();
    names.sort();
    names
}

/// Runs an example as it is now, on the server at `url` or on one of its own.
fn run(example: &str, url: Option<&str>) -> Output {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    // Beside this test, since it is built in the same way: target/<profile>/examples.
    let dir = BUILT.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build
            .args(["build", "--quiet", "--examples"])
            .current_dir(root());
        if cfg!(feature = "tls") {
            build.arg("--all-features");
        }
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        assert!(build.status().expect("there is cargo").success());
        let this = std::env::current_exe().expect("the test has a path");
        this.ancestors()
            .nth(2)
            .expect("target/<profile>")
            .join("examples")
    });
    let mut command = Command::new(dir.join(example));
    command.env_remove("REDIS_URL");
    if let Some(url) = url {
        command.env("REDIS_URL", url);
    }
    command
        .output()
        .unwrap_or_else(|error| panic!("{example}: {error}"))
}

fn said(example: &str, output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.is_empty() && !stdout.is_empty(),
        "{example}: {}\n{stdout}\n{stderr}",
        output.status
    );
    stdout
}

#[test]
fn the_code_in_the_readme_is_part_of_an_example() {
    let blocks = blocks(&text("README.md"), "rust");
    assert!(!blocks.is_empty());
    let sources: Vec<_> = examples()
        .iter()
        .filter_map(|name| fs::read_to_string(root().join(format!("examples/{name}.rs"))).ok())
        .map(|source| source.lines().map(str::trim).collect::<Vec<_>>().join("\n"))
        .collect();
    for block in blocks {
        let block = block.join("\n").replace(ADDRESS, "url");
        assert!(
            sources.iter().any(|source| source.contains(&block)),
            "no example has these lines:\n{block}"
        );
    }
}

#[test]
fn every_example_but_the_demo_runs_by_itself() {
    for example in examples().iter().filter(|name| *name != "demo") {
        said(example, &run(example, None));
    }
}

#[test]
fn every_example_runs_on_a_given_server_and_leaves_nothing_there() {
    let server = Server::start();
    for example in examples() {
        said(&example, &run(&example, Some(&server.url())));
        // A fence stays for a day: it is what makes the next one greater.
        let left = server
            .keys()
            .into_iter()
            .filter(|key| !key.ends_with(":fence"));
        assert_eq!(left.collect::<Vec<_>>(), [""; 0], "{example}");
    }
}

#[test]
fn the_demo_says_what_it_saw() {
    let server = Server::start();
    let shown = said("demo", &run("demo", Some(&server.url())));
    let row = |way: &str| {
        let row = shown.lines().rfind(|line| line.starts_with(way));
        let words = row.unwrap_or_else(|| panic!("{way} is not in\n{shown}"));
        let numbers = words.split_whitespace().filter_map(|it| it.parse().ok());
        numbers.collect::<Vec<u64>>()
    };
    let [counted, all, lost, beside] = row("no lock")[..] else {
        panic!("{shown}")
    };
    assert!(lost > 0 && beside > 0 && counted + lost == all, "{shown}");
    for way in ["Token", "Reentrant", "Timestamp::guarded"] {
        assert_eq!(row(way)[..4], [all, all, 0, 0], "{way} in\n{shown}");
    }
}

#[test]
fn the_demo_does_not_begin_without_a_server() {
    let output = run("demo", Some("redis://127.0.0.1:1/"));
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("127.0.0.1:1"));
}

#[test]
fn every_command_in_the_documents_is_one() {
    let mut seen = 0;
    for document in documents() {
        for line in blocks(&text(&document), "sh").concat() {
            let command = line.split('#').next().unwrap_or_default().trim();
            let mut words = command.split_whitespace();
            let Some(program) = words.next() else {
                continue;
            };
            assert_command(program, command);
            seen += 1;
        }
        for span in text(&document).split('`').skip(1).step_by(2) {
            if let Some(name) = span.strip_prefix("cargo run --example ") {
                assert!(examples().contains(&name.to_owned()), "{span}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 5, "only {seen} were found");
}

/// A script of ours that can be run and is one that bash can read; or cargo.
fn assert_command(program: &str, command: &str) {
    if program == "cargo" {
        return;
    }
    let path = root().join(program);
    let mode = fs::metadata(&path).unwrap_or_else(|error| panic!("{command}: {error}"));
    assert!(mode.permissions().mode() & 0o111 != 0, "{command}");
    let parsed = Command::new("bash").arg("-n").arg(&path).status();
    assert!(parsed.expect("there is bash").success(), "{command}");
}

#[test]
fn every_file_that_a_document_names_exists() {
    let mut seen = 0;
    for document in documents() {
        let text = text(&document);
        let beside = document.parent().expect("it is in a directory");
        let links = text.split("](").skip(1);
        let links = links.filter_map(|rest| rest.split([')', '#']).next());
        for link in links.filter(|link| !link.is_empty() && !link.contains("://")) {
            assert!(beside.join(link).exists(), "{document:?}: {link}");
            seen += 1;
        }
        for path in text.split('`').skip(1).step_by(2).filter(|it| is_path(it)) {
            assert!(root().join(path).exists(), "{document:?}: {path}");
            seen += 1;
        }
    }
    assert!(seen >= 15, "only {seen} were found");
}

/// Whether a piece of code is the path of something in this repository.
fn is_path(code: &str) -> bool {
    let dirs = ["src/", "tests/", "examples/", "scripts/", "docs/", ".ci/"];
    !code.contains(char::is_whitespace) && dirs.iter().any(|dir| code.starts_with(dir))
}
