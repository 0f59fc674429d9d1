//! A real server for one test.

use std::{
    env,
    fs::{self, File, OpenOptions},
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Command, Stdio, id},
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    thread::sleep,
    time::{Duration, Instant},
};

use redis::{FromRedisValue, IntoConnectionInfo, Value, from_redis_value};

use super::{
    control::{Control, PATIENCE},
    process::{Leashed, Scratch},
};

/// How long a server may take to start; it takes some 10 ms.
const START: Duration = Duration::from_secs(10);

/// Which server to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Make {
    /// What this machine has: `$LEASEHOLD_SERVER`, else `redis-server` or `valkey-server` on the
    /// `PATH`, else what `scripts/ensure-redis` has unpacked.
    Found,
    /// A `redis-server`: `$LEASEHOLD_SERVER` if it is one by its name, else that on the `PATH`.
    Redis,
    /// A `valkey-server`: `$LEASEHOLD_VALKEY`, else that on the `PATH`, else what
    /// `scripts/ensure-redis --valkey` has unpacked.
    Valkey,
}

impl Make {
    /// The server's program.
    ///
    /// # Panics
    ///
    /// If there is none, naming the script that gets one.
    pub fn program(self) -> PathBuf {
        let unpacked =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("target/leasehold/valkey/valkey-server");
        let unpacked = Some(unpacked).filter(|path| path.exists());
        let (found, script) = match self {
            Make::Found => {
                let on_path = || on_path("redis-server").or_else(|| on_path("valkey-server"));
                (
                    named_by("LEASEHOLD_SERVER").or_else(on_path).or(unpacked),
                    "scripts/ensure-redis",
                )
            }
            Make::Redis => {
                let named = named_by("LEASEHOLD_SERVER");
                let named = named.filter(|path| path.to_string_lossy().contains("redis-server"));
                (
                    named.or_else(|| on_path("redis-server")),
                    "scripts/ensure-redis",
                )
            }
            Make::Valkey => {
                let named = named_by("LEASEHOLD_VALKEY");
                let found = named.or_else(|| on_path("valkey-server")).or(unpacked);
                (found, "scripts/ensure-redis --valkey")
            }
        };
        found.unwrap_or_else(|| panic!("there is no server to test with ({self:?}); run {script}"))
    }
}

fn named_by(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env::var_os(variable).filter(|value| !value.is_empty())?);
    assert!(
        path.is_file(),
        "{variable} names {}, which is no file",
        path.display()
    );
    Some(path)
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|path| path.is_file())
}

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct Options {
    make: Make,
    port: Port,
    password: Option<String>,
    args: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy)]
enum Port {
    None,
    Free,
    Fixed(u16),
}

impl Options {
    /// Defaults to [`Make::Found`].
    pub fn make(mut self, make: Make) -> Self {
        self.make = make;
        self
    }

    /// Listens on a free port of the loopback interface as well, and says so in [`Server::url`].
    pub fn tcp(mut self) -> Self {
        self.port = Port::Free;
        self
    }

    /// As [`tcp`](Options::tcp), on this port.
    pub fn port(mut self, port: u16) -> Self {
        self.port = Port::Fixed(port);
        self
    }

    pub fn password(mut self, password: &str) -> Self {
        self.password = Some(password.to_owned());
        self
    }

    /// One line of the server's configuration: `.arg("maxmemory", "2mb")`. The value's words become
    /// one argument each.
    pub fn arg(mut self, name: &str, value: &str) -> Self {
        self.args.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts the server and returns when it answers.
    ///
    /// # Panics
    ///
    /// If it does not, with the end of its log.
    pub fn start(self) -> Server {
        let program = self.make.program();
        let dir = Scratch::new();
        let control = Control::new(dir.path().join("s.sock"), self.password.clone());
        let port = self.port;
        let mut server = Server {
            running: None,
            port: None,
            control: Arc::new(control),
            program,
            options: self,
            dir,
        };
        match port {
            Port::None => {}
            Port::Fixed(port) => server.port = Some(port),
            Port::Free => {
                // Somebody else may take the port before the server has it, which then exits.
                for _ in 0..10 {
                    server.port = Some(free_port());
                    if server.try_launch() {
                        return server;
                    }
                }
            }
        }
        server.launch();
        server
    }
}

/// A private server: on a unix socket in a directory of its own, keeping nothing on disk, killed
/// when dropped or when the test process ends in whatever way.
#[derive(Debug)]
pub struct Server {
    running: Option<Leashed>,
    port: Option<u16>,
    control: Arc<Control>,
    program: PathBuf,
    options: Options,
    dir: Scratch, // last: the process is gone when its directory is removed
}

impl Server {
    /// Starts what this machine has, on a unix socket.
    pub fn start() -> Server {
        Server::options().start()
    }

    pub fn options() -> Options {
        Options {
            make: Make::Found,
            port: Port::None,
            password: None,
            args: Vec::new(),
        }
    }

    /// Where the server is, in the form the `redis` crate reads: by TCP if it was started so, else
    /// the unix socket.
    pub fn url(&self) -> String {
        match (self.port, &self.options.password) {
            (Some(port), None) => format!("redis://127.0.0.1:{port}"),
            (Some(port), Some(password)) => format!("redis://:{password}@127.0.0.1:{port}"),
            (None, _) => self.socket_url(),
        }
    }

    /// The unix socket, whether or not the server listens elsewhere too.
    pub fn socket_url(&self) -> String {
        let socket = self.control.socket.display();
        match &self.options.password {
            None => format!("redis+unix://{socket}"),
            Some(password) => format!("redis+unix://{socket}?pass={password}"),
        }
    }

    /// The TCP port, if the server was started with one.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The server's directory; its log is `log` in it.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A new connection of the `redis` crate to [`url`](Server::url), bounded by 5 s a read. It sends
    /// nothing by itself but a password. What it sends is the test's: a monitor reports it.
    pub fn connection(&self) -> redis::Connection {
        let info = self.url().into_connection_info().expect("the url is one");
        let quiet = info.redis_settings().clone().set_skip_set_lib_name();
        let client = redis::Client::open(info.set_redis_settings(quiet)).expect("the url is one");
        let connection = client
            .get_connection_with_timeout(PATIENCE)
            .expect("the server answers");
        connection
            .set_read_timeout(Some(PATIENCE))
            .expect("a timeout can be set");
        connection
            .set_write_timeout(Some(PATIENCE))
            .expect("a timeout can be set");
        connection
    }

    /// Asks the server: `server.command::<u64>(&["INCR", "n"])`. No monitor reports it.
    ///
    /// # Panics
    ///
    /// If the server answers with an error, not at all, or with something else than a `T`.
    pub fn command<T: FromRedisValue>(&self, args: &[&str]) -> T {
        self.ask(args)
    }

    pub fn pid(&self) -> u32 {
        self.running().pid()
    }

    /// Stops the process (`SIGSTOP`): connections stay open and nothing answers.
    pub fn freeze(&self) {
        self.running().freeze();
    }

    /// Lets a frozen process go on.
    pub fn thaw(&self) {
        self.running().thaw();
    }

    /// Kills the process (`kill -9`). Nothing is lost that was on disk, which by default is nothing.
    pub fn kill(&mut self) {
        self.running = None;
    }

    /// Starts the server again, killing it first if it runs: the same program, arguments, directory,
    /// socket and port.
    pub fn restart(&mut self) {
        self.kill();
        self.launch();
    }

    /// Every key, sorted.
    pub fn keys(&self) -> Vec<String> {
        self.raw_keys()
            .iter()
            .map(|key| String::from_utf8_lossy(key).into_owned())
            .collect()
    }

    /// Every key, sorted, and for how many milliseconds it will live: -1 is for ever.
    pub fn ttls(&self) -> Vec<(String, i64)> {
        let ttl = |key: Vec<u8>| {
            let left = self.ask(&[b"PTTL".as_slice(), &key]);
            (String::from_utf8_lossy(&key).into_owned(), left)
        };
        // One that has gone since it was listed has no time to live.
        let ttls = self.raw_keys().into_iter().map(ttl);
        ttls.filter(|(_, left)| *left != -2).collect()
    }

    /// How many clients are connected, not counting the harness's own.
    pub fn connected_clients(&self) -> usize {
        let list: String = self.command(&["CLIENT", "LIST"]);
        let monitors = list
            .lines()
            .filter(|line| line.contains(" flags=O "))
            .count();
        list.lines().count() - monitors - 1
    }

    pub(super) fn control(&self) -> &Arc<Control> {
        &self.control
    }

    fn raw_keys(&self) -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = self.ask(&["KEYS", "*"]);
        keys.sort();
        keys
    }

    fn ask<T: FromRedisValue>(&self, args: &[impl AsRef<[u8]>]) -> T {
        let answer = self.control.ask(args);
        let asked = || {
            args.iter()
                .map(|arg| String::from_utf8_lossy(arg.as_ref()))
                .collect::<Vec<_>>()
        };
        let value = answer.unwrap_or_else(|error| panic!("{:?}: {error}", asked()));
        from_redis_value(value).unwrap_or_else(|error| panic!("{:?}: {error}", asked()))
    }

    fn running(&self) -> &Leashed {
        self.running.as_ref().expect("the server has been killed")
    }

    fn launch(&mut self) {
        assert!(
            self.try_launch(),
            "{} does not start; its log ends\n{}",
            self.program.display(),
            self.log_tail()
        );
    }

    /// Starts the process and waits until it answers.
    fn try_launch(&mut self) -> bool {
        let mut process = self.spawn();
        let up = self.comes_up(&mut process);
        self.running = up.then_some(process);
        up
    }

    fn spawn(&self) -> Leashed {
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log());
        let log = log.expect("the log can be written");
        let errors = File::try_clone(&log).expect("a file can be shared");
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors);
        command.arg("--unixsocket").arg(&self.control.socket);
        command.args([
            "--port",
            &self.port.unwrap_or(0).to_string(),
            "--bind",
            "127.0.0.1",
        ]);
        command.args([
            "--save",
            "",
            "--appendonly",
            "no",
            "--repl-diskless-sync-delay",
            "0",
        ]);
        if let Some(password) = &self.options.password {
            command.args(["--requirepass", password]);
        }
        for (name, value) in &self.options.args {
            command.arg(format!("--{name}"));
            match value.as_str() {
                "" => command.arg(""),
                words => command.args(words.split_whitespace()),
            };
        }
        Leashed::spawn(&mut command)
    }

    /// Whether the process is there to answer before it exits or the time is up.
    fn comes_up(&self, process: &mut Leashed) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < START && process.try_wait().is_none() {
            if self.answers() {
                return true;
            }
            sleep(Duration::from_millis(1));
        }
        false
    }

    /// The socket is ours alone, and a server that could not have the port does not open it.
    fn answers(&self) -> bool {
        let session = self.control.open();
        let pong = session.map(|mut session| session.ask(&["PING"]));
        matches!(pong, Ok(Ok(Value::SimpleString(pong))) if pong == "PONG")
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    fn log_tail(&self) -> String {
        let log = fs::read(self.log()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

/// A port nobody listens on.
///
/// The system's own choice (port 0) would lie where it takes the near ends of connections from. A
/// client that keeps dialling a dead port of that range will, one day, be given it as its near end
/// and be connected to itself.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = id().wrapping_mul(127) % 20_000;
    for _ in 0..20_000 {
        let step = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(11_000 + (begin + step) % 20_000).expect("below 31000");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    panic!("no port is free");
}
