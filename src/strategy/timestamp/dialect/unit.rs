//! Numbers as legacy clients write them: text or bytes of a time, to the very digit.

/// Millionths of a second since 1970, which every unit can say.
pub(super) type Micros = u64;

const SECOND: Micros = 1_000_000;

/// The longest whole number: more digits than this are no time that anybody wrote.
const LONGEST: usize = 15;

/// The longest fraction that is read. Seventeen digits tell every float from its neighbours.
const LONGEST_FRACTION: usize = 17;

/// Years fit into this by far, and Lua's numbers are exact up to it.
const LAST: Micros = 1 << 53;

/// What a legacy client counts in, and how it writes that down.
///
/// # Examples
///
/// ```
/// use leasehold::strategy::{Dialect, Unit};
///
/// assert!(Dialect::custom(Unit::Seconds).parse(b"1369146406").is_some());
/// assert!(Dialect::custom(Unit::FloatSeconds { digits: 6 }).parse(b"1369146406.5").is_some());
/// assert!(Dialect::custom(Unit::LittleEndianSeconds).parse(&[102, 132, 155, 81, 0, 0, 0, 0]).is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Whole seconds: `1369146406`.
    Seconds,
    /// Whole milliseconds: `1369146405124`.
    Millis,
    /// Seconds with a point: `1369146405.123456`, without zeros at the end but for the first
    /// digit behind the point.
    FloatSeconds {
        /// How many digits stand behind the point at most, up to 6. With 0, these are whole
        /// seconds, written as Python and Ruby write a float of one: `1369146405.0`.
        digits: u8,
    },
    /// Whole seconds as a signed number of 8 bytes, the lowest first.
    LittleEndianSeconds,
}

impl Unit {
    /// The least difference between two stamps.
    pub(super) fn step(self) -> Micros {
        match self {
            Self::Seconds | Self::LittleEndianSeconds => SECOND,
            Self::Millis => 1_000,
            Self::FloatSeconds { digits } => SECOND / 10_u64.pow(u32::from(digits.min(6))),
        }
    }

    /// How stamp.lua calls it.
    pub(super) fn letter(self) -> &'static str {
        match self {
            Self::Seconds | Self::Millis => "whole",
            Self::FloatSeconds { .. } => "float",
            Self::LittleEndianSeconds => "bytes",
        }
    }

    pub(super) fn print(self, time: Micros) -> Vec<u8> {
        match self {
            Self::Seconds => (time / SECOND).to_string().into_bytes(),
            Self::Millis => (time / 1_000).to_string().into_bytes(),
            Self::FloatSeconds { .. } => {
                let time = time - time % self.step();
                let text = format!("{}.{:06}", time / SECOND, time % SECOND);
                let zeros = text.len() - text.trim_end_matches('0').len();
                text.as_bytes()[..text.len() - zeros.min(5)].to_vec()
            }
            Self::LittleEndianSeconds => (time / SECOND).to_le_bytes().to_vec(),
        }
    }

    /// The time that a number says, rounded up; `None` where it is none of this unit.
    pub(super) fn parse(self, number: &[u8]) -> Option<Micros> {
        match self {
            Self::Seconds => whole(number)?.checked_mul(SECOND),
            Self::Millis => whole(number)?.checked_mul(1_000),
            Self::FloatSeconds { .. } => float(number),
            Self::LittleEndianSeconds => {
                let seconds = u64::from_le_bytes(number.try_into().ok()?);
                (seconds < LAST).then(|| seconds.saturating_mul(SECOND))
            }
        }
    }
}

fn whole(digits: &[u8]) -> Option<u64> {
    if digits.len() > LONGEST || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Digits, and perhaps a point and digits behind it.
fn float(text: &[u8]) -> Option<Micros> {
    let point = text.iter().position(|&byte| byte == b'.');
    let (seconds, fraction) = match point {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &b"0"[..]),
    };
    let is_fraction =
        (1..=LONGEST_FRACTION).contains(&fraction.len()) && fraction.iter().all(u8::is_ascii_digit);
    if !is_fraction {
        return None;
    }
    let (said, beyond) = fraction.split_at(fraction.len().min(6));
    let scale = 10_u64.pow(6 - u32::try_from(said.len()).ok()?);
    let micros = whole(said)? * scale + u64::from(beyond.iter().any(|&digit| digit != b'0'));
    whole(seconds)?.checked_mul(SECOND)?.checked_add(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOAT: Unit = Unit::FloatSeconds { digits: 6 };

    #[test]
    fn a_float_has_no_zeros_at_its_end_but_one() {
        for (micros, text) in [
            (1_500_000, "1.5"),
            (2_000_000, "2.0"),
            (1_369_146_405_123_456, "1369146405.123456"),
            (1_369_146_400_000_010, "1369146400.00001"),
        ] {
            assert_eq!(FLOAT.print(micros), text.as_bytes());
            assert_eq!(FLOAT.parse(text.as_bytes()), Some(micros));
        }
        let whole = Unit::FloatSeconds { digits: 0 };
        assert_eq!(whole.print(1_999_999), b"1.0");
        let tenths = Unit::FloatSeconds { digits: 1 };
        assert_eq!(tenths.print(1_999_999), b"1.9");
    }

    #[test]
    fn what_is_finer_than_we_count_is_rounded_up() {
        assert_eq!(FLOAT.parse(b"1.0000000"), Some(1_000_000));
        assert_eq!(FLOAT.parse(b"1.0000001"), Some(1_000_001));
        assert_eq!(FLOAT.parse(b"7"), Some(7_000_000));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for bad in [
            &b""[..],
            b".",
            b"1.",
            b".5",
            b"1.5.5",
            b"1,5",
            b"-1.5",
            b"+1.5",
            b"1e9",
            b"1.5e9",
            b" 1.5",
            b"1.5\n",
            b"nan",
            b"inf",
            b"0x1p3",
            b"1234567890123456.0",
            b"1.123456789012345678",
        ] {
            assert_eq!(FLOAT.parse(bad), None, "{}", bad.escape_ascii());
        }
        for bad in [
            &b""[..],
            b"-5",
            b"1.5",
            b" 7",
            b"7e9",
            b"1234567890123456",
            "٣".as_bytes(),
        ] {
            assert_eq!(Unit::Seconds.parse(bad), None, "{}", bad.escape_ascii());
            assert_eq!(Unit::Millis.parse(bad), None, "{}", bad.escape_ascii());
        }
        for bad in [
            &b""[..],
            &[1; 7],
            &[1; 9],
            &[255; 8],
            &[0, 0, 0, 0, 0, 0, 0, 128],
        ] {
            assert_eq!(Unit::LittleEndianSeconds.parse(bad), None, "{bad:?}");
        }
    }
}
