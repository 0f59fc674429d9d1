//! Some of several servers: a set of their places in the list.

/// The most servers that one client asks.
pub(crate) const MOST: usize = 32;

/// Some of the servers, by their places in the list. Where there is one server it is all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seats(u32);

impl Seats {
    pub(crate) const ALL: Self = Self(u32::MAX);
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn one(seat: usize) -> Self {
        Self(1 << seat)
    }

    pub(crate) fn has(self, seat: usize) -> bool {
        self.0 & (1 << seat) != 0
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn among(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those of the first `count` seats that belong to it.
    pub(crate) fn iter(self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).filter(move |&seat| self.has(seat))
    }
}

impl FromIterator<usize> for Seats {
    fn from_iter<I: IntoIterator<Item = usize>>(seats: I) -> Self {
        seats.into_iter().map(Self::one).fold(Self::NONE, Self::and)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_into_it() {
        let seats: Seats = [0, 3, 31].into_iter().collect();
        assert_eq!(seats.iter(MOST).collect::<Vec<_>>(), [0, 3, 31]);
        assert_eq!(seats.among(Seats::one(3)), Seats::one(3));
        assert!(seats.among(Seats::one(4)).is_empty());
        assert_eq!(Seats::ALL.among(seats), seats);
        assert_eq!(Seats::NONE.and(seats), seats);
        assert_eq!(Seats::ALL.iter(MOST).count(), MOST);
    }
}
