//! `/v1`: one module a resource. Handlers parse, make one library call, and answer.

mod append;
mod body;
mod calls;
mod chunks;
mod convert;
mod idempotency;
mod journal;
mod listing;
mod maintenance;
mod native;
mod parameters;
mod runs;
mod sessions;
mod snapshot;
mod tickets;
mod views;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(crate) use body::Body;
pub(crate) use idempotency::{KIND as IDEMPOTENCY, remember};
pub(crate) use native::{at, json, object};
pub(crate) use parameters::{InSession, Parameters};
pub(crate) use views::redacted;

/// Every route of `/v1` that is no stream.
pub(crate) fn router() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default()
        .routes(routes!(listing::list, sessions::create))
        .routes(routes!(listing::search))
        .routes(routes!(sessions::get, sessions::change, sessions::delete))
        .routes(routes!(snapshot::snapshot))
        .routes(routes!(snapshot::window))
        .routes(routes!(append::append))
        .routes(routes!(journal::journal))
        .routes(routes!(journal::ledger))
        .routes(routes!(sessions::fork))
        .routes(routes!(chunks::chunks))
        .routes(routes!(maintenance::verify))
        .routes(routes!(maintenance::usage))
        .routes(routes!(maintenance::erase))
        .routes(routes!(convert::convert))
        .routes(routes!(convert::lint))
        .routes(routes!(convert::formats))
        .routes(routes!(views::slim))
        .routes(routes!(views::export))
        .routes(routes!(views::lint))
        .routes(routes!(runs::ask_new))
        .routes(routes!(runs::ask))
        .routes(routes!(runs::resume))
        .routes(routes!(runs::stop))
        .routes(routes!(runs::list))
        .routes(routes!(runs::endpoints))
        .routes(routes!(calls::approve))
        .routes(routes!(calls::deny))
        .routes(routes!(calls::resolve))
        .routes(routes!(tickets::create))
        .routes(routes!(tickets::whoami))
}
