//! How a waiter waits: every form of `Retry`, and what is said when time or tries run out.
//!
//! `cargo run --example retry`
#![allow(
    clippy::disallowed_methods,
    reason = "it shows how long an acquisition took"
)]

mod common;

use std::time::{Duration, Instant};

use leasehold::{Client, Jitter, Lock, Retry};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn main() -> Result<(), leasehold::Error> {
    println!("pauses between tries, in ms; a delay never outlasts the wait that is left\n");
    let growing = Retry::exponential(ms(10), ms(200));
    for (name, retry) in [
        ("fixed(100)", Retry::fixed(ms(100))),
        ("uniform(100), the default", Retry::default()),
        ("exponential(10, 200)", growing), // with full jitter unless told otherwise
        ("..jitter(None)", growing.jitter(Jitter::None)),
        ("..jitter(Full)", growing.jitter(Jitter::Full)),
        ("..jitter(Equal)", growing.jitter(Jitter::Equal)),
        (
            "..jitter(Decorrelated)",
            growing.jitter(Jitter::Decorrelated),
        ),
        ("fixed(100).limit(4)", Retry::fixed(ms(100)).limit(4)),
    ] {
        print!("{name:<28}");
        for delay in retry.delays().take(8) {
            print!("{:>5}", delay.as_millis());
        }
        println!();
    }

    let place = common::Place::find();
    let client = Client::connect(place.url())?;
    let lock = client.lock("retry:stock")?;
    let lease = lock.acquire()?;
    println!("\nsomebody holds the lock, and others want it\n");

    let fixed = lock.clone().retry(Retry::fixed(ms(20)));
    in_vain("a wait of 100 ms", &fixed.clone().wait(ms(100))?);
    in_vain(
        "3 tries within 10 s",
        &fixed.clone().retry(Retry::fixed(ms(20)).limit(3)),
    );
    in_vain("a wait of zero: one try", &fixed.wait(ms(0))?);
    println!("try_acquire is not an error: {:?}", lock.try_acquire()?);

    // Retries are a value: a used one is as good as new, and the lease is taken up once freed.
    let patient = lock.retry(growing);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| patient.acquire());
        std::thread::sleep(ms(50));
        lease.release()?;
        let lease = waiter.join().expect("the waiter does not panic")?;
        println!("once it is released, a waiter has it: {}", lease.is_held());
        lease.release().map(drop)
    })
}

fn in_vain(what: &str, lock: &Lock) {
    let began = Instant::now();
    let error = lock.acquire().map(drop).unwrap_err();
    println!("{what}, over after {} ms", began.elapsed().as_millis());
    println!("    says       {error}");
    println!(
        "    kind       {:?}, is_timeout {}",
        error.kind(),
        error.is_timeout()
    );
    if let Some(holder) = error.holder() {
        println!(
            "    holder     {:?}, {:?} left",
            holder.label(),
            holder.remaining()
        );
    }
}
