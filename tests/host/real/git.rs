//! The job that operators of old CGI applications have: `git http-backend`, cloned from and pushed to.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use warmbin_tests::TestHost;

use super::example::{Example, all_ended_well, field, head_agrees, page};
use super::repositories::{bare, demo, git, git_in};

const FILES: usize = 30;
const FILE_BYTES: usize = 1 << 20;

fn backend() -> Result<Example> {
    Example::of("git http-backend", "/usr/lib/git-core/git-http-backend", "git")
}

/// Writes files that no compression makes smaller, different for every `seed`.
fn fill(folder: &Path, seed: u64) -> Result<()> {
    for file in 0..FILES {
        let mut bytes = Vec::with_capacity(FILE_BYTES);
        let mut counter = 0_u64;
        while bytes.len() < FILE_BYTES {
            bytes.extend_from_slice(&Sha256::digest(format!("{seed} {file} {counter}")));
            counter += 1;
        }
        std::fs::write(folder.join(format!("file-{file:02}")), bytes)?;
    }
    Ok(())
}

/// A hash over the names and the content of a work tree.
fn fingerprint(folder: &Path) -> Result<String> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    names.retain(|name| name.is_file());
    names.sort();
    let mut text = String::new();
    for name in names {
        let hash = Sha256::digest(std::fs::read(&name)?);
        writeln!(text, "{:?} {hash:x?}", name.file_name())?;
    }
    Ok(text)
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_mib_are_cloned_and_pushed_unchanged() -> Result<()> {
    let example = backend()?;
    let root = example.root().join("git");
    bare(&root, "big.git")?;
    let host = example.start().await?;
    let url = format!("{}/git/big.git", host.programs());

    let first = host.folder().join("first");
    git(host.folder(), &["init", "-q", "-b", "main", "first"])?;
    fill(&first, 1)?;
    git(&first, &["add", "."])?;
    git(&first, &["commit", "-q", "-m", "Everything"])?;
    git(&first, &["push", "-q", &url, "main"])?;

    git(host.folder(), &["clone", "-q", &url, "second"])?;
    let second = host.folder().join("second");
    assert_eq!(fingerprint(&first)?, fingerprint(&second)?);
    assert_eq!(fingerprint(&first)?.lines().count(), FILES);

    // And back again, from the clone.
    fill(&second, 2)?;
    git(&second, &["commit", "-q", "-a", "-m", "Everything else"])?;
    git(&second, &["push", "-q", "origin", "main"])?;
    git(&first, &["pull", "-q", &url, "main"])?;
    assert_eq!(fingerprint(&first)?, fingerprint(&second)?);
    git(&root.join("big.git"), &["fsck", "--full", "--strict"])?;

    let pushes: Vec<u64> = host
        .records_when("program=git&outcome=ok", 6)
        .await?
        .iter()
        .filter(|record| {
            record["path"]
                .as_str()
                .is_some_and(|path| path.ends_with("/git-receive-pack"))
        })
        .filter_map(|record| record["request_bytes"].as_u64())
        .collect();
    let bytes = (FILES * FILE_BYTES) as u64;
    assert_eq!(
        pushes.iter().filter(|sent| **sent > bytes).count(),
        2,
        "{pushes:?}"
    );
    assert_eq!(host.records("program=git&status=5xx").await?.len(), 0);
    Ok(())
}

/// Adds so many commits to a work tree.
fn commits(work: &Path, year: &str, count: usize) -> Result<()> {
    for number in 0..count {
        let message = format!("Commit {number}");
        git_in(year, work, &["commit", "-q", "--allow-empty", "-m", &message])?;
    }
    Ok(())
}

/// What the program was told for each request to `end`, the newest first.
async fn told(host: &TestHost, end: &str, variable: &str) -> Result<Vec<Option<String>>> {
    let mut values = Vec::new();
    for record in host.records("program=git").await? {
        let path = record["path"].as_str().context("a path")?;
        if !path.ends_with(end) {
            continue;
        }
        let id = record["id"].as_str().context("an id")?;
        let detail = host.document(&format!("/api/v1/requests/{id}")).await?;
        let value = detail["environment"]
            .as_array()
            .context("an environment")?
            .iter()
            .find(|field| field["name"] == variable)
            .and_then(|field| field["value"].as_str());
        values.push(value.map(str::to_owned));
    }
    Ok(values)
}

#[tokio::test(flavor = "multi_thread")]
async fn histories_are_fetched_in_part_and_negotiated_in_compressed_bodies() -> Result<()> {
    let example = backend()?;
    let root = example.root();
    demo(&root)?;
    let work = root.join("work");
    commits(&work, "2026", 4)?;
    git(&work, &["push", "-q", "../git/demo.git", "main"])?;
    let host = example.start().await?;
    let url = format!("{}/git/demo.git", host.programs());
    let count = ["rev-list", "--count", "HEAD"];

    git(host.folder(), &["clone", "-q", "--depth", "2", &url, "part"])?;
    let part = host.folder().join("part");
    assert_eq!(git(&part, &count)?, "2");
    git(&part, &["fetch", "-q", "--deepen", "1"])?;
    assert_eq!(git(&part, &count)?, "3");
    git(&part, &["fetch", "-q", "--unshallow"])?;
    assert_eq!(git(&part, &count)?, "5");

    // A clone with much that the other side does not have names all of it: git compresses such a request.
    commits(&part, "2027", 60)?;
    commits(&work, "2026", 1)?;
    git(&work, &["push", "-q", "../git/demo.git", "main"])?;
    for version in ["0", "2"] {
        let protocol = format!("protocol.version={version}");
        let refs = "+refs/heads/main:refs/heads/theirs";
        // Room for the whole request: what is sent in chunks is not compressed.
        let buffer = "http.postBuffer=1048576";
        git(
            &part,
            &["-c", &protocol, "-c", buffer, "fetch", "-q", "origin", refs],
        )?;
        assert_eq!(
            git(&part, &["rev-parse", "theirs"])?,
            git(&work, &["rev-parse", "main"])?
        );
        git(&part, &["update-ref", "-d", "refs/heads/theirs"])?;
        git(&part, &["update-ref", "-d", "refs/remotes/origin/main"])?;
    }
    all_ended_well(&host, 12).await?;
    let encodings = told(&host, "/git-upload-pack", "HTTP_CONTENT_ENCODING").await?;
    assert!(encodings.contains(&Some("gzip".to_owned())), "{encodings:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn references_are_advertised() -> Result<()> {
    let example = backend()?;
    let root = example.root();
    demo(&root)?;
    git(&root.join("git/demo.git"), &["update-server-info"])?;
    let host = example.start().await?;

    let service = "/git/demo.git/info/refs?service=git-upload-pack";
    let (fields, body) = page(&host, service).await?;
    assert_eq!(
        field(&fields, "content-type")?,
        "application/x-git-upload-pack-advertisement"
    );
    assert_eq!(
        field(&fields, "cache-control")?,
        "no-cache, max-age=0, must-revalidate"
    );
    assert!(body.starts_with(b"001e# service=git-upload-pack\n0000"));
    head_agrees(&host, service).await?;

    // The way of old clients: files.
    let head = git(&root.join("work"), &["rev-parse", "main"])?;
    let (_, body) = page(&host, "/git/demo.git/info/refs").await?;
    assert_eq!(String::from_utf8(body)?, format!("{head}\trefs/heads/main\n"));
    let (fields, _) = page(&host, "/git/demo.git/HEAD").await?;
    assert_eq!(field(&fields, "content-type")?, "text/plain");

    for (target, status) in [
        ("/git/none.git/info/refs", 404),
        ("/git/demo.git/config", 404),
        ("/git/demo.git/info/refs?service=git-none", 403),
    ] {
        assert_eq!(host.get(target).send().await?.status(), status, "{target}");
    }
    let wrong = host.get("/git/demo.git/git-upload-pack").send().await?;
    assert_eq!(
        (wrong.status().as_u16(), wrong.headers()["allow"].to_str()?),
        (405, "POST")
    );
    Ok(())
}
