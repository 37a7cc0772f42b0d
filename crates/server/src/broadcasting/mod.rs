//! The Pusher protocol over the tenants of this server: its apps come from the configuration, its sessions from the app's
//! tenant, and its signatures are for those who show a token.

mod apps;
mod sessions;
mod signing;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;

use crate::app::App;
use crate::auth::authenticate;
use crate::pusher::Pusher;

pub(crate) use apps::hub;

/// The routes. They check signatures themselves; only whoever asks for one shows a token.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let sessions = sessions::TenantSessions { tenants: app.tenants.clone(), metrics: app.metrics.clone() };
    let pusher = Pusher::new(app.channels.clone(), Arc::new(sessions), Arc::new(signing::TokenHolders));
    pusher.router_behind(|signing| signing.layer(from_fn_with_state(app.clone(), authenticate)))
}
