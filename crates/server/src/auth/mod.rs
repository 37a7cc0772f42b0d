//! Who asks, and what they may do.
//!
//! - [`Tokens`]: bearer tokens, random and stored as hashes. A token belongs to one tenant.
//! - Tickets: single-use, for pages that cannot send a header.
//! - `Host` and `Origin`, because every web page can reach a server on this machine.
//! - A caller is what a handler asks for. Without one there is no way to a store.

mod caller;
pub(crate) mod guard;
mod layer;
mod rate;
mod scope;
pub(crate) mod ticket;
mod token;

pub(crate) use caller::{Caller, ToAdmin, ToRead, ToRun, ToWrite};
pub(crate) use layer::{authenticate, bearer};
pub(crate) use rate::Rates;
pub use scope::Scope;
pub use token::{NewToken, Token, Tokens};

/// 256 random bits, as text that stands in a header or a URL as it is.
pub(crate) fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(data_encoding::BASE64URL_NOPAD.encode(&bytes))
}

/// The SHA-256 of a text, in hexadecimal digits.
pub(crate) fn sha256(text: &str) -> String {
    use sha2::Digest;
    data_encoding::HEXLOWER.encode(&sha2::Sha256::digest(text.as_bytes()))
}
