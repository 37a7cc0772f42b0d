//! Short texts without an allocation: most keys, words and numbers of a document are.

/// A text of at most [`Inline::MOST`] bytes.
#[derive(Clone, Copy)]
pub(super) struct Inline {
    length: u8,
    bytes: [u8; Inline::MOST],
}

impl Inline {
    /// What fits beside the length and the tag of an enum, in the room of a boxed text and its tag.
    const MOST: usize = 22;

    /// The text, if it is short enough.
    pub(super) fn new(text: &str) -> Option<Inline> {
        let mut bytes = [0; Inline::MOST];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Inline { length: u8::try_from(text.len()).ok()?, bytes })
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_come_back_and_long_ones_are_refused() {
        for text in ["", "a", "zwölf", "exactly 22 bytes long!"] {
            assert_eq!(Inline::new(text).map(|inline| inline.as_str().to_owned()).as_deref(), Some(text));
        }
        assert!(Inline::new("one byte more than that").is_none());
    }
}
