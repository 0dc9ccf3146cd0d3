//! Folders of drop-in programs: which file a path leads to, and what may be run of it.

use std::os::unix::fs::symlink;

use anyhow::{Result, ensure};
use warmbin_tests::{HostBuilder, guest};

use super::Where::{BeforeTheMode, Everywhere, Native};
use super::finding::{HELLO, file, refused, set_mode, variables, write};
use super::scene::{PLAIN, Scene, Variables, pull};
use super::section;

/// What only the system's own way of starting a file can be asked for.
const NO_FILE: &str = "A module is no file that the system starts.";

section! {
    "Folders of programs";
    f02 BeforeTheMode, on folder, "a folder without an index program, with and without its slash" =>
        "404, and nothing is run": bare_folder;
    f03 BeforeTheMode, on folder, "files without an executable bit" => "403, never their source": not_executable;
    f05 BeforeTheMode, on folder, "a script whose interpreter does not exist" => "500": no_interpreter;
    f06 BeforeTheMode, on folder, "a program that exits 0 and prints nothing; blanks only" => "502": prints_nothing;
    f07 BeforeTheMode, on folder, "a program's name and blanks, a dot, `::$DATA`, `~`, a backslash" => "404": near_names;
    f09 Everywhere, on folder, "a symbolic link to a program elsewhere" =>
        "followed; SCRIPT_NAME, SCRIPT_FILENAME and argv[0] are the link's": links;
    f10 Native(NO_FILE), on folder, "a program that may be run but not read (0711)" => "runs": unreadable;
    f11 Everywhere, on folder, "`/cgi/PROGRAM/x/y`, the program's file being the first part" =>
        "runs with PATH_INFO `/x/y`": file_walk;
    f13 Everywhere, on folder, "a folder with an index program, without its slash" =>
        "301 to the address with the slash, query kept": slash_added;
    f14 Native(NO_FILE), on folder, "a file with an interpreter's extension, and a query" =>
        "the interpreter runs: SCRIPT_FILENAME, REDIRECT_STATUS 200, PATH_INFO, DOCUMENT_ROOT": interpreter;
    f22 Everywhere, on folder, "a folder with an index program" => "it runs, and SCRIPT_NAME names it": index;
    f23 BeforeTheMode, on folder, "names that begin with a dot, also encoded and in the middle" => "404": dot_files;
    f24 BeforeTheMode, on folder, "`..` out of the folder in every way of writing" =>
        "400 or 404, and nothing from outside": traversal;
    f25 BeforeTheMode, on folder, "a FIFO, a socket, a device" => "404 at once": no_regular_file;
    f26 BeforeTheMode, on folder, "a link to itself, links in a circle, a link to nothing" => "404": broken_links;
    f27 BeforeTheMode, on folder, "a name of 300 bytes, a path of 3000 parts, of 60,000 bytes" => "404": long_names;
    f28 Native(NO_FILE), on folder, "names with a blank, `;`, `&`, `é`, bytes that are no UTF-8" =>
        "found, once decoded": odd_names;
    f29 BeforeTheMode, on folder, "executable files the system cannot run: empty, text, CR LF after `#!…`, half an ELF" =>
        "500, and neither source nor reason on the page": not_runnable;
    f30 Everywhere, on folder, "a module without an executable bit beside a program of the same name" =>
        "both run": module_bits;
    f31 BeforeTheMode, on folder, "a file that ends in `.wasm` and is no module" => "500": no_module;
    f33 Native(NO_FILE), on folder, "a script with setuid and setgid bits; one in a folder of another name" =>
        "runs as any other": special_bits;
    f34 BeforeTheMode, on folder, "a folder named like a program; a program with a slash after it" =>
        "404; runs with PATH_INFO `/`": program_like_folder;
    f37 BeforeTheMode, on folder, "an interpreter that is gone" => "500": interpreter_gone;
}

/// `/cgi`: a folder with a bit of everything.
fn folder(builder: HostBuilder) -> Result<HostBuilder> {
    let root = builder.folder().to_owned();
    let cgi = root.join("cgi");
    for below in ["app", "bare", ".hidden", "dir.cgi", "out.side"] {
        std::fs::create_dir_all(cgi.join(below))?;
    }
    for (from, to) in [("native", "puppet"), ("wasm", "puppet.wasm")] {
        let file = guest("puppet", from);
        std::fs::copy(&file, cgi.join(to))?;
        std::fs::copy(&file, cgi.join("app").join(to))?;
        symlink(&file, cgi.join(format!("link-{to}")))?;
    }
    set_mode(&cgi.join("puppet.wasm"), 0o644)?;
    for folder in ["native", "wasm"] {
        std::fs::create_dir(cgi.join(format!("app-{folder}")))?;
    }
    std::fs::copy(guest("puppet", "native"), cgi.join("app-native/index.cgi"))?;
    std::fs::copy(guest("puppet", "wasm"), cgi.join("app-wasm/index.wasm"))?;

    for (name, text, mode) in [
        ("no-interpreter", "#!/no/such/interpreter\nsecret\n", 0o755),
        ("silent", "#!/bin/sh\nexit 0\n", 0o755),
        ("blank", "#!/bin/sh\necho '   '; exit 1\n", 0o755),
        ("plain.sh", "#!/bin/sh\necho secret\n", 0o644),
        ("plain.txt", "secret\n", 0o600),
        ("empty", "", 0o755),
        ("text", "secret\n", 0o755),
        ("carriage", "#!/bin/sh\r\necho secret\r\n", 0o755),
        ("elf", "\u{7f}ELF secret", 0o755),
        ("folder-interpreter", "#!/usr\nsecret\n", 0o755),
        ("broken.wasm", "\0asm secret", 0o755),
        (".env", "#!/bin/sh\necho secret\n", 0o755),
        (".hidden/program", "#!/bin/sh\necho secret\n", 0o755),
        ("page.x", "secret\n", 0o644),
        ("setuid", HELLO, 0o6755),
        ("only-run", HELLO_ELF, 0o755),
        ("../outside.sh", "#!/bin/sh\necho secret\n", 0o755),
        ("../show.sh", SHOW, 0o755),
    ] {
        write(&cgi.join(name), text, mode)?;
    }
    std::fs::copy(guest("hello", "native"), cgi.join("only-run"))?;
    set_mode(&cgi.join("only-run"), 0o711)?;

    symlink("/no/such/file", cgi.join("dangling"))?;
    symlink("itself", cgi.join("itself"))?;
    symlink("circle-b", cgi.join("circle-a"))?;
    symlink("circle-a", cgi.join("circle-b"))?;
    symlink("/dev/zero", cgi.join("device"))?;
    drop(std::os::unix::net::UnixListener::bind(cgi.join("socket"))?);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        cgi.join("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )?;
    Ok(builder.table(
        "[[directory]]\nurl = \"/cgi\"\npath = \"cgi\"\nindex = [\"index.cgi\", \"index.wasm\"]\n\
         interpreters = { \".x\" = \"show.sh\" }",
    ))
}

/// A place for a program.
const HELLO_ELF: &str = "";

/// A script that shows what it was told.
const SHOW: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nARGUMENTS=%s\\n' \"$#\"; env\n";

async fn bare_folder(scene: &Scene<'_>) -> Result<()> {
    refused(
        scene,
        404,
        &[
            "/cgi/bare",
            "/cgi/bare/",
            "/cgi/bare//",
            "/cgi",
            "/cgi/",
            "/cgi/bare/none",
        ],
    )
    .await
}

async fn not_executable(scene: &Scene<'_>) -> Result<()> {
    refused(
        scene,
        403,
        &[
            "/cgi/plain.sh",
            "/cgi/plain.txt",
            "/cgi/plain.sh/more",
            "/cgi/plain.txt?x",
        ],
    )
    .await
}

async fn no_interpreter(scene: &Scene<'_>) -> Result<()> {
    refused(scene, 500, &["/cgi/no-interpreter", "/cgi/folder-interpreter"]).await
}

async fn prints_nothing(scene: &Scene<'_>) -> Result<()> {
    refused(scene, 502, &["/cgi/silent", "/cgi/blank"]).await
}

async fn near_names(scene: &Scene<'_>) -> Result<()> {
    for after in [
        "%20",
        "%20%20%20",
        ".",
        "..",
        "::$DATA",
        "~",
        "%5C",
        "%5Cx",
        "%0A",
        "%09",
        "%FF",
        ";x",
        ".bak",
        "%7C",
    ] {
        refused(
            scene,
            404,
            &[&format!("/cgi/plain.sh{after}"), &format!("/cgi/silent{after}")],
        )
        .await?;
    }
    refused(scene, 404, &["/cgi/PLAIN.SH", "/cgi/%20plain.sh", "/CGI/silent"]).await
}

async fn links(scene: &Scene<'_>) -> Result<()> {
    let name = format!("link-{}", file(scene));
    let variables = variables(scene, &format!("/cgi/{name}/x")).await?;
    let path = scene.host.folder().join("cgi").join(&name);
    variables.hold(&[
        ("SCRIPT_NAME", Some(format!("/cgi/{name}").as_str())),
        ("SCRIPT_FILENAME", path.to_str()),
        ("PATH_INFO", Some("/x")),
    ])?;
    let answer = scene
        .get(&format!("/cgi/{name}"), &pull(&format!("{PLAIN}; args")))
        .await?;
    let text = answer.text();
    let named = text.lines().nth(1).unwrap_or_default();
    ensure!(named.rsplit('/').next() == Some(name.as_str()), "{text}");
    Ok(())
}

async fn unreadable(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("/cgi/only-run", "").await?;
    ensure!(answer.status == 200, "{answer:?}");
    Ok(())
}

async fn file_walk(scene: &Scene<'_>) -> Result<()> {
    let name = file(scene);
    for (target, script, info) in [
        (format!("/cgi/{name}/x/y"), format!("/cgi/{name}"), Some("/x/y")),
        (format!("/cgi/{name}"), format!("/cgi/{name}"), None),
        (format!("/cgi/{name}//x/"), format!("/cgi/{name}"), Some("//x/")),
        (
            format!("//cgi//app//{name}/x"),
            format!("/cgi/app/{name}"),
            Some("/x"),
        ),
    ] {
        variables(scene, &target)
            .await?
            .hold(&[("SCRIPT_NAME", Some(&script)), ("PATH_INFO", info)])?;
    }
    Ok(())
}

/// The folder whose index program runs in the mode.
fn app(scene: &Scene<'_>) -> &'static str {
    if scene.is_wasm() {
        "/cgi/app-wasm"
    } else {
        "/cgi/app-native"
    }
}

async fn slash_added(scene: &Scene<'_>) -> Result<()> {
    let app = app(scene);
    for (target, location) in [
        (app.to_owned(), format!("{app}/")),
        (format!("{app}?a=b%20/c?"), format!("{app}/?a=b%20/c?")),
        (format!("//{app}?"), format!("{app}/?")),
    ] {
        let answer = scene.get(&target, "").await?;
        ensure!(
            answer.status == 301 && answer.header("location") == Some(location.as_str()),
            "{target}: {answer:?}"
        );
    }
    Ok(())
}

async fn interpreter(scene: &Scene<'_>) -> Result<()> {
    let cgi = scene.host.folder().join("cgi");
    let translated = format!("{}/x", cgi.display());
    let found = Variables::of(&scene.get("/cgi/page.x/x?y", "").await?)?;
    found.hold(&[
        ("ARGUMENTS", Some("0")),
        ("SCRIPT_FILENAME", cgi.join("page.x").to_str()),
        ("SCRIPT_NAME", Some("/cgi/page.x")),
        ("REDIRECT_STATUS", Some("200")),
        ("PATH_INFO", Some("/x")),
        ("PATH_TRANSLATED", Some(&translated)),
        ("DOCUMENT_ROOT", cgi.to_str()),
        ("QUERY_STRING", Some("y")),
        ("PWD", cgi.to_str()),
    ])
}

async fn index(scene: &Scene<'_>) -> Result<()> {
    let app = app(scene);
    let name = if scene.is_wasm() {
        "index.wasm"
    } else {
        "index.cgi"
    };
    for target in [format!("{app}/"), format!("{app}//"), format!("{app}/?q")] {
        let found = variables(scene, &target).await?;
        found.hold(&[
            ("SCRIPT_NAME", Some(format!("{app}/{name}").as_str())),
            ("PATH_INFO", None),
        ])?;
    }
    Ok(())
}

async fn dot_files(scene: &Scene<'_>) -> Result<()> {
    let targets = [
        "/cgi/.env",
        "/cgi/%2eenv",
        "/cgi/%2Eenv/x",
        "/cgi/.hidden/program",
        "/cgi/app/../.env",
        "/cgi/.hidden",
        "/cgi/.hidden/",
        "/cgi/.htaccess",
        "/cgi/.git/config",
    ];
    refused(scene, 404, &targets).await
}

async fn traversal(scene: &Scene<'_>) -> Result<()> {
    for target in [
        "/cgi/../outside.sh",
        "/cgi/%2e%2e/outside.sh",
        "/cgi/.%2e/outside.sh",
        "/cgi/..%2foutside.sh",
        "/cgi/..%5coutside.sh",
        "/cgi/%252e%252e/outside.sh",
        "/cgi/app/../../outside.sh",
        "/cgi//../outside.sh",
        "/cgi/./../outside.sh",
        "/cgi/..;/outside.sh",
        "/cgi/%c0%ae%c0%ae/outside.sh",
        "/cgi/..%c0%afoutside.sh",
        "/cgi/..%00/outside.sh",
        "/cgi/....//outside.sh",
        "/../../../../../../bin/sh",
        "/cgi/../../../../../../bin/sh",
        "/cgi//bin/sh",
        "//bin/sh",
        "/cgi/out.side/../../outside.sh",
    ] {
        let answer = scene.get(target, "").await?;
        ensure!(matches!(answer.status, 400 | 404), "{target}: {}", answer.status);
        ensure!(!answer.text().contains("secret"), "{target}: {}", answer.text());
    }
    Ok(())
}

async fn no_regular_file(scene: &Scene<'_>) -> Result<()> {
    refused(
        scene,
        404,
        &[
            "/cgi/fifo",
            "/cgi/socket",
            "/cgi/device",
            "/cgi/fifo/x",
            "/cgi/device/x",
        ],
    )
    .await
}

async fn broken_links(scene: &Scene<'_>) -> Result<()> {
    refused(
        scene,
        404,
        &[
            "/cgi/dangling",
            "/cgi/itself",
            "/cgi/circle-a",
            "/cgi/circle-a/x",
            "/cgi/dangling/x",
        ],
    )
    .await
}

async fn long_names(scene: &Scene<'_>) -> Result<()> {
    let (name, path, bytes) = ("n".repeat(300), "/a".repeat(3000), "b".repeat(60_000));
    refused(
        scene,
        404,
        &[
            &format!("/cgi/{name}"),
            &format!("/cgi{path}"),
            &format!("/cgi/{bytes}"),
        ],
    )
    .await
}

async fn odd_names(scene: &Scene<'_>) -> Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let cgi = scene.host.folder().join("cgi");
    for (name, written) in [
        (&b"two words"[..], "two%20words"),
        (b"semi;colon", "semi;colon"),
        (b"semi;colon2", "semi%3bcolon2"),
        (b"and&plus+", "and&plus+"),
        ("é".as_bytes(), "%C3%A9"),
        (b"\xff\xfe", "%ff%FE"),
        (b"100%", "100%25"),
        (b"back\\slash", "back%5Cslash"),
        (b"-option", "-option"),
        (b"$(id)`", "$(id)%60"),
    ] {
        let file = cgi.join(std::ffi::OsStr::from_bytes(name));
        write(&file, SHOW, 0o755)?;
        let found = Variables::of(&scene.get(&format!("/cgi/{written}/i"), "").await?)?;
        let script = [b"/cgi/", name].concat();
        ensure!(
            found.bytes("SCRIPT_NAME") == Some(&script[..]),
            "{written}: {found:?}"
        );
        ensure!(
            found.bytes("SCRIPT_FILENAME") == Some(file.as_os_str().as_bytes()),
            "{written}: {found:?}"
        );
    }
    Ok(())
}

async fn not_runnable(scene: &Scene<'_>) -> Result<()> {
    for name in ["empty", "text", "carriage", "elf"] {
        let answer = scene.get(&format!("/cgi/{name}"), "").await?;
        ensure!(answer.status == 500, "{name}: {answer:?}");
        let text = answer.text();
        ensure!(
            !text.contains("secret") && !text.contains("cgi/") && !text.contains("os error"),
            "{text}"
        );
    }
    Ok(())
}

async fn module_bits(scene: &Scene<'_>) -> Result<()> {
    let name = file(scene);
    let found = variables(scene, &format!("/cgi/{name}")).await?;
    found.hold(&[("SCRIPT_NAME", Some(format!("/cgi/{name}").as_str()))])
}

async fn no_module(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .raw(b"GET /cgi/broken.wasm HTTP/1.1\r\nHost: a\r\n\r\n")
        .await?;
    ensure!(
        answer.status == 500 && !answer.text().contains("secret"),
        "{answer:?}"
    );
    Ok(())
}

async fn special_bits(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("/cgi/setuid", "").await?;
    ensure!(answer.status == 200 && answer.text() == "hello", "{answer:?}");
    Ok(())
}

async fn program_like_folder(scene: &Scene<'_>) -> Result<()> {
    refused(scene, 404, &["/cgi/dir.cgi", "/cgi/dir.cgi/", "/cgi/dir.cgi/x"]).await?;
    let answer = scene.get("/cgi/setuid/", "").await?;
    ensure!(answer.text() == "hello", "{answer:?}");
    Ok(())
}

async fn interpreter_gone(scene: &Scene<'_>) -> Result<()> {
    std::fs::remove_file(scene.host.folder().join("show.sh"))?;
    refused(scene, 500, &["/cgi/page.x"]).await
}
