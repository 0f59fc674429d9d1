//! What is locked, by whom, and in which acquisition.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

use crate::error::{Error, Repr};

/// The longest name, in bytes.
const LONGEST: usize = 1024;

/// The name of what is locked: 1 to 1024 bytes, and the key under which the lock stands
/// at the server.
///
/// A strategy keeps more than that one key (a fence, a line of waiters), and in a cluster
/// all of them must live in one slot. A name for which that cannot be had is refused: one
/// that holds a `}` without a complete, non-empty `{tag}`.
///
/// Side keys look like `{orders:42}:fence`. A lock should not be given such a name: it would
/// stand where the other one keeps its fence.
///
/// # Examples
///
/// ```
/// use leasehold::Name;
///
/// assert!(Name::new("orders:42").is_ok());
/// assert!(Name::new("{orders}:42").is_ok());
/// assert!(Name::new("").unwrap_err().is_invalid_name());
/// assert!(Name::new("x}y").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<[u8]>);

impl Name {
    /// Checks `bytes` and makes a name of them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidName`](crate::ErrorKind::InvalidName) for an empty name, one
    /// over 1024 bytes, and one whose side keys could not share its slot in a cluster.
    ///
    /// # Examples
    ///
    /// ```
    /// let name = leasehold::Name::new([0xff, 0x00])?; // any bytes will do
    /// assert_eq!(name.to_string(), r"\xff\x00");
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, Error> {
        let bytes = bytes.as_ref();
        let refuse = |why| Err(Error::from(Repr::InvalidName { why }));
        if bytes.is_empty() {
            return refuse("it is empty".to_owned());
        }
        if bytes.len() > LONGEST {
            return refuse(format!(
                "it has {} bytes, {LONGEST} are allowed",
                bytes.len()
            ));
        }
        if bytes.contains(&b'}') && tag(bytes).is_none() {
            return refuse(format!(
                "\"{}\" has a `}}` but no complete {{tag}}, so that its side keys could not \
                 share its slot",
                bytes.escape_ascii()
            ));
        }
        Ok(Self(bytes.into()))
    }

    /// The bytes, which are the lock's key at the server.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(leasehold::Name::new("orders:42")?.as_bytes(), b"orders:42");
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The key `{name}:suffix`, in the name's own slot of a cluster.
    ///
    /// A name that brings its own `{tag}` keeps it; its suffix follows two colons, so that
    /// `orders` and `{orders}` do not share their side keys.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::Name;
    ///
    /// assert_eq!(Name::new("orders:42")?.side("fence"), b"{orders:42}:fence");
    /// assert_eq!(Name::new("{orders}:42")?.side("fence"), b"{orders}:42::fence");
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn side(&self, suffix: impl fmt::Display) -> Vec<u8> {
        let (before, after) = match tag(&self.0) {
            Some(_) => ("", format!("::{suffix}")),
            None => ("{", format!("}}:{suffix}")),
        };
        [before.as_bytes(), &self.0, after.as_bytes()].concat()
    }
}

impl Name {
    /// The side key as a name of its own, which may be longer than one that a caller gives.
    pub(crate) fn beside(&self, suffix: impl fmt::Display) -> Self {
        Self(self.side(suffix).into())
    }
}

/// The part of a key that decides its slot, where the key says so itself.
fn tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|&byte| byte == b'{')?;
    let rest = &key[open + 1..];
    let close = rest.iter().position(|&byte| byte == b'}')?;
    (close > 0).then(|| &rest[..close])
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name(\"{self}\")")
    }
}

/// Who holds: `<uuid of the client>:<number>`.
///
/// Every acquisition is an owner of its own unless [`Lock::thread`](crate::Lock::thread)
/// or [`Lock::owned_by`](crate::Lock::owned_by) say otherwise. The text form is that of
/// Redisson, so that a Rust and a Java client can name each other's holders.
///
/// # Examples
///
/// ```
/// let text = "3f1c9c1e-6f0f-4d7e-9a52-0d8d3a9c6f55:7";
/// let owner: leasehold::Owner = text.parse()?;
/// assert_eq!(owner.to_string(), text);
/// # Ok::<(), leasehold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    client: Uuid,
    number: u64,
}

/// Numbers of owners in this process, threads among them; none is given twice.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static THREAD_NUMBER: u64 = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
}

impl Owner {
    /// An owner that nobody else is.
    pub(crate) fn fresh(client: Uuid) -> Self {
        Self {
            client,
            number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// The owner of one acquisition, the same for all its questions.
    pub(crate) fn of_ticket(ticket: &Ticket) -> Self {
        Self {
            client: ticket.0,
            number: 0,
        }
    }

    /// The calling thread as an owner.
    pub(crate) fn of_thread(client: Uuid) -> Self {
        Self {
            client,
            number: THREAD_NUMBER.with(|number| *number),
        }
    }

    pub(crate) fn belongs_to(&self, client: Uuid) -> bool {
        self.client == client
    }

    /// The form for an error or a log: enough to tell owners apart.
    pub(crate) fn short(&self) -> String {
        let client = self.client.simple().to_string();
        format!("{}..:{}", &client[..4], self.number)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.client, self.number)
    }
}

impl std::str::FromStr for Owner {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.split_once(':')
            .and_then(|(client, number)| {
                Some(Self {
                    client: Uuid::try_parse(client).ok()?,
                    number: number.parse().ok()?,
                })
            })
            .ok_or_else(|| Error::config("owner", text.escape_debug(), "is not `<uuid>:<number>`"))
    }
}

/// One acquisition: a fresh number of 122 random bits, sent again unchanged when that
/// acquisition is tried again, so that the server can tell its own from another's.
///
/// It proves a hold, and so its `Debug` form is a short hash.
///
/// # Examples
///
/// ```
/// use leasehold::Ticket;
///
/// assert_ne!(Ticket::fresh(), Ticket::fresh());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket(Uuid);

impl Ticket {
    /// A ticket that nobody else has.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(leasehold::Ticket::fresh().to_string().len(), 36);
    /// ```
    pub fn fresh() -> Self {
        Self(Uuid::new_v4())
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({})", short_hash(self.0.as_bytes()))
    }
}

/// Eight digits that tell one secret from another and do not give it away (FNV-1a).
pub(crate) fn short_hash(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0x811c_9dc5_u32, |hash, &byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("#{hash:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_whose_side_keys_would_stray_are_refused() {
        for bad in ["", "x}y", "{}x", "}", "}{", "{}", "a{}b{c}"] {
            assert!(Name::new(bad).is_err(), "{bad}");
        }
        for good in ["a", "{a}", "{a}b", "x{a}}", "{a", "a}b{c}d", "{{a}"] {
            assert!(Name::new(good).is_ok(), "{good}");
        }
        assert!(Name::new(vec![b'a'; 1024]).is_ok());
        assert!(Name::new(vec![b'a'; 1025]).is_err());
    }

    #[test]
    fn a_name_and_its_tagged_form_have_side_keys_of_their_own() {
        let plain = Name::new("a").unwrap();
        let tagged = Name::new("{a}").unwrap();
        assert_ne!(plain.side("line"), tagged.side("line"));
    }

    #[test]
    fn a_thread_keeps_its_number_and_no_other_thread_gets_it() {
        let client = Uuid::new_v4();
        let mine = Owner::of_thread(client);
        assert_eq!(mine, Owner::of_thread(client));
        let mut seen = std::collections::HashSet::from([mine]);
        for _ in 0..50 {
            let theirs = std::thread::spawn(move || Owner::of_thread(client));
            assert!(seen.insert(theirs.join().unwrap()), "a number came twice");
        }
    }

    #[test]
    fn an_owner_that_is_none_is_refused() {
        for bad in [
            "",
            "7",
            "x:7",
            "3f1c9c1e-6f0f-4d7e-9a52-0d8d3a9c6f55:",
            "a:b:c",
        ] {
            assert!(bad.parse::<Owner>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_ticket_is_not_printed() {
        let ticket = Ticket::fresh();
        assert!(!format!("{ticket:?}").contains(&ticket.to_string()[..8]));
    }
}
