//! Removes what the server itself no longer needs: used tickets, and keys of requests that are a day old.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::app::App;
use crate::auth::ticket;
use crate::ops::LogLine;
use crate::rest::IDEMPOTENCY;

/// How often it is looked.
const PAUSE: Duration = Duration::from_secs(60);

/// How long documents of a kind are kept after the last change, in milliseconds.
const KEPT: [(&str, i64); 2] = [(ticket::KIND, 120_000), (IDEMPOTENCY, 24 * 3600 * 1000)];

/// Sweeps from time to time, until the server ends.
pub(crate) async fn sweep(app: Arc<App>) {
    loop {
        tokio::time::sleep(PAUSE).await;
        for (kind, kept) in KEPT {
            if let Err(error) = sweep_kind(&app, kind, kept).await {
                app.log.write(&LogLine::new("sweep").fact("kind", kind).fact("cause", error));
            }
        }
    }
}

async fn sweep_kind(app: &App, kind: &str, kept: i64) -> turnkeep_store::Result<()> {
    let before = Timestamp::now().as_millisecond().saturating_sub(kept);
    for document in app.control.list_changed_before(kind, None, Some(before)).await? {
        app.control.remove(kind, &document.key).await?;
    }
    Ok(())
}
