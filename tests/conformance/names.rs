//! A name is bytes.

use leasehold::{Name, Released};

#[test]
fn every_byte_may_be_in_a_name() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    for byte in 0..=u8::MAX {
        for name in [vec![byte], vec![b'a', byte, b'z']] {
            if Name::new(&name).is_err() {
                assert_eq!(byte, b'}', "only a brace that closes nothing is refused");
                continue;
            }
            let lock = client.lock(&name).unwrap();
            let lease = lock.acquire().unwrap();
            assert_eq!(lease.name().as_bytes(), name);
            assert!(lock.is_locked().unwrap());
            assert_eq!(lease.release().unwrap(), Released::Freed, "{name:?}");
        }
    }
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn a_name_is_the_key_whatever_it_looks_like() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    let long = "x".repeat(1024);
    for name in [
        "a b",
        "a\r\nDEL b\r\n",
        "*1\r\n$8\r\nFLUSHALL\r\n",
        "{tag}rest",
        "x{tag}",
        "{open",
        "%d %s",
        "'); redis.call('FLUSHALL') --",
        "ünïcödé",
        &long,
    ] {
        let lease = client.lock(name).unwrap().acquire().unwrap();
        assert!(ground.keys().contains(&name.to_owned()), "{name:?}");
        assert!(client.lock(name).unwrap().try_acquire().unwrap().is_none());
        lease.release().unwrap();
        assert_eq!(ground.keys(), [""; 0], "{name:?}");
    }
}
