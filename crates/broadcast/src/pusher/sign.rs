//! Signatures of the Pusher HTTP API.

use data_encoding::HEXLOWER;
use md5::{Digest, Md5};

use super::PusherApp;
use crate::signature::hmac_sha256;

/// The digest of a body, as a request names it.
pub fn body_md5(body: &[u8]) -> String {
    HEXLOWER.encode(&Md5::digest(body))
}

/// The signature of a request: HMAC-SHA256 in hex over method, path and the query's parameters, which are sorted and not
/// encoded.
pub fn pusher_signature(secret: &str, method: &str, path: &str, query: &[(&str, &str)]) -> String {
    let mut parameters = query.to_vec();
    parameters.sort_unstable();
    let parameters: Vec<String> = parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let signed = format!("{method}\n{path}\n{}", parameters.join("&"));
    HEXLOWER.encode(&hmac_sha256(secret.as_bytes(), signed.as_bytes()))
}

/// The query of a signed request. A path before `/apps` is not signed: servers behind it do not see it.
pub(super) fn query(app: &PusherApp, method: &str, path: &str, body: &[u8], now: i64) -> String {
    let (time, digest) = (now.to_string(), body_md5(body));
    let parameters =
        [("auth_key", app.key.as_str()), ("auth_timestamp", &time), ("auth_version", "1.0"), ("body_md5", &digest)];
    let signature = pusher_signature(app.secret.reveal(), method, path, &parameters);
    let parameters: Vec<String> = parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("{}&auth_signature={signature}", parameters.join("&"))
}
