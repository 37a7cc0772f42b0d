//! The description of the interface, made of the code that answers.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::{ops, page, rest, sse, viewer};

/// What is said of the interface as a whole.
#[derive(OpenApi)]
#[openapi(
    info(title = "turnkeep", description = "Durable sessions of LLM agents: kept, run and followed.", license(name = "MIT OR Apache-2.0")),
    modifiers(&Tokens),
)]
struct Description;

struct Tokens;

impl utoipa::Modify for Tokens {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        openapi.components.get_or_insert_with(Default::default).add_security_scheme("token", scheme);
    }
}

/// The routes that need a token, those that do not, and the document that describes both.
pub(crate) struct Routes {
    pub(crate) guarded: Router<Arc<App>>,
    pub(crate) open: Router<Arc<App>>,
}

pub(crate) fn routes() -> Routes {
    let guarded = OpenApiRouter::with_openapi(Description::openapi())
        .merge(rest::router())
        .merge(viewer::guarded())
        .routes(routes!(sse::session_events))
        .routes(routes!(sse::events))
        .routes(routes!(ops::metrics_page));
    let open = OpenApiRouter::default().routes(routes!(ops::health)).routes(routes!(ops::ready));
    let (guarded, mut document) = guarded.split_for_parts();
    let (open, more) = open.split_for_parts();
    document.merge(more);
    let text: Arc<str> = document.to_json().unwrap_or_default().into();
    let reference = page::reference(&document);
    let open = open
        .route("/v1/openapi.json", get(move || document_answer(text.clone())))
        .route("/v1/docs", get(move || page_answer(reference.clone())))
        .merge(viewer::open());
    Routes { guarded, open }
}

async fn document_answer(text: Arc<str>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text.to_string()).into_response()
}

/// A page that loads nothing and runs nothing.
async fn page_answer(html: Arc<str>) -> Response {
    let policy =
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    (headers, Html(html.to_string())).into_response()
}
