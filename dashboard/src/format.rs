//! Quantities and times the way pages show them: three digits, a unit, the exact value at hand.
//!
//! Owns: rounding, units, separators. Must not know: which page asks.

use std::fmt;

use time::OffsetDateTime;
use time::format_description::StaticFormatDescription;
use time::macros::format_description;

/// Keeps a number and its unit on one line.
const SPACE: char = '\u{a0}';

/// The present, in microseconds since the epoch.
pub(crate) fn now_us() -> i64 {
    i64::try_from(OffsetDateTime::now_utc().unix_timestamp_nanos() / 1000).unwrap_or(i64::MAX)
}

/// A count as a float, for shares and scales.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts above 2^53 do not occur, and shares are rounded anyway"
)]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// A duration in microseconds. Displays with three digits and the unit that suits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Micros(pub(crate) u64);

impl Micros {
    /// Every digit, for a tooltip.
    pub(crate) fn exact(self) -> String {
        format!("{}{SPACE}µs", Count(self.0))
    }

    /// The number alone, with every digit.
    pub(crate) fn digits(self) -> Count {
        Count(self.0)
    }

    /// A round value without needless digits, for an axis: `200 µs`, `5 ms`, `10 s`.
    pub(crate) fn round_label(self) -> String {
        match self.0 {
            us if us >= 1_000_000 && us.is_multiple_of(1_000_000) => format!("{}{SPACE}s", us / 1_000_000),
            us if us >= 1000 && us.is_multiple_of(1000) => format!("{}{SPACE}ms", us / 1000),
            us => format!("{us}{SPACE}µs"),
        }
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = float(self.0);
        if self.0 < 1000 {
            write!(f, "{}{SPACE}µs", self.0)
        } else if us < 999_500.0 {
            write!(f, "{}{SPACE}ms", three_digits(us / 1e3))
        } else {
            write!(f, "{}{SPACE}s", three_digits(us / 1e6))
        }
    }
}

/// `1.23`, `12.3`, `123`, `1234`. The limits are where rounding would add a digit.
pub(crate) fn three_digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// A number with thousands separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

/// A size. Displays in binary units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

impl Bytes {
    /// Every digit, for a tooltip.
    pub(crate) fn exact(self) -> String {
        format!("{}{SPACE}bytes", Count(self.0))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1024 {
            return write!(f, "{}{SPACE}B", self.0);
        }
        let mut value = float(self.0) / 1024.0;
        let mut unit = "KiB";
        for larger in ["MiB", "GiB", "TiB"] {
            if value < 1023.5 {
                break;
            }
            value /= 1024.0;
            unit = larger;
        }
        write!(f, "{}{SPACE}{unit}", three_digits(value))
    }
}

/// `part` of `whole` as a percentage: `0 %`, `0.12 %`, `<0.01 %`, `100 %`. Only none at all is `0 %`, and only
/// all of it `100 %`.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return format!("0{SPACE}%");
    }
    if part >= whole {
        return format!("100{SPACE}%");
    }
    let percent = 100.0 * float(part) / float(whole);
    if percent < 0.01 {
        format!("<0.01{SPACE}%")
    } else if percent >= 99.95 {
        format!(">99.9{SPACE}%")
    } else {
        format!("{}{SPACE}%", three_digits(percent))
    }
}

/// How long something has lasted, in words coarse enough to read at a glance.
pub(crate) fn age(us: i64) -> String {
    let seconds = us.max(0) / 1_000_000;
    match seconds {
        0..=119 => format!("{seconds}{SPACE}s"),
        120..=7199 => format!("{}{SPACE}min", seconds / 60),
        7200..=172_799 => format!("{}{SPACE}h", seconds / 3600),
        _ => format!("{}{SPACE}days", seconds / 86400),
    }
}

/// A moment, microseconds since the epoch, shown in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment(pub(crate) i64);

impl Moment {
    const CLOCK: StaticFormatDescription =
        format_description!("[hour]:[minute]:[second].[subsecond digits:3]");
    const DATE: StaticFormatDescription =
        format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");
    const MACHINE: StaticFormatDescription =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

    /// `12:03:11.123`.
    pub(crate) fn clock(self) -> String {
        self.formatted(Self::CLOCK)
    }

    /// `2026-12-01 12:03:11`.
    pub(crate) fn date(self) -> String {
        self.formatted(Self::DATE)
    }

    /// RFC 3339 with six decimals, as the API has it.
    pub(crate) fn machine(self) -> String {
        self.formatted(Self::MACHINE)
    }

    fn formatted(self, description: StaticFormatDescription) -> String {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1000)
            .ok()
            .and_then(|moment| moment.format(description).ok())
            .unwrap_or_else(|| format!("{}{SPACE}µs", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Count, Micros, Moment, share};

    fn plain(text: &impl ToString) -> String {
        text.to_string().replace('\u{a0}', " ")
    }

    #[test]
    fn durations_have_three_digits_and_never_a_fourth_from_rounding() {
        for (us, shown) in [
            (0, "0 µs"),
            (999, "999 µs"),
            (1000, "1.00 ms"),
            (9994, "9.99 ms"),
            (9995, "10.0 ms"),
            (99_949, "99.9 ms"),
            (99_950, "100 ms"),
            (999_499, "999 ms"),
            (999_500, "1.00 s"),
            (30_000_000, "30.0 s"),
        ] {
            assert_eq!(plain(&Micros(us)), shown, "{us}");
        }
        assert_eq!(plain(&Micros(1_234_567).exact()), "1,234,567 µs");
    }

    #[test]
    fn a_share_is_nought_or_all_only_when_it_truly_is() {
        for (part, whole, shown) in [
            (0, 0, "0 %"),
            (0, 9, "0 %"),
            (1, 1_000_000, "<0.01 %"),
            (1, 3, "33.3 %"),
            (999_999, 1_000_000, ">99.9 %"),
            (7, 7, "100 %"),
        ] {
            assert_eq!(plain(&share(part, whole)), shown, "{part}/{whole}");
        }
    }

    #[test]
    fn sizes_counts_and_moments_read_naturally() {
        assert_eq!(plain(&Bytes(1023)), "1023 B");
        assert_eq!(plain(&Bytes(1_048_575)), "1.00 MiB");
        assert_eq!(plain(&Count(1_234_567)), "1,234,567");
        assert_eq!(plain(&Count(999)), "999");
        assert_eq!(
            Moment(1_764_558_191_123_456).machine(),
            "2025-12-01T03:03:11.123456Z"
        );
        assert_eq!(Moment(1_764_558_191_123_456).clock(), "03:03:11.123");
    }
}
