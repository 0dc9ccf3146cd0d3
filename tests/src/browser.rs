//! A headless Chromium with a profile of its own, driven through a chromedriver of its own.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;
use thirtyfour::{ChromiumLikeCapabilities, DesiredCapabilities, WebDriver};

use crate::wait::wait_until;

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
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let chromedriver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("chromedriver (Debian: chromium-driver) is needed")?;
        let chromedriver = Chromedriver(chromedriver);
        wait_until("chromedriver listens", Duration::from_secs(20), async || {
            Ok(tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok())
        })
        .await?;
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
        let driver = WebDriver::new(format!("http://127.0.0.1:{port}"), capabilities).await?;
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
