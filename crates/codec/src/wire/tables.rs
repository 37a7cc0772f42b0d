//! Tables that are read in both directions: one row for an option, one for a word.
//!
//! What a decoder reads and an encoder writes cannot drift apart where both go by the same row.

use turnkeep_model::json::Json;
use turnkeep_model::{FinishReason, Options};

use crate::fields::Fields;

/// An option of a wire: its key, and how it is read and written.
pub(crate) struct OptionRow {
    pub(crate) key: &'static str,
    pub(crate) read: fn(&mut Fields, &str, &mut Options),
    pub(crate) write: fn(&Options) -> Option<Json>,
}

/// A table of options: `"key" => kind field`, where a kind is `number`, `flag` or `texts`.
macro_rules! option_rows {
    ($($key:literal => $kind:ident $field:ident,)*) => {
        &[$($crate::wire::tables::option_rows!(@row $key $kind $field)),*]
    };
    (@row $key:literal number $field:ident) => {
        $crate::wire::tables::OptionRow {
            key: $key,
            read: |fields, key, options| options.$field = fields.number(key),
            write: |options| options.$field.clone().map(turnkeep_model::json::Json::Number),
        }
    };
    (@row $key:literal flag $field:ident) => {
        $crate::wire::tables::OptionRow {
            key: $key,
            read: |fields, key, options| options.$field = fields.flag(key),
            write: |options| options.$field.map(turnkeep_model::json::Json::Bool),
        }
    };
    (@row $key:literal texts $field:ident) => {
        $crate::wire::tables::OptionRow {
            key: $key,
            read: |fields, key, options| options.$field = fields.texts(key).unwrap_or_default(),
            write: |options| $crate::wire::tables::list_of(&options.$field),
        }
    };
}
pub(crate) use option_rows;

/// A list of texts that has some.
pub(crate) fn list_of(texts: &[String]) -> Option<Json> {
    (!texts.is_empty()).then(|| Json::Array(texts.iter().map(|text| Json::from(text.as_str())).collect()))
}

/// Takes the options of a table.
pub(crate) fn take_options(rows: &[OptionRow], fields: &mut Fields, options: &mut Options) {
    rows.iter().for_each(|row| (row.read)(fields, row.key, options));
}

/// The options of a table that are set, with their keys.
pub(crate) fn options_set<'a>(
    rows: &'a [OptionRow],
    options: &'a Options,
) -> impl Iterator<Item = (&'static str, Json)> + 'a {
    rows.iter().filter_map(|row| Some((row.key, (row.write)(options)?)))
}

/// A wire's words for our values. Of several words for one value, the first is written.
pub(crate) type Words<T> = &'static [(&'static str, T)];

/// What a word means.
pub(crate) fn meant<T: Clone>(words: Words<T>, word: &str) -> Option<T> {
    words.iter().find(|(own, _)| *own == word).map(|(_, value)| value.clone())
}

/// The word for a value.
pub(crate) fn word_for<T: PartialEq>(words: Words<T>, value: &T) -> Option<&'static str> {
    words.iter().find(|(_, own)| own == value).map(|(word, _)| *word)
}

/// Why an answer ended, by a wire's word; a word that it does not know is kept.
pub(crate) fn reason(words: Words<FinishReason>, word: &str) -> FinishReason {
    meant(words, word).unwrap_or_else(|| FinishReason::Other(word.to_owned()))
}
