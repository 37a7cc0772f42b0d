//! HMAC-SHA256.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The signature of a message under a key; HMAC takes keys of any length.
pub(crate) fn hmac_sha256(key: &[u8], message: &[u8]) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}
