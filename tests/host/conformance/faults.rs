//! Faults that users of other hosts reported; their numbers are of this list.

use anyhow::{Result, ensure};

use warmbin_tests::HostBuilder;

use super::Where::{Everywhere, Native};
use super::scene::{ENV, PLAIN, Scene, Variables, pull};
use super::section;

section! {
    "Faults seen in other hosts";
    x01 Everywhere, "1 MiB on standard error, then a page" => "the page; nobody waits for anybody": much_stderr;
    x52 Native(NO_FILE), on whole_disk, "a folder of programs that is `/` itself" =>
        "programs run in their own folders; PATH_TRANSLATED has one slash": root_folder;
    x54 Native(NO_PROCESS), on own_path, "PATH set for a program" => "that PATH, not the default": configured_path;
    x71 Everywhere, "`?LD_PRELOAD=/x&PATH=/evil`, the same as a form and as headers" =>
        "QUERY_STRING, standard input, HTTP_…: never variables of those names": no_names_of_the_clients;
}

const NO_FILE: &str = "A drop-in module has no folder to run in.";
const NO_PROCESS: &str = "A module cannot start other programs.";

const SHOW: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nHERE=%s\\n' \"$(pwd -P)\"; env\n";

fn whole_disk(builder: HostBuilder) -> Result<HostBuilder> {
    let builder = builder.script("show", SHOW, "")?;
    Ok(builder.table("[[directory]]\nurl = \"/all\"\npath = \"/\""))
}

fn own_path(builder: HostBuilder) -> Result<HostBuilder> {
    builder.script("show", SHOW, "env = { PATH = \"/bin:/opt/none\" }")
}

async fn root_folder(scene: &Scene<'_>) -> Result<()> {
    let folder = scene.host.folder().canonicalize()?;
    let target = format!("/all{}/show/x", folder.display());
    let found = Variables::of(&scene.get(&target, "").await?)?;
    found.hold(&[
        ("HERE", folder.to_str()),
        ("SCRIPT_FILENAME", folder.join("show").to_str()),
        ("PATH_INFO", Some("/x")),
        ("PATH_TRANSLATED", Some("/x")),
        ("DOCUMENT_ROOT", Some("/")),
    ])
}

async fn configured_path(scene: &Scene<'_>) -> Result<()> {
    let found = Variables::of(&scene.get("/cgi-bin/show", "").await?)?;
    found.hold(&[("PATH", Some("/bin:/opt/none"))])
}

async fn no_names_of_the_clients(scene: &Scene<'_>) -> Result<()> {
    let names = "LD_PRELOAD=/x&PATH=/evil&BASH_ENV=/x&IFS=x&PERL5LIB=/x&LD_LIBRARY_PATH=/x";
    let fields = format!(
        "{}LD_PRELOAD: /x\r\nLd-Preload: /x\r\nPath: /evil\r\nBash-Env: /x\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
        pull(&format!("read 1000; {ENV}")),
        names.len()
    );
    let request = scene.request(&format!("POST /cgi-bin/puppet?{names} HTTP/1.1"), &fields);
    let found = Variables::of(&scene.raw(format!("{request}{names}").as_bytes()).await?)?;
    found.hold(&[
        ("LD_PRELOAD", None),
        ("LD_LIBRARY_PATH", None),
        ("BASH_ENV", None),
        ("IFS", None),
        ("PERL5LIB", None),
        ("QUERY_STRING", Some(names)),
        ("HTTP_LD_PRELOAD", Some("/x")),
    ])?;
    ensure!(found.get("PATH") != Some("/evil"), "{found:?}");
    Ok(())
}

async fn much_stderr(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .puppet(&format!("err-repeat 1048576 e; {PLAIN}; out page"))
        .await?;
    ensure!(answer.status == 200 && answer.text() == "page", "{answer:?}");
    Ok(())
}
