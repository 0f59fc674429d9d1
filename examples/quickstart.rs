//! A lock, taken and given back: everything that most programs need.
//!
//! `cargo run --example quickstart`

mod common;

use std::time::Duration;

use leasehold::{Client, Released};

fn main() -> Result<(), leasehold::Error> {
    let place = common::Place::find();
    let url = place.url();
    basics(url)?;

    let client = Client::connect(url)?;
    let lock = client.lock("quickstart:stock")?;

    // Somebody who has it, and somebody who will not wait.
    let lease = lock.acquire()?;
    println!("\nheld for another {:.1?}", lease.remaining());
    let second = lock.try_acquire()?;
    println!("a second try gets a lease: {}", second.is_some());
    println!("the holder is {}", lock.holder()?.expect("it is held"));

    // A wait that runs out says who is in the way.
    let error = lock.acquire_within(Duration::from_millis(50)).unwrap_err();
    println!("waiting in vain: {error}");

    // What takes longer than its lease asks for more; what is done gives back.
    lease.extend(Duration::from_secs(60))?;
    println!("after an extension: {:.1?}", lease.remaining());
    assert_eq!(lease.release()?, Released::Freed);

    // Acquire, work, release; fails where the lease did not last until the work was done.
    let total = lock.with(|_lease| 6 * 7)?;
    println!("worked out under the lock: {total}");
    println!("still locked: {}", lock.is_locked()?);
    Ok(())
}

/// What the README shows.
fn basics(url: &str) -> Result<(), leasehold::Error> {
    use std::time::Duration;

    let client = leasehold::Client::builder(url)
        .lease(Duration::from_secs(30)) // renewed at a third of it while held
        .wait(Duration::from_secs(10)) // the bound of `acquire`
        .build()?;

    let lock = client.lock("orders:42")?;
    let lease = lock.acquire()?; // blocks, at most `wait`
    for item in ["book", "lamp", "chair"] {
        lease.check()?; // still ours? Asks nobody, costs a look at the clock
        println!("packing the {item}");
    }
    lease.release()?; // fails if it did not last; dropping it is best effort
    Ok(())
}
