//! A header block: no output panics the parser or gets it past its limits, what it says does not depend on how reads are
//! cut, and a head holds nothing that HTTP could not carry.

#![no_main]

use arbitrary::Arbitrary;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use warmbin_cgi::{HeadError, HeadLimits, HeadParser, HeadStyle, Progress, ResponseHead};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    block: u16,
    line: u16,
    lines: u8,
    whole_response: bool,
    cuts: [u8; 4],
    output: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let limits = HeadLimits {
        block: input.block.into(),
        line: input.line.into(),
        lines: input.lines.into(),
    };
    let style = if input.whole_response {
        HeadStyle::WholeResponse
    } else {
        HeadStyle::Parsed
    };
    let whole = parse(input.output, &[usize::MAX], limits, style);
    let cuts = input.cuts.map(|cut| usize::from(cut).max(1));
    let in_pieces = parse(input.output, &cuts, limits, style);
    match (&whole, &in_pieces) {
        (Ok((head, body)), Ok((other_head, other_body))) => {
            assert_eq!(body, other_body);
            assert_eq!(format!("{head:?}"), format!("{other_head:?}"));
        }
        (Err(error), Err(other)) => assert_eq!(error, other),
        _ => panic!("{whole:?} whole, {in_pieces:?} in pieces"),
    }
    if let Ok((head, body)) = whole {
        assert!(input.output.ends_with(&body));
        assert!(input.output.len() - body.len() <= limits.block);
        assert!(head.headers.len() <= limits.lines);
        assert!((200..600).contains(&head.status.as_u16()));
        for name in [
            "status",
            "content-length",
            "transfer-encoding",
            "connection",
            "upgrade",
        ] {
            assert!(!head.headers.contains_key(name), "{name} is passed");
        }
        for value in head.headers.values() {
            assert!(
                !value
                    .as_bytes()
                    .iter()
                    .any(|byte| matches!(byte, b'\r' | b'\n' | 0))
            );
        }
    }
});

fn parse(
    output: &[u8],
    cuts: &[usize],
    limits: HeadLimits,
    style: HeadStyle,
) -> Result<(ResponseHead, Vec<u8>), HeadError> {
    let mut parser = HeadParser::new(limits, style);
    let mut left = Bytes::copy_from_slice(output);
    for cut in cuts.iter().cycle() {
        if left.is_empty() {
            break;
        }
        let piece = left.split_to((*cut).min(left.len()));
        if let Progress::Complete { head, rest } = parser.push(piece)? {
            return Ok((head, [&rest[..], &left].concat()));
        }
    }
    Err(parser.finish())
}
