//! A request path: whatever is asked for, what is left after decoding stays below the root, and its splits are the path.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warmbin_cgi::EncodedSlashes;
use warmbin_cgi::path::{decode, script_splits, strip_mount};

fuzz_target!(|raw: &str| {
    for slashes in [
        EncodedSlashes::Reject,
        EncodedSlashes::Decode,
        EncodedSlashes::Keep,
    ] {
        let Ok(path) = decode(raw, slashes) else { continue };
        assert!(path.starts_with(b"/"));
        assert!(!path.contains(&0));
        assert!(path.len() <= raw.len().max(1));
        for segment in path.split(|byte| *byte == b'/') {
            assert!(segment != b"." && segment != b"..", "{path:?}");
        }
        for (file, extra) in script_splits(&path) {
            assert!(file.starts_with(b"/") && !file.ends_with(b"/"));
            assert!(extra.is_empty() || extra.starts_with(b"/"));
            assert!(path.ends_with(extra));
        }
        assert_eq!(strip_mount(&path, "/"), Some(&*path));
    }
});
