//! Parameters of the query string.

/// The value of `name` in `QUERY_STRING`, decoded (`+` and `%XX`).
#[must_use]
pub fn parameter(name: &str) -> Option<String> {
    find(&std::env::var("QUERY_STRING").ok()?, name)
}

/// The value of `name` as a number, or `default` if it is absent or no number.
#[must_use]
pub fn number(name: &str, default: u64) -> u64 {
    parameter(name)
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

fn find(query: &str, name: &str) -> Option<String> {
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(key) == name).then(|| decode(value))
    })
}

/// Decodes one form-encoded word; a stray `%` stands for itself.
#[must_use]
pub fn decode(word: &str) -> String {
    String::from_utf8_lossy(&decode_percent(&word.replace('+', " "))).into_owned()
}

/// Decodes `%XX`, to bytes; a stray `%` stands for itself.
#[must_use]
pub fn decode_percent(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after.split_at_checked(2)) {
            (b'%', Some((digits, after_digits))) if digits.iter().all(u8::is_ascii_hexdigit) => {
                bytes.push(hex(digits));
                rest = after_digits;
            }
            (other, _) => bytes.push(other),
        }
    }
    bytes
}

/// The value of hexadecimal digits; others count as zero.
fn hex(digits: &[u8]) -> u8 {
    digits.iter().fold(0, |value, digit| {
        let nibble = char::from(*digit)
            .to_digit(16)
            .and_then(|nibble| u8::try_from(nibble).ok());
        (value << 4) | nibble.unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_decoded_and_stray_percent_signs_stand() {
        for (word, plain) in [
            ("a+b", "a b"),
            ("%41%2f", "A/"),
            ("100%", "100%"),
            ("%zz", "%zz"),
            ("%4", "%4"),
            ("", ""),
        ] {
            assert_eq!(decode(word), plain, "{word}");
        }
    }

    #[test]
    fn the_first_pair_of_a_name_counts() {
        assert_eq!(find("a=1&b=2&a=3", "a").as_deref(), Some("1"));
        assert_eq!(find("flag&x=", "flag").as_deref(), Some(""));
        assert_eq!(find("ab=1", "a"), None);
    }
}
