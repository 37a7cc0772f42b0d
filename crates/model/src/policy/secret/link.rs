//! Addresses with passwords, private keys, and tokens that name their bearer.

use std::ops::Range;

use super::assigned::{distinct, is_template};
use super::{SecretKind, SecretMatch, begins, run, run_back};

/// `scheme://user:password@host`, all of it up to the end of the host.
pub(super) fn connection(text: &str, at: Range<usize>) -> Option<SecretMatch> {
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-');
    let ends_host = |byte: u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b',' | b')')
    };
    let mut start = at.start - run_back(text, at.start, is_scheme);
    if text.as_bytes().iter().take(start).next_back() == Some(&b'\\') {
        start += 1;
    }
    let authority = text.get(at.end..at.end + run(text, at.end, |byte| !ends_host(byte)))?;
    let (login, _) = authority.rsplit_once('@')?;
    let (_, password) = login.split_once(':')?;
    let told = start < at.start && !password.is_empty() && !is_template(password);
    let end = at.end + authority.trim_end_matches(['.', ';', ':', ']', '}']).len();
    told.then_some(SecretMatch { range: start..end, kind: SecretKind::Url })
}

/// From the line that begins a private key to the one that ends it, or to the end of what looks like one.
pub(super) fn private_key(text: &str, at: Range<usize>) -> Option<SecretMatch> {
    let after = text.get(at.end..)?;
    let title_end = after.find("-----")?;
    let title = after.get(..title_end)?;
    if title_end > 48 || !title.contains("PRIVATE KEY") {
        return None;
    }
    let body = at.end + title_end + 5;
    let rest = text.get(body..)?;
    let end = match rest.find("-----END").and_then(|end| Some(end + 8 + rest.get(end + 8..)?.find("-----")? + 5)) {
        Some(length) => body + length,
        None => {
            let is_body = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-:,._\\ \t\r\n".contains(&byte);
            body + run(text, body, is_body)
        }
    };
    // Too short for a key: someone speaks of the line only.
    let told = end - body >= 24;
    told.then_some(SecretMatch { range: at.start..end, kind: SecretKind::PrivateKey })
}

/// `eyJ….eyJ….signature`
pub(super) fn jwt(text: &str, start: usize) -> Option<SecretMatch> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=');
    if !begins(text, start) || text.get(start..start + 3) != Some("eyJ") {
        return None;
    }
    let token = text.get(start..start + run(text, start, is_part))?.trim_end_matches(['.', '-']);
    let mut parts = token.split('.');
    let long = |part: Option<&str>| part.is_some_and(|part| part.len() >= 10);
    let told = long(parts.next()) && long(parts.next()) && parts.next().is_some_and(|signature| signature.len() >= 8);
    told.then_some(SecretMatch { range: start..start + token.len(), kind: SecretKind::Token })
}

/// What follows `Bearer `.
pub(super) fn bearer(text: &str, start: usize) -> Option<SecretMatch> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte);
    let token = text.get(start..start + run(text, start, is_part))?.trim_end_matches('.');
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let told = token.len() >= 16 && digits >= 2 && digits < token.len() && distinct(token) >= 8;
    told.then_some(SecretMatch { range: start..start + token.len(), kind: SecretKind::Token })
}

/// What follows `Authorization: Basic `.
pub(super) fn basic(text: &str, at: Range<usize>) -> Option<SecretMatch> {
    const HEADER: &str = "authorization";
    let before = text.as_bytes().get(at.start.saturating_sub(20)..at.start)?.to_ascii_lowercase();
    let named = before.windows(HEADER.len()).any(|window| window == HEADER.as_bytes());
    let length = run(text, at.end, |byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte));
    (named && length >= 8).then_some(SecretMatch { range: at.end..at.end + length, kind: SecretKind::Token })
}
