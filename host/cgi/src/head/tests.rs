//! Header blocks case by case, then what holds for all of them.

use bytes::Bytes;
use http::{HeaderMap, header};
use proptest::prelude::*;

use super::*;

/// What a parser said, comparable: the head and all of the body, or the error.
#[derive(Debug, Clone, PartialEq)]
struct Answer {
    kind: ResponseKind,
    status: u16,
    reason: Option<String>,
    headers: HeaderMap,
    content_length: Option<u64>,
    chunked: bool,
    dropped: Vec<String>,
    body: Vec<u8>,
}

/// Feeds output cut into pieces of the given sizes, repeated as needed.
fn parse_cut(output: &[u8], sizes: &[usize], limits: HeadLimits) -> Result<Answer, HeadError> {
    parse_style(output, sizes, limits, HeadStyle::Parsed)
}

fn parse_style(
    output: &[u8],
    sizes: &[usize],
    limits: HeadLimits,
    style: HeadStyle,
) -> Result<Answer, HeadError> {
    let mut parser = HeadParser::new(limits, style);
    let mut left = Bytes::copy_from_slice(output);
    for size in sizes.iter().cycle() {
        if left.is_empty() {
            break;
        }
        let piece = left.split_to((*size).min(left.len()));
        if let Progress::Complete { head, rest } = parser.push(piece)? {
            return Ok(Answer {
                kind: head.kind,
                status: head.status.as_u16(),
                reason: head.reason,
                headers: head.headers,
                content_length: head.content_length,
                chunked: head.chunked,
                dropped: head.dropped,
                body: [&rest[..], &left].concat(),
            });
        }
    }
    Err(parser.finish())
}

fn parse(output: impl AsRef<[u8]>) -> Result<Answer, HeadError> {
    parse_cut(output.as_ref(), &[usize::MAX], HeadLimits::default())
}

fn fields(answer: &Answer) -> Vec<(&str, &[u8])> {
    answer
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect()
}

#[test]
fn a_document_in_any_line_ends() {
    for output in [
        "Content-Type: text/plain\nX-Foo: 1\n\n\nbody\r\n",
        "Content-Type: text/plain\r\nX-Foo: 1\r\n\r\n\nbody\r\n",
        "content-TYPE:text/plain\r\nX-Foo: \t 1 \t\n\r\n\nbody\r\n",
        "X-Foo:1\nCONTENT-TYPE: text/plain\r\n\n\nbody\r\n",
    ] {
        let answer = parse(output).unwrap();
        assert_eq!(
            (answer.kind.clone(), answer.status, answer.reason.clone()),
            (ResponseKind::Document, 200, None)
        );
        assert_eq!(answer.headers[header::CONTENT_TYPE], "text/plain");
        assert_eq!(answer.headers["x-foo"], "1");
        assert_eq!(answer.headers.len(), 2);
        assert_eq!(answer.body, b"\nbody\r\n", "{output:?}");
    }
}

#[test]
fn the_body_is_the_piece_itself_and_not_a_copy() {
    let piece = Bytes::from_static(b"Status: 200\n\nbody");
    let place = piece.as_ptr().wrapping_add(13);
    let Ok(Progress::Complete { rest, .. }) =
        HeadParser::new(HeadLimits::default(), HeadStyle::Parsed).push(piece)
    else {
        panic!("the block is complete")
    };
    assert_eq!((rest.as_ptr(), &rest[..]), (place, &b"body"[..]));
}

#[test]
fn status_in_any_place_and_case_decides_the_status() {
    for (block, status, reason) in [
        ("Status: 404 Not here", 404, Some("Not here")),
        ("status:404", 404, None),
        ("Content-Type: a/b\nSTATUS: 599   odd  ", 599, Some("odd")),
        ("Status: 201\nStatus: 202\tlast", 202, Some("last")),
        ("HTTP/1.1 404 Gone: away", 404, Some("Gone: away")),
        ("HTTP/1.0 500\nContent-Type: a/b", 500, None),
        ("HTTP/1.1 200 OK\nStatus: 403", 403, None),
        ("Location: http://x/\nStatus: 201 Created", 201, Some("Created")),
        ("Content-Type: a/b", 200, None),
        ("Location: http://x/", 302, None),
    ] {
        let answer = parse(format!("{block}\n\n")).unwrap();
        assert_eq!(
            (answer.status, answer.reason.as_deref()),
            (status, reason),
            "{block:?}"
        );
    }
    for value in [
        "999",
        "abc",
        "30",
        "0",
        "",
        "101 Switching Protocols",
        "600",
        "200OK",
        "+20",
        "2 0",
        "٢٠٠",
        "-200",
        "0200",
    ] {
        let answer = parse(format!("Content-Type: a/b\nStatus: {value}\n\n"));
        assert_eq!(answer, Err(HeadError::BadStatus(value.to_owned())), "{value:?}");
    }
    assert_eq!(parse("HTTP/1.1\n\n"), Err(HeadError::BadStatus(String::new())));
}

#[test]
fn interim_responses_are_left_out() {
    for output in [
        "HTTP/1.1 100 Continue\n\nHTTP/1.1 404 Gone\r\n\r\nbody",
        "Status: 103\r\nLink: </x>\r\n\r\nStatus: 404 Gone\n\nbody",
        "HTTP/1.1 102 P\n\nHTTP/1.1 100 C\n\nHTTP/1.1 103 E\nLink: </x>\n\nHTTP/1.1 404 Gone\n\nbody",
    ] {
        let answer = parse(output).unwrap();
        assert_eq!(
            (answer.status, answer.reason.as_deref()),
            (404, Some("Gone")),
            "{output:?}"
        );
        assert!(answer.headers.is_empty() && answer.body == b"body", "{answer:?}");
        assert!(answer.dropped[0].contains("interim"), "{answer:?}");
    }
    // A redirect behind one is still the sole field of its block.
    let answer = parse("HTTP/1.1 100 Continue\n\nLocation: /x\n\n").unwrap();
    assert_eq!(answer.kind, ResponseKind::LocalRedirect("/x".to_owned()));
    assert_eq!(parse("HTTP/1.1 100 Continue\n\n"), Err(HeadError::Incomplete));
    let endless = "HTTP/1.1 100 Continue\n\n".repeat(10_000);
    assert!(matches!(parse(endless), Err(HeadError::OverLimit { .. })));
}

#[test]
fn a_whole_response_needs_no_field_and_may_come_in_chunks() {
    let parse = |output: &str| {
        parse_style(
            output.as_bytes(),
            &[usize::MAX],
            HeadLimits::default(),
            HeadStyle::WholeResponse,
        )
    };
    let answer = parse("HTTP/1.0 200 OK\r\nServer: own\r\n\r\nbody").unwrap();
    assert_eq!(
        (answer.status, answer.chunked, &*answer.body),
        (200, false, &b"body"[..])
    );
    let answer = parse("HTTP/1.1 200 OK\nTransfer-Encoding: Chunked\nContent-Length: 9\n\n").unwrap();
    assert_eq!((answer.chunked, answer.content_length), (true, None));
    assert!(answer.headers.is_empty(), "{answer:?}");
    let answer = parse("Location: /x\n\n").unwrap();
    assert_eq!((answer.status, answer.kind), (302, ResponseKind::ClientRedirect));
    assert_eq!(
        parse("HTTP/1.1 200 OK\nTransfer-Encoding: gzip, chunked\n\n"),
        Err(HeadError::TransferEncoding)
    );
    assert_eq!(
        parse("<html>\n\n"),
        Err(HeadError::NoColon {
            line: 1,
            text: "<html>".to_owned()
        })
    );
}

#[test]
fn location_makes_the_kind_of_redirect_it_should() {
    use ResponseKind::{ClientRedirect, Document, LocalRedirect};
    for (block, kind, status) in [
        ("Location: http://x/", ClientRedirect, 302),
        ("LOCATION:/x?y=/../z", LocalRedirect("/x?y=/../z".to_owned()), 302),
        ("Location: /", LocalRedirect("/".to_owned()), 302),
        (
            "Location: /../../etc/passwd",
            LocalRedirect("/../../etc/passwd".to_owned()),
            302,
        ),
        ("Location: //evil/x", ClientRedirect, 302),
        ("Location: /a b", ClientRedirect, 302),
        ("Location: /a#b", ClientRedirect, 302),
        ("Location: other.html", ClientRedirect, 302),
        ("Location: /x\nSet-Cookie: a=1", ClientRedirect, 302),
        ("Content-Type: a/b\nLocation: /x", ClientRedirect, 302),
        ("Location: /x\nStatus: 303", ClientRedirect, 303),
        ("Location: /x\n<!--: spam", ClientRedirect, 302),
        ("HTTP/1.1 307 x\nLocation: /x", ClientRedirect, 307),
        ("Location: /x\nStatus: 201", Document, 201),
    ] {
        let answer = parse(format!("{block}\n\n")).unwrap();
        assert_eq!((answer.kind.clone(), answer.status), (kind, status), "{block:?}");
        assert!(answer.headers.contains_key(header::LOCATION), "{block:?}");
    }
    assert!(
        parse("Location: /x\nSet-Cookie: a=1\n\n")
            .unwrap()
            .headers
            .contains_key(header::SET_COOKIE)
    );
}

#[test]
fn fields_pass_or_not_under_their_rules() {
    for (block, passed) in [
        (
            "Set-Cookie: b=2\nSet-Cookie: a=1",
            &[("set-cookie", "b=2"), ("set-cookie", "a=1")][..],
        ),
        ("Content-Type: a/b\nContent-Type: c/d", &[("content-type", "c/d")]),
        (
            "Date: Mon, 05 Jan 2026 10:00:00 GMT\nDate: Tue, 06 Jan 2026 10:00:00 GMT\nServer: z\nServer: z",
            &[("date", "Tue, 06 Jan 2026 10:00:00 GMT"), ("server", "z")],
        ),
        ("Foo_Bar: 1\nX!: 2", &[("foo_bar", "1"), ("x!", "2")]),
        ("X: a:b\nY:", &[("x", "a:b"), ("y", "")]),
        ("X: \u{e9}", &[("x", "\u{e9}")]),
        (
            "Connection: close, X-Hop\nX-Hop: 1\nKeep-Alive: x\nUpgrade: h2c\nTE: x\nTrailer: x\nProxy-Connection: x",
            &[],
        ),
        ("Content-Length: 5", &[]),
    ] {
        let answer = parse(format!("Status: 200\n{block}\n\n")).unwrap();
        let passed: Vec<_> = passed
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()))
            .collect();
        assert_eq!(fields(&answer), passed, "{block:?}");
        assert_eq!(answer.dropped, [""; 0], "{block:?}");
    }
}

#[test]
fn what_is_odd_but_harmless_is_dropped_and_noted() {
    for (block, note) in [
        (
            "<!--: spam",
            r#"line 2 was dropped, no field has such a name: "<!--: spam""#,
        ),
        (
            "\u{feff}X: 1",
            r#"line 2 was dropped, no field has such a name: "\u{feff}X: 1""#,
        ),
        (
            "Content-Type:",
            r#"line 2 was dropped, it is empty: "Content-Type:""#,
        ),
        (
            "Location: \t",
            r#"line 2 was dropped, it is empty: "Location: \t""#,
        ),
    ] {
        let answer = parse(format!("Status: 200\n{block}\n\n")).unwrap();
        assert_eq!(
            (fields(&answer), answer.dropped.clone()),
            (vec![], vec![note.to_owned()]),
            "{block:?}"
        );
    }
}

#[test]
fn only_a_content_length_beyond_doubt_is_believed() {
    for (lengths, believed, notes) in [
        (&["5"][..], Some(5), 0),
        (&["0"], Some(0), 0),
        (&["5", "05"], Some(5), 0),
        (&["18446744073709551615"], Some(u64::MAX), 0),
        (&["18446744073709551616"], None, 1),
        (&["-1"], None, 1),
        (&["+5"], None, 1),
        (&["abc"], None, 1),
        (&["5, 5"], None, 1),
        (&[""], None, 1),
        (&["5", "6"], None, 1),
        (&["5", "6", "5"], None, 2),
        (&["abc", "5"], None, 2),
    ] {
        let block: String = lengths
            .iter()
            .flat_map(|length| ["Content-Length: ", length, "\n"])
            .collect();
        let answer = parse(format!("Content-Type: a/b\n{block}\n")).unwrap();
        assert_eq!(
            (answer.content_length, answer.dropped.len()),
            (believed, notes),
            "{lengths:?}"
        );
        assert!(!answer.headers.contains_key(header::CONTENT_LENGTH));
    }
}

#[test]
fn a_malformed_line_is_refused_with_its_number_and_text() {
    let no_colon = HeadError::NoColon {
        line: 2,
        text: "oops".to_owned(),
    };
    assert_eq!(parse("Content-Type: a/b\noops\n\n"), Err(no_colon.clone()));
    // At once: a program that prints no header block at all is told so before it is done.
    assert_eq!(parse("Content-Type: a/b\noops\n"), Err(no_colon));
    for line in [
        ": value",
        "a b: c",
        "a : c",
        "a\0: c",
        "a\x01: c",
        "a\x7f: c",
        "a\tb: c",
        " folded: x",
        "\tfolded",
        " ",
        "a: \x01",
        "a: b\0",
        "a: b\rSet-Cookie: c",
        "a: b\r\r",
        "Status: 200 \x01",
        "<!--: \x1b",
    ] {
        let answer = parse(format!("Content-Type: a/b\n{line}\r\n\n"));
        let Err(HeadError::BadField { line: 2, text, .. }) = answer else {
            panic!("{line:?}: {answer:?}")
        };
        assert!(
            line.starts_with(text.trim_end_matches('\r')),
            "{line:?}: {text:?}"
        );
    }
    let Err(HeadError::NoColon { text, .. }) = parse(format!("{}\n", "é".repeat(5000))) else {
        panic!()
    };
    assert_eq!(text, "é".repeat(80));
}

#[test]
fn a_block_without_what_the_protocol_requires_is_refused() {
    for (output, error) in [
        ("", HeadError::Empty),
        ("   ", HeadError::Empty),
        ("\t \r", HeadError::Empty),
        ("Content-Type: a/b", HeadError::Incomplete),
        ("Content-Type: a/b\n", HeadError::Incomplete),
        ("Content-Type: a/b\r\n\r", HeadError::Incomplete),
        ("\nbody", HeadError::NoRequiredField),
        ("\r\n\r\n", HeadError::NoRequiredField),
        ("X-Foo: 1\nContent-Length: 4\n\nbody", HeadError::NoRequiredField),
        ("Content-Type:\n\nbody", HeadError::NoRequiredField),
        ("<!--: spam\n\nbody", HeadError::NoRequiredField),
        (
            "Content-Type: a/b\nTransfer-Encoding: chunked\n\n",
            HeadError::TransferEncoding,
        ),
        ("transfer-encoding: identity\n", HeadError::TransferEncoding),
    ] {
        assert_eq!(parse(output), Err(error), "{output:?}");
    }
}

#[test]
fn limits_hold_to_the_byte() {
    let limits = HeadLimits {
        block: 64,
        line: 24,
        lines: 3,
    };
    let line = |length: usize| format!("Status: 200 {}", "x".repeat(length - 12));
    let over = |what, limit| HeadError::OverLimit { what, limit };
    for (output, error) in [
        (format!("{}\r\n\r\n", line(24)), None),
        (format!("{}\r\n\r\n", line(25)), Some(over("bytes in a line", 24))),
        (format!("{}\n\n", line(25)), Some(over("bytes in a line", 24))),
        ("x".repeat(25), Some(HeadError::Incomplete)),
        ("x".repeat(26), Some(over("bytes in a line", 24))),
        ("Status: 200\na:\nb:\n\n".to_owned(), None),
        ("Status: 200\na:\nb:\nc:\n\n".to_owned(), Some(over("lines", 3))),
        (format!("{}\n{}\n{}\n\n", line(20), line(20), line(20)), None),
        (
            format!("{}\n{}\n{}\n\n", line(20), line(20), line(21)),
            Some(over("bytes", 64)),
        ),
        (
            format!("{}\n{}\n{}\n\n", line(20), line(20), line(20)).replacen('\n', "\r\n", 2),
            Some(over("bytes", 64)),
        ),
    ] {
        for sizes in [&[usize::MAX][..], &[1], &[7]] {
            let answer = parse_cut(output.as_bytes(), sizes, limits);
            assert_eq!(answer.err(), error, "{output:?} in pieces of {sizes:?}");
        }
    }
    let nothing = HeadLimits {
        block: 0,
        line: 0,
        lines: 0,
    };
    assert_eq!(parse_cut(b"\n", &[1], nothing), Err(over("bytes", 0)));
}

#[test]
fn an_endless_line_is_refused_within_bounded_memory() {
    let mut parser = HeadParser::new(HeadLimits::default(), HeadStyle::Parsed);
    let piece = Bytes::from_static(&[b'x'; 1000]);
    let pushed = (1..100).find(|_| parser.push(piece.clone()).is_err());
    assert_eq!(pushed, Some(17));
}

#[test]
fn more_fields_than_a_map_can_hold_are_refused() {
    let limits = HeadLimits {
        block: usize::MAX,
        line: usize::MAX,
        lines: usize::MAX,
    };
    let output: String = std::iter::once("Status: 200\n".to_owned())
        .chain((0..40_000).map(|n| format!("x{n}:\n")))
        .collect();
    assert!(matches!(
        parse_cut(output.as_bytes(), &[usize::MAX], limits),
        Err(HeadError::OverLimit { what: "lines", .. })
    ));
}

/// Output that is often nearly a header block.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just("Content-Type: a/b"),
        Just("Status: 404 no"),
        Just("Location: /x"),
        Just("Location: http://x/"),
        Just("Set-Cookie: a=1"),
        Just("Content-Length: 5"),
        Just("Content-Length: x"),
        Just("Connection: X"),
        Just("X: y"),
        Just("<!--: z"),
        Just("HTTP/1.1 200 OK"),
        Just("HTTP/1.1 100 Continue\n\n"),
        Just("Status: 103\n\n"),
        Just("Transfer-Encoding: chunked"),
        Just("\n"),
        Just("\r\n"),
        Just("\r\n"),
        Just("\n"),
        Just("\n\n"),
        Just("\r"),
        Just(" "),
        Just(":"),
        Just("\0"),
        Just("é"),
        Just("xxxxxxxxxxxxxxxxxxxxxxxx"),
    ];
    let lines = proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat().into_bytes());
    prop_oneof![4 => lines, 1 => proptest::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn the_answer_does_not_depend_on_the_cuts(
        output in output(),
        sizes in proptest::collection::vec(1..20usize, 1..8),
        block in 0..120usize, line in 0..40usize, lines in 0..6usize,
    ) {
        for limits in [HeadLimits::default(), HeadLimits { block, line, lines }] {
            for style in [HeadStyle::Parsed, HeadStyle::WholeResponse] {
                let whole = parse_style(&output, &[usize::MAX], limits, style);
                prop_assert_eq!(&parse_style(&output, &sizes, limits, style), &whole);
                prop_assert_eq!(&parse_style(&output, &[1], limits, style), &whole);
            }
        }
    }

    #[test]
    fn a_head_keeps_its_promises(output in output(), block in 0..120usize) {
        let limits = HeadLimits { block, ..HeadLimits::default() };
        if let Ok(answer) = parse_cut(&output, &[usize::MAX], limits) {
            prop_assert!(output.len() - answer.body.len() <= block);
            prop_assert!(output.ends_with(&answer.body));
            prop_assert!((200..=599).contains(&answer.status));
            for name in ["status", "content-length", "transfer-encoding", "connection"] {
                prop_assert!(!answer.headers.contains_key(name));
            }
            for value in answer.headers.values() {
                prop_assert!(!value.as_bytes().iter().any(|b| matches!(b, b'\r' | b'\n' | 0)));
            }
            if let ResponseKind::LocalRedirect(target) = &answer.kind {
                prop_assert!(target.starts_with('/') && !target.starts_with("//"));
            }
        }
    }
}
