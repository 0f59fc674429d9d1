//! The promises of locks, one file each, run over every strategy and every topology.
//!
//! A promise is a file of plain tests over `super::start()`, which starts the servers of a topology,
//! and `super::strategy()`. A row is a file in `rows/`: one strategy, and the promises that it makes,
//! by `mod` lines; above them stands why it does not make the others. A topology is a module here:
//! how to start the servers, and the rows that run on them. What is not promised is not listed.
//!
//! A new topology is a module here with a `start` of its own and the rows that hold on it. A strategy
//! that makes fewer promises there has a row of its own for it.

#![allow(
    clippy::duplicate_mod,
    reason = "a promise is a module of every row that makes it"
)]
#![allow(dead_code, reason = "a row says what some promise may ask for")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../ground/mod.rs"]
mod ground;

/// One server, of whatever make this machine has.
#[path = "rows"]
mod found {
    use crate::{common::Make, ground::Ground};

    fn start() -> Ground {
        Ground::one(Make::Found)
    }

    mod classic_millis;
    mod classic_seconds;
    mod guarded_millis;
    mod guarded_seconds;
    mod reentrant;
    mod token;
}

/// One server of the second make.
#[path = "rows"]
mod valkey {
    use crate::{common::Make, ground::Ground};

    fn start() -> Ground {
        Ground::one(Make::Valkey)
    }

    mod classic_millis;
    mod classic_seconds;
    mod guarded_millis;
    mod guarded_seconds;
    mod reentrant;
    mod token;
    mod token_commands; // which Redis has from 8.4 on, and Valkey from 9
}

/// Three servers that know nothing of each other.
#[path = "rows"]
mod redlock_of_3 {
    use crate::ground::Ground;

    fn start() -> Ground {
        Ground::redlock(3)
    }

    mod quorum_guarded_millis;
    mod quorum_reentrant;
    mod quorum_token;
}

/// Five of them.
#[path = "rows"]
mod redlock_of_5 {
    use crate::ground::Ground;

    fn start() -> Ground {
        Ground::redlock(5)
    }

    mod quorum_token;
}

/// Three, one of which is dead.
#[path = "rows"]
mod redlock_one_dead {
    use crate::ground::Ground;

    fn start() -> Ground {
        Ground::redlock(2).and_one_dead()
    }

    mod quorum_reentrant;
    mod quorum_token;
}

/// Three, one of which hangs.
#[path = "rows"]
mod redlock_one_hanging {
    use crate::ground::Ground;

    fn start() -> Ground {
        Ground::redlock(2).and_one_hanging()
    }

    mod quorum_guarded_millis;
    mod quorum_token;
}

mod complete {
    //! Nothing is forgotten: neither a strategy nor a promise nor a row.

    use std::{
        fs,
        path::{Path, PathBuf},
    };

    fn files(dir: &str) -> Vec<(PathBuf, String)> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
        let entries =
            fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
            .collect()
    }

    fn stem(path: &Path) -> &str {
        path.file_stem().unwrap().to_str().unwrap()
    }

    fn rows() -> Vec<(PathBuf, String)> {
        files("tests/conformance/rows")
    }

    /// The types for which `source` implements the trait.
    fn strategies(source: &str) -> Vec<String> {
        let impls = source.lines().filter(|line| line.starts_with("impl"));
        impls
            .filter_map(|line| line.split_once(" LockStrategy for "))
            .map(|(_, name)| {
                let end = name.find(|c: char| !c.is_alphanumeric());
                name[..end.unwrap_or(name.len())].to_owned()
            })
            .collect()
    }

    #[test]
    fn every_strategy_has_a_row() {
        let mut count = 0;
        for (path, source) in files("src/strategy") {
            if stem(&path) == "mod" {
                continue;
            }
            for strategy in strategies(&source) {
                let makes_it = format!("fn strategy() -> {strategy}");
                let has_row = rows().iter().any(|(_, row)| row.contains(&makes_it));
                assert!(has_row, "{strategy} of {} has no row", path.display());
                count += 1;
            }
        }
        assert!(count >= 3, "{count} strategies were found");
    }

    #[test]
    fn every_row_runs_somewhere() {
        let main = include_str!("main.rs");
        for (path, _) in rows() {
            let line = format!("    mod {};", stem(&path));
            assert!(main.contains(&line), "{} runs nowhere", path.display());
        }
    }

    #[test]
    fn every_promise_is_made_by_somebody() {
        for (path, _) in files("tests/conformance") {
            let line = format!("mod {};", stem(&path));
            let made = rows().iter().any(|(_, row)| row.contains(&line));
            assert!(
                made || stem(&path) == "main",
                "nobody promises {}",
                path.display()
            );
        }
    }

    #[test]
    fn every_row_says_which_promises_it_does_not_make() {
        for (path, row) in rows() {
            for (promise, _) in files("tests/conformance") {
                let name = stem(&promise);
                let extra = ["main", "reentry", "resend_nested", "full_memory_nested"];
                let said = row.contains(&format!("mod {name};"))
                    || row.contains(&format!("`{name}`"))
                    || extra.contains(&name);
                assert!(said, "{} says nothing of {name}", path.display());
            }
        }
    }
}
