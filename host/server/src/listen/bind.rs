//! Binding both listeners, and telling where they are: on standard output and in `DATA/listeners.json`.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use crate::config::Config;
use crate::host::{Addresses, Host};

/// Both listeners, bound.
#[derive(Debug)]
pub struct Listeners {
    /// Programs.
    pub programs: TcpListener,
    /// Dashboard, API, metrics, health.
    pub admin: TcpListener,
}

/// `DATA/listeners.json`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Announcement {
    /// Where programs are served.
    pub listen: SocketAddr,
    /// Where dashboard, API, metrics and health are served.
    pub admin_listen: SocketAddr,
    /// The process.
    pub pid: u32,
}

const FILE: &str = "listeners.json";

impl Listeners {
    /// Binds both.
    pub async fn bind(config: &Config) -> anyhow::Result<Self> {
        let bind = async |key: &str, addr: SocketAddr| {
            TcpListener::bind(addr)
                .await
                .with_context(|| format!("{key}: cannot listen on {addr}"))
        };
        Ok(Self {
            programs: bind("listen", config.listen).await?,
            admin: bind("admin_listen", config.admin_listen).await?,
        })
    }

    /// The addresses really bound.
    pub fn addresses(&self) -> anyhow::Result<Addresses> {
        Ok(Addresses {
            listen: self.programs.local_addr()?,
            admin_listen: self.admin.local_addr()?,
        })
    }
}

/// Where a listener bound to `addr` can be reached from this machine: "every address" is none to connect to.
pub fn reachable(mut addr: SocketAddr) -> SocketAddr {
    if addr.ip().is_unspecified() {
        addr.set_ip(match addr.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    addr
}

/// What is printed once the host listens.
pub fn announcement(host: &Host) -> String {
    let Addresses { listen, admin_listen } = host.addresses();
    let mut text = format!(
        "listening on http://{listen} (programs)\nlistening on http://{admin_listen} (dashboard and API)\n"
    );
    if let Some(generated) = host.admin_token.generated() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "log in at http://{}/login?token={}",
            reachable(admin_listen),
            generated.token
        );
        let _ = writeln!(text, "(the admin token is kept in {})", generated.path.display());
    }
    text
}

/// Writes `DATA/listeners.json`, whole or not at all.
pub fn write_file(host: &Host) -> anyhow::Result<()> {
    let Addresses { listen, admin_listen } = host.addresses();
    let announcement = Announcement {
        listen,
        admin_listen,
        pid: std::process::id(),
    };
    let text = serde_json::to_string(&announcement)?;
    let temporary = host.data.join(format!("{FILE}.{}", std::process::id()));
    std::fs::write(&temporary, text).with_context(|| format!("cannot write {}", temporary.display()))?;
    std::fs::rename(&temporary, host.data.join(FILE))?;
    Ok(())
}

/// Removes `DATA/listeners.json`: nobody listens there any more.
pub fn remove_file(host: &Host) {
    // If it cannot be removed, its reader finds nobody at the address.
    let _ = std::fs::remove_file(host.data.join(FILE));
}

/// Reads `DATA/listeners.json`: where the host that uses this folder listens, or last listened.
pub fn read_file(data: &Path) -> Option<Announcement> {
    serde_json::from_str(&std::fs::read_to_string(data.join(FILE)).ok()?).ok()
}
