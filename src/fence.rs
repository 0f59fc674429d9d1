//! Fences: numbers that let a store refuse a holder who is too late.

use std::fmt;

/// A number that grows strictly with every grant of a name.
///
/// Give it to the store that the lock guards, and let the store refuse a smaller one than
/// it has seen: a holder that was stopped for longer than its lease then cannot do harm,
/// whatever it believes.
///
/// # Examples
///
/// ```
/// use leasehold::Fence;
///
/// assert!(Fence::new(2) > Fence::new(1));
/// assert_eq!(Fence::new(1_763_632_800_000_000).to_string(), "1763632800000000");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(u64);

impl Fence {
    /// The fence of that number.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(leasehold::Fence::new(7).number(), 7);
    /// ```
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number, to be stored beside what the lock guards.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(leasehold::Fence::new(7).number(), 7);
    /// ```
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
