//! Placeholders: typed, equal for equal secrets of a session, and not reversible.

use std::collections::HashMap;
use std::ops::Range;

use super::{SecretKind, SecretMatch};

/// The names that the secrets of a session have got.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct Names {
    known: HashMap<(&'static str, String), usize>,
    last: HashMap<&'static str, usize>,
}

impl Names {
    /// Takes notice of placeholders that stand in a text already, so that none stands for two secrets.
    pub(in crate::policy) fn notice(&mut self, text: &str) {
        for range in placeholders(text) {
            let Some((kind, number)) = text.get(range).and_then(read) else { continue };
            let last = self.last.entry(kind).or_default();
            *last = number.max(*last);
        }
    }

    /// The text with a placeholder for every secret in it.
    pub(in crate::policy) fn hide(&mut self, text: &str, found: &[SecretMatch]) -> String {
        let (mut hidden, mut from) = (String::with_capacity(text.len()), 0);
        for SecretMatch { range, kind } in found {
            hidden.push_str(text.get(from..range.start).unwrap_or_default());
            hidden.push_str(&self.placeholder(*kind, text.get(range.clone()).unwrap_or_default()));
            from = range.end;
        }
        hidden.push_str(text.get(from..).unwrap_or_default());
        hidden
    }

    /// What stands for a secret: never longer than it is.
    pub(in crate::policy) fn placeholder(&mut self, kind: SecretKind, secret: &str) -> String {
        let last = self.last.entry(kind.as_str()).or_default();
        let number = *self.known.entry((kind.as_str(), secret.to_owned())).or_insert_with(|| {
            *last += 1;
            *last
        });
        let usual = format!("[{}-{number}]", kind.as_str());
        let initial = kind.as_str().chars().next().unwrap_or('x');
        let short = format!("[{initial}{number}]");
        [usual, short].into_iter().find(|name| name.len() <= secret.len()).unwrap_or_else(|| "*".repeat(secret.len()))
    }
}

/// The placeholders of a text.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices('[').filter_map(|(start, _)| {
        let rest = text.get(start..start + 26).or_else(|| text.get(start..))?;
        let end = rest.find(']')? + 1;
        let range = start..start + end;
        read(text.get(range.clone())?).map(|_| range)
    })
}

/// The kind and the number of a placeholder.
fn read(placeholder: &str) -> Option<(&'static str, usize)> {
    let inner = placeholder.strip_prefix('[')?.strip_suffix(']')?;
    let (word, number) = inner.rsplit_once('-').or_else(|| Some((inner.get(..1)?, inner.get(1..)?)))?;
    let is_named = |kind: &&SecretKind| kind.as_str() == word || word.len() == 1 && kind.as_str().starts_with(word);
    let number = number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))?;
    SecretKind::ALL.iter().find(is_named).map(|kind| (kind.as_str(), number))
}
