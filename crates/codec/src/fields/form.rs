//! What kinds of objects look like.

use turnkeep_model::json::{Json, JsonString, Object};

/// The keys of one kind of object in the order of the program that writes it, each with its rule.
pub(crate) type Form = &'static [(&'static str, KeyRule)];

/// What stands under a key when there is nothing to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyRule {
    /// Nothing: the key is left out.
    Optional,
    /// Nothing, and the key has its place in the order only where it was taken: what is left stands with unknown keys.
    Taken,
    /// Unknown keys stand here and not at the end, and so does a key of which only a part was taken. The row has no name.
    Others,
    /// The key is left out unless a note on the order names it.
    Noted,
    /// What the writer derives from the rest.
    Derived,
    /// `null`
    Null,
    /// `""`
    Empty,
    /// `[]`, also where a map is meant.
    List,
    /// `{}`
    Map,
    /// `0`
    Zero,
    /// `false`
    False,
}

impl KeyRule {
    /// The value that stands where nothing is said.
    pub(super) fn value(self) -> Option<Json> {
        match self {
            KeyRule::Optional | KeyRule::Taken | KeyRule::Others | KeyRule::Noted | KeyRule::Derived => None,
            KeyRule::Null => Some(Json::Null),
            KeyRule::Empty => Some(Json::from("")),
            KeyRule::List => Some(Json::Array(Vec::new())),
            KeyRule::Map => Some(Json::Object(Object::new())),
            KeyRule::Zero => Some(Json::from(0_u64)),
            KeyRule::False => Some(Json::Bool(false)),
        }
    }

    /// Whether the key may be missing without a note.
    pub(super) fn may_be_missing(self) -> bool {
        matches!(self, KeyRule::Optional | KeyRule::Taken | KeyRule::Others | KeyRule::Noted)
    }
}

/// The form of an object whose keys are all optional.
pub(crate) const fn optional<const N: usize>(keys: [&'static str; N]) -> [(&'static str, KeyRule); N] {
    all(keys, KeyRule::Optional)
}

/// The form of an object whose keys have their places where they are taken.
pub(crate) const fn taken<const N: usize>(keys: [&'static str; N]) -> [(&'static str, KeyRule); N] {
    all(keys, KeyRule::Taken)
}

/// The same where unknown keys stand before those that are taken: the first name is that of no key.
pub(crate) const fn taken_last<const N: usize>(keys: [&'static str; N]) -> [(&'static str, KeyRule); N] {
    let mut form = all(keys, KeyRule::Taken);
    if let Some(first) = form.first_mut() {
        *first = OTHERS;
    }
    form
}

/// The row of unknown keys.
pub(crate) const OTHERS: (&str, KeyRule) = ("", KeyRule::Others);

#[expect(clippy::indexing_slicing, reason = "the index is below the length of both arrays, and the compiler runs it")]
const fn all<const N: usize>(keys: [&'static str; N], rule: KeyRule) -> [(&'static str, KeyRule); N] {
    let mut form = [("", rule); N];
    let mut at = 0;
    while at < N {
        form[at].0 = keys[at];
        at += 1;
    }
    form
}

/// The place of a key in a form, and its rule.
pub(super) fn rule(form: Form, key: &JsonString) -> Option<(usize, KeyRule)> {
    let mut rows = form.iter().enumerate().filter(|(_, (_, rule))| *rule != KeyRule::Others);
    rows.find(|(_, (name, _))| key.is(name)).map(|(at, (_, rule))| (at, *rule))
}

/// Whether a form has a key.
pub(crate) fn knows(form: Form, key: &JsonString) -> bool {
    rule(form, key).is_some()
}

/// The place that a form gives to unknown keys, if it does.
pub(super) fn others(form: Form) -> Option<usize> {
    form.iter().position(|(_, rule)| *rule == KeyRule::Others)
}

/// The rank of a key in the usual order.
pub(super) fn rank(form: Form, key: &JsonString, is_taken: bool) -> usize {
    match rule(form, key) {
        Some((at, own)) if own != KeyRule::Taken || is_taken => at,
        _ => others(form).unwrap_or(form.len()),
    }
}
