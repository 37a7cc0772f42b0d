//! Documents of callers: converted and checked. Nothing of them is stored.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use turnkeep_codec::lint::{Finding, Strictness, lint as check};
use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Input, Target, format};
use turnkeep_model::{Error, Json};

use super::body;
use super::native::{json, losses, object};
use super::parameters::Parameters;
use crate::app::App;
use crate::auth::{Caller, ToRead};
use crate::problem::{Answer, Problem, ProblemBody, of_document};

/// Convert a document to another format.
#[utoipa::path(post, path = "/v1/convert", tag = "formats", security(("token" = ["read"])),
    request_body(content = String, description = "The document, in any known format.", content_type = "application/octet-stream"),
    params(
        ("to" = String, Query, description = "The format, optionally with a variant, as in `openai.chat`."),
        ("from" = Option<String>, Query, description = "The format it is in, where it is not recognised."),
    ),
    responses((status = 200, description = "`from`, `to`, `losses`, `ambiguous`, and the result as `document` (text) or `base64`.", body = Object),
              (status = 422, description = "The document cannot be read.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn convert(
    State(app): State<Arc<App>>,
    _: Caller<ToRead>,
    mut parameters: Parameters,
    request: Request,
) -> Answer<Response> {
    let to = target(parameters.take("to"), "to")?;
    let from = parameters.take("from").map(|name| codec(&name)).transpose()?;
    parameters.done()?;
    let bytes = body::read(request, &app).await?;
    let limit = app.config.limits.body as u64;
    let converted = tokio::task::spawn_blocking(move || {
        let bytes = turnkeep_codec::pack::unpack(&bytes, limit)?;
        turnkeep_codec::convert(Input::new(&bytes), from, &to, &DecodeOptions::default(), &EncodeOptions::default())
    });
    let converted = converted.await.map_err(Problem::internal)?.map_err(|error: Error| of_document(&error))?;
    let ambiguous = converted.ambiguous.iter().map(|id| (*id).into()).collect();
    let (name, document) = document(converted.bytes);
    let answer = object([
        ("from", converted.from.into()),
        ("to", converted.to.into()),
        ("losses", losses(&converted.losses)),
        ("ambiguous", Json::Array(ambiguous)),
        (name, document),
    ]);
    Ok(json(StatusCode::OK, answer.to_text()))
}

/// A document as it goes into JSON.
pub(super) fn document(bytes: Vec<u8>) -> (&'static str, Json) {
    match String::from_utf8(bytes) {
        Ok(text) => ("document", text.into()),
        Err(error) => ("base64", data_encoding::BASE64.encode(error.as_bytes()).into()),
    }
}

pub(super) fn target(name: Option<String>, parameter: &str) -> Answer<Target> {
    let name = name.ok_or_else(|| Problem::bad_request(format!("`{parameter}` names a format")))?;
    Target::parse(&name).map_err(|_| no_format())
}

fn codec(name: &str) -> Answer<&'static dyn Codec> {
    Target::parse(name).map(|target| target.codec).map_err(|_| no_format())
}

fn no_format() -> Problem {
    Problem::bad_request("there is no such format").hint("`GET /v1/formats` lists them")
}

/// Check a document against the rules of a target.
#[utoipa::path(post, path = "/v1/lint", tag = "formats", security(("token" = ["read"])),
    request_body(content = String, description = "The document.", content_type = "application/octet-stream"),
    params(("for" = String, Query, description = "The target: a format, optionally with a profile, as in `openai.chat:mistral`.")),
    responses((status = 200, description = "`findings`, each with `rule`, `severity`, `at`, `line`, `column` and `what`.", body = Object),
              (status = 422, description = "The document cannot be read.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn lint(
    State(app): State<Arc<App>>,
    _: Caller<ToRead>,
    mut parameters: Parameters,
    request: Request,
) -> Answer<Response> {
    let name = parameters.take("for").ok_or_else(|| Problem::bad_request("`for` names a target"))?;
    parameters.done()?;
    Target::parse(&name).map_err(|_| no_format())?;
    let bytes = body::read(request, &app).await?;
    let found = tokio::task::spawn_blocking(move || check(Input::new(&bytes), &name, Strictness::Lax));
    let found = found.await.map_err(Problem::internal)?.map_err(|error| of_document(&error))?;
    let answer = object([("findings", Json::Array(found.iter().map(finding).collect()))]);
    Ok(json(StatusCode::OK, answer.to_text()))
}

pub(super) fn finding(finding: &Finding) -> Json {
    let number = |number: Option<usize>| number.map_or(Json::Null, |number| Json::from(number as u64));
    object([
        ("rule", finding.rule.into()),
        ("severity", finding.severity.as_str().into()),
        ("at", finding.at.as_str().into()),
        ("line", number(finding.line)),
        ("column", number(finding.column)),
        ("what", finding.what.as_str().into()),
    ])
}

/// The formats.
#[utoipa::path(get, path = "/v1/formats", tag = "formats", security(("token" = ["read"])),
    responses((status = 200, description = "`formats`: their ids.", body = Object)))]
pub(crate) async fn formats(_: Caller<ToRead>) -> Response {
    let ids = format::ALL.iter().map(|codec| codec.spec().id.into()).collect();
    json(StatusCode::OK, object([("formats", Json::Array(ids))]).to_text())
}
