//! Commands to paste into a shell.

use warmbin_store::{Record, RecordDetail};

/// Headers that belong to the original connection, or whose kept values are masked.
const LEFT_OUT: [&str; 8] = [
    "HTTP_HOST",
    "HTTP_CONNECTION",
    "HTTP_ACCEPT_ENCODING",
    "HTTP_COOKIE",
    "HTTP_AUTHORIZATION",
    "HTTP_PROXY_AUTHORIZATION",
    "HTTP_USER_AGENT",
    "HTTP_WARMBIN_MODE",
];

/// A word that any POSIX shell reads back as `text`.
pub(crate) fn quoted(text: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-._/:@%+,=".contains(c);
    if !text.is_empty() && text.chars().all(harmless) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A request for `url` in a mode.
pub(crate) fn in_mode(url: &str, mode: &str) -> String {
    format!(
        "curl -i -H {} {}",
        quoted(&format!("Warmbin-Mode: {mode}")),
        quoted(url)
    )
}

/// The request of `record` once more. The body is not kept: a file `body` stands for it.
pub(crate) fn repeat(record: &Record, detail: &RecordDetail, programs_url: &str) -> String {
    let mut words = vec!["curl -i".to_owned()];
    match record.method.as_str() {
        "GET" => {}
        "HEAD" => words.push("-I".to_owned()),
        method => words.push(format!("-X {}", quoted(method))),
    }
    words.push(format!(
        "-H {}",
        quoted(&format!("Warmbin-Mode: {}", record.mode))
    ));
    for variable in &detail.environment {
        let name = match variable.name.as_str() {
            "CONTENT_TYPE" => "Content-Type".to_owned(),
            name if LEFT_OUT.contains(&name) => continue,
            name => match name.strip_prefix("HTTP_") {
                Some(header) => header.to_lowercase().replace('_', "-"),
                None => continue,
            },
        };
        if !variable.value.is_empty() {
            words.push(format!("-H {}", quoted(&format!("{name}: {}", variable.value))));
        }
    }
    if record.request_bytes > 0 {
        words.push("--data-binary @body".to_owned());
    }
    let question = if record.query.is_empty() { "" } else { "?" };
    words.push(quoted(&format!(
        "{programs_url}{}{question}{}",
        record.path, record.query
    )));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_quoted_word_cannot_end_early() {
        assert_eq!(quoted("http://h:1/a%20b"), "http://h:1/a%20b");
        assert_eq!(quoted("a'; rm -rf ~ #"), r"'a'\''; rm -rf ~ #'");
        assert_eq!(quoted("$(x)`y`"), "'$(x)`y`'");
        assert_eq!(quoted(""), "''");
    }
}
