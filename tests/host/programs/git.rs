//! The job that operators of old CGI applications have: `git http-backend`, cloned from and pushed to.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use warmbin_tests::TestHost;

const FILES: usize = 30;
const FILE_BYTES: usize = 1 << 20;

/// Git with no settings but the ones given here.
fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = warmbin_tests::git()
        .current_dir(folder)
        .args(arguments)
        .envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            // The content cannot be compressed: git shall not spend half a minute on trying.
            ("GIT_CONFIG_COUNT", "3"),
            ("GIT_CONFIG_KEY_0", "core.compression"),
            ("GIT_CONFIG_VALUE_0", "0"),
            ("GIT_CONFIG_KEY_1", "pack.window"),
            ("GIT_CONFIG_VALUE_1", "0"),
            // Far less than a push has, so that it is sent in chunks.
            ("GIT_CONFIG_KEY_2", "http.postBuffer"),
            ("GIT_CONFIG_VALUE_2", "65536"),
            ("GIT_AUTHOR_NAME", "A"),
            ("GIT_AUTHOR_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_NAME", "A"),
            ("GIT_COMMITTER_EMAIL", "a@example.org"),
        ])
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    ensure!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(text)
}

fn backend() -> Result<PathBuf> {
    let folder = PathBuf::from(git(Path::new("/"), &["--exec-path"])?);
    let known = [
        folder.join("git-http-backend"),
        "/usr/lib/git-core/git-http-backend".into(),
    ];
    known
        .into_iter()
        .find(|file| file.is_file())
        .context("git-http-backend is not installed")
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
    let builder = TestHost::builder()?;
    let root = builder.folder().join("srv");
    std::fs::create_dir(&root)?;
    git(&root, &["init", "-q", "--bare", "-b", "main", "big.git"])?;
    for (key, value) in [
        ("http.receivepack", "true"),
        ("core.compression", "0"),
        ("pack.window", "0"),
    ] {
        git(&root.join("big.git"), &["config", key, value])?;
    }
    let backend = backend()?;
    let host = builder
        .table(&format!(
            "[[program]]\nname = \"git\"\nroute = \"/git\"\nnative = '{}'\n\
             env = {{ GIT_PROJECT_ROOT = '{}', GIT_HTTP_EXPORT_ALL = \"1\" }}\n\
             limits = {{ wall = \"120s\", cpu = \"60s\", idle = \"60s\" }}",
            backend.display(),
            root.display()
        ))
        .start()
        .await?;
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
