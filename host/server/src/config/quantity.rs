//! Durations (`"30s"`) and sizes (`"256MiB"`) as operators write them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A length of time: a whole number with `ms`, `s`, `m`, `h` or `d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

/// A number of bytes: a whole number with nothing, `B`, `KiB`, `MiB` or `GiB` (also `K`, `M`, `G`, which mean
/// the same).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// Text that is no quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Not a duration.
    #[error("{0:?} is not a duration such as \"500ms\", \"30s\", \"5m\", \"2h\" or \"7d\"")]
    Span(String),
    /// Not a size.
    #[error("{0:?} is not a size such as \"64KiB\", \"256MiB\" or \"1GiB\"")]
    Size(String),
}

/// The number and the unit of `text`.
fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, unit.trim()))
}

impl FromStr for Span {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let bad = || QuantityError::Span(text.to_owned());
        let (number, unit) = split(text).ok_or_else(bad)?;
        let millis = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(bad()),
        };
        number
            .checked_mul(millis)
            .map(|ms| Self(Duration::from_millis(ms)))
            .ok_or_else(bad)
    }
}

impl FromStr for Size {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let bad = || QuantityError::Size(text.to_owned());
        let (number, unit) = split(text).ok_or_else(bad)?;
        let shift = match unit {
            "" | "B" => 0,
            "KiB" | "K" => 10,
            "MiB" | "M" => 20,
            "GiB" | "G" => 30,
            _ => return Err(bad()),
        };
        number.checked_mul(1 << shift).map(Self).ok_or_else(bad)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.as_millis();
        for (unit, length) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)] {
            if ms >= length && ms.is_multiple_of(length) {
                return write!(f, "{}{unit}", ms / length);
            }
        }
        write!(f, "{ms}ms")
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
            if self.0 >> shift > 0 && self.0.trailing_zeros() >= shift {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}B", self.0)
    }
}

macro_rules! as_text {
    ($($type:ty),+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}
as_text!(Span, Size);

#[cfg(test)]
mod tests {
    use super::{Size, Span};

    #[test]
    fn durations_are_read_and_shown_in_their_largest_whole_unit() {
        for (text, shown) in [
            ("1500ms", "1500ms"),
            ("30s", "30s"),
            ("60s", "1m"),
            (" 2 h", "2h"),
            ("7d", "7d"),
            ("0s", "0ms"),
        ] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), shown, "{text}");
        }
        for text in ["", "30", "s", "-1s", "1.5s", "1w", "18446744073709551615d"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, bytes, shown) in [
            ("0", 0, "0B"),
            ("1000", 1000, "1000B"),
            ("64KiB", 65_536, "64KiB"),
            ("1024K", 1 << 20, "1MiB"),
            ("1GiB", 1 << 30, "1GiB"),
        ] {
            let size: Size = text.parse().unwrap();
            assert_eq!((size.0, size.to_string().as_str()), (bytes, shown), "{text}");
        }
        for text in ["", "KiB", "1KB", "-1", "99999999999GiB"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
