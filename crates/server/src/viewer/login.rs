//! Signing in to the page: a token becomes a cookie that scripts cannot read.
//!
//! A browser sends a cookie by itself, also where another page asked for the request. Three things stand against that: the cookie
//! is `SameSite=Strict`, requests of other origins are refused, and whatever is no reading needs a word that only a page of this
//! server can have read.

use axum::Extension;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::auth::{Caller, ToRead, bearer, sha256};
use crate::problem::{Answer, Problem};

const COOKIE: &str = "turnkeep";

/// The word that requests with a cookie have to repeat in `X-CSRF-Token`.
#[derive(Debug, Clone)]
pub(crate) struct Csrf(pub(crate) String);

/// The token in the cookie of a request.
pub(crate) fn cookie_of(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies.flat_map(|text| text.split(';')).find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// The word that belongs to a token. It tells nothing of it.
pub(crate) fn csrf_of(token: &str) -> Csrf {
    Csrf(sha256(&format!("turnkeep csrf {token}")))
}

/// Sign in: the token of this request becomes a cookie.
#[utoipa::path(post, path = "/v1/login", tag = "operation", security(("token" = ["read"])),
    responses((status = 204, description = "`Set-Cookie`: HttpOnly, SameSite=Strict. `GET /v1/whoami` then tells the word for `X-CSRF-Token`.")))]
pub(crate) async fn login(caller: Caller<ToRead>, headers: HeaderMap) -> Answer<Response> {
    let Some(token) = bearer(&headers) else {
        return Err(Problem::bad_request("send the token as `Authorization: Bearer`"));
    };
    let age = caller.token.expires.map(|end| end.duration_since(jiff::Timestamp::now()).as_secs().max(0));
    let age = age.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
    Ok(set_cookie(&format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict{age}{}", secure(&headers))))
}

/// Sign out: the cookie goes.
#[utoipa::path(post, path = "/v1/logout", tag = "operation", security(("token" = ["read"])),
    responses((status = 204, description = "The cookie is gone.")))]
pub(crate) async fn logout(_: Caller<ToRead>, csrf: Option<Extension<Csrf>>) -> Response {
    // Without a cookie there is nothing to remove; the answer is the same.
    drop(csrf);
    set_cookie(&format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"))
}

/// Behind a proxy that speaks TLS, the cookie is for TLS only.
fn secure(headers: &HeaderMap) -> &'static str {
    let https = headers.get("x-forwarded-proto").is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"https"));
    if https { "; Secure" } else { "" }
}

fn set_cookie(text: &str) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Ok(value) = HeaderValue::try_from(text) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let table = [
            ("turnkeep=tk_1_s", Some("tk_1_s")),
            ("a=b; turnkeep=tk_1_s; c=d", Some("tk_1_s")),
            ("nturnkeep=x; turnkeeper=y", None),
            ("", None),
        ];
        for (cookies, token) in table {
            let headers = HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static(cookies))]);
            assert_eq!(cookie_of(&headers), token, "{cookies}");
        }
    }
}
