//! cgit: a browser for git repositories, in C.

use anyhow::{Result, ensure};

use super::example::{Example, all_ended_well, field, head_agrees, page, text};
use super::repositories::{README, demo};

#[tokio::test(flavor = "multi_thread")]
async fn cgit_shows_a_repository_with_its_style_sheet_and_gives_a_snapshot() -> Result<()> {
    let example = Example::of("cgit", "/usr/lib/cgit/cgit.cgi", "cgit")?;
    demo(&example.root())?;
    let folder = example.root();
    let host = example.start().await?;

    let index = text(&host, "/cgit/").await?;
    assert!(index.contains("href='/cgit/demo.git/'"), "{index}");
    let sheet = index
        .split("rel='stylesheet' type='text/css' href='")
        .nth(1)
        .and_then(|rest| rest.split('\'').next());
    assert_eq!(sheet, Some("/cgit.css"));
    let (fields, css) = page(&host, "/cgit.css").await?;
    assert_eq!(css, std::fs::read("/usr/share/cgit/cgit.css")?);
    assert!(field(&fields, "content-type")?.starts_with("text/css"));
    // This one is the host's: conditions are answered.
    let etag = field(&fields, "etag")?;
    let again = host.get("/cgit.css").header("If-None-Match", etag).send().await?;
    assert_eq!(again.status(), 304);

    let log = text(&host, "/cgit/demo.git/log/").await?;
    assert!(log.contains("First &amp; last"), "{log}");
    let searched = text(&host, "/cgit/demo.git/log/?qt=grep&q=no+such+thing").await?;
    assert!(!searched.contains("First &amp; last"), "{searched}");
    for target in [
        "/cgit/",
        "/cgit/demo.git/tree/readme.txt",
        "/cgit/demo.git/plain/readme.txt",
    ] {
        head_agrees(&host, target).await?;
    }
    let (fields, plain) = page(&host, "/cgit/demo.git/plain/readme.txt").await?;
    assert_eq!(plain, README.as_bytes());
    for name in ["etag", "last-modified", "expires"] {
        field(&fields, name)?;
    }

    let (fields, archive) = page(&host, "/cgit/demo.git/snapshot/demo-main.tar.gz").await?;
    assert!(field(&fields, "content-disposition")?.contains("demo-main.tar.gz"));
    let file = folder.join("demo.tar.gz");
    std::fs::write(&file, archive)?;
    let unpacked = std::process::Command::new("tar")
        .args(["-xzOf"])
        .arg(&file)
        .arg("demo-main/readme.txt")
        .output()?;
    ensure!(unpacked.status.success(), "{unpacked:?}");
    assert_eq!(unpacked.stdout, README.as_bytes());

    let none = host.get("/cgit/none.git/").send().await?;
    assert_eq!(none.status(), 404);
    all_ended_well(&host, 12).await
}
