//! Commands to paste into a shell.

use warmbin_store::{MASKED, Record, RecordDetail};

use crate::ModeWish;

/// Headers that belong to the original connection, or that `curl` makes itself.
const NOT_REPEATED: [&str; 10] = [
    "HTTP_HOST",
    "HTTP_CONNECTION",
    "HTTP_ACCEPT_ENCODING",
    "HTTP_EXPECT",
    "HTTP_USER_AGENT",
    "HTTP_WARMBIN_MODE",
    // What a proxy added: with one of these a request may not pick its mode.
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_REAL_IP",
    "HTTP_X_REQUEST_ID",
];

/// A command that makes a recorded request again.
#[derive(Debug)]
pub(crate) struct Repeat {
    pub(crate) command: String,
    /// Headers that cannot be repeated, as their values are not kept.
    pub(crate) left_out: Vec<String>,
    /// Whether it reads a file `body`: bodies are not kept.
    pub(crate) needs_body: bool,
}

/// A word that any POSIX shell reads back as `text`.
pub(crate) fn quoted(text: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-._/:@%+,=".contains(c);
    if !text.is_empty() && text.chars().all(harmless) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// `words`, each quoted where it must be.
pub(crate) fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// A request for `url` in a mode, where requests may pick one.
pub(crate) fn in_mode(url: &str, mode: &str, wish: ModeWish) -> String {
    let mut words = vec!["curl -i".to_owned()];
    words.extend(wished(mode, wish));
    words.push(quoted(url));
    words.join(" ")
}

/// The headers that pick `mode`.
fn wished(mode: &str, wish: ModeWish) -> Vec<String> {
    let mode = format!("-H {}", quoted(&format!("Warmbin-Mode: {mode}")));
    match wish {
        ModeWish::Free => vec![mode],
        // In double quotes, so that the shell puts the token in.
        ModeWish::WithToken => vec![mode, "-H \"Authorization: Bearer $TOKEN\"".to_owned()],
        ModeWish::Never => Vec::new(),
    }
}

/// The request of `record` once more.
pub(crate) fn repeat(record: &Record, detail: &RecordDetail, programs_url: &str, wish: ModeWish) -> Repeat {
    let is_head = record.method == "HEAD";
    // `curl` cannot send a body with HEAD; no program gets to see much of one.
    let needs_body = has_body(record, detail) && !is_head;
    // Brackets in the path are no pattern, and its dots are the request's own.
    let mut words = vec!["curl -i -g --path-as-is".to_owned()];
    if is_head {
        words.push("-I".to_owned());
    } else if record.method != if needs_body { "POST" } else { "GET" } {
        words.push(format!("-X {}", quoted(&record.method)));
    }
    words.extend(wished(&record.mode, wish));
    let mut left_out = Vec::new();
    let mut typed = false;
    for variable in &detail.environment {
        let Some(name) = header_name(&variable.name) else {
            continue;
        };
        typed |= name == "content-type";
        if variable.value == MASKED {
            left_out.push(name);
        } else if variable.value.is_empty() {
            // For `curl`, a colon without a value would take the header away.
            words.push(format!("-H {}", quoted(&format!("{name};"))));
        } else {
            words.push(format!("-H {}", quoted(&format!("{name}: {}", variable.value))));
        }
    }
    if needs_body {
        if !typed {
            words.push("-H content-type:".to_owned());
        }
        words.push("--data-binary @body".to_owned());
    }
    let question = if record.query.is_empty() { "" } else { "?" };
    let url = format!("{programs_url}{}{question}{}", record.path, record.query);
    words.push(quoted(&url));
    Repeat {
        command: words.join(" "),
        left_out,
        needs_body,
    }
}

/// Whether the request had a body. What a program did not read counts as well: it was sent.
fn has_body(record: &Record, detail: &RecordDetail) -> bool {
    let stated = detail
        .environment
        .iter()
        .find(|variable| variable.name == "CONTENT_LENGTH");
    stated.map_or(record.request_bytes > 0, |length| {
        length.value.parse::<u64>().is_ok_and(|length| length > 0)
    })
}

/// The header that became a variable, if it did and is to be sent again.
fn header_name(variable: &str) -> Option<String> {
    if variable == "CONTENT_TYPE" {
        return Some("content-type".to_owned());
    }
    if NOT_REPEATED.contains(&variable) || variable.starts_with("HTTP_X_FORWARDED_") {
        return None;
    }
    let name = variable.strip_prefix("HTTP_")?;
    Some(name.to_ascii_lowercase().replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use warmbin_store::{MASKED, RecordDetail, ResponseField};

    use super::{ModeWish, in_mode, quoted, repeat};
    use crate::sample;

    #[test]
    fn a_quoted_word_cannot_end_early() {
        assert_eq!(quoted("http://h:1/a%20b"), "http://h:1/a%20b");
        assert_eq!(quoted("a'; rm -rf ~ #"), r"'a'\''; rm -rf ~ #'");
        assert_eq!(quoted("$(x)`y`"), "'$(x)`y`'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_mode_is_asked_for_only_as_the_host_allows() {
        for (wish, command) in [
            (ModeWish::Free, "curl -i -H 'Warmbin-Mode: fork' http://h/x"),
            (
                ModeWish::WithToken,
                "curl -i -H 'Warmbin-Mode: fork' -H \"Authorization: Bearer $TOKEN\" http://h/x",
            ),
            (ModeWish::Never, "curl -i http://h/x"),
        ] {
            assert_eq!(in_mode("http://h/x", "fork", wish), command);
        }
    }

    #[test]
    fn a_request_is_repeated_as_it_was() {
        let environment = |variables: &[(&str, &str)]| RecordDetail {
            environment: variables
                .iter()
                .map(|(name, value)| ResponseField {
                    name: (*name).to_owned(),
                    value: (*value).to_owned(),
                })
                .collect(),
            ..RecordDetail::default()
        };
        for (method, variables, options) in [
            (
                "GET",
                &[("HTTP_X_FORWARDED_FOR", "192.0.2.1"), ("PATH_INFO", "/a")][..],
                "",
            ),
            (
                "GET",
                &[("CONTENT_LENGTH", "5"), ("CONTENT_TYPE", "a/b")],
                "-X GET -H 'content-type: a/b' --data-binary @body ",
            ),
            (
                "POST",
                &[("CONTENT_LENGTH", "5")],
                "-H content-type: --data-binary @body ",
            ),
            ("POST", &[("CONTENT_LENGTH", "0")], "-X POST "),
            ("HEAD", &[("CONTENT_LENGTH", "5")], "-I "),
            (
                "BREW",
                &[("HTTP_X_API_KEY", MASKED), ("HTTP_X_EMPTY", ""), ("HTTP_A", "b")],
                "-X BREW -H 'x-empty;' -H 'a: b' ",
            ),
        ] {
            let mut record = sample::record(1, "fork", 0, 0);
            record.method = method.to_owned();
            record.path = "/cgi-bin/x/../[1-3]".to_owned();
            let repeated = repeat(&record, &environment(variables), "http://h", ModeWish::Never);
            let url = "'http://h/cgi-bin/x/../[1-3]?name=World'";
            assert_eq!(
                repeated.command,
                format!("curl -i -g --path-as-is {options}{url}"),
                "{variables:?}"
            );
            let masked = variables.iter().any(|(_, value)| *value == MASKED);
            assert_eq!(repeated.left_out == ["x-api-key"], masked, "{repeated:?}");
        }
    }
}
