//! A reader of `multipart/form-data` (RFC 7578) that holds one buffer, however large the files are.

use std::io::{self, Read};

/// The most a part's header block may take.
const HEADER_LIMIT: usize = 8 * 1024;
const CHUNK: usize = 64 * 1024;

/// What is known of one part when it has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The field's name.
    pub name: String,
    /// The file's name, if the field is a file.
    pub file_name: Option<String>,
    /// Bytes of content.
    pub size: u64,
    /// FNV-1a, 64 bits, over the content.
    pub checksum: u64,
}

/// The boundary named by a Content-Type, if it is `multipart/form-data`.
#[must_use]
pub fn boundary(content_type: &str) -> Option<String> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let value = attribute(parameters, "boundary")?;
    (!value.is_empty() && value.len() <= 70).then_some(value)
}

/// Reads every part of `body`.
pub fn read(body: impl Read, boundary: &str) -> io::Result<Vec<Part>> {
    let mut scanner = Scanner {
        body,
        buffer: b"\r\n".to_vec(),
        at_end: false,
    };
    // The first delimiter has no line break before it; the buffer begins with one so that all look alike.
    let delimiter = format!("\r\n--{boundary}").into_bytes();
    scanner.until(&delimiter, |_| {})?;
    let mut parts = Vec::new();
    loop {
        match scanner.take_two()? {
            [b'-', b'-'] => return Ok(parts),
            [b'\r', b'\n'] => {}
            _ => {
                return Err(broken(
                    "a boundary is followed by neither a line break nor two dashes",
                ));
            }
        }
        // Likewise the header block: an empty one is then a blank line after a line break, too.
        scanner.buffer.splice(..0, *b"\r\n");
        let (mut header, mut too_long) = (Vec::new(), false);
        scanner.until(b"\r\n\r\n", |piece| {
            too_long |= header.len() + piece.len() > HEADER_LIMIT;
            if !too_long {
                header.extend_from_slice(piece);
            }
        })?;
        if too_long {
            return Err(broken("a part's header block is too long"));
        }
        let (name, file_name) = disposition(&String::from_utf8_lossy(&header))
            .ok_or_else(|| broken("a part has no Content-Disposition with a name"))?;
        let (mut size, mut checksum) = (0, 0xcbf2_9ce4_8422_2325);
        scanner.until(&delimiter, |piece| {
            size += piece.len() as u64;
            checksum = fnv1a(checksum, piece);
        })?;
        parts.push(Part {
            name,
            file_name,
            size,
            checksum,
        });
    }
}

/// FNV-1a over `bytes`, continuing from `state`.
fn fnv1a(state: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(state, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn disposition(header: &str) -> Option<(String, Option<String>)> {
    header.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let (kind, parameters) = value.split_once(';')?;
        (name.eq_ignore_ascii_case("content-disposition") && kind.trim().eq_ignore_ascii_case("form-data"))
            .then(|| Some((attribute(parameters, "name")?, attribute(parameters, "filename"))))?
    })
}

/// The value of one `; name=value` or `; name="value"` parameter.
fn attribute(parameters: &str, wanted: &str) -> Option<String> {
    let mut rest = parameters;
    loop {
        rest = rest.trim_start_matches([';', ' ', '\t']);
        let (name, after) = rest.split_once('=')?;
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_once(';').unwrap_or((after, "")),
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value.trim().to_owned());
        }
        rest = next;
    }
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

struct Scanner<R> {
    body: R,
    buffer: Vec<u8>,
    at_end: bool,
}

impl<R: Read> Scanner<R> {
    /// Hands everything before the next `mark` to `visit`, piece by piece, and consumes the mark.
    fn until(&mut self, mark: &[u8], mut visit: impl FnMut(&[u8])) -> io::Result<()> {
        loop {
            if let Some(at) = self.buffer.windows(mark.len()).position(|window| window == mark) {
                visit(self.buffer.get(..at).unwrap_or_default());
                self.buffer.drain(..at + mark.len());
                return Ok(());
            }
            // The tail may be the beginning of a mark.
            let certain = self.buffer.len().saturating_sub(mark.len() - 1);
            visit(self.buffer.get(..certain).unwrap_or_default());
            self.buffer.drain(..certain);
            self.fill()?;
        }
    }

    fn take_two(&mut self) -> io::Result<[u8; 2]> {
        while self.buffer.len() < 2 {
            self.fill()?;
        }
        let mut two = [0; 2];
        for (slot, byte) in two.iter_mut().zip(self.buffer.drain(..2)) {
            *slot = byte;
        }
        Ok(two)
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.at_end {
            return Err(broken("the body ends before its last boundary"));
        }
        let read = self
            .body
            .by_ref()
            .take(CHUNK as u64)
            .read_to_end(&mut self.buffer)?;
        self.at_end = read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, so that every mark is split everywhere.
    struct Dribble<'a>(&'a [u8]);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let wanted = buffer.len().min(1);
            self.0.read(&mut buffer[..wanted])
        }
    }

    const FORM: &[u8] = b"--xyz\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA\r\n--xy\r\n--xyz\r\n\
        Content-Disposition: form-data; name=\"file\"; filename=\"a;b.bin\"\r\nContent-Type: x/y\r\n\r\n\r\n--xyz--";

    #[test]
    fn parts_are_found_however_the_body_is_cut() {
        let whole = read(FORM, "xyz").expect("well-formed");
        assert_eq!(
            whole,
            read(io::BufReader::with_capacity(1, Dribble(FORM)), "xyz").expect("well-formed")
        );
        assert_eq!(whole.len(), 2);
        assert_eq!(
            (whole[0].name.as_str(), whole[0].size),
            ("title", b"A\r\n--xy".len() as u64)
        );
        assert_eq!(
            (whole[1].file_name.as_deref(), whole[1].size),
            (Some("a;b.bin"), 0)
        );
        assert_eq!(
            whole[1].checksum, 0xcbf2_9ce4_8422_2325,
            "nothing hashed is FNV's offset basis"
        );
    }

    #[test]
    fn a_known_checksum_is_reproduced() {
        assert_eq!(fnv1a(0xcbf2_9ce4_8422_2325, b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn broken_bodies_are_errors() {
        for body in [
            &b""[..],
            b"--xyz",
            b"--xyz\r\n\r\nx\r\n--xyz--",
            b"--xyz??",
            &FORM[..FORM.len() - 2],
        ] {
            assert!(read(body, "xyz").is_err(), "{}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn only_form_data_has_a_boundary() {
        assert_eq!(
            boundary("multipart/form-data; charset=x; boundary=\"a b\"").as_deref(),
            Some("a b")
        );
        assert_eq!(
            boundary("Multipart/Form-Data;boundary=abc").as_deref(),
            Some("abc")
        );
        assert_eq!(boundary("text/plain; boundary=abc"), None);
        assert_eq!(boundary("multipart/form-data"), None);
    }
}
