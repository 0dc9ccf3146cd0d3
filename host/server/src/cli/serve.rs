//! `warmbin serve`.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::sources::ServeArgs;
use crate::admin;
use crate::catalog::declared;
use crate::config::Config;
use crate::data_lock::DataLock;
use crate::host::Host;
use crate::listen::{self, Listeners, bind, shutdown};

/// Serve programs and the dashboard.
#[derive(Debug, Args)]
pub(super) struct Serve {
    #[command(flatten)]
    args: ServeArgs,
}

impl Serve {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if std::process::id() == 1 && !super::init::is_child() {
            return super::init::supervise();
        }
        let config = self.args.load()?;
        super::log_to_stderr(&config.log)?;
        for warning in &config.warnings {
            tracing::warn!(target: "warmbin", "{warning}");
        }
        super::runtime(config.workers)?.block_on(serve(config))?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn serve(config: Config) -> anyhow::Result<()> {
    let stop = shutdown::on_signal()?;
    // An address in use is found out before seconds go into compiling modules.
    let listeners = Listeners::bind(&config).await?;
    let _folder = DataLock::take(&config.data)?;
    let host = Host::open(config).await?;
    declared::forget_undeclared(&host.config, &host.store).await?;
    host.catalog.reload().await?;
    // The host was made a line ago: nobody has set its addresses.
    let _ = host.addresses.set(listeners.addresses()?);
    bind::write_file(&host)?;
    let mut out = std::io::stdout().lock();
    // Nobody may be reading standard output; that is no reason not to serve.
    let _ = out
        .write_all(bind::announcement(&host).as_bytes())
        .and_then(|()| out.flush());
    drop(out);
    let follow = tokio::spawn({
        let host = Arc::clone(&host);
        async move { host.catalog.follow().await }
    });
    listen::serve(
        Arc::clone(&host),
        listeners,
        admin::router(Arc::clone(&host)),
        stop,
    )
    .await;
    follow.abort();
    bind::remove_file(&host);
    host.store.close().await;
    Ok(())
}
