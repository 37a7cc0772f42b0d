//! The apps that are configured.

use turnkeep_store::{Error, ErrorKind, Result};

use crate::config::{self, Config};
use crate::pusher::{App, Hub, Origins};

/// A hub of the apps that are configured, with their secrets.
///
/// # Errors
/// What the source of a secret says.
pub(crate) async fn hub(config: &Config) -> Result<Hub> {
    let (apps, origins) = (config.apps.clone(), config.origins.clone());
    // A secret may come from a command.
    let read = tokio::task::spawn_blocking(move || apps.iter().map(|app| opened(app, &origins)).collect());
    let cut_off = |_| Err(Error::new(ErrorKind::Io, "reading the secrets was cut off"));
    let apps: Vec<App> = read.await.unwrap_or_else(cut_off)?;
    Ok(Hub::new(apps, config.limits.connections))
}

fn opened(app: &config::App, origins: &[String]) -> Result<App> {
    let secret = app.secret.read().map_err(|error| {
        let what = format!("the secret of the app `{}`: {}", app.name, error.what());
        Error::new(ErrorKind::Io, what).hint(error.remedy().unwrap_or("check its `secret`"))
    })?;
    let origins = if app.origins.is_empty() { origins } else { &app.origins };
    Ok(App {
        view: app.view,
        origins: Origins::new(origins),
        client_events: app.client_events,
        enabled: app.enabled,
        subscription_counts: app.subscription_counts,
        public_sessions: app.public_sessions,
        limits: app.limits.clone(),
        ..App::new(&app.id, &app.key, secret, app.tenant.as_str())
    })
}
