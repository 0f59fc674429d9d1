//! A network that fails as told: a proxy between clients and one server.
//!
//! ```ignore
//! let proxy = Proxy::of(&server);
//! let client = Client::open(proxy.url());
//! proxy.replies().of("EVALSHA").lost();               // the next reply to a script
//! proxy.requests().nth(3).late(Duration::from_secs(1));
//! proxy.replies().matching(Message::is_push).all().lost();
//! let held = proxy.requests().of("SET").held();
//! // ... the client gives up ...
//! held.deliver();
//! ```

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::{Arc, Weak},
    thread::{Builder, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use super::{
    faults::{Fate, Gate, Pick, Rule, judge},
    frames::{Message, Way},
    link::{Link, Wire},
    server::{Server, free_port},
};

/// Where a proxy leads to.
#[derive(Debug, Clone)]
pub enum Target {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// Listens on a port of the loopback interface and leads to one server. Its connections and threads
/// end when it is dropped.
pub struct Proxy {
    port: u16,
    password: Option<String>,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl Proxy {
    /// A proxy before this server, whatever becomes of the server.
    pub fn of(server: &Server) -> Proxy {
        let control = server.control();
        Proxy::new(
            Target::Unix(control.socket.clone()),
            control.password.clone(),
        )
    }

    /// A proxy before a server that wants no password.
    pub fn to(target: Target) -> Proxy {
        Proxy::new(target, None)
    }

    fn new(target: Target, password: Option<String>) -> Proxy {
        let bound = (0..100).find_map(|_| listen(free_port()).ok());
        let listener = bound.expect("a port is free");
        let port = listener
            .local_addr()
            .expect("a listener has an address")
            .port();
        let state = State {
            accepts: true,
            listens: true,
            ..State::default()
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let acceptor = {
            let shared = Arc::clone(&shared);
            spawn("proxy-accept", move || {
                shared.serve(listener, port, &target);
            })
        };
        Proxy {
            port,
            password,
            shared,
            acceptor: Some(acceptor),
        }
    }

    /// Where clients connect to, in the form the `redis` crate reads.
    pub fn url(&self) -> String {
        let password = self
            .password
            .as_ref()
            .map(|password| format!(":{password}@"));
        format!(
            "redis://{}127.0.0.1:{}",
            password.unwrap_or_default(),
            self.port
        )
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Begins a fault of requests.
    pub fn requests(&self) -> Pick {
        Pick::new(&self.shared, Way::Request)
    }

    /// Begins a fault of replies, which include what the server publishes.
    pub fn replies(&self) -> Pick {
        Pick::new(&self.shared, Way::Reply)
    }

    /// Every message takes so long on its way, in either direction.
    pub fn latency(&self, one_way: Duration) {
        self.shared.change(|state| state.latency = one_way);
    }

    /// Connections are accepted and stay open, and no message arrives any more.
    pub fn blackhole(&self) {
        self.requests().all().lost();
        self.replies().all().lost();
    }

    /// Closes every connection. New ones are accepted.
    pub fn cut(&self) {
        self.shared.cut();
    }

    /// Refuses new connections. Those there are stay; [`cut`](Proxy::cut) closes them.
    pub fn refuse(&self) {
        self.shared.change(|state| state.accepts = false);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)); // wakes who accepts
        self.shared
            .wait(PATIENCE, "the proxy refuses", |state| !state.listens);
    }

    /// Ends every fault, but delivers nothing that is held.
    pub fn heal(&self) {
        self.shared.change(|state| {
            state.rules.clear();
            state.latency = Duration::ZERO;
            state.accepts = true;
        });
        self.shared
            .wait(PATIENCE, "the proxy accepts", |state| state.listens);
    }

    /// How many connections have been accepted so far.
    pub fn accepted(&self) -> usize {
        self.shared.state.lock().accepted
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.shared.links().len()
    }

    /// The commands of all requests so far, in the order in which they came, delivered or not.
    pub fn seen(&self) -> Vec<String> {
        self.shared.state.lock().seen.clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared
            .change(|state| (state.closing, state.accepts) = (true, false));
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        let acceptor = self.acceptor.take();
        acceptor.map(JoinHandle::join);
        self.shared.cut();
        let threads = self
            .shared
            .change(|state| std::mem::take(&mut state.threads));
        for thread in threads {
            drop(thread.join());
        }
    }
}

/// How long the proxy's own threads may take to follow.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) rules: Vec<Rule>,
    pub(super) gates: Vec<Gate>,
    latency: Duration,
    accepts: bool,
    listens: bool,
    closing: bool,
    accepted: usize,
    seen: Vec<String>,
    links: Vec<Weak<Link>>,
    threads: Vec<JoinHandle<()>>,
}

/// What the test and the threads of the proxy have in common.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let done = change(&mut self.state.lock());
        self.changed.notify_all();
        done
    }

    /// Waits for the proxy's threads to bring this about.
    #[track_caller]
    pub(super) fn wait(&self, bound: Duration, what: &str, mut until: impl FnMut(&State) -> bool) {
        let mut state = self.state.lock();
        let waited = self
            .changed
            .wait_while_for(&mut state, |state| !until(state), bound);
        assert!(!waited.timed_out(), "not within {bound:?}: {what}");
    }

    /// Waits, in one of the proxy's threads, until then (`None`: for ever) or until this holds.
    /// Answers whether the proxy is to end, which ends the wait too.
    pub(super) fn wait_or_end(
        &self,
        then: Option<Instant>,
        until: impl Fn(&State) -> bool,
    ) -> bool {
        let mut state = self.state.lock();
        let goes_on = |state: &mut State| !state.closing && !until(state);
        match then {
            Some(then) => drop(self.changed.wait_while_until(&mut state, goes_on, then)),
            None => self.changed.wait_while(&mut state, goes_on),
        }
        state.closing
    }

    fn serve(self: &Arc<Self>, first: TcpListener, port: u16, target: &Target) {
        let mut listener = Some(first);
        loop {
            for stream in listener.take().expect("bound").incoming() {
                if !self.state.lock().accepts {
                    break;
                }
                let Ok(client) = stream else { continue };
                self.change(|state| state.accepted += 1);
                // A server that is down closes what the proxy has accepted for it.
                let _ = self.link(client, target);
            }
            // Here the listener is closed.
            self.change(|state| state.listens = false);
            if self.wait_or_end(None, |state| state.accepts) {
                return;
            }
            listener = Some(listen(port).expect("the port is still free"));
            self.change(|state| state.listens = true);
        }
    }

    fn link(self: &Arc<Self>, client: TcpStream, target: &Target) -> io::Result<()> {
        let server = match target {
            Target::Tcp(address) => Wire::Tcp(TcpStream::connect(address)?),
            Target::Unix(path) => Wire::Unix(UnixStream::connect(path)?),
        };
        let link = Link::new(Wire::Tcp(client), server)?;
        self.change(|state| {
            state.links.push(Arc::downgrade(&link));
            state.threads.extend(link.run(self));
        });
        Ok(())
    }

    /// Learns that a message has come, and says what becomes of it and when.
    pub(super) fn judge(&self, message: &Message) -> (Fate, Instant) {
        self.change(|state| {
            if message.way == Way::Request {
                state.seen.push(message.command.clone());
            }
            (
                judge(&mut state.rules, message),
                Instant::now() + state.latency,
            )
        })
    }

    fn links(&self) -> Vec<Arc<Link>> {
        self.state
            .lock()
            .links
            .iter()
            .filter_map(Weak::upgrade)
            .collect()
    }

    fn cut(&self) {
        self.links().iter().for_each(|link| link.cut());
    }
}

fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

pub(super) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .expect("a thread can be started")
}
