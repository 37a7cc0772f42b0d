//! The client: connections that are kept for the next exchange, and requests as it sends them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue as Value, PROXY_AUTHORIZATION,
    USER_AGENT,
};
use hyper::http::uri::Parts;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::{Client as Pool, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use percent_encoding::percent_decode_str;

use super::connect::{Connector, Proxies};
use super::failure::wrong;
use super::{body, tls};
use crate::network::HttpOptions;
use crate::transport::{Header, HeaderValue, HttpRequest, Method, TransportError};

/// Sends requests over connections that it keeps.
#[derive(Clone)]
pub(super) struct Client {
    pool: Pool<Connector, Full<Bytes>>,
    proxies: Proxies,
}

impl Client {
    /// A client with these options.
    pub(super) fn new(options: &HttpOptions) -> Result<Client, TransportError> {
        let proxies = Proxies::new(&options.proxy)?;
        let tls = tls::config(options.ca_file.as_deref())?;
        let connector = Connector::new(tls, proxies.clone(), options.connect_timeout);
        let pool = Pool::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector);
        Ok(Client { pool, proxies })
    }

    /// Sends a request. Nothing is followed: a redirect is an answer.
    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Error> {
        self.pool.request(request).await
    }

    /// The request as it is sent.
    pub(super) fn prepared(&self, request: HttpRequest) -> Result<Request<Full<Bytes>>, TransportError> {
        let (uri, login) = address(&request.url)?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, Value::from_static("*/*"));
        headers.insert(ACCEPT_ENCODING, Value::from_static(body::ENCODINGS));
        headers.insert(USER_AGENT, Value::from_static(concat!("turnkeep/", env!("CARGO_PKG_VERSION"))));
        login.into_iter().for_each(|login| drop(headers.insert(AUTHORIZATION, login)));
        let given: HeaderMap = request.headers.iter().map(prepared_header).collect::<Result<_, _>>()?;
        // What the caller says goes over what is usual, and may be said more than once.
        headers.extend(given);
        headers.extend(self.proxies.authorization(&uri).map(|shown| (PROXY_AUTHORIZATION, shown)));
        let mut prepared = Request::new(Full::from(request.body));
        *prepared.method_mut() = match request.method {
            Method::Get => hyper::Method::GET,
            Method::Post => hyper::Method::POST,
        };
        *prepared.uri_mut() = uri;
        *prepared.headers_mut() = headers;
        Ok(prepared)
    }
}

fn prepared_header(header: &Header) -> Result<(HeaderName, Value), TransportError> {
    let unsendable = || wrong(format!("the header `{}` holds characters that cannot be sent", header.name));
    let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| unsendable())?;
    let (text, is_secret) = match &header.value {
        HeaderValue::Plain(text) => (text.as_str(), false),
        HeaderValue::Secret(secret) => (secret.reveal(), true),
    };
    let mut value = Value::from_str(text).map_err(|_| unsendable())?;
    value.set_sensitive(is_secret);
    Ok((name, value))
}

/// An address, and the header that its user and password become.
fn address(url: &str) -> Result<(Uri, Option<Value>), TransportError> {
    let uri: Uri = url.parse().map_err(|error| wrong(format!("the address is not one: {error}")))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(wrong("the address is not one: it begins with neither `http://` nor `https://`"));
    }
    let mut parts: Parts = uri.into_parts();
    let authority = parts.authority.as_ref().map(ToString::to_string).unwrap_or_default();
    let Some((login, host)) = authority.rsplit_once('@') else {
        return rebuilt(parts).map(|uri| (uri, None));
    };
    parts.authority = Some(host.parse().map_err(|error| wrong(format!("the address is not one: {error}")))?);
    rebuilt(parts).map(|uri| (uri, basic(login)))
}

fn rebuilt(parts: Parts) -> Result<Uri, TransportError> {
    Uri::from_parts(parts).map_err(|error| wrong(format!("the address is not one: {error}")))
}

fn basic(login: &str) -> Option<Value> {
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let plain = [percent_decode_str(user).collect::<Vec<u8>>(), percent_decode_str(password).collect()].join(&b':');
    let mut value = Value::try_from(format!("Basic {}", STANDARD.encode(plain))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_in_an_address_is_a_header() {
        let (uri, login) = address("https://me:p%40ss@host:8443/v1?x=1#here").unwrap();

        assert_eq!(uri, "https://host:8443/v1?x=1");
        assert_eq!(login.unwrap(), "Basic bWU6cEBzcw==");
        assert_eq!(address("https://host/v1").unwrap().1, None);
    }

    #[test]
    fn what_is_no_address_is_told() {
        for text in ["", "host/v1", "ftp://host", "http://", "http://ho st", "http://h\u{f6}st"] {
            let message = address(text).unwrap_err().message;
            assert!(message.starts_with("the address is not one"), "{text}: {message}");
        }
    }
}
