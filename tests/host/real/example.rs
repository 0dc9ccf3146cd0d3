//! A section of docs/PROGRAMS.md as a host: what is written there is what is tested.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use reqwest::header::HeaderMap;
use sha2::{Digest, Sha256};
use warmbin_tests::{Answer, Connection, HostBuilder, TestHost, repository};

/// One section, with the test's own folder in the place of `/srv`.
#[derive(Debug)]
pub(super) struct Example {
    builder: HostBuilder,
    toml: String,
}

impl Example {
    /// Reads the section, whose program is `file` of Debian's `package`, and writes the files that it shows.
    pub(super) fn of(title: &str, file: &str, package: &str) -> Result<Self> {
        installed(file, package)?;
        let page = std::fs::read_to_string(repository().join("docs/PROGRAMS.md"))?;
        let section = page
            .split("\n## ")
            .find_map(|section| section.strip_prefix(title)?.strip_prefix('\n'))
            .with_context(|| format!("docs/PROGRAMS.md has no section {title:?}"))?;
        let builder = TestHost::builder()?;
        let root = builder.folder().join("srv");
        std::fs::create_dir(&root)?;
        let mut toml = String::new();
        for block in section.split("\n```").skip(1).step_by(2) {
            let (kind, text) = block.split_once('\n').context("a block has lines")?;
            let moved = text.replace("/srv/", &format!("{}/", root.display())) + "\n";
            match kind.split_once(' ') {
                Some((_, name)) => {
                    let name = name.strip_prefix("/srv/").context("files lie in /srv")?;
                    put(&root.join(name), &moved)?;
                }
                None => toml = moved,
            }
        }
        ensure!(!toml.is_empty(), "{title:?} shows no configuration");
        Ok(Self { builder, toml })
    }

    /// The folder in the place of `/srv`.
    pub(super) fn root(&self) -> PathBuf {
        self.builder.folder().join("srv")
    }

    /// Adds a script, or another file.
    pub(super) fn file(self, name: &str, text: &str) -> Result<Self> {
        put(&self.root().join(name), text)?;
        Ok(self)
    }

    /// Adds a line at the end, for the last table.
    pub(super) fn line(mut self, line: &str) -> Self {
        self.toml.push_str(line);
        self.toml.push('\n');
        self
    }

    /// Starts a host with it.
    pub(super) async fn start(self) -> Result<TestHost> {
        self.builder.setting(&self.toml).start().await
    }
}

/// Says which package there has to be, where a program is missing.
pub(super) fn installed(file: &str, package: &str) -> Result<()> {
    ensure!(
        Path::new(file).exists(),
        "{file} is missing: apt-get install {package}, or make test-deps for all of them"
    );
    Ok(())
}

/// Writes a file that may be run.
fn put(file: &Path, text: &str) -> Result<()> {
    std::fs::create_dir_all(file.parent().context("a file is in a folder")?)?;
    std::fs::write(file, text)?;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// A page: its fields and its bytes, once its status is 200.
pub(super) async fn page(host: &TestHost, target: &str) -> Result<(HeaderMap, Vec<u8>)> {
    let answer = host.get(target).send().await?;
    let (status, fields) = (answer.status(), answer.headers().clone());
    let body = answer.bytes().await?.to_vec();
    ensure!(
        status == 200,
        "GET {target}: {status}: {}",
        String::from_utf8_lossy(&body)
    );
    Ok((fields, body))
}

/// A page that is text.
pub(super) async fn text(host: &TestHost, target: &str) -> Result<String> {
    Ok(String::from_utf8(page(host, target).await?.1)?)
}

/// Asks with HEAD, then with GET on the same connection: the heads agree, and a body comes with the latter only.
pub(super) async fn head_agrees(host: &TestHost, target: &str) -> Result<()> {
    let mut connection = Connection::open(host.programs()).await?;
    let mut ask = async |method: &str| -> Result<Answer> {
        let request = format!("{method} {target} HTTP/1.1\r\nHost: example.org\r\n\r\n");
        connection.send(request.as_bytes()).await?;
        connection.answer(method == "HEAD").await
    };
    let (head, get) = (ask("HEAD").await?, ask("GET").await?);
    ensure!(
        head.status == 200 && get.status == 200 && get.complete && !get.body.is_empty(),
        "{target}: {} and {}, {} bytes",
        head.status,
        get.status,
        get.body.len()
    );
    for name in ["content-type", "etag", "cache-control", "content-disposition"] {
        ensure!(
            head.header(name) == get.header(name),
            "{target}: {name} is {:?} for HEAD, {:?} for GET",
            head.header(name),
            get.header(name)
        );
    }
    // A page may say how long it took to make, and so have another length each time.
    let is_page = get
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("text/html"));
    if let Some(length) = head.header("content-length").filter(|_| !is_page) {
        ensure!(
            length == get.body.len().to_string(),
            "{target}: a HEAD of {length} bytes for {}",
            get.body.len()
        );
    }
    Ok(())
}

/// The value of a field.
pub(super) fn field<'f>(fields: &'f HeaderMap, name: &str) -> Result<&'f str> {
    let value = fields.get(name).with_context(|| format!("there is no {name}"))?;
    Ok(value.to_str()?)
}

/// That none of the requests so far ended badly.
pub(super) async fn all_ended_well(host: &TestHost, count: usize) -> Result<()> {
    for record in host.records_when("", count).await? {
        ensure!(record["outcome"] == "ok", "{record}");
    }
    Ok(())
}

/// So many bytes, of every value and without a pattern.
pub(super) fn noise(length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length + 32);
    let mut block = Sha256::digest(b"noise");
    while bytes.len() < length {
        bytes.extend_from_slice(&block);
        block = Sha256::digest(block);
    }
    bytes.truncate(length);
    bytes
}

/// The SHA-256 of bytes, as `sha256sum` prints it.
pub(super) fn hash(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
