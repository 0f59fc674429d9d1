//! Counters and histograms of `metrics`.

use ::metrics::{counter, histogram};

use super::{
    Contended, Granted, Lost, Observer, Reconnected, Released, RenewalFailed, Renewed, Slow,
    Undone, Waited, Warned,
};
use crate::loss::Loss;

/// Counts what happens to locks in `metrics`. No label holds a lock's name: there may be
/// any number of them.
///
/// | metric | kind | labels |
/// |---|---|---|
/// | `leasehold_granted_total` | counter | |
/// | `leasehold_wait_seconds` | histogram | `outcome`: `granted`, `failed` |
/// | `leasehold_contended_total` | counter | |
/// | `leasehold_renewed_total` | counter | |
/// | `leasehold_renewal_failed_total` | counter | |
/// | `leasehold_lost_total` | counter | `loss`: `expired`, `taken`, `deleted`, `forgotten`, `unreachable`, `overstayed`, `contested`, `shut_down` |
/// | `leasehold_released_total` | counter | `outcome`: `released`, `failed`; `dropped`: `true`, `false` |
/// | `leasehold_undone_total` | counter | `confirmed`: `true`, `false` |
/// | `leasehold_reconnected_total` | counter | `address` |
/// | `leasehold_slow_seconds` | histogram | |
/// | `leasehold_warned_total` | counter | `address` |
///
/// # Examples
///
/// ```
/// let client = leasehold::Client::builder("redis://127.0.0.1/")
///     .observer(leasehold::observe::Metrics)
///     .build()?;
/// # drop(client);
/// # Ok::<(), leasehold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Metrics;

fn word(truth: bool) -> &'static str {
    if truth { "true" } else { "false" }
}

fn label(loss: Loss) -> &'static str {
    match loss {
        Loss::Expired { .. } => "expired",
        Loss::Taken => "taken",
        Loss::Deleted => "deleted",
        Loss::Forgotten => "forgotten",
        Loss::Unreachable => "unreachable",
        Loss::Overstayed => "overstayed",
        Loss::Contested => "contested",
        Loss::ShutDown => "shut_down",
    }
}

#[deny(clippy::missing_trait_methods)]
impl Observer for Metrics {
    fn granted(&self, event: &Granted<'_>) {
        counter!("leasehold_granted_total").increment(1);
        histogram!("leasehold_wait_seconds", "outcome" => "granted").record(event.waited);
    }
    fn contended(&self, _: &Contended<'_>) {
        counter!("leasehold_contended_total").increment(1);
    }
    fn waited(&self, event: &Waited<'_>) {
        histogram!("leasehold_wait_seconds", "outcome" => "failed").record(event.waited);
    }
    fn renewed(&self, _: &Renewed<'_>) {
        counter!("leasehold_renewed_total").increment(1);
    }
    fn renewal_failed(&self, _: &RenewalFailed<'_>) {
        counter!("leasehold_renewal_failed_total").increment(1);
    }
    fn lost(&self, event: &Lost<'_>) {
        counter!("leasehold_lost_total", "loss" => label(event.loss)).increment(1);
    }
    fn released(&self, event: &Released<'_>) {
        let outcome = if event.result.is_ok() {
            "released"
        } else {
            "failed"
        };
        counter!("leasehold_released_total", "outcome" => outcome, "dropped" => word(event.dropped))
            .increment(1);
    }
    fn undone(&self, event: &Undone<'_>) {
        counter!("leasehold_undone_total", "confirmed" => word(event.confirmed)).increment(1);
    }
    fn reconnected(&self, event: &Reconnected<'_>) {
        counter!("leasehold_reconnected_total", "address" => event.address.to_owned()).increment(1);
    }
    fn slow(&self, event: &Slow<'_>) {
        histogram!("leasehold_slow_seconds").record(event.took);
    }
    fn warned(&self, event: &Warned<'_>) {
        counter!("leasehold_warned_total", "address" => event.address.to_owned()).increment(1);
    }
}
