//! Events of `tracing`.

use super::{
    Contended, Granted, Lost, Observer, Reconnected, Released, RenewalFailed, Renewed, Slow,
    Undone, Waited, Warned,
};

/// Writes what happens to locks as events of `tracing`, under the target `leasehold`.
///
/// | event | level | fields |
/// |---|---|---|
/// | `granted` | debug | `lock`, `owner`, `waited_us`, `tries`, `fence` |
/// | `contended` | trace | `lock`, `holder` |
/// | `waited` | info | `lock`, `waited_us`, `tries`, `error` |
/// | `renewed` | trace | `lock`, `owner` |
/// | `renewal failed` | warn | `lock`, `owner`, `reason`, `remaining_us` |
/// | `lost` | error | `lock`, `owner`, `loss` |
/// | `released` | debug | `lock`, `owner`, `dropped` |
/// | `release failed` | warn | `lock`, `owner`, `dropped`, `error` |
/// | `undone` | info | `lock`, `confirmed` |
/// | `reconnected` | info | `address` |
/// | `slow` | warn | `lock`, `took_us` |
/// | `warned` | warn | `address`, `warning` |
///
/// # Examples
///
/// ```
/// let client = leasehold::Client::builder("redis://127.0.0.1/")
///     .observer(leasehold::observe::Tracing)
///     .build()?;
/// # drop(client);
/// # Ok::<(), leasehold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Tracing;

macro_rules! event {
    ($level:ident, $($field:tt)+) => {
        ::tracing::$level!(target: "leasehold", $($field)+)
    };
}

fn micros(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[deny(clippy::missing_trait_methods)]
impl Observer for Tracing {
    fn granted(&self, event: &Granted<'_>) {
        let fence = event.fence.map(crate::Fence::number);
        event!(debug, lock = %event.name, owner = %event.owner.short(),
            waited_us = micros(event.waited), tries = event.tries, fence, "granted");
    }
    fn contended(&self, event: &Contended<'_>) {
        event!(trace, lock = %event.name, holder = %event.holder, "contended");
    }
    fn waited(&self, event: &Waited<'_>) {
        event!(info, lock = %event.name, waited_us = micros(event.waited), tries = event.tries,
            error = %event.error, "waited");
    }
    fn renewed(&self, event: &Renewed<'_>) {
        event!(trace, lock = %event.name, owner = %event.owner.short(), "renewed");
    }
    fn renewal_failed(&self, event: &RenewalFailed<'_>) {
        event!(warn, lock = %event.name, owner = %event.owner.short(), reason = %event.reason,
            remaining_us = micros(event.remaining), "renewal failed");
    }
    fn lost(&self, event: &Lost<'_>) {
        event!(error, lock = %event.name, owner = %event.owner.short(), loss = %event.loss, "lost");
    }
    fn released(&self, event: &Released<'_>) {
        let (lock, owner) = (event.name, event.owner.short());
        match event.result {
            Ok(_) => event!(debug, %lock, %owner, dropped = event.dropped, "released"),
            Err(error) => {
                event!(warn, %lock, %owner, dropped = event.dropped, %error, "release failed");
            }
        }
    }
    fn undone(&self, event: &Undone<'_>) {
        event!(info, lock = %event.name, confirmed = event.confirmed, "undone");
    }
    fn reconnected(&self, event: &Reconnected<'_>) {
        event!(info, address = event.address, "reconnected");
    }
    fn slow(&self, event: &Slow<'_>) {
        event!(warn, lock = %event.name, took_us = micros(event.took), "slow");
    }
    fn warned(&self, event: &Warned<'_>) {
        event!(
            warn,
            address = event.address,
            warning = event.warning,
            "warned"
        );
    }
}
