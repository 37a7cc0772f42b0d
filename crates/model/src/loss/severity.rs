//! How much a loss matters, by its kind and its place.

mod table;

use self::table::{FREE, IDS, SAYS, TABLE};
use super::LossKind;
use super::Severity::{self, Content, Setting, Spelling};
use crate::canon::canonical;
use crate::diff::Change;
use crate::json::{Json, JsonString, parse};

/// How much a loss of this kind at this place matters.
pub(super) fn of(kind: LossKind, at: &str) -> Severity {
    let place = without_indices(at);
    match kind {
        LossKind::Reordered => Spelling,
        LossKind::Renamed if IDS.iter().any(|id| last_of(&place) == *id) => Spelling,
        // What has another name is still there.
        LossKind::Renamed => at_place(&place).max(Setting),
        LossKind::Dropped
        | LossKind::Truncated
        | LossKind::Textified
        | LossKind::Synthesised
        | LossKind::Wrapped
        | LossKind::Coerced
        | LossKind::Repaired
        | LossKind::Redacted
        | LossKind::Condensed => at_place(&place),
    }
}

/// How much a change matters, where the values say it better than the place: notes on the source, and values that are
/// equal but for their spelling.
pub(super) fn of_change(change: &Change) -> Option<Severity> {
    let place = without_indices(&change.at);
    if change.after.is_none() && is_said(&place, change.before.as_ref()?) {
        return Some(Content);
    }
    if let Some((_, rest)) = split_extra(&place)
        && !["fields", "spelling"].iter().any(|word| rest.split('.').any(|part| part == *word))
    {
        let acts = |json: &Json| holds_fields(json, rest.is_empty());
        let acts = change.before.iter().chain(&change.after).any(acts);
        return Some(if acts { Setting } else { Spelling });
    }
    let same = match (change.before.as_ref()?, change.after.as_ref()?) {
        (Json::Number(a), Json::Number(b)) => decimal(a.as_str()).is_some_and(|a| Some(a) == decimal(b.as_str())),
        (Json::String(a), Json::String(b)) if last_of(&place) == "arguments" => {
            let meaning = |text: &str| parse(text).ok().map(|node| canonical(&node.into_json()));
            meaning(&a.to_str_lossy()).is_some_and(|a| Some(a) == meaning(&b.to_str_lossy()))
        }
        _ => false,
    };
    same.then_some(Spelling)
}

/// Whether something is said in what a body or a block had that no reader took.
fn is_said(place: &str, gone: &Json) -> bool {
    let Some((holder, rest)) = split_extra(place) else {
        // What a message had beside its content goes with its key.
        let extra = gone.as_object().and_then(|key| key.get("extra"));
        return place == "turns.blocks.message" && extra.is_some_and(|extra| is_said("turns.extra", extra));
    };
    if !holder.is_empty() && !holder.starts_with("turns.") {
        return false;
    }
    let fields = |part: &Json| part.as_object().and_then(|part| part.get("fields")).is_some_and(says);
    match rest.split_once("fields") {
        Some((_, "")) => says(gone),
        Some((_, field)) => field.trim_start_matches('.').split('.').all(|key| SAYS.contains(&key)) && tells(gone),
        None if rest.is_empty() => gone.as_object().is_some_and(|all| all.iter().any(|(_, part)| fields(part))),
        None => fields(gone),
    }
}

/// Whether one of an object's fields says something.
fn says(fields: &Json) -> bool {
    let said = |(key, value): (&JsonString, &Json)| SAYS.contains(&&*key.to_str_lossy()) && tells(value);
    fields.as_object().is_some_and(|fields| fields.iter().any(said))
}

/// Whether a value says something: a text does, and a list or an object that holds one under such a key.
fn tells(value: &Json) -> bool {
    match value {
        Json::String(text) => !text.to_str_lossy().trim().is_empty(),
        Json::Array(items) => items.iter().any(tells),
        object => says(object),
    }
}

/// Whether an `extra`, or what one format has in it, holds fields of its source.
fn holds_fields(json: &Json, of_all_formats: bool) -> bool {
    let Json::Object(object) = json else { return true };
    if of_all_formats {
        return object.iter().any(|(_, part)| holds_fields(part, false));
    }
    object.iter().any(|(key, _)| !key.is("spelling"))
}

fn at_place(place: &str) -> Severity {
    if let Some((_, rest)) = split_extra(place) {
        // Unknown fields of the source may act.
        let mut words = rest.split('.').filter(|word| ["fields", "spelling"].contains(word));
        return if words.next() == Some("spelling") { Spelling } else { Setting };
    }
    let mut place = place;
    loop {
        if let Some((_, severity)) = TABLE.iter().find(|(row, _)| *row == place) {
            return *severity;
        }
        place = place.rsplit_once('.').map_or("", |(outer, _)| outer);
    }
}

/// What stands before the `extra` of a node, and what stands in it.
fn split_extra(place: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for word in place.split('.') {
        let end = start + word.len();
        if word == "extra" {
            return Some((place.get(..start)?, place.get(end..)?.trim_start_matches('.')));
        }
        if FREE.contains(&word) {
            return None;
        }
        start = end + 1;
    }
    None
}

fn last_of(place: &str) -> &str {
    place.rsplit('.').next().unwrap_or(place)
}

/// The place with every index left out, and told from its session on.
fn without_indices(at: &str) -> String {
    let mut place = String::with_capacity(at.len());
    let mut depth = 0_u32;
    for c in at.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => place.push(c),
            _ => {}
        }
    }
    match place.strip_prefix("sessions.") {
        Some(rest) => rest.to_owned(),
        None => place,
    }
}

/// A number as sign, digits and exponent, each in one way: equal values are equal.
fn decimal(text: &str) -> Option<(bool, String, i64)> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let trimmed = digits.trim_end_matches('0');
    let zeros = (digits.len() - trimmed.len()) as i64;
    let exponent = exponent.parse::<i64>().ok()?.checked_add(zeros)?.checked_sub(fraction.len() as i64)?;
    let trimmed = trimmed.trim_start_matches('0');
    let is_zero = trimmed.is_empty();
    Some((negative && !is_zero, trimmed.to_owned(), if is_zero { 0 } else { exponent }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Number;

    #[test]
    fn places_are_rated_by_the_longest_row() {
        let rated = |at| of(LossKind::Dropped, at);
        assert_eq!(rated("turns[3].blocks[1]"), Content);
        assert_eq!(rated("turns[3].blocks[1].text"), Content);
        assert_eq!(rated("turns[3].blocks[1].parts[0].json.a"), Content);
        assert_eq!(rated("sessions[2].turns[3].blocks[1].signature"), Setting);
        assert_eq!(rated("sessions[2]"), Content);
        assert_eq!(rated("options.temperature"), Setting);
        assert_eq!(rated("turns[0].blocks[0].message.ordinal"), Spelling);
        assert_eq!(rated("turns[0].of_a_newer_version"), Content);
    }

    #[test]
    fn notes_on_the_source_are_spelling_and_its_fields_are_settings() {
        let rated = |at| of(LossKind::Dropped, at);
        assert_eq!(rated("extra.openai.chat.spelling.order"), Spelling);
        assert_eq!(rated("turns[0].blocks[1].extra.anthropic.messages.fields.cache_control"), Setting);
        assert_eq!(rated("turns[0].extra"), Setting);
        assert_eq!(rated("metadata.extra.spelling"), Setting);
        assert_eq!(rated("turns[0].blocks[0].raw.extra.spelling"), Content);
    }

    #[test]
    fn order_and_renamed_ids_are_spelling() {
        assert_eq!(of(LossKind::Reordered, "turns[0].blocks[1]"), Spelling);
        assert_eq!(of(LossKind::Renamed, "turns[0].blocks[1].call"), Spelling);
        assert_eq!(of(LossKind::Dropped, "turns[0].blocks[1].call"), Setting);
        assert_eq!(of(LossKind::Renamed, "tools[0].name"), Setting);
        assert_eq!(of(LossKind::Renamed, "turns[0].blocks[1]"), Setting);
    }

    fn change(at: &str, before: impl Into<Json>, after: impl Into<Json>) -> Change {
        Change { at: at.to_owned(), before: Some(before.into()), after: Some(after.into()) }
    }

    fn number(text: &str) -> Json {
        Json::Number(Number::parse(text).unwrap())
    }

    #[test]
    fn equal_values_in_another_spelling_are_spelling() {
        let numbers = |a, b| of_change(&change("options.temperature", number(a), number(b)));
        assert_eq!(numbers("1.0", "1"), Some(Spelling));
        assert_eq!(numbers("100", "1e2"), Some(Spelling));
        assert_eq!(numbers("-0", "0.00"), Some(Spelling));
        assert_eq!(numbers("9007199254740993", "9007199254740992"), None);
        assert_eq!(numbers("0.5", "0.05"), None);
        let arguments = |a: &str, b: &str| of_change(&change("turns[0].blocks[1].arguments", a, b));
        assert_eq!(arguments(r#"{"b": 1, "a": 2}"#, r#"{"a":2,"b":1}"#), Some(Spelling));
        assert_eq!(arguments(r#"{"a":1}"#, r#"{"a":2}"#), None);
        assert_eq!(arguments("not json", "not json either"), None);
    }

    #[test]
    fn an_extra_that_holds_only_notes_is_spelling() {
        let read = |text: &str| Some(parse(text).unwrap().into_json());
        let gone = |text: &str, at: &str| of_change(&Change { at: at.to_owned(), before: read(text), after: None });
        assert_eq!(gone(r#"{"openai.chat": {"spelling": {"kind": "request"}}}"#, "turns[0].extra"), Some(Spelling));
        assert_eq!(gone(r#"{"openai.chat": {"fields": {"user": "me"}}}"#, "extra"), Some(Setting));
        assert_eq!(gone(r#"{"spelling": {"kind": "request"}}"#, "extra.openai.chat"), Some(Spelling));
        assert_eq!(gone("null", "title"), None);
    }

    #[test]
    fn what_is_said_in_an_extra_is_content() {
        let gone = |text: &str, at: &str| {
            let before = Some(parse(text).unwrap().into_json());
            of_change(&Change { at: at.to_owned(), before, after: None })
        };
        let block = "turns[0].blocks[1].extra";
        assert_eq!(gone(r#"{"a.b": {"fields": {"content": {"type": "text", "text": "hi"}}}}"#, block), Some(Content));
        assert_eq!(
            gone(r#"{"fields": {"images": [{"image_url": {"url": "u"}}]}}"#, &format!("{block}.a.b")),
            Some(Content)
        );
        assert_eq!(gone(r#"{"content": ["hi"]}"#, &format!("{block}.a.b.fields")), Some(Content));
        assert_eq!(gone(r#""hi""#, &format!("{block}.a.b.fields.content")), Some(Content));
        let message = r#"{"name": "me", "extra": {"a.b": {"fields": {"images": ["hi"]}}}}"#;
        assert_eq!(gone(message, "turns[0].blocks[1].message"), Some(Content));
        assert_eq!(gone(r#"{"a.b": {"fields": {"content": {"role": "model"}}}}"#, block), Some(Setting));
        assert_eq!(gone(r#"{"a.b": {"fields": {"text": {"verbosity": "low"}}}}"#, "extra"), Some(Setting));
        assert_eq!(gone(r#"{"a.b": {"fields": {"content": "hi"}}}"#, "tools[0].extra"), Some(Setting));
        assert_eq!(gone(r#"{"a.b": {"fields": {"content": " "}}}"#, block), Some(Setting));
    }

    #[test]
    fn a_rating_that_the_place_already_tells_is_not_kept() {
        use crate::loss::Loss;
        let loss = Loss::encode(LossKind::Dropped, "turns[0].extra", "no place");
        assert_eq!(loss.clone().rated(Setting).severity, None);
        assert_eq!(loss.rated(Spelling).severity, Some(Spelling));
    }
}
