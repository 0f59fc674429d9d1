//! A replica that has not heard of a lock: what it says of it is not believed.

use leasehold::{Client, ErrorKind, Lease, Renewal};

use crate::common::{Server, eventually};
use crate::ground::{Any, PATIENCE, ms};
use crate::trouble::{Told, each, settings};

/// A lease of a server that is then made the replica of an empty one.
struct Scene {
    server: Server,
    _empty: Server,
    client: Client,
    told: Told,
    lease: Option<Lease>,
}

impl Scene {
    fn of(strategy: Any, renewal: Renewal) -> Self {
        let empty = Server::options().tcp().start();
        let server = Server::start();
        let told = Told::default();
        let client = settings(&server)
            .strategy(strategy)
            .wait(ms(80))
            .renewal(renewal);
        let client = client.observer(told.clone()).build().unwrap();
        let lease = client.lock("lock").unwrap().acquire().unwrap();
        let port = empty.port().expect("it listens").to_string();
        let _: String = server.command(&["REPLICAOF", "127.0.0.1", &port]);
        eventually(PATIENCE, "it has copied the other", || {
            let info: String = server.command(&["INFO", "replication"]);
            info.contains("master_link_status:up") && server.keys().is_empty()
        });
        Self {
            server,
            _empty: empty,
            client,
            told,
            lease: Some(lease),
        }
    }

    fn lease(&mut self) -> Lease {
        self.lease.take().expect("it was not left yet")
    }
}

#[test]
fn an_extension_by_a_replica_is_refused_and_no_loss() {
    each(|name, strategy| {
        let mut scene = Scene::of(strategy, Renewal::Off);
        let lease = scene.lease();
        let error = lease.extend(ms(30_000)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{name}: {error}");
        assert!(error.to_string().contains("READONLY"), "{name}: {error}");
        lease.check().unwrap();
        assert_eq!(scene.told.losses(), 0, "{name}");
    });
}

#[test]
fn a_release_by_a_replica_is_refused_and_neither_a_loss_nor_a_success() {
    each(|name, strategy| {
        let mut scene = Scene::of(strategy, Renewal::Off);
        let error = scene.lease().release().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{name}: {error}");
        assert!(error.to_string().contains("READONLY"), "{name}: {error}");
        assert_eq!(scene.told.losses(), 0, "{name}");
    });
}

#[test]
fn a_renewal_by_a_replica_is_refused_and_no_loss() {
    each(|name, strategy| {
        let mut scene = Scene::of(strategy, Renewal::Every(ms(60)));
        let lease = scene.lease();
        eventually(PATIENCE, "three renewals are refused", || {
            scene
                .told
                .failures()
                .iter()
                .filter(|reason| reason.contains("READONLY"))
                .count()
                >= 3
        });
        lease
            .check()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(scene.told.losses(), 0, "{name}");
    });
}

#[test]
fn what_a_primary_says_is_believed() {
    each(|name, strategy| {
        let mut scene = Scene::of(strategy, Renewal::Off);
        let _: String = scene.server.command(&["REPLICAOF", "NO", "ONE"]);
        let error = scene.lease().extend(ms(30_000)).unwrap_err();
        assert!(error.is_lost(), "{name}: {error}");
        assert_eq!(scene.told.losses(), 1, "{name}");
    });
}

#[test]
fn a_shutdown_at_a_replica_says_that_nothing_was_released_and_not_that_it_was_lost() {
    each(|name, strategy| {
        let mut scene = Scene::of(strategy, Renewal::Off);
        let lease = scene.lease();
        let shutdown = scene.client.shutdown(ms(500));
        assert_eq!(shutdown.released(), 0, "{name}");
        assert_eq!(shutdown.lost(), [], "{name}: a replica is believed");
        assert_eq!(shutdown.unreleased(), [lease.name().clone()], "{name}");
    });
}

#[test]
fn a_forced_release_at_a_replica_is_no_answer() {
    each(|name, strategy| {
        let server = Server::start();
        let client = settings(&server)
            .strategy(strategy.clone())
            .build()
            .unwrap();
        let lease = client.lock("lock").unwrap().acquire().unwrap();
        let holder = client.lock("lock").unwrap().holder().unwrap().unwrap();
        drop(lease);
        let scene = Scene::of(strategy, Renewal::Off);
        let result = scene.client.lock("lock").unwrap().force_release(&holder);
        let error = result.expect_err("a replica is believed that he has it no more");
        assert_eq!(error.kind(), ErrorKind::Refused, "{name}: {error}");
    });
}
