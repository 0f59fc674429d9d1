//! What is said is so: a refusal is called what it is, and what was accepted can be done.

mod common;
mod ground;

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener},
    thread,
};

use common::{Proxy, Server};
use ground::{builder, fleeting, ms};
use leasehold::{Client, ErrorKind, Renewal};

#[test]
fn a_grant_that_comes_after_its_own_end_is_not_said_to_be_somebody_elses() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let client = fleeting(builder(proxy.url()), ms(20));
    let lock = client.lock("job").unwrap();
    proxy.replies().late(ms(100));
    let error = lock.try_acquire().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLate, "{error}");
    assert!(!lock.is_locked().unwrap(), "it was undone");
}

#[test]
fn a_renewal_that_would_come_after_the_end_is_refused() {
    let every = |millis| {
        let builder = Client::builder("redis://127.0.0.1/").lease(ms(1_000));
        builder.renewal(Renewal::Every(ms(millis))).build()
    };
    let error = every(990).unwrap_err(); // believed in for 988 ms
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    assert!(error.to_string().contains("`renewal` = 990ms"), "{error}");
    assert!(every(980).is_ok());
}

/// The URL of a server that says this line to everything.
fn parrot(line: &str) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let line = format!("{line}\r\n");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, line) = (stream.unwrap(), line.clone());
            thread::spawn(move || {
                let mut asked = [0; 8_192];
                while stream.read(&mut asked).is_ok_and(|length| length > 0) {
                    let _ = stream.write_all(line.as_bytes());
                }
            });
        }
    });
    url
}

#[test]
fn an_error_inside_a_script_is_told_apart_also_on_older_servers() {
    for (inside, passing, kind) in [
        (
            "-READONLY You can't write against a read only replica. ",
            true,
            ErrorKind::Refused,
        ),
        (
            "-NOREPLICAS Not enough good replicas to write. ",
            true,
            ErrorKind::Refused,
        ),
        (
            "-OOM command not allowed when used memory > 'maxmemory'. ",
            true,
            ErrorKind::Refused,
        ),
        (
            "WRONGTYPE Operation against a key holding the wrong kind of value ",
            false,
            ErrorKind::ForeignLock,
        ),
    ] {
        let url = parrot(&format!(
            "-ERR Error running script (call to f_a8): @user_script:1: @user_script: 1: {inside}"
        ));
        let client = fleeting(builder(url), ms(1_000));
        let error = client.lock("job").unwrap().try_acquire().unwrap_err();
        assert_eq!(
            (error.is_passing(), error.kind()),
            (passing, kind),
            "{inside}"
        );
    }
}

#[test]
#[cfg(feature = "tls")]
fn a_server_that_does_not_speak_tls_was_not_reached() {
    let server = Server::options().tcp().start();
    let url = format!("rediss://127.0.0.1:{}", server.port().unwrap());
    let client = fleeting(builder(url).connect_timeout(ms(500)), ms(1_000));
    let error = client.lock("job").unwrap().try_acquire().unwrap_err();
    assert!(error.is_unreachable(), "{:?}: {error}", error.kind());
}
