//! From what a test needs to a configuration file and a running host.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::command::warmbin;
use crate::host::{TOKEN, TestHost};

/// The folder of the repository.
pub fn repository() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).to_owned()
}

/// A sample program's file: `guest("hello", "native")` or `guest("hello", "wasm")`.
pub fn guest(name: &str, family: &str) -> PathBuf {
    match family {
        "wasm" => repository().join("guests/wasm").join(format!("{name}.wasm")),
        _ => repository().join("guests/bin").join(name),
    }
}

/// A host to be started: ports are chosen by the system, data and files live in a folder of its own.
#[derive(Debug)]
pub struct HostBuilder {
    folder: TempDir,
    settings: String,
    tables: String,
    arguments: Vec<String>,
    shell: Option<String>,
}

impl HostBuilder {
    pub(crate) fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("warmbin-test-").tempdir()?;
        Ok(Self {
            folder,
            settings: String::new(),
            tables: String::new(),
            arguments: Vec::new(),
            shell: None,
        })
    }

    /// The host's folder, for files that its programs need.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Adds lines of TOML before the first table.
    #[must_use]
    pub fn setting(mut self, lines: &str) -> Self {
        let _ = writeln!(self.settings, "{lines}");
        self
    }

    /// Adds tables.
    #[must_use]
    pub fn table(mut self, lines: &str) -> Self {
        let _ = writeln!(self.tables, "\n{lines}");
        self
    }

    /// Adds a sample program in both families, with more lines for its table (limits, say).
    #[must_use]
    pub fn guest(self, name: &str, lines: &str) -> Self {
        let (native, wasm) = (guest(name, "native"), guest(name, "wasm"));
        self.table(&format!(
            "[[program]]\nname = {name:?}\nnative = '{}'\nwasm = '{}'\n{lines}",
            native.display(),
            wasm.display()
        ))
    }

    /// Adds a native program from the text of a script.
    pub fn script(self, name: &str, text: &str, lines: &str) -> Result<Self> {
        let file = self.folder().join(name);
        write_script(&file, text)?;
        Ok(self.table(&format!(
            "[[program]]\nname = {name:?}\nnative = '{}'\n{lines}",
            file.display()
        )))
    }

    /// Adds a command line argument of `warmbin serve`.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Has a shell do `text` to start the host, which is `"$@"` in it.
    #[must_use]
    pub fn under(mut self, text: &str) -> Self {
        self.shell = Some(text.to_owned());
        self
    }

    /// Writes the configuration and starts the host; returns once both listeners are there.
    pub async fn start(self) -> Result<TestHost> {
        let file = self.folder.path().join("warmbin.toml");
        let text = format!(
            "listen = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\ndata = \"data\"\n{}{}",
            self.settings, self.tables
        );
        std::fs::write(&file, text)?;
        let mut command = match &self.shell {
            Some(text) => under_shell(text, &warmbin()?),
            None => warmbin()?,
        };
        command
            .arg("serve")
            .arg("--config")
            .arg(&file)
            .args(&self.arguments)
            .env("WARMBIN_ADMIN_TOKEN", TOKEN);
        TestHost::launch(command, self.folder).await
    }
}

/// A shell that does `text`, in which `"$@"` is `command`.
fn under_shell(text: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", text, "sh"]).arg(command.get_program());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// Writes an executable file. It is renamed into place, so that a running host never finds half of one.
pub(crate) fn write_script(file: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let draft = file.with_extension("draft");
    std::fs::write(&draft, text).with_context(|| format!("cannot write {}", draft.display()))?;
    std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o755))?;
    std::fs::rename(&draft, file)?;
    Ok(())
}
