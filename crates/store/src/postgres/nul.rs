//! PostgreSQL's text cannot hold NUL; ours can. It is kept as two characters that nobody writes.

use std::borrow::Cow;

const LEAD: char = '\u{F8FF}';
const NUL: char = '\u{F8FE}';
const ITSELF: char = '\u{F8FD}';

/// The text as it is stored.
pub(super) fn hide(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', LEAD]) {
        return Cow::Borrowed(text);
    }
    let mut hidden = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0' => hidden.extend([LEAD, NUL]),
            LEAD => hidden.extend([LEAD, ITSELF]),
            c => hidden.push(c),
        }
    }
    Cow::Owned(hidden)
}

/// The text as it was.
pub(super) fn show(text: String) -> String {
    if !text.contains(LEAD) {
        return text;
    }
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            LEAD => shown.push(if chars.next() == Some(NUL) { '\0' } else { LEAD }),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_and_holds_no_nul_meanwhile() {
        for text in ["", "plain", "a\0b", "\0\0", "\u{F8FF}", "\u{F8FF}\0\u{F8FE}\u{F8FD}"] {
            let hidden = hide(text);
            assert!(!hidden.contains('\0'), "{text:?}");
            assert_eq!(show(hidden.into_owned()), text);
        }
    }
}
