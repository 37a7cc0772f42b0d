//! E-mail addresses.

use super::{SecretKind, SecretMatch, run, run_back};

/// Last labels that are no top-level domain: names of files and units look like addresses.
#[rustfmt::skip]
const NO_DOMAINS: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "scss", "html", "json", "yaml", "yml", "toml", "lock", "xml", "txt", "log", "cfg", "conf", "bak",
    "js", "jsx", "ts", "tsx", "mjs", "cjs", "vue", "go", "java", "kt", "scala", "rb", "php", "cpp", "hpp", "swift", "service", "socket", "target", "timer",
    "mount", "slice", "scope", "device", "path",
];

/// The address around an `@`, if there is one.
pub(super) fn email(text: &str, at: usize) -> Option<SecretMatch> {
    let is_local =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-') || byte >= 0x80;
    let is_domain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-') || byte >= 0x80;
    let mut start = at - run_back(text, at, is_local);
    if text.as_bytes().iter().take(start).next_back() == Some(&b'\\') {
        // The letter of an escape, as in JSON inside of a text, is no part of the address.
        start += 1;
    }
    let local = text.get(start..at)?.trim_start_matches(['.', '-', '%', '_', '+']);
    let domain = text.get(at + 1..at + 1 + run(text, at + 1, is_domain))?.trim_end_matches(['.', '-']);
    let is_remote = local == "git" && text.as_bytes().get(at + 1 + domain.len()) == Some(&b':');
    let is_address = !local.is_empty() && local.len() <= 64 && is_host(domain) && !is_remote;
    is_address.then(|| SecretMatch { range: at - local.len()..at + 1 + domain.len(), kind: SecretKind::Email })
}

/// Labels between dots, the last of them letters.
fn is_host(domain: &str) -> bool {
    let Some((labels, last)) = domain.rsplit_once('.') else { return false };
    let is_label = |label: &str| !label.is_empty() && label.len() <= 63 && !label.starts_with('-');
    let is_last = last.chars().count() >= 2 && last.chars().all(char::is_alphabetic) || last.starts_with("xn--");
    labels.split('.').all(is_label) && is_last && !NO_DOMAINS.contains(&last)
}
