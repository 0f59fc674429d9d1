//! What a server of a cluster says of a slot that it does not serve.

use leasehold::{Released, strategy::Token};

use crate::common::{Server, eventually, server::Options};
use crate::ground::{PATIENCE, builder, ms};
use crate::trouble::{Question, Trouble, each, settings};

/// One server of a cluster, which goes on where a slot is missing.
fn options() -> Options {
    Server::options()
        .tcp() // a node without a port is none
        .arg("cluster-enabled", "yes")
        .arg("cluster-require-full-coverage", "no")
}

fn all_slots(server: &Server) {
    let _: String = server.command(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    eventually(PATIENCE, "the cluster is up", || is_up(server));
}

fn is_up(server: &Server) -> bool {
    let info: String = server.command(&["CLUSTER", "INFO"]);
    info.contains("cluster_state:ok")
}

fn slot() -> &'static str {
    static SLOT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        let server = options().start();
        let slot: u32 = server.command(&["CLUSTER", "KEYSLOT", "lock"]);
        slot.to_string()
    });
    &SLOT
}

#[test]
fn clusterdown_is_waited_for_and_told() {
    let down = Trouble::with(
        "CLUSTERDOWN",
        |server| {
            let _: String = server.command(&["CLUSTER", "DELSLOTS", slot()]);
        },
        |server| {
            let _: String = server.command(&["CLUSTER", "ADDSLOTS", slot()]);
        },
    );
    each(|name, strategy| {
        let server = options().start();
        all_slots(&server);
        down.is_met_at(name, &strategy, &server);
    });
}

#[test]
fn moved_is_told_and_outlived_by_renewals() {
    let mut moved = Trouble::with("MOVED", |server| give(server, &other(server)), take_back);
    moved.passes = false;
    each(|name, strategy| {
        let (server, _other) = pair();
        moved.is_met_at(name, &strategy, &server);
    });
}

#[test]
fn tryagain_is_waited_for_and_told() {
    let mut migrating = Trouble::with(
        "TRYAGAIN",
        |server| {
            let to = other(server);
            let _: String = server.command(&["CLUSTER", "SETSLOT", slot(), "MIGRATING", &to]);
        },
        |server| {
            let _: String = server.command(&["CLUSTER", "SETSLOT", slot(), "STABLE"]);
        },
    );
    // A key that is there is served; several of which some are not there are not.
    migrating.meets =
        |name, question| !name.starts_with("classic") && question != Question::Acquire;
    each(|name, strategy| {
        let (server, _other) = pair();
        migrating.is_met_at(name, &strategy, &server);
    });
}

#[test]
fn ask_is_told() {
    let mut asks = Trouble::with(
        "ASK",
        |server| {
            let to = other(server);
            let _: String = server.command(&["CLUSTER", "SETSLOT", slot(), "MIGRATING", &to]);
        },
        |server| {
            let _: String = server.command(&["CLUSTER", "SETSLOT", slot(), "STABLE"]);
        },
    );
    asks.passes = false;
    asks.meets = |_, question| question == Question::Acquire; // no key is there
    each(|name, strategy| {
        let (server, _other) = pair();
        asks.is_met_at(name, &strategy, &server);
    });
}

#[test]
fn no_question_is_answered_with_crossslot() {
    each(|name, strategy| {
        let server = options().start();
        all_slots(&server);
        let fences = leasehold::strategy::LockStrategy::fences(&strategy);
        let client = settings(&server)
            .strategy(strategy)
            .fence(fences)
            .build()
            .unwrap();
        for lock in [
            "lock",
            "{tag}lock",
            "lock{tag}",
            "a:b:{c}:d",
            "{{x}",
            "with blank",
            "{a",
        ] {
            let lock = client.lock(lock).unwrap();
            let lease = lock
                .acquire()
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            lease.extend(ms(30_000)).unwrap();
            assert!(lock.holder().unwrap().is_some(), "{name}");
            assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        }
    });
}

#[test]
fn a_server_without_any_slot_is_told_as_it_is() {
    let server = options().start();
    let client = builder(server.url())
        .strategy(Token::default())
        .build()
        .unwrap();
    let error = client
        .lock("lock")
        .unwrap()
        .acquire_within(ms(50))
        .unwrap_err();
    assert!(error.to_string().contains("CLUSTERDOWN"), "{error}");
}

/// Two servers of one cluster, of which the first has all slots.
fn pair() -> (Server, Server) {
    let (one, other) = (options().start(), options().start());
    all_slots(&one);
    let port = other.port().expect("it listens").to_string();
    let _: String = one.command(&["CLUSTER", "MEET", "127.0.0.1", &port]);
    eventually(PATIENCE, "they know each other", || {
        let nodes: String = one.command(&["CLUSTER", "NODES"]);
        nodes.lines().count() == 2 && !nodes.contains("handshake") && is_up(&one)
    });
    (one, other)
}

/// The other server as this one calls it.
fn other(server: &Server) -> String {
    let mine: String = server.command(&["CLUSTER", "MYID"]);
    let nodes: String = server.command(&["CLUSTER", "NODES"]);
    let ids = nodes.lines().filter_map(|line| line.split(' ').next());
    let other = ids.into_iter().find(|id| *id != mine);
    other.expect("there is another").to_owned()
}

fn give(server: &Server, to: &str) {
    let _: String = server.command(&["CLUSTER", "DELSLOTS", slot()]);
    let _: String = server.command(&["CLUSTER", "SETSLOT", slot(), "NODE", to]);
}

fn take_back(server: &Server) {
    let mine: String = server.command(&["CLUSTER", "MYID"]);
    let _: String = server.command(&["CLUSTER", "SETSLOT", slot(), "NODE", &mine]);
}
