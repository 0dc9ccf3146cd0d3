//! Chunks: no input panics the decoder, and what it makes of it does not depend on how reads are cut.

#![no_main]

use arbitrary::Arbitrary;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use warmbin_cgi::{ChunkDecoder, ChunkError};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    cuts: [u8; 4],
    output: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let cuts = input.cuts.map(|cut| usize::from(cut).max(1));
    let whole = decode(input.output, &[usize::MAX]);
    assert_eq!(whole, decode(input.output, &cuts));
    if let Ok((body, _)) = whole {
        assert!(body.len() <= input.output.len());
    }
});

fn decode(input: &[u8], cuts: &[usize]) -> Result<(Vec<u8>, bool), ChunkError> {
    let mut decoder = ChunkDecoder::default();
    let mut left = Bytes::copy_from_slice(input);
    let mut body = Vec::new();
    for cut in cuts.iter().cycle() {
        if left.is_empty() {
            break;
        }
        let mut piece = left.split_to((*cut).min(left.len()));
        while let Some(data) = decoder.next(&mut piece)? {
            body.extend_from_slice(&data);
        }
    }
    Ok((body, decoder.is_complete()))
}
