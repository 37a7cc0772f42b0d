//! Signatures: of a subscription, and of a request to the HTTP API.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest, Md5};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::app::App;
use super::channel::Channel;

/// How many seconds the clock of a signer may differ from ours.
pub const WINDOW: u64 = 600;

const VERSION: &str = "1.0";

/// The signature of a text, in hexadecimal digits.
pub fn sign(secret: &str, text: &str) -> String {
    HEXLOWER.encode(&mac(secret, text))
}

fn mac(secret: &str, text: &str) -> [u8; 32] {
    // A key of any length is one: longer ones are hashed first.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return [0; 32] };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

/// The `auth` of a subscription: `KEY:SIGNATURE`.
pub fn channel_auth(app: &App, socket: &str, channel: &str, data: Option<&str>) -> String {
    format!("{}:{}", app.key, sign(app.secret.reveal(), &subscription(socket, channel, data)))
}

/// Whether `auth` allows this connection to listen. A signature of the name without its place (`@41`) is one for every
/// place: what is allowed is the session.
pub fn allows(app: &App, auth: &str, socket: &str, channel: &Channel, data: Option<&str>) -> bool {
    let names = [channel.name().as_ref(), channel.base()];
    names.iter().any(|name| same(auth, &channel_auth(app, socket, name, data)))
}

fn subscription(socket: &str, channel: &str, data: Option<&str>) -> String {
    match data {
        None => format!("{socket}:{channel}"),
        Some(data) => format!("{socket}:{channel}:{data}"),
    }
}

/// Compares in a time that does not tell where the difference is.
fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// A request to the HTTP API, as far as it is signed.
#[derive(Debug, Clone, Copy)]
pub struct SignedRequest<'a> {
    /// `GET` or `POST`.
    pub method: &'a str,
    /// The path, with what the server is mounted under.
    pub path: &'a str,
    /// The parameters, decoded.
    pub query: &'a [(String, String)],
    /// The body.
    pub body: &'a [u8],
}

/// A signature that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// When it was made, in seconds.
    pub time: u64,
    /// The first half of it, to know it again.
    pub mark: [u8; 16],
}

/// Why a request is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A parameter of the signature is missing or of another form.
    Missing(&'static str),
    /// It is signed for another app.
    Key,
    /// It was signed too long ago, or by a clock that is ahead.
    Time,
    /// The body is not the signed one.
    Body,
    /// The signature does not fit.
    Signature,
}

impl Refusal {
    /// What the caller is told.
    pub fn message(self) -> &'static str {
        match self {
            Refusal::Missing(name) => name,
            Refusal::Key => "auth_key is not the key of this app",
            Refusal::Time => "auth_timestamp is more than 600 seconds from the time of the server",
            Refusal::Body => "body_md5 is not the checksum of the body",
            Refusal::Signature => "Authentication signature invalid.",
        }
    }
}

/// Checks a request at `now`, in seconds.
pub fn verify(app: &App, request: SignedRequest<'_>, now: u64) -> Result<Verified, Refusal> {
    let find = |name: &str| request.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let signature = find("auth_signature").ok_or(Refusal::Missing("auth_signature is missing"))?;
    if find("auth_version") != Some(VERSION) {
        return Err(Refusal::Missing("auth_version is not 1.0"));
    }
    let time = find("auth_timestamp").and_then(|time| time.parse().ok());
    let time: u64 = time.ok_or(Refusal::Missing("auth_timestamp is not a number of seconds"))?;
    if !same(find("auth_key").unwrap_or_default(), &app.key) {
        return Err(Refusal::Key);
    }
    if time.abs_diff(now) > WINDOW {
        return Err(Refusal::Time);
    }
    let checksum = (!request.body.is_empty()).then(|| HEXLOWER.encode(&Md5::digest(request.body)));
    if checksum.as_deref() != find("body_md5").filter(|_| checksum.is_some()) {
        return Err(Refusal::Body);
    }
    let expected = sign(app.secret.reveal(), &text_to_sign(request));
    if !same(signature, &expected) {
        return Err(Refusal::Signature);
    }
    Ok(Verified { time, mark: mark(&expected) })
}

/// `METHOD`, path and sorted parameters, each on a line. Values stand there as they are, without percent signs.
pub fn text_to_sign(request: SignedRequest<'_>) -> String {
    let mut parameters: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (key, value) in request.query.iter().filter(|(key, _)| key != "auth_signature") {
        let name = key.split_once('[').map_or(key.as_str(), |(name, _)| name);
        parameters.entry(name.to_lowercase()).or_default().push(value);
    }
    let lines: Vec<String> = parameters.iter().map(|(key, values)| format!("{key}={}", values.join(","))).collect();
    format!("{}\n{}\n{}", request.method, request.path, lines.join("&"))
}

fn mark(signature: &str) -> [u8; 16] {
    let bytes = HEXLOWER.decode(signature.as_bytes()).unwrap_or_default();
    bytes.first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
