//! Finds secrets in texts: keys of vendors, tokens, private keys, connection strings, addresses, numbers of people.
//!
//! One automaton over rare literals and one stride over digits say where to look; a check of what stands there decides.
//! What is split over two texts, or told in words only, is not found.

mod assigned;
mod contact;
mod digits;
mod link;
mod literals;
mod names;
mod vendors;

use std::ops::Range;
use std::sync::OnceLock;

pub(super) use names::Names;

use crate::shape::string_enum;
pub(super) use digits::is_card;
use literals::Literals;

string_enum! {
    /// What a secret is; its word stands in the placeholder.
    pub enum SecretKind {
        /// A key or token that a vendor issued.
        Key = "key",
        /// A token that names its bearer.
        Token = "token",
        /// A private key.
        PrivateKey = "private-key",
        /// An address with a password in it.
        Url = "url",
        /// A password, key or token by the name it is assigned to.
        Secret = "secret",
        /// An e-mail address.
        Email = "email",
        /// A phone number.
        Phone = "phone",
        /// The number of a payment card.
        Card = "card",
        /// The number of a bank account.
        Iban = "iban",
        /// What a pattern of the user's matches.
        Match = "match",
    }
}

/// A secret, and where it stands in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretMatch {
    /// The bytes it takes.
    pub range: Range<usize>,
    /// What it is.
    pub kind: SecretKind,
}

/// Every secret in a text, in order and apart from each other.
///
/// ```
/// use turnkeep_model::policy::{SecretKind, scan};
///
/// let text = "write to ada@example.com";
/// let found = scan(text);
///
/// assert_eq!(found[0].kind, SecretKind::Email);
/// assert_eq!(&text[found[0].range.clone()], "ada@example.com");
/// ```
pub fn scan(text: &str) -> Vec<SecretMatch> {
    let mut found = Vec::new();
    literals().each(text, |literal, range| {
        if let Some(secret) = literal.check(text, range) {
            found.push(secret);
        }
    });
    digits::each(text, &mut found);
    apart(found)
}

/// The value that is assigned to this name, if it is a secret: all of it.
pub(super) fn is_assigned(name: &str, value: &str) -> bool {
    assigned::names_secret(name).is_some_and(|class| assigned::is_secret(value, class))
}

/// Whether the text is, or begins with, a placeholder of ours.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = Range<usize>> {
    names::placeholders(text)
}

/// The same finds in order; those that overlap are one, of the kind that stands first.
pub(super) fn apart(mut found: Vec<SecretMatch>) -> Vec<SecretMatch> {
    found.sort_by_key(|secret| (secret.range.start, std::cmp::Reverse(secret.range.end), rank(secret.kind)));
    let mut apart: Vec<SecretMatch> = Vec::with_capacity(found.len());
    for secret in found {
        match apart.last_mut() {
            Some(last) if secret.range.start < last.range.end => {
                last.range.end = last.range.end.max(secret.range.end);
            }
            _ => apart.push(secret),
        }
    }
    apart
}

/// Of two kinds at the same place the more telling one wins.
fn rank(kind: SecretKind) -> u8 {
    match kind {
        SecretKind::Secret => 1,
        SecretKind::Match => 2,
        _ => 0,
    }
}

fn literals() -> &'static Literals {
    static LITERALS: OnceLock<Literals> = OnceLock::new();
    LITERALS.get_or_init(Literals::new)
}

/// Whether a word can begin at this byte: what stands before is no letter or digit, or the letter of an escape, as in
/// JSON inside of a text.
fn begins(text: &str, at: usize) -> bool {
    let mut before = text.as_bytes().iter().take(at).rev();
    match before.next() {
        None => true,
        Some(b'n' | b't' | b'r' | b'b' | b'f') if before.next() == Some(&b'\\') => true,
        Some(byte) => !byte.is_ascii_alphanumeric(),
    }
}

/// Whether a word ends before this byte.
fn ends(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// How many bytes from here on are of a class.
fn run(text: &str, from: usize, class: impl Fn(u8) -> bool) -> usize {
    text.as_bytes().iter().skip(from).take_while(|byte| class(**byte)).count()
}

/// How many bytes before here are of a class.
fn run_back(text: &str, to: usize, class: impl Fn(u8) -> bool) -> usize {
    text.as_bytes().iter().take(to).rev().take_while(|byte| class(**byte)).count()
}
