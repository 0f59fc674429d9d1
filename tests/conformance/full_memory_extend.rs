//! A server that is full lets a holder keep its lock.

use leasehold::Released;

use crate::ground::ms;

#[test]
fn an_extension_works_on_a_full_server() {
    let ground = super::start();
    let client = ground.fleeting(super::strategy(), ms(5_000));
    let lock = client.lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    ground.everywhere(&["CONFIG", "SET", "maxmemory", "1"]);
    lease.extend(ms(60_000)).unwrap();
    assert!(lease.remaining() > ms(50_000));
    assert!(lock.holder().unwrap().unwrap().remaining().unwrap() > ms(50_000));
    assert_eq!(lease.release().unwrap(), Released::Freed);
    assert_eq!(ground.keys(), [""; 0]);
}
