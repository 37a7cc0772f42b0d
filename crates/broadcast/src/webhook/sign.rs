//! Signatures of Standard Webhooks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::signature::hmac_sha256;

/// The signature of a message: `v1,` and the HMAC-SHA256 of its id, time and body in base64; `None` where the secret is none.
pub fn webhook_signature(secret: &str, id: &str, time: i64, body: &[u8]) -> Option<String> {
    let mut signed = format!("{id}.{time}.").into_bytes();
    signed.extend_from_slice(body);
    Some(format!("v1,{}", STANDARD.encode(hmac_sha256(&key(secret)?, &signed))))
}

/// The key that a secret stands for.
pub(super) fn key(secret: &str) -> Option<Vec<u8>> {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap_or(secret)).ok()?;
    (!key.is_empty()).then_some(key)
}
