//! Git repositories for the programs that show or serve them.

use std::path::Path;

use anyhow::{Result, ensure};

/// Git with no settings but the ones given here; what it printed.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    git_in("2026", folder, arguments)
}

/// As [`git`], with commits of a year: which of them are newer decides what a negotiation names first.
pub(super) fn git_in(year: &str, folder: &Path, arguments: &[&str]) -> Result<String> {
    let date = format!("{year}-01-01T00:00:00Z");
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
            ("GIT_AUTHOR_DATE", date.as_str()),
            ("GIT_COMMITTER_DATE", date.as_str()),
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

/// A bare repository below `root` that accepts pushes.
pub(super) fn bare(root: &Path, name: &str) -> Result<()> {
    std::fs::create_dir_all(root)?;
    git(root, &["init", "-q", "--bare", "-b", "main", name])?;
    for (key, value) in [
        ("http.receivepack", "true"),
        ("core.compression", "0"),
        ("pack.window", "0"),
    ] {
        git(&root.join(name), &["config", key, value])?;
    }
    Ok(())
}

/// What is in the file of [`demo`].
pub(super) const README: &str = "Hello, <world> & \u{e9}.\n";

/// `git/demo.git` below `root`: one commit, `readme.txt`.
pub(super) fn demo(root: &Path) -> Result<()> {
    let bare_ones = root.join("git");
    bare(&bare_ones, "demo.git")?;
    let work = root.join("work");
    git(root, &["init", "-q", "-b", "main", "work"])?;
    std::fs::write(work.join("readme.txt"), README)?;
    git(&work, &["add", "."])?;
    git(&work, &["commit", "-q", "-m", "First & last"])?;
    git(&work, &["push", "-q", "../git/demo.git", "main"])?;
    Ok(())
}
