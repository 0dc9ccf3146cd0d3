//! Times: microseconds since the Unix epoch inside, RFC 3339 in UTC at the edge.

use time::OffsetDateTime;
use time::format_description::StaticFormatDescription;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

const FORMAT: StaticFormatDescription =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// The present, in microseconds since the epoch.
pub fn now_us() -> i64 {
    micros(OffsetDateTime::now_utc()).unwrap_or(i64::MAX)
}

/// RFC 3339 with `Z` and six decimals: `2026-01-31T09:05:00.000250Z`. Times beyond the year 9999, which the format
/// cannot express, are shown as its limit.
pub fn to_rfc3339(us: i64) -> String {
    const FIRST: i64 = -62_167_219_200_000_000; // 0000-01-01T00:00:00Z
    const LAST: i64 = 253_402_300_799_999_999; // 9999-12-31T23:59:59.999999Z
    let us = us.clamp(FIRST, LAST);
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(us) * 1000)
        .ok()
        .and_then(|moment| moment.format(FORMAT).ok())
        .unwrap_or_default()
}

/// Microseconds since the epoch of an RFC 3339 time in any offset; finer decimals are cut off.
pub fn from_rfc3339(text: &str) -> Option<i64> {
    micros(OffsetDateTime::parse(text, &Rfc3339).ok()?)
}

fn micros(moment: OffsetDateTime) -> Option<i64> {
    i64::try_from(moment.unix_timestamp_nanos().div_euclid(1000)).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn six_decimals_and_z_whatever_the_time() {
        for (us, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (1_769_850_300_000_250, "2026-01-31T09:05:00.000250Z"),
            (i64::MAX, "9999-12-31T23:59:59.999999Z"),
            (i64::MIN, "0000-01-01T00:00:00.000000Z"),
        ] {
            assert_eq!(to_rfc3339(us), text);
        }
    }

    #[test]
    fn reads_any_offset_and_refuses_the_rest() {
        for (text, us) in [
            ("1970-01-01T01:00:00+01:00", Some(0)),
            ("1970-01-01T00:00:00.0000019Z", Some(1)),
            // In UTC it is in a year that no such time can be written for.
            ("9999-12-31T23:59:59-23:59", Some(253_402_387_139_000_000)),
            ("1970-01-01", None),
            ("1970-01-01T00:00:00", None),
            ("", None),
        ] {
            assert_eq!(from_rfc3339(text), us, "{text}");
        }
    }

    proptest! {
        #[test]
        fn written_times_read_back(us in -62_167_219_200_000_000_i64..253_402_300_800_000_000) {
            prop_assert_eq!(from_rfc3339(&to_rfc3339(us)), Some(us));
        }
    }
}
