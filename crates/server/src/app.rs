//! Everything that the handlers share.

use std::sync::Arc;

use tokio::sync::watch;
use turnkeep_store::Result;

use crate::auth::{Rates, Tokens};
use crate::broadcasting;
use crate::config::Config;
use crate::control::Control;
use crate::ops::{Log, Metrics};
use crate::pusher::Hub;
use crate::runs::Runs;
use crate::tenant::{Tenants, control_url, open_private};

/// Everything that the handlers share.
pub(crate) struct App {
    pub(crate) config: Arc<Config>,
    pub(crate) control: Control,
    pub(crate) tokens: Tokens,
    pub(crate) tenants: Arc<Tenants>,
    pub(crate) rates: Rates,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) log: Log,
    pub(crate) runs: Arc<Runs>,
    /// Who is connected with the Pusher protocol.
    pub(crate) channels: Arc<Hub>,
    /// Whether it can be reached from beyond this machine: then every request needs a token.
    pub(crate) public: bool,
    draining: watch::Sender<bool>,
}

impl App {
    pub(crate) async fn open(config: Config, public: bool, log: Log) -> Result<Arc<App>> {
        let config = Arc::new(config);
        let url = control_url(&config.store)?;
        let store = tokio::task::spawn_blocking(move || open_private(&url)).await;
        let cut_off = |_| Err(turnkeep_store::Error::new(turnkeep_store::ErrorKind::Io, "opening was cut off"));
        let control = Control::new(store.unwrap_or_else(cut_off)?);
        let channels = broadcasting::hub(&config).await?;
        let tenants = Arc::new(Tenants::new(config.clone()));
        let metrics = Arc::new(Metrics::default());
        let runs = Runs::new(config.clone(), control.clone(), tenants.clone(), log.clone());
        Ok(Arc::new(App {
            tokens: Tokens::new(control.clone()),
            rates: Rates::new(&config.limits),
            draining: watch::Sender::new(false),
            runs,
            channels: Arc::new(channels),
            config,
            control,
            tenants,
            metrics,
            log,
            public,
        }))
    }

    /// Ends streams and refuses new work.
    pub(crate) fn drain(&self) {
        self.draining.send_replace(true);
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Ends when the server drains.
    pub(crate) fn drained(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut draining = self.draining.subscribe();
        async move {
            // An error is the end of the server, too.
            let _ = draining.wait_for(|draining| *draining).await;
        }
    }
}
