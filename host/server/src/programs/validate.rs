//! Whether what arrived may become a version: name, artifacts, settings, route. Each refusal says what is
//! wrong and what to do.

use std::path::{Path, PathBuf};

use warmbin_exec::{Executors, Family, Mode};
use warmbin_store::{Program, Source};

use super::detect::{Elf, Kind, Shebang};
use crate::config::ProgramSettings;
use crate::config::check::is_program_name;

/// The path a program is served under.
pub fn effective_route(name: &str, settings: &ProgramSettings) -> String {
    settings
        .route
        .clone()
        .unwrap_or_else(|| format!("/cgi-bin/{name}"))
}

/// Refuses a name that could not be a path segment.
pub fn name(name: &str) -> Result<(), String> {
    // SECURITY: the name becomes a folder below the data folder.
    if is_program_name(name) {
        Ok(())
    } else {
        Err(format!(
            "{name:?} cannot name a program: use a letter or digit, then letters, digits, '.', '_' or '-', at most 64"
        ))
    }
}

/// Refuses what the system could not execute.
pub fn native(kind: &Kind) -> Result<(), String> {
    match kind {
        Kind::Elf(elf) => native_elf(*elf),
        Kind::Script(shebang) => script(shebang),
        kind if kind.is_wasm() => Err(format!("this is a {kind}: send it as `wasm`")),
        Kind::TextWithoutShebang => Err(
            "this is text whose first line names no interpreter: begin a script with a line such as #!/usr/bin/perl".to_owned(),
        ),
        Kind::Empty => Err("the file is empty".to_owned()),
        other => Err(format!(
            "this is neither an executable of this system nor a script ({other})"
        )),
    }
}

/// Refuses what is no WebAssembly module. Whether a module can be linked is found out by loading it.
pub fn wasm(kind: &Kind) -> Result<(), String> {
    match kind {
        // The engine refuses these with reasons of its own.
        Kind::WasmModule | Kind::WasmComponent => Ok(()),
        Kind::Precompiled => {
            Err("this is a precompiled artifact; upload the .wasm module it was made from".to_owned())
        }
        Kind::WasmText => {
            Err("this is WebAssembly text: assemble it first, for example with wat2wasm".to_owned())
        }
        Kind::Elf(_) | Kind::Script(_) => {
            Err(format!("this is a native program ({kind}): send it as `native`"))
        }
        Kind::Empty => Err("the file is empty".to_owned()),
        other => Err(format!("this is not a WebAssembly module ({other})")),
    }
}

/// Refuses settings that do not fit the artifacts, and a route that another program has.
pub fn settings(
    program: &str,
    settings: &ProgramSettings,
    source: Source,
    has: impl Fn(Family) -> bool,
    others: &[Program],
) -> Result<(), String> {
    // Reading the settings has checked that the word is a mode. A file written for another host is not
    // refused for a mode that is missing here: the program then runs in its usual one, with a warning.
    if let Some(mode) = settings
        .mode
        .as_deref()
        .and_then(|word| word.parse::<Mode>().ok())
        && source != Source::Config
    {
        if !Executors::AVAILABLE.contains(&mode) {
            return Err(format!("mode: this host does not run {mode}"));
        }
        if !has(mode.family()) {
            return Err(format!(
                "mode: {mode} needs a {} artifact, and there is none",
                mode.family()
            ));
        }
    }
    let route = effective_route(program, settings);
    let taken = |other: &&Program| other.name != program && active_route(other).as_ref() == Some(&route);
    match others.iter().find(taken) {
        Some(other) => Err(format!(
            "route: {route} is already that of program {}",
            other.name
        )),
        None => Ok(()),
    }
}

fn active_route(program: &Program) -> Option<String> {
    let active = program.active?;
    let version = program.versions.iter().find(|version| version.number == active)?;
    let settings = ProgramSettings::from_json(&version.settings).ok()?;
    Some(effective_route(&program.name, &settings))
}

fn native_elf(elf: Elf) -> Result<(), String> {
    const EXECUTABLE: u16 = 2;
    const SHARED: u16 = 3;
    if !matches!(elf.kind, EXECUTABLE | SHARED) {
        return Err(
            "this ELF file is not an executable (an object file is linked into one first)".to_owned(),
        );
    }
    match machine_of_this_host() {
        Some((machine, name)) if machine != elf.machine => Err(format!(
            "this executable was built for another processor (ELF machine {}); this host is {name}",
            elf.machine
        )),
        _ => Ok(()),
    }
}

/// `e_machine` of this host, where it is known.
fn machine_of_this_host() -> Option<(u16, &'static str)> {
    let name = std::env::consts::ARCH;
    let machine = match name {
        "x86_64" => 62,
        "aarch64" => 183,
        "riscv64" => 243,
        _ => return None,
    };
    Some((machine, name))
}

fn script(shebang: &Shebang) -> Result<(), String> {
    if shebang.carriage_return {
        return Err(format!(
            "the line #!{shebang} ends in a carriage return, which the system takes as part of the name: save the script with Unix line ends"
        ));
    }
    let interpreter = Path::new(&shebang.interpreter);
    if !interpreter.is_absolute() {
        return Err(format!(
            "the interpreter {} is not an absolute path; write, say, #!/usr/bin/env {}",
            shebang.interpreter, shebang.interpreter
        ));
    }
    if !interpreter.is_file() {
        return Err(format!(
            "the interpreter {} does not exist on this host",
            shebang.interpreter
        ));
    }
    // `env NAME` finds its interpreter in PATH: the usual folders, as the program will be given.
    if interpreter.file_name().is_some_and(|name| name == "env")
        && let Some(name) = shebang.argument.as_deref()
        && !name.starts_with('-')
        && !name.contains('=')
        && let Some(name) = name.split_whitespace().next()
        && !in_usual_path(name)
    {
        return Err(format!(
            "the interpreter {name}, named by the first line, is in none of {}",
            USUAL_PATH.join(", ")
        ));
    }
    Ok(())
}

const USUAL_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

fn in_usual_path(name: &str) -> bool {
    name.contains('/')
        || USUAL_PATH
            .iter()
            .any(|folder| PathBuf::from(folder).join(name).is_file())
}

#[cfg(test)]
mod tests {
    use warmbin_exec::Family;
    use warmbin_store::{Program, Source, Version};

    use super::super::detect::detect;
    use crate::config::ProgramSettings;

    #[test]
    fn native_artifacts_are_refused_with_a_reason() {
        for (head, reason) in [
            (&b"echo hello"[..], "names no interpreter"),
            (b"", "empty"),
            (b"#!/no/such/thing\n", "/no/such/thing does not exist"),
            (b"#!/usr/bin/env no-such-thing\n", "no-such-thing"),
            (b"#!/bin/sh\r\n", "carriage return"),
            (b"#!sh\n", "not an absolute path"),
            (b"\0asm\x01\0\0\0", "send it as `wasm`"),
            (
                b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\x3e\0",
                "not an executable",
            ),
            (
                b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x08\0",
                "another processor",
            ),
            (b"MZ", "Windows"),
        ] {
            let refusal = super::native(&detect(head)).unwrap_err();
            assert!(refusal.contains(reason), "{head:?}: {refusal}");
        }
        assert_eq!(super::native(&detect(b"#!/bin/sh\n")), Ok(()));
        assert_eq!(super::native(&detect(b"#!/usr/bin/env sh\n")), Ok(()));
    }

    #[test]
    fn modules_are_refused_with_a_reason() {
        for (head, reason) in [
            (&b"#!/bin/sh\n"[..], "send it as `native`"),
            (b"(module)", "assemble it first"),
            (
                b"\x7fELF\x02\x01\x01\xc8\0\0\0\0\0\0\0\0\x01\0\0\0",
                "precompiled",
            ),
            (b"hello", "not a WebAssembly module"),
        ] {
            let refusal = super::wasm(&detect(head)).unwrap_err();
            assert!(refusal.contains(reason), "{head:?}: {refusal}");
        }
        assert_eq!(super::wasm(&detect(b"\0asm\x01\0\0\0")), Ok(()));
    }

    #[test]
    fn names_are_single_path_segments() {
        for name in ["a", "git-http_backend.cgi", "0"] {
            assert_eq!(super::name(name), Ok(()), "{name}");
        }
        for name in ["", ".", "..", ".hidden", "a/b", "a b", "ü", &"x".repeat(65)] {
            assert!(super::name(name).is_err(), "{name}");
        }
    }

    fn program(name: &str, settings: &str) -> Program {
        Program {
            name: name.to_owned(),
            active: Some(1),
            versions: vec![Version {
                number: 1,
                source: Source::Upload,
                native: None,
                wasm: None,
                settings: settings.to_owned(),
                created_by: "test".to_owned(),
                created_at: 0,
            }],
            created_at: 0,
        }
    }

    #[test]
    fn settings_must_fit_the_artifacts_and_leave_other_routes_alone() {
        let others = [program("a", "{}"), program("b", r#"{"route":"/shop"}"#)];
        for (name, json, refusal) in [
            ("a", "{}", None),
            ("c", "{}", None),
            ("c", r#"{"mode":"fork"}"#, None),
            ("c", r#"{"mode":"wasm-warm"}"#, Some("needs a wasm artifact")),
            ("c", r#"{"mode":"persistent"}"#, Some("does not run persistent")),
            ("c", r#"{"route":"/shop"}"#, Some("program b")),
            ("b", r#"{"route":"/shop"}"#, None),
            ("c", r#"{"route":"/cgi-bin/a"}"#, Some("program a")),
        ] {
            let settings = ProgramSettings::from_json(json).unwrap();
            let verdict = super::settings(
                name,
                &settings,
                Source::Upload,
                |family| family == Family::Native,
                &others,
            );
            match refusal {
                None => assert_eq!(verdict, Ok(()), "{name} {json}"),
                Some(part) => assert!(verdict.unwrap_err().contains(part), "{name} {json}"),
            }
        }
    }
}
