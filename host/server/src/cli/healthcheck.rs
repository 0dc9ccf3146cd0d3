//! `warmbin healthcheck`: asks `/healthz` of the host that uses this configuration.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;

use super::sources::ServeArgs;
use crate::config::Config;
use crate::listen::bind;

/// How long the host may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Ask the running host whether it is well; exits with 0 if it is.
#[derive(Debug, Args)]
pub(super) struct Healthcheck {
    #[command(flatten)]
    args: ServeArgs,
}

impl Healthcheck {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let addr = address(&self.args.load()?);
        let status = ask(addr).with_context(|| format!("http://{addr}/healthz does not answer"))?;
        ensure!(
            status.contains(" 200 "),
            "http://{addr}/healthz answers {status:?}"
        );
        println!("http://{addr} is well");
        Ok(ExitCode::SUCCESS)
    }
}

/// Where the admin listener can be reached from this machine. What the running host wrote down is believed
/// where the configuration leaves the port open.
fn address(config: &Config) -> SocketAddr {
    let mut addr = config.admin_listen;
    if addr.port() == 0
        && let Some(announced) = bind::read_file(&config.data)
    {
        addr = announced.admin_listen;
    }
    bind::reachable(addr)
}

/// The status line of the answer.
fn ask(addr: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&addr, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(
        format!("GET /healthz HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut answer = Vec::new();
    stream.take(16 << 10).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned())
}
