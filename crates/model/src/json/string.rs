//! A string of JSON, as it is written.

use std::borrow::Cow;
use std::fmt;

use super::Text;
use super::escape::{self, LoneSurrogate};
use super::inline::Inline;

/// A JSON string that keeps how it was escaped, so that half a surrogate pair survives.
///
/// Equality is of the content: `"\u00e9"` equals `"é"`.
#[derive(Clone)]
pub struct JsonString(StringRepr);

#[derive(Clone)]
enum StringRepr {
    Short(Inline),
    Plain(Box<str>),
    Escaped(Box<str>),
}

const _: () = assert!(size_of::<JsonString>() == 24, "a short text takes no more room than a pointer to a long one");

impl JsonString {
    /// A string from its checked spelling between the quotes. One that we would spell alike is kept by its content.
    pub(super) fn spelled(spelling: &str) -> JsonString {
        match escape::decode_usual(spelling) {
            Some(text) => text.into(),
            None => JsonString(StringRepr::Escaped(spelling.into())),
        }
    }

    /// Whether it is `""`.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            StringRepr::Short(short) => short.as_str().is_empty(),
            // Every escape stands for something.
            StringRepr::Plain(text) | StringRepr::Escaped(text) => text.is_empty(),
        }
    }

    /// Whether a Rust string can hold it: it has no half of a surrogate pair.
    pub fn is_sound(&self) -> bool {
        match &self.0 {
            StringRepr::Short(_) | StringRepr::Plain(_) => true,
            StringRepr::Escaped(spelling) => escape::is_sound(spelling),
        }
    }

    /// The content, or why no Rust string can hold it.
    pub fn to_str(&self) -> Result<Cow<'_, str>, LoneSurrogate> {
        match &self.0 {
            StringRepr::Short(text) => Ok(Cow::Borrowed(text.as_str())),
            StringRepr::Plain(text) => Ok(Cow::Borrowed(text)),
            StringRepr::Escaped(spelling) => {
                let (text, verdict) = escape::decode_lossy(spelling);
                verdict.map(|()| Cow::Owned(text))
            }
        }
    }

    /// The content, or the string itself where no Rust string can hold it.
    ///
    /// # Errors
    /// The string, where it holds half a surrogate pair.
    pub fn into_string(self) -> Result<String, JsonString> {
        match self.0 {
            StringRepr::Short(text) => Ok(text.as_str().to_owned()),
            StringRepr::Plain(text) => Ok(text.into_string()),
            StringRepr::Escaped(spelling) => match escape::decode_lossy(&spelling) {
                (text, Ok(())) => Ok(text),
                (_, Err(_)) => Err(JsonString(StringRepr::Escaped(spelling))),
            },
        }
    }

    /// The content, with U+FFFD for half of a surrogate pair.
    pub fn to_str_lossy(&self) -> Cow<'_, str> {
        match &self.0 {
            StringRepr::Short(text) => Cow::Borrowed(text.as_str()),
            StringRepr::Plain(text) => Cow::Borrowed(text),
            StringRepr::Escaped(spelling) => Cow::Owned(escape::decode_lossy(spelling).0),
        }
    }

    /// The content as an owned string, with U+FFFD for half of a surrogate pair.
    pub fn into_string_lossy(self) -> String {
        match self.0 {
            StringRepr::Short(text) => text.as_str().to_owned(),
            StringRepr::Plain(text) => text.into_string(),
            StringRepr::Escaped(spelling) => escape::decode_lossy(&spelling).0,
        }
    }

    /// The spelling that must be kept as it is, if there is one.
    pub fn escaped(&self) -> Option<&str> {
        match &self.0 {
            StringRepr::Short(_) | StringRepr::Plain(_) => None,
            StringRepr::Escaped(spelling) => Some(spelling),
        }
    }

    /// The same, borrowed.
    pub fn to_text(&self) -> Text<'_> {
        match &self.0 {
            StringRepr::Short(text) => Text::Plain(text.as_str()),
            StringRepr::Plain(text) => Text::Plain(text),
            StringRepr::Escaped(spelling) => Text::Escaped(spelling),
        }
    }

    /// Whether it holds this text.
    pub fn is(&self, text: &str) -> bool {
        match &self.0 {
            StringRepr::Short(short) => short.as_bytes() == text.as_bytes(),
            StringRepr::Plain(plain) => **plain == *text,
            StringRepr::Escaped(_) => self.to_str().is_ok_and(|own| own == text),
        }
    }
}

impl PartialEq for JsonString {
    fn eq(&self, other: &JsonString) -> bool {
        match (&self.0, &other.0) {
            (StringRepr::Short(a), StringRepr::Short(b)) => a.as_bytes() == b.as_bytes(),
            (StringRepr::Plain(a), StringRepr::Plain(b)) => a == b,
            (StringRepr::Escaped(a), StringRepr::Escaped(b)) if a == b => true,
            _ => match (self.to_str(), other.to_str()) {
                (Ok(a), Ok(b)) => a == b,
                _ => false,
            },
        }
    }
}

impl Eq for JsonString {}

impl PartialEq<&str> for JsonString {
    fn eq(&self, text: &&str) -> bool {
        self.is(text)
    }
}

impl fmt::Debug for JsonString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_str_lossy(), f)
    }
}

impl From<&str> for JsonString {
    fn from(text: &str) -> JsonString {
        JsonString(Inline::new(text).map_or_else(|| StringRepr::Plain(text.into()), StringRepr::Short))
    }
}

impl From<String> for JsonString {
    fn from(text: String) -> JsonString {
        JsonString(Inline::new(&text).map_or_else(|| StringRepr::Plain(text.into()), StringRepr::Short))
    }
}
