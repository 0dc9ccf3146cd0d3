//! Paths case by case, then what holds for all of them.

use proptest::prelude::*;

use super::*;

fn decoded(raw: &str, slashes: EncodedSlashes) -> Result<String, PathError> {
    decode(raw, slashes).map(|path| String::from_utf8(path).unwrap())
}

#[test]
fn decodes_once_and_removes_dot_segments() {
    for (raw, path) in [
        ("/", "/"),
        ("//", "//"),
        ("/a//b/", "/a//b/"),
        ("/a%20b%3Fc", "/a b?c"),
        ("/%61%2562", "/a%62"),
        ("/a/../b", "/b"),
        ("/a/%2e%2E/b", "/b"),
        ("/a/.%2e/b", "/b"),
        ("/a/./b", "/a/b"),
        ("/a/%2e/b", "/a/b"),
        ("/a/.", "/a/"),
        ("/a/..", "/"),
        ("/a/../", "/"),
        ("/a//./b", "/a//b"),
        ("/a//../b", "/b"),
        ("/a//b/..", "/a//"),
        ("/a//b/../c", "/a//c"),
        ("/cgi/../cgi/env", "/cgi/env"),
        ("/a/b/c/../d/e/../../f", "/a/b/f"),
        ("/a/b/c/../d/e/../../../../f/..", "/"),
        ("/...", "/..."),
        ("/.a/..b/c..", "/.a/..b/c.."),
        ("/a%5C..%5Cb", "/a\\..\\b"),
        ("/a%0Ab", "/a\nb"),
        ("/caf%C3%A9/é", "/café/é"),
    ] {
        assert_eq!(
            decoded(raw, EncodedSlashes::Reject).as_deref(),
            Ok(path),
            "{raw:?}"
        );
    }
    assert_eq!(decode("/%FF", EncodedSlashes::Reject).unwrap(), b"/\xff");
}

#[test]
fn says_why_a_path_is_refused() {
    for (raw, error) in [
        ("", PathError::NotAbsolute),
        ("*", PathError::NotAbsolute),
        ("a/b", PathError::NotAbsolute),
        ("%2Fa", PathError::NotAbsolute),
        ("/%", PathError::BadEncoding),
        ("/%4", PathError::BadEncoding),
        ("/%zz", PathError::BadEncoding),
        ("/%+1", PathError::BadEncoding),
        ("/a%00b", PathError::Nul),
        ("/a\0b", PathError::Nul),
        ("/a\nb", PathError::Control),
        ("/a\x7fb", PathError::Control),
        ("/a%2Fb", PathError::EncodedSlash),
        ("/a%2fb", PathError::EncodedSlash),
        ("/..", PathError::AboveRoot),
        ("/a/../..", PathError::AboveRoot),
        ("/%2e%2e/a", PathError::AboveRoot),
        ("//..", PathError::AboveRoot),
        ("/.//..", PathError::AboveRoot),
    ] {
        assert_eq!(decoded(raw, EncodedSlashes::Reject), Err(error), "{raw:?}");
    }
}

#[test]
fn encoded_slashes_follow_the_policy() {
    use EncodedSlashes::{Decode, Keep};
    for (raw, slashes, path) in [
        ("/a%2Fb%2fc", Decode, "/a/b/c"),
        ("/a%2Fb%2fc", Keep, "/a%2Fb%2fc"),
        ("/a/..%2Fb", Decode, "/b"),
        ("/a%2f..%2fb", Decode, "/b"),
        ("/a/..%2Fb", Keep, "/a/..%2Fb"),
    ] {
        assert_eq!(decoded(raw, slashes).as_deref(), Ok(path), "{raw:?} {slashes:?}");
    }
    assert_eq!(decoded("/..%2Fetc", Decode), Err(PathError::AboveRoot));
}

#[test]
fn a_mount_matches_whole_segments_and_keeps_the_extra_path() {
    for (path, prefix, rest) in [
        ("/cgi-bin/env", "/cgi-bin/env", Some("")),
        ("/cgi-bin/env/", "/cgi-bin/env", Some("/")),
        ("/cgi-bin/env//a//b", "/cgi-bin/env", Some("//a//b")),
        ("//cgi-bin///env/a", "/cgi-bin/env", Some("/a")),
        ("/cgi-bin/env/a", "/cgi-bin/env/", Some("/a")),
        ("/cgi-bin/environ", "/cgi-bin/env", None),
        ("/cgi-bin", "/cgi-bin/env", None),
        ("/cgi-bin/", "/cgi-bin/env", None),
        ("/x", "/", Some("/x")),
        ("//x", "", Some("//x")),
        ("x", "", None),
        ("cgi-bin/env", "/cgi-bin/env", None),
    ] {
        assert_eq!(
            strip_mount(path.as_bytes(), prefix),
            rest.map(str::as_bytes),
            "{path:?} at {prefix:?}"
        );
    }
}

#[test]
fn splits_from_the_shortest_script_on() {
    for (rest, splits) in [
        ("/a/b/c", &[("/a", "/b/c"), ("/a/b", "/c"), ("/a/b/c", "")][..]),
        ("/a/", &[("/a", "/")]),
        ("//a///b//", &[("/a", "///b//"), ("/a/b", "//")]),
        ("/", &[]),
        ("", &[]),
        ("a/b", &[]),
    ] {
        let found: Vec<_> = script_splits(rest.as_bytes()).collect();
        let wanted: Vec<_> = splits
            .iter()
            .map(|(f, e)| (f.as_bytes().to_vec(), e.as_bytes()))
            .collect();
        assert_eq!(found, wanted, "{rest:?}");
    }
}

proptest! {
    #[test]
    fn decoding_keeps_its_promises(
        raw in "(/|[.]|%2e|%2F|%25|%00|%|a|é|\n){0,24}",
        slashes in prop_oneof![Just(EncodedSlashes::Reject), Just(EncodedSlashes::Decode), Just(EncodedSlashes::Keep)],
    ) {
        if let Ok(path) = decode(&raw, slashes) {
            prop_assert!(path.starts_with(b"/"));
            prop_assert!(!path.contains(&0));
            prop_assert!(path.len() <= raw.len());
            prop_assert!(path.split(|&b| b == b'/').all(|s| s != b"." && s != b".."), "{:?}", path);
            prop_assert_eq!(remove_dot_segments(&path), Ok(path));
        }
    }

    #[test]
    fn any_text_is_decoded_or_refused(raw in "\\PC*|/.*") {
        let _ = decode(&raw, EncodedSlashes::Decode);
    }

    /// Script and extra path put together are the path, but for the slashes that count as one.
    #[test]
    fn splits_lose_nothing(path in "[/ab]{0,20}") {
        let squeezed = |bytes: &[u8]| -> Vec<u8> {
            let mut all = bytes.to_vec();
            all.dedup_by(|a, b| *a == b'/' && *b == b'/');
            all
        };
        for (file, extra) in script_splits(path.as_bytes()) {
            prop_assert!(file.starts_with(b"/") && !file.ends_with(b"/"));
            prop_assert!(extra.is_empty() || extra.starts_with(b"/"));
            prop_assert_eq!(squeezed(&[&file, extra].concat()), squeezed(path.as_bytes()));
            let prefix = String::from_utf8(file.clone()).unwrap();
            prop_assert_eq!(strip_mount(path.as_bytes(), &prefix), Some(extra));
        }
    }
}
