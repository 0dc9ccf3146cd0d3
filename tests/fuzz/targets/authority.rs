//! A Host: what becomes SERVER_NAME is a name or an address, and nothing that a page could take for markup.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warmbin_cgi::authority::server_name;

fuzz_target!(|authority: &[u8]| {
    if let Some(name) = server_name(authority) {
        assert!(!name.is_empty() && name.len() <= authority.len());
        assert!(
            !name.contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"'&/?#@".contains(c)),
            "{name:?}"
        );
        assert!(!name.contains(|c: char| c.is_ascii_uppercase()), "{name:?}");
    }
});
