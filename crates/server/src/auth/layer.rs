//! Finds out who asks, before any handler runs.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use subtle::ConstantTimeEq;

use super::{Token, ticket};
use crate::app::App;
use crate::problem::{Answer, Problem};
use crate::viewer::{Csrf, cookie_of, csrf_of};

/// Puts the token of a request into its extensions, counts the request, and tells what is left.
pub(crate) async fn authenticate(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let (token, csrf) = match identify(&app, request.method(), request.headers(), request.uri()).await {
        Ok(identified) => identified,
        Err(problem) => return problem.into_response(),
    };
    let left = app.rates.count(&token.id);
    let mut response = if left.allowed {
        app.metrics.authenticated();
        request.extensions_mut().insert(token);
        if let Some(csrf) = csrf {
            request.extensions_mut().insert(csrf);
        }
        next.run(request).await
    } else {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", "the token has used up its requests")
            .with(header::RETRY_AFTER, left.seconds.to_string())
            .into_response()
    };
    left.tell(response.headers_mut());
    response
}

async fn identify(app: &App, method: &Method, headers: &HeaderMap, uri: &Uri) -> Answer<(Token, Option<Csrf>)> {
    if let Some(text) = bearer(headers) {
        return Ok((app.tokens.verify(text).await?.ok_or_else(unknown)?, None));
    }
    if let Some(text) = ticket_of(uri) {
        return Ok((ticket::redeem(&app.control, &text, uri.path()).await?.ok_or_else(used)?, None));
    }
    if let Some(text) = cookie_of(headers) {
        let token = app.tokens.verify(text).await?.ok_or_else(unknown)?;
        let csrf = csrf_of(text);
        check_csrf(method, headers, &csrf)?;
        return Ok((token, Some(csrf)));
    }
    if !app.public && !app.tokens.any().await? {
        return Ok((Token::local(), None));
    }
    Err(challenge(
        Problem::new(StatusCode::UNAUTHORIZED, "no_token", "a token is needed")
            .hint("send `Authorization: Bearer TOKEN`; `turnkeep token new` makes one"),
    ))
}

/// A browser sends a cookie by itself: what is no reading has to prove that a page of this server asked for it.
fn check_csrf(method: &Method, headers: &HeaderMap, csrf: &Csrf) -> Answer<()> {
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let said = headers.get("x-csrf-token").map(HeaderValue::as_bytes).unwrap_or_default();
    if reads || bool::from(said.ct_eq(csrf.0.as_bytes())) {
        return Ok(());
    }
    Err(Problem::forbidden("requests with a cookie need `X-CSRF-Token`").hint("`GET /v1/whoami` tells the word"))
}

pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn ticket_of(uri: &Uri) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(key, _)| *key == "ticket").map(|(_, value)| value.to_owned()).next()
}

fn unknown() -> Problem {
    challenge(Problem::new(StatusCode::UNAUTHORIZED, "wrong_token", "the token is not known, or has ended"))
}

fn used() -> Problem {
    challenge(Problem::new(
        StatusCode::UNAUTHORIZED,
        "wrong_ticket",
        "the ticket was used, is over, or is for another path",
    ))
}

fn challenge(problem: Problem) -> Problem {
    problem.with(header::WWW_AUTHENTICATE, "Bearer realm=\"turnkeep\"")
}
