//! No secret is printed: neither a password nor what proves a hold, by nothing and to nobody.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use std::{
    error::Error as _,
    fmt::{Debug, Display},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use common::{Make, Proxy, Server, eventually, worker};
use ground::{Any, PATIENCE, all, builder, ms};
use leasehold::{
    Call, Client, Error, Lock, Renewal, Retry, Ticket,
    observe::{
        Contended, Granted, Lost, Observer, Reconnected, Released, RenewalFailed, Renewed, Slow,
        Undone, Waited, Warned,
    },
    strategy::{Attempt, LockStrategy, Reentrant, Token},
};
use parking_lot::Mutex;

/// The password of every server here, of letters that nothing else prints.
const PASSWORD: &str = "hunter2-quux";

/// Everything that was shown, and what must not be in it.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<String>>>);

impl Shown {
    fn debug(&self, what: &dyn Debug) {
        self.text(format!("{what:?}"));
        self.text(format!("{what:#?}"));
    }

    fn both<T: Debug + Display>(&self, what: &T) {
        self.debug(what);
        self.text(what.to_string());
    }

    fn error(&self, error: &Error) {
        self.both(error);
        let mut source = error.source();
        while let Some(error) = source {
            self.text(format!("{error} {error:?}"));
            source = error.source();
        }
    }

    fn text(&self, text: String) {
        self.0.lock().push(text);
    }

    #[track_caller]
    fn hold_none_of(&self, secrets: &[Secret]) {
        for text in self.0.lock().iter() {
            for secret in secrets {
                secret.is_not_in(text);
            }
        }
    }
}

/// What must not be printed, in whatever form.
struct Secret(Vec<String>);

impl Secret {
    fn of(text: &str) -> Self {
        let numbers: Vec<_> = text.bytes().map(|byte| byte.to_string()).collect();
        Self(vec![
            text.to_owned(),
            numbers.join(", "),    // as `{:?}` shows bytes
            text.replace('-', ""), // as a UUID without hyphens
        ])
    }

    fn password() -> Self {
        Self::of(PASSWORD)
    }

    fn ticket(ticket: &Ticket) -> Self {
        Self::of(&ticket.to_string())
    }

    #[track_caller]
    fn is_not_in(&self, text: &str) {
        let joined: Vec<_> = text.split_whitespace().collect();
        let joined = joined.join(" ").replace(",]", "]");
        for form in &self.0 {
            assert!(
                !text.contains(form.as_str()) && !joined.contains(form.as_str()),
                "{form} is shown in {text}"
            );
        }
    }
}

impl Observer for Shown {
    fn granted(&self, event: &Granted<'_>) {
        self.debug(event);
    }
    fn contended(&self, event: &Contended<'_>) {
        self.debug(event);
        self.both(event.holder);
    }
    fn waited(&self, event: &Waited<'_>) {
        self.debug(event);
        self.error(event.error);
    }
    fn renewed(&self, event: &Renewed<'_>) {
        self.debug(event);
    }
    fn renewal_failed(&self, event: &RenewalFailed<'_>) {
        self.debug(event);
        self.text(event.reason.to_string());
    }
    fn lost(&self, event: &Lost<'_>) {
        self.debug(event);
        self.both(&event.loss);
    }
    fn released(&self, event: &Released<'_>) {
        self.debug(event);
        if let Err(error) = event.result {
            self.error(error);
        }
    }
    fn undone(&self, event: &Undone<'_>) {
        self.debug(event);
    }
    fn reconnected(&self, event: &Reconnected<'_>) {
        self.debug(event);
    }
    fn slow(&self, event: &Slow<'_>) {
        self.debug(event);
    }
    fn warned(&self, event: &Warned<'_>) {
        self.debug(event);
    }
}

/// The ways to name a server that wants a password.
fn urls(server: &Server) -> [String; 4] {
    let _: String = server.command(&[
        "ACL",
        "SETUSER",
        "app",
        "on",
        &format!(">{PASSWORD}"),
        "+@all",
        "~*",
        "&*",
    ]);
    let port = server.port().expect("it listens by TCP");
    let socket = server.socket_url();
    [
        format!("redis://:{PASSWORD}@127.0.0.1:{port}"),
        format!("redis://app:{PASSWORD}@127.0.0.1:{port}/0"),
        format!("{socket}&user=app"),
        socket,
    ]
}

#[test]
fn nothing_that_is_shown_of_a_locks_life_holds_a_secret() {
    let server = Server::options().tcp().password(PASSWORD).start();
    for url in urls(&server) {
        for (_, _, strategy) in all() {
            let (shown, strategy) = (Shown::default(), Listener::of(strategy));
            let builder = builder(url.clone())
                .strategy(strategy.clone())
                .observer(shown.clone());
            let builder = builder
                .fence(strategy.fences())
                .renewal(Renewal::Every(ms(20)));
            shown.debug(&builder);
            let client = builder.build().unwrap();
            live(&client, &shown);
            shown.hold_none_of(&strategy.secrets());
        }
    }
}

/// The life of a lock, with everything shown on the way.
fn live(client: &Client, shown: &Shown) {
    let lock = client.lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    shown.debug(client);
    shown.debug(&lock);
    shown.debug(&lock.clone().thread());
    shown.debug(&lease);
    shown.both(lease.name());
    if let Some(fence) = lease.fence() {
        shown.both(&fence);
    }
    let holder = lock.holder().unwrap().unwrap();
    shown.both(&holder);
    shown.debug(&lock.try_acquire());
    shown.error(&lock.acquire_within(ms(10)).unwrap_err());
    eventually(PATIENCE, "it is renewed", || {
        shown.0.lock().iter().any(|text| text.contains("Renewed"))
    });
    lease.extend(ms(40_000)).unwrap();
    let report = client.doctor().unwrap();
    shown.both(&report);
    shown.debug(&report.findings());
    shown.debug(&lock.force_release(&holder));
    shown.debug(&lease);
    if let Err(error) = lease.release() {
        shown.error(&error);
    }
    let thread = lock.thread().acquire().unwrap();
    shown.debug(&thread);
    shown.debug(client);
    drop(thread);
    let left = lock.acquire().unwrap();
    shown.debug(&client.shutdown(Duration::from_secs(5)));
    shown.debug(&left);
    shown.error(&lock.acquire().unwrap_err());
}

#[test]
fn nothing_that_a_strategy_is_given_or_gives_holds_a_secret() {
    let server = Server::options().tcp().password(PASSWORD).start();
    for (_, _, strategy) in all() {
        let shown = Shown::default();
        let strategy = Listener(strategy, shown.clone(), Arc::default());
        let proxy = Proxy::of(&server);
        let client = builder(proxy.url())
            .strategy(strategy.clone())
            .io_timeout(ms(100));
        let client = client.drop_timeout(ms(100)).build().unwrap();
        let lock = client.lock("lock").unwrap();
        let lease = lock.acquire().unwrap();
        lease.extend(ms(40_000)).unwrap();
        shown.debug(&lock.try_acquire());
        lease.release().unwrap();
        proxy.replies().lost();
        shown.debug(&lock.try_acquire());
        shown.debug(&client.shutdown(ms(100)));
        shown.hold_none_of(&strategy.secrets());
        let _: redis::Value = server.command(&["DEL", "lock", "{lock}:owner"]);
    }
}

/// Shows everything that the strategy is given, and what it makes of it.
#[derive(Clone)]
struct Listener(Any, Shown, Arc<Mutex<Vec<Ticket>>>);

impl Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Listener {
    /// One whom nobody asks what it was shown.
    fn of(strategy: Any) -> Self {
        Self(strategy, Shown::default(), Arc::default())
    }

    /// The password, and every ticket that was given.
    fn secrets(&self) -> Vec<Secret> {
        let tickets = self.2.lock();
        assert!(!tickets.is_empty(), "nothing was asked");
        let tickets = tickets.iter().map(Secret::ticket);
        tickets.chain([Secret::password()]).collect()
    }

    fn shown<T: Debug + 'static>(
        &self,
        exchange: leasehold::Exchange<T>,
    ) -> leasehold::Exchange<T> {
        self.1.debug(&exchange);
        self.1.debug(exchange.call());
        let shown = self.1.clone();
        exchange.map(move |result| {
            shown.debug(&result);
            result
        })
    }
}

#[deny(clippy::missing_trait_methods)]
impl LockStrategy for Listener {
    fn acquire(&self, claim: &leasehold::strategy::Claim) -> leasehold::Exchange<Attempt> {
        self.1.debug(claim);
        self.1.debug(claim.ticket());
        self.2.lock().push(*claim.ticket());
        self.shown(self.0.acquire(claim))
    }
    fn extend(
        &self,
        hold: &leasehold::strategy::Hold,
        lease: leasehold::LeaseTime,
    ) -> leasehold::Exchange<leasehold::strategy::Kept> {
        self.1.debug(hold);
        self.shown(self.0.extend(hold, lease))
    }
    fn leave(
        &self,
        hold: &leasehold::strategy::Hold,
    ) -> leasehold::Exchange<leasehold::strategy::Left> {
        self.1.debug(hold);
        self.shown(self.0.leave(hold))
    }
    fn inspect(
        &self,
        name: &leasehold::Name,
    ) -> leasehold::Exchange<Option<leasehold::strategy::Holder>> {
        self.shown(self.0.inspect(name))
    }
    fn reenters(&self) -> bool {
        self.0.reenters()
    }
    fn fences(&self) -> bool {
        self.0.fences()
    }
    fn admit_many(&self) -> Result<(), String> {
        self.0.admit_many()
    }

    fn admit(&self, lease: leasehold::LeaseTime) -> Result<(), String> {
        self.0.admit(lease)
    }
}

#[test]
fn a_client_with_a_release_that_is_still_to_be_done_shows_no_secret() {
    let server = Server::options().tcp().password(PASSWORD).start();
    for (_, _, strategy) in all() {
        let (shown, strategy) = (Shown::default(), Listener::of(strategy));
        let proxy = Proxy::of(&server);
        let client = builder(proxy.url())
            .strategy(strategy.clone())
            .observer(shown.clone());
        let client = client.io_timeout(ms(50)).wait(ms(50)).build().unwrap();
        let lock = client.lock("lock").unwrap();
        let lease = lock.acquire().unwrap();
        proxy.blackhole();
        shown.error(&lease.release().unwrap_err());
        shown.debug(&lock); // the keeper has an errand now
        shown.debug(&client);
        shown.hold_none_of(&strategy.secrets());
        let _: redis::Value = server.command(&["DEL", "lock", "{lock}:owner"]);
    }
}

#[test]
fn no_error_of_connecting_holds_the_password() {
    let shown = Shown::default();
    let try_at = |url: String| {
        let error = match builder(url).observer(shown.clone()).build() {
            Ok(client) => {
                shown.debug(&client);
                let lock: Lock = client.lock("lock").unwrap();
                shown.debug(&lock);
                if let Err(error) = client.doctor() {
                    shown.error(&error);
                }
                lock.try_acquire().unwrap_err()
            }
            Err(error) => error,
        };
        shown.error(&error);
    };
    let other = Server::options().tcp().password("another").start();
    let open = Server::options().tcp().start();
    let (other, open) = (other.port().unwrap(), open.port().unwrap());
    for url in [
        format!("redis://:{PASSWORD}@127.0.0.1:{other}"),
        format!("redis://app:{PASSWORD}@127.0.0.1:{other}/3"),
        format!("redis://:{PASSWORD}@127.0.0.1:{open}"),
        format!("redis://:{PASSWORD}@127.0.0.1:{open}/99"),
        format!("redis://:{PASSWORD}@127.0.0.1:1"),
        format!("redis+unix:///nowhere.sock?pass={PASSWORD}"),
        format!("unix:///nowhere.sock?user=app&pass={PASSWORD}&db=2"),
        format!("redis://:{PASSWORD}@nowhere.invalid"),
        format!("redis://:{PASSWORD}@localhost:99999"),
        format!("redis://:{PASSWORD}@localhost/x"),
        format!("rediss://:{PASSWORD}@localhost/x"),
        format!("ftp://:{PASSWORD}@localhost"),
        format!(":{PASSWORD}@localhost"),
        format!("redis+unix:///nowhere.sock?db=x&pass={PASSWORD}"),
    ] {
        try_at(url);
    }
    shown.hold_none_of(&[Secret::password()]);
}

#[test]
fn no_part_of_a_password_is_printed_where_the_url_is_torn_at_the_wrong_place() {
    for sign in ["?", "/", "#", "@", ":", "%", "&", "=", " ", "[", "://"] {
        for url in [
            format!("redis://user:quux{sign}hunter2@localhost:6379"),
            format!("redis://:quux{sign}hunter2@localhost:99999"),
            format!("rediss://user:quux{sign}hunter2@localhost:99999/x"),
            format!("ftp://user:quux{sign}hunter2@localhost"),
            format!("redis+unix:///nowhere.sock?db=x&pass=quux{sign}hunter2"),
            format!("redis+unix:///nowhere.sock?pass=quux{sign}hunter2&db=x"),
        ] {
            let text = match builder(url.clone()).build() {
                Ok(client) => format!("{client:?} {client:#?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!text.contains("quux"), "{url} is shown as {text}");
            assert!(!text.contains("hunter2"), "{url} is shown as {text}");
        }
    }
}

#[test]
fn a_server_that_repeats_a_script_it_does_not_know_does_not_make_an_error_show_a_ticket() {
    // "unknown command 'EVALSHA', with args beginning with: .."
    repeats("EVALSHA", Server::url);
}

#[test]
fn a_server_that_repeats_a_command_it_does_not_know_does_not_make_an_error_show_a_ticket() {
    repeats("SETNX", Server::url);
}

#[test]
fn a_server_that_repeats_a_password_does_not_make_an_error_show_it() {
    repeats("AUTH", |server| {
        let port = server.port().expect("it listens by TCP");
        format!("redis://:{PASSWORD}@127.0.0.1:{port}")
    });
}

/// Acquires where the server does not know `command`, and shows the error.
fn repeats(command: &str, url: fn(&Server) -> String) {
    let renamed = format!("{command} another");
    let server = Server::options()
        .tcp()
        .arg("rename-command", &renamed)
        .start();
    for (_, _, strategy) in all() {
        let (shown, strategy) = (Shown::default(), Listener::of(strategy));
        let client = builder(url(&server))
            .strategy(strategy.clone())
            .observer(shown.clone());
        let client = client.wait(ms(50)).build().unwrap();
        match client.lock("l").unwrap().acquire() {
            Ok(lease) => drop(lease),
            Err(error) => shown.error(&error),
        }
        shown.hold_none_of(&strategy.secrets());
    }
}

#[test]
fn a_call_does_not_show_its_arguments() {
    let ticket = Ticket::fresh();
    let call = Call::command("SET").key("lock").arg(ticket.to_string());
    let call = call.arg(PASSWORD);
    let text = format!("{call:?} {call:#?}");
    Secret::ticket(&ticket).is_not_in(&text);
    Secret::password().is_not_in(&text);
}

/// The worker's side of the next test: a whole life, and every failure that can be had cheaply.
#[test]
fn silent_worker() {
    let Some(role) = worker::role("silent_worker") else {
        return;
    };
    let url = role.get("URL");
    for strategy in [Any::of(Token::default()), Any::of(Reentrant::default())] {
        let client = builder(url.clone())
            .strategy(strategy)
            .retry(Retry::uniform(ms(5)));
        let client = client.lease(ms(300)).io_timeout(ms(100)).build().unwrap();
        let lock = client.lock("lock").unwrap();
        drop(lock.acquire().unwrap());
        let lease = lock.acquire().unwrap();
        assert!(lock.try_acquire().unwrap().is_none());
        assert!(lock.acquire_within(ms(10)).is_err());
        lease.on_lost(|_| ());
        let holder = lock.holder().unwrap().unwrap();
        lock.force_release(&holder).unwrap();
        eventually(PATIENCE, "it is lost", || !lease.is_held());
        drop(lease);
        client.doctor().unwrap();
        let _held = lock.acquire().unwrap();
        client.shutdown(ms(500));
    }
    let down = Client::connect("redis://:hunter2-quux@127.0.0.1:1").unwrap();
    assert!(down.lock("lock").unwrap().try_acquire().is_err());
    role.say("done");
}

#[test]
fn a_process_that_uses_locks_prints_nothing_by_them() {
    let server = Server::options()
        .make(Make::Found)
        .password(PASSWORD)
        .start();
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program)
        .args([
            "--exact",
            "silent_worker",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("LEASEHOLD_ROLE", "silent_worker")
        .env("URL", server.url())
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    assert!(
        output.status.success() && out.contains("@ done"),
        "{out}\n{err}"
    );
    assert_eq!(err, "", "it prints errors");
    let ours = |line: &&str| {
        let line = line.trim();
        let runner = ["running 1 test", "test silent_worker", "test result: ok."];
        !line.is_empty() && !runner.iter().any(|start| line.starts_with(start)) && line != "ok"
    };
    let printed: Vec<_> = out.lines().filter(ours).collect();
    assert_eq!(printed, [""; 0], "it prints");
    Secret::password().is_not_in(&out);
}
