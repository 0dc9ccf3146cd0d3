//! Dates of a program's head, as HTTP writes them (RFC 9110 §5.6.7).

use http::HeaderValue;

/// The date in HTTP's form; `None` if `value` is none. The form of mail in universal time, `Tue, 1 Dec 2026 13:15:23 +0000`,
/// is what gitweb and man2html write: it means a time, and is put right.
pub(super) fn http_date(value: HeaderValue) -> Option<HeaderValue> {
    let text = value.to_str().ok()?;
    if httpdate::parse_http_date(text).is_ok() {
        return Some(value);
    }
    let mut parts = text.split_ascii_whitespace();
    let (week, day) = (parts.next()?, parts.next()?);
    let (month, year, time) = (parts.next()?, parts.next()?, parts.next()?);
    if !matches!(parts.next()?, "+0000" | "-0000" | "UTC" | "UT") || parts.next().is_some() {
        return None;
    }
    let day: u8 = day.parse().ok()?;
    let date = format!("{week} {day:02} {month} {year} {time} GMT");
    httpdate::parse_http_date(&date).ok()?;
    HeaderValue::try_from(date).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::http_date;

    #[test]
    fn dates_of_mail_become_dates_of_http_and_others_are_none() {
        let good = "Tue, 01 Dec 2026 13:15:23 GMT";
        for (written, expected) in [
            (good, Some(good)),
            ("Tue, 1 Dec 2026 13:15:23 +0000", Some(good)),
            ("Tue, 01 Dec 2026 13:15:23 -0000", Some(good)),
            ("Tue, 1 Dec 2026 13:15:23 UTC", Some(good)),
            ("Tue, 1 Dec 2026 13:15:23 +0100", None),
            ("Tue, 1 Dec 2026 13:15:23 +0000 x", None),
            ("Tue, 32 Dec 2026 13:15:23 +0000", None),
            ("1 Dec 2026 13:15:23 +0000", None),
            ("0", None),
        ] {
            let date = http_date(HeaderValue::from_static(written));
            assert_eq!(date, expected.map(HeaderValue::from_static), "{written}");
        }
    }
}
