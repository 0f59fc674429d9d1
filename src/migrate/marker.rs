//! The marker: which phases of a migration are admitted.

use crate::client::Client;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::link::{Failure, Lane};
use crate::name::Name;
use crate::strategy::Phase;
use crate::strategy::bridge::{MARKER, phase};

/// The marker of a migration: the lowest phase that is admitted, and with it the one above.
///
/// | it stands at | admitted are | while |
/// |---|---|---|
/// | [`Phase::Old`], or is missing | old, both | legacy clients may be alive |
/// | [`Phase::Both`] | both, new | every client takes the new lock |
/// | [`Phase::New`] | new | nobody takes the old lock any more |
///
/// Only an operator moves it, one phase at a time, and only when no client of the phase that
/// is shut out is left. It cannot see legacy clients: `docs/migrating.md` says how to.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
/// # fn main() -> Result<(), leasehold::Error> {
/// use leasehold::{migrate::Marker, strategy::Phase};
///
/// let client = leasehold::Client::connect(server())?;
/// let marker = Marker::of(&client);
/// assert_eq!(marker.lowest()?, Phase::Old);
/// marker.raise(Phase::Both)?; // no client of phase old is left
/// assert_eq!(marker.lowest()?, Phase::Both);
/// marker.lower(Phase::Old)?; // no client of phase new is left
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Marker {
    client: Client,
    key: String,
}

impl Marker {
    /// The marker on the server of `client`, where bridges look for it.
    ///
    /// # Examples
    ///
    /// ```
    /// let client = leasehold::Client::connect("redis://127.0.0.1/")?;
    /// let marker = leasehold::migrate::Marker::of(&client);
    /// # drop(marker);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn of(client: &Client) -> Self {
        Self {
            client: client.clone(),
            key: MARKER.to_owned(),
        }
    }

    /// Sets the key, as [`Bridge::marker`](crate::strategy::Bridge::marker) does.
    ///
    /// Defaults to `leasehold:phase`.
    ///
    /// # Examples
    ///
    /// ```
    /// # let client = leasehold::Client::connect("redis://127.0.0.1/")?;
    /// let marker = leasehold::migrate::Marker::of(&client).key("billing:phase");
    /// # drop(marker);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// The lowest phase that is admitted.
    ///
    /// # Errors
    ///
    /// Why the server could not be asked.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let phase = leasehold::migrate::Marker::of(&client).lowest()?;
    /// assert_eq!(phase, leasehold::strategy::Phase::Old);
    /// # Ok(()) }
    /// ```
    pub fn lowest(&self) -> Result<Phase, Error> {
        self.ask("read the marker", phase::lowest(self.key.as_bytes()))
    }

    /// Raises the marker to `phase` from the one below: clients of that one are shut out from
    /// their next acquire on, and those above `phase` are let in.
    ///
    /// Call it when none of them is left, and their last lease has ended. Doing it twice is
    /// doing it once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) where it stands neither there
    /// nor one below; or why the server could not be asked.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use leasehold::{migrate::Marker, strategy::Phase};
    ///
    /// assert!(Marker::of(&client).raise(Phase::New).is_err(), "that is two phases away");
    /// Marker::of(&client).raise(Phase::Both)?;
    /// Marker::of(&client).raise(Phase::New)?;
    /// # Ok(()) }
    /// ```
    pub fn raise(&self, phase: Phase) -> Result<(), Error> {
        let from = if phase == Phase::New {
            Phase::Both
        } else {
            Phase::Old
        };
        self.move_to("raise the marker", from, phase)
    }

    /// Lowers the marker to `phase` from the one above, to go back: clients of `phase` are let
    /// in again, and those two above it are shut out.
    ///
    /// Call it when none of these is left. Doing it twice is doing it once.
    ///
    /// # Errors
    ///
    /// As [`raise`](Marker::raise).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use leasehold::{migrate::Marker, strategy::Phase};
    ///
    /// let marker = Marker::of(&client);
    /// marker.raise(Phase::Both)?;
    /// marker.lower(Phase::Old)?;
    /// assert_eq!(marker.lowest()?, Phase::Old);
    /// # Ok(()) }
    /// ```
    pub fn lower(&self, phase: Phase) -> Result<(), Error> {
        let from = if phase == Phase::Old {
            Phase::Both
        } else {
            Phase::New
        };
        self.move_to("lower the marker", from, phase)
    }

    fn move_to(&self, action: &'static str, from: Phase, to: Phase) -> Result<(), Error> {
        let moved = phase::moved(self.key.as_bytes(), from, to);
        let (done, at) = self.ask(action, moved)?;
        if done {
            return Ok(());
        }
        let why = format!("it stands at {at} and not at {from}, and moves by one phase at a time");
        Err(Error::failed(action, &self.name()?, Failure::Declined(why)))
    }

    fn ask<T: 'static>(&self, action: &'static str, exchange: Exchange<T>) -> Result<T, Error> {
        let (core, name) = (self.client.core(), self.name()?);
        core.ask(&name, exchange, Lane::Common, core.link.patience())
            .map_err(|miss| core.explain(action, &name, miss.failure))
    }

    fn name(&self) -> Result<Name, Error> {
        Name::new(&self.key)
    }
}
