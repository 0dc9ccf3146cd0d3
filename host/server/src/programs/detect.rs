//! What a file is, told from its first bytes and never from its name.

use std::fmt;

/// How many bytes [`detect`] wants to see; a shebang line is cut off by the kernel at 256.
pub const HEAD_BYTES: usize = 512;

/// What a file was found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// An ELF file.
    Elf(Elf),
    /// A script: its first line names an interpreter.
    Script(Shebang),
    /// A core WebAssembly module.
    WasmModule,
    /// A WebAssembly component.
    WasmComponent,
    /// Code that a WebAssembly engine compiled ahead of time.
    Precompiled,
    /// WebAssembly in its text form.
    WasmText,
    /// Text whose first line names no interpreter.
    TextWithoutShebang,
    /// A format that is not run here, by name.
    Foreign(&'static str),
    /// No bytes at all.
    Empty,
    /// Anything else.
    Unknown,
}

/// The parts of an ELF header that decide whether it can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elf {
    /// `e_type`: 2 is an executable, 3 a shared object or a position-independent executable.
    pub kind: u16,
    /// `e_machine`.
    pub machine: u16,
}

/// The first line of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shebang {
    /// The interpreter's path.
    pub interpreter: String,
    /// What follows it, as the one argument that the kernel passes.
    pub argument: Option<String>,
    /// The line ends in CR LF, which makes the carriage return part of the interpreter's name.
    pub carriage_return: bool,
}

impl Kind {
    /// Whether it belongs into the field `wasm`.
    pub fn is_wasm(&self) -> bool {
        matches!(
            self,
            Self::WasmModule | Self::WasmComponent | Self::Precompiled | Self::WasmText
        )
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elf(_) => f.write_str("ELF executable"),
            Self::Script(shebang) => write!(f, "script (#!{shebang})"),
            Self::WasmModule => f.write_str("WebAssembly module (preview1)"),
            Self::WasmComponent => f.write_str("WebAssembly component"),
            Self::Precompiled => f.write_str("precompiled WebAssembly"),
            Self::WasmText => f.write_str("WebAssembly text"),
            Self::TextWithoutShebang => f.write_str("text without an interpreter line"),
            Self::Foreign(name) => f.write_str(name),
            Self::Empty => f.write_str("empty file"),
            Self::Unknown => f.write_str("unknown format"),
        }
    }
}

impl fmt::Display for Shebang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.argument {
            Some(argument) => write!(f, "{} {argument}", self.interpreter),
            None => f.write_str(&self.interpreter),
        }
    }
}

/// Tells what a file is from its first [`HEAD_BYTES`] bytes (or all, if it has fewer).
pub fn detect(head: &[u8]) -> Kind {
    match head {
        [] => Kind::Empty,
        [0x7f, b'E', b'L', b'F', rest @ ..] => elf(rest),
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => Kind::WasmModule,
        [0, b'a', b's', b'm', _, _, 1, 0, ..] => Kind::WasmComponent,
        [0, b'a', b's', b'm', ..] => Kind::Foreign("WebAssembly of an unknown version"),
        [b'#', b'!', rest @ ..] => shebang(rest),
        [b'M', b'Z', ..] => Kind::Foreign("Windows executable"),
        [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => {
            Kind::Foreign("macOS executable or Java class")
        }
        [b'P', b'K', 3, 4, ..] => Kind::Foreign("zip archive"),
        [0x1f, 0x8b, ..] => Kind::Foreign("gzip archive"),
        [0xef, 0xbb, 0xbf, b'#', b'!', ..] => {
            Kind::Foreign("script behind a byte-order mark, which hides its interpreter line from the system")
        }
        _ => text(head),
    }
}

/// The operating system that the WebAssembly engine marks its ELF files with.
const ENGINE_OUTPUT: u8 = 200;

/// The rest of an ELF header after its magic.
fn elf(rest: &[u8]) -> Kind {
    // Offsets in the whole header: 5 byte order, 7 operating system, 16 type, 18 machine.
    let byte = |offset: usize| rest.get(offset - 4).copied().unwrap_or(0);
    let half = |offset: usize| {
        let pair = [byte(offset), byte(offset + 1)];
        if byte(5) == 2 {
            u16::from_be_bytes(pair)
        } else {
            u16::from_le_bytes(pair)
        }
    };
    // SECURITY: compiled code of the engine is machine code that nothing has checked.
    if byte(7) == ENGINE_OUTPUT {
        return Kind::Precompiled;
    }
    Kind::Elf(Elf {
        kind: half(16),
        machine: half(18),
    })
}

fn shebang(rest: &[u8]) -> Kind {
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let (line, carriage_return) = match line.strip_suffix(b"\r") {
        Some(line) => (line, true),
        None => (line, false),
    };
    let line = String::from_utf8_lossy(line);
    let line = line.trim_matches([' ', '\t']);
    let (interpreter, argument) = match line.split_once([' ', '\t']) {
        Some((interpreter, argument)) => (interpreter, Some(argument.trim_start_matches([' ', '\t']))),
        None => (line, None),
    };
    if interpreter.is_empty() {
        return Kind::TextWithoutShebang;
    }
    Kind::Script(Shebang {
        interpreter: interpreter.to_owned(),
        argument: argument.filter(|text| !text.is_empty()).map(str::to_owned),
        carriage_return,
    })
}

fn text(head: &[u8]) -> Kind {
    // A multi-byte character may be cut off at the end of the head.
    let printable = match std::str::from_utf8(head) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(head.get(..error.valid_up_to()).unwrap_or_default()).ok()
        }
        Err(_) => None,
    };
    match printable {
        Some(text)
            if text.trim_start().starts_with("(module") || text.trim_start().starts_with("(component") =>
        {
            Kind::WasmText
        }
        Some(text) if !text.contains('\0') => Kind::TextWithoutShebang,
        _ => Kind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::{Elf, Kind, Shebang, detect};

    fn script(interpreter: &str, argument: Option<&str>, carriage_return: bool) -> Kind {
        Kind::Script(Shebang {
            interpreter: interpreter.to_owned(),
            argument: argument.map(str::to_owned),
            carriage_return,
        })
    }

    fn elf(os: u8, order: u8, kind: [u8; 2], machine: [u8; 2]) -> Vec<u8> {
        let mut head = vec![0x7f, b'E', b'L', b'F', 2, order, 1, os, 0, 0, 0, 0, 0, 0, 0, 0];
        head.extend(kind);
        head.extend(machine);
        head
    }

    #[test]
    fn a_file_is_told_by_its_first_bytes() {
        let cases: Vec<(Vec<u8>, Kind)> = vec![
            (vec![], Kind::Empty),
            (
                elf(0, 1, [3, 0], [62, 0]),
                Kind::Elf(Elf { kind: 3, machine: 62 }),
            ),
            (
                elf(0, 2, [0, 2], [0, 22]),
                Kind::Elf(Elf { kind: 2, machine: 22 }),
            ),
            (elf(200, 1, [2, 0], [62, 0]), Kind::Precompiled),
            (b"\x7fELF".to_vec(), Kind::Elf(Elf { kind: 0, machine: 0 })),
            (b"\0asm\x01\0\0\0rest".to_vec(), Kind::WasmModule),
            (b"\0asm\x0d\0\x01\0rest".to_vec(), Kind::WasmComponent),
            (b"(module (func))".to_vec(), Kind::WasmText),
            (b"#!/bin/sh\necho".to_vec(), script("/bin/sh", None, false)),
            (
                b"#! /usr/bin/env  python3 -u \n".to_vec(),
                script("/usr/bin/env", Some("python3 -u"), false),
            ),
            (
                b"#!/bin/sh -e\r\necho".to_vec(),
                script("/bin/sh", Some("-e"), true),
            ),
            (b"#!/bin/sh".to_vec(), script("/bin/sh", None, false)),
            (b"#!\n".to_vec(), Kind::TextWithoutShebang),
            (b"print('hello')".to_vec(), Kind::TextWithoutShebang),
            ("caf\u{e9}".as_bytes()[..4].to_vec(), Kind::TextWithoutShebang),
            (b"MZ\x90".to_vec(), Kind::Foreign("Windows executable")),
            (b"\x01\x02\0\xff\xfe".to_vec(), Kind::Unknown),
        ];
        for (head, expected) in cases {
            assert_eq!(detect(&head), expected, "{head:?}");
        }
    }
}
