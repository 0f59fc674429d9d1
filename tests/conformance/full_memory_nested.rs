//! A server that is full lets a holder nest.

use leasehold::Released;

use crate::ground::ms;

#[test]
fn nested_holds_come_and_go_on_a_full_server() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let outer = lock.thread().acquire().unwrap();
    let middle = lock.thread().acquire().unwrap();
    ground.everywhere(&["CONFIG", "SET", "maxmemory", "1"]);
    let inner = lock.thread().acquire().unwrap();
    inner.extend(ms(40_000)).unwrap();
    assert_eq!(inner.release().unwrap(), Released::StillHeld);
    outer.extend(ms(50_000)).unwrap();
    assert_eq!(middle.release().unwrap(), Released::StillHeld);
    outer.extend(ms(60_000)).unwrap();
    assert_eq!(outer.release().unwrap(), Released::Freed);
    assert_eq!(ground.keys(), [""; 0]);
}
