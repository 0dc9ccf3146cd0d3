//! A headless Chromium with a profile of its own, driven through a chromedriver of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;
use thirtyfour::{ChromiumLikeCapabilities, DesiredCapabilities, WebDriver};
use tokio::sync::oneshot;

/// How long the driver may take to listen, and to answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// A browser. Dropping it ends it and removes its profile.
#[derive(Debug)]
pub struct Browser {
    /// What drives it.
    pub driver: WebDriver,
    chromedriver: Chromedriver,
    _profile: TempDir,
}

#[derive(Debug)]
struct Chromedriver(Child);

impl Drop for Chromedriver {
    fn drop(&mut self) {
        // The browser's processes are in the driver's process group.
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.0.wait();
    }
}

impl Browser {
    /// Starts one.
    pub async fn start() -> Result<Self> {
        use std::os::unix::process::CommandExt;
        let profile = tempfile::Builder::new().prefix("warmbin-browser-").tempdir()?;
        let mut chromedriver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("chromedriver (Debian: chromium-driver) is needed")?;
        let stdout = chromedriver.stdout.take();
        let chromedriver = Chromedriver(chromedriver);
        let port = port(stdout.context("standard output is piped")?).await?;
        let mut capabilities = DesiredCapabilities::chrome();
        for argument in [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,1600",
            &format!("--user-data-dir={}", profile.path().display()),
        ] {
            capabilities.add_arg(argument)?;
        }
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build()?;
        let driver = WebDriver::builder(format!("http://127.0.0.1:{port}"), capabilities)
            .client(client)
            .await?;
        Ok(Self {
            driver,
            chromedriver,
            _profile: profile,
        })
    }

    /// Closes the browser in good order.
    pub async fn close(self) -> Result<()> {
        self.driver.quit().await?;
        drop(self.chromedriver);
        Ok(())
    }
}

/// The port that a chromedriver says it has taken.
async fn port(stdout: ChildStdout) -> Result<u16> {
    let (sender, port) = oneshot::channel();
    // Reads on until the driver leaves, so that it can always print.
    std::thread::spawn(move || {
        let mut sender = Some(sender);
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if let Some((_, port)) = line.split_once("successfully on port ")
                && let Some(sender) = sender.take()
            {
                let _ = sender.send(port.trim_end_matches('.').parse());
            }
        }
    });
    let port = tokio::time::timeout(PATIENCE, port)
        .await
        .context("chromedriver does not listen")?;
    Ok(port.context("chromedriver left")??)
}
