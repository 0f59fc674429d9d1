//! A job that takes longer than its lease: renewed in the background, looked at between steps.
//!
//! `cargo run --example long_job`

#![allow(
    clippy::disallowed_methods,
    reason = "a step that takes time stands for work"
)]

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use leasehold::{Client, Lease};

/// How long the lock outlives this process, if it is killed.
const LEASE: Duration = Duration::from_millis(600);

fn main() -> Result<(), leasehold::Error> {
    let place = common::Place::find();
    let client = Client::builder(place.url())
        .lease(LEASE) // renewed at a third of it while it is held
        .max_hold(Duration::from_secs(60)) // and for no longer than this
        .build()?;
    let lock = client.lock("example:report")?;

    println!("a job of two seconds under a lease of {LEASE:?}");
    let lease = lock.acquire()?;
    let begun = Instant::now();
    let done = work(&lease)?;
    println!(
        "{done} steps in {:.1?}, and the lease is still ours",
        begun.elapsed()
    );
    lease.commit(|| println!("the server said so once more: the report is sent"))?;
    lease.release()?;

    println!("\nthe same job, and an operator who deletes the lock");
    let lease = lock.acquire()?;
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    lease.on_lost(move |loss| {
        println!("on_lost: {loss}"); // on a thread of its own, soon after
        told.store(true, Ordering::Relaxed);
    });
    let holder = lock.holder()?.expect("it is held");
    lock.force_release(&holder)?;
    let error = work(&lease).expect_err("it cannot be finished without the lock");
    println!("the job has stopped: {error}");
    while !stop.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    let error = lease.release().expect_err("there is nothing to release");
    println!("the release says it too: {error}");
    Ok(())
}

/// Twenty steps, none of which may be taken without the lock.
fn work(lease: &Lease) -> Result<u32, leasehold::Error> {
    for step in 1..=20 {
        lease.check()?; // asks nobody: as cheap as a look at the clock
        if step % 5 == 0 {
            println!("step {step:>2}; held for another {:.0?}", lease.remaining());
        }
        take_a_step();
    }
    lease.check()?;
    Ok(20)
}

fn take_a_step() {
    thread::sleep(Duration::from_millis(100));
}
