//! The web page, and what only it needs: signing in with a cookie, journals with shortened texts, links to share.
//!
//! The page itself is bytes of `turnkeep-viewer`. It asks the same routes as any other client.

mod assets;
mod cut;
mod login;
mod records;
mod share;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(crate) use cut::cut_line;
pub(crate) use login::{Csrf, cookie_of, csrf_of};

/// What needs a token.
pub(crate) fn guarded() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default()
        .routes(routes!(login::login))
        .routes(routes!(login::logout))
        .routes(routes!(records::record))
        .routes(routes!(share::list, share::create))
        .routes(routes!(share::revoke))
}

/// What needs none: the page, and pages that someone shared.
pub(crate) fn open() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(assets::page))
        .route("/viewer.js", get(assets::script))
        .route("/viewer.css", get(assets::style))
        .route("/share/{link}", get(share::page))
}
