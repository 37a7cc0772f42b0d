//! What no vendor takes, put right before any of them looks: blocks that only another vendor knows, bytes that are not
//! base64, schemas in one vendor's words, counts that are no counts, and text that no UTF-8 can hold.

use turnkeep_model::json::{Json, JsonString, Number, Object};
use turnkeep_model::{Block, Body, Extra, Loss, LossKind, Media, Options, Part, Session, Text, Turn};

use super::{cache, portable};
use crate::base64_text;
use crate::format::anthropic;

/// Where the blocks of a session came from: for each turn, the index that each block had.
pub(super) struct Places(Vec<Vec<usize>>);

impl Places {
    /// The place in the session as it was given.
    pub(super) fn given(&self, at: String) -> String {
        let found = at.strip_prefix("turns[").and_then(|rest| {
            let (turn, rest) = rest.split_once("].blocks[")?;
            let (block, rest) = rest.split_once(']')?;
            let given = self.0.get(turn.parse::<usize>().ok()?)?.get(block.parse::<usize>().ok()?)?;
            Some(format!("turns[{turn}].blocks[{given}]{rest}"))
        });
        found.unwrap_or(at)
    }
}

/// Puts what the blocks of other vendors say into bodies that `wire` knows, and says where each block came from.
fn readable(session: &mut Session, wire: &str) -> Places {
    let is_plain = |turn: &Turn| turn.api.as_deref() == Some(wire) || !turn.blocks.iter().any(may_be_foreign);
    let places = session.turns.iter_mut().map(|turn| match is_plain(turn) {
        true => (0..turn.blocks.len()).collect(),
        false => readable_turn(turn),
    });
    Places(places.collect())
}

/// Whether a block may say something in the words of one vendor.
fn may_be_foreign(block: &Block) -> bool {
    match &block.body {
        Body::Other { .. } => true,
        Body::Media(_) => !block.extra.is_empty(),
        Body::ToolResult(result) => result.parts.iter().any(|part| matches!(part, Part::Other { .. })),
        _ => false,
    }
}

fn readable_turn(turn: &mut Turn) -> Vec<usize> {
    let mut places = Vec::with_capacity(turn.blocks.len());
    for (index, mut block) in std::mem::take(&mut turn.blocks).into_iter().enumerate() {
        let said = match &block.body {
            Body::Other { raw, .. } => portable::bodies(raw),
            Body::Media(media) => portable::with_context(media, &block.extra),
            _ => Vec::new(),
        };
        if let Body::ToolResult(result) = &mut block.body {
            let mark = result.parts.iter().find_map(cache_mark);
            result.parts = std::mem::take(&mut result.parts).into_iter().flat_map(readable_part).collect();
            if let Some(mark) = mark.filter(|_| cache::control(&block.extra).is_none()) {
                block.extra.part_mut(anthropic::WIRE).fields.set(cache::CONTROL, mark);
            }
        }
        let count = said.len().max(1);
        places.extend(std::iter::repeat_n(index, count));
        match said.is_empty() {
            true => turn.blocks.push(block),
            false => turn.blocks.extend(apart(&block, said)),
        }
    }
    places
}

/// Blocks of one message that say what `block` says. What stood beside it stands beside the last.
fn apart(block: &Block, said: Vec<Body>) -> impl Iterator<Item = Block> {
    let last = said.len().saturating_sub(1);
    said.into_iter().enumerate().map(move |(index, body)| {
        let extra = if index == last { block.extra.clone() } else { Extra::NONE };
        Block { body, extra, ..block.clone() }
    })
}

fn cache_mark(part: &Part) -> Option<Object> {
    match part {
        Part::Other { raw, .. } => raw.get(cache::CONTROL)?.as_object().cloned(),
        _ => None,
    }
}

fn readable_part(part: Part) -> Vec<Part> {
    let said = match &part {
        Part::Other { kind, raw } => portable::parts(kind, raw),
        _ => Vec::new(),
    };
    if said.is_empty() { vec![part] } else { said }
}

/// Makes the session what the steps of a vendor expect; says what became of what they could not have taken, and where its
/// blocks came from.
pub(super) fn normalise(session: &mut Session, wire: &str) -> (Vec<Loss>, Places) {
    let mut losses = Vec::new();
    let places = readable(session, wire);
    for (turn, content) in session.turns.iter_mut().enumerate() {
        for (block, content) in content.blocks.iter_mut().enumerate() {
            let at = format!("turns[{turn}].blocks[{block}]");
            match &mut content.body {
                Body::Media(media) => plain_bytes(media, &at, &mut losses),
                Body::Summary(summary) => {
                    let text = framed(&summary.text);
                    content.body = Text { text }.into();
                    let what = "a summary is sent as text that says what it is";
                    losses.push(Loss::encode(LossKind::Textified, format!("{at}.type"), what));
                }
                Body::ToolResult(result) => {
                    for (part, content) in result.parts.iter_mut().enumerate() {
                        if let Part::Media(media) = content {
                            plain_bytes(media, &format!("{at}.parts[{part}]"), &mut losses);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    for (index, tool) in session.tools.iter_mut().enumerate() {
        if plain_schema(&mut tool.parameters) {
            losses.push(renamed_types(format!("tools[{index}].parameters")));
        }
    }
    if let Some(format) = &mut session.response_format
        && plain_schema(&mut format.schema)
    {
        losses.push(renamed_types("response_format.schema".to_owned()));
    }
    counts(&mut session.options, &mut losses);
    (losses, places)
}

/// A summary as every model is sent it. It has the place of a user's words, and must not be taken for them.
fn framed(summary: &str) -> String {
    if summary.trim().is_empty() {
        return String::new();
    }
    format!(
        "<conversation_summary>\nThis is a summary of the earlier conversation. The user did not write it. \
         Where two statements differ, the later one holds.\n\n{summary}\n</conversation_summary>"
    )
}

fn renamed_types(at: String) -> Loss {
    Loss::encode(LossKind::Coerced, at, "the types of the schema are written as JSON Schema names them")
}

/// Makes bytes plain base64, or takes away what is none.
fn plain_bytes(media: &mut Media, at: &str, losses: &mut Vec<Loss>) {
    let Some(data) = &media.inline else { return };
    // Some programs hand on the whole address of the data where its bytes are asked for.
    let address = data.strip_prefix("data:").and_then(|address| address.split_once(";base64,"));
    let kind = address.map(|(kind, _)| kind.to_owned()).filter(|kind| !kind.is_empty());
    let plain = base64_text::canonical(address.map_or(data, |(_, bytes)| bytes));
    if plain.as_ref() == Some(data) {
        return;
    }
    if media.media_type.is_none()
        && let Some(kind) = kind
    {
        media.media_type = Some(kind);
    }
    let (kind, what) = match plain {
        Some(_) => (LossKind::Coerced, "it is written in the usual alphabet of base64"),
        None => (LossKind::Dropped, "it is not base64"),
    };
    losses.push(Loss::encode(kind, format!("{at}.inline"), what));
    media.inline = plain;
}

/// The types of schemas as Google writes them.
const TYPES: &[&str] = &["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

/// Writes the types of a schema in small letters; whether there was something to do.
fn plain_schema(schema: &mut Json) -> bool {
    match schema {
        Json::Object(object) => object.iter_mut().fold(false, |changed, (key, value)| {
            let own = key.to_str().is_ok_and(|key| key == "type") && plain_type(value);
            own | plain_schema(value) | changed
        }),
        Json::Array(items) => items.iter_mut().fold(false, |changed, item| plain_schema(item) | changed),
        _ => false,
    }
}

fn plain_type(value: &mut Json) -> bool {
    // Some clients write the number that stands for the word.
    let numbered = value.as_number().and_then(Number::as_u64).and_then(|number| usize::try_from(number).ok());
    let numbered = numbered.and_then(|number| TYPES.get(number.checked_sub(1)?));
    let word = value.as_str().filter(|word| TYPES.contains(&&**word));
    let word = word.as_deref().or(numbered.copied()).map(str::to_lowercase);
    let found = word.is_some();
    if let Some(word) = word {
        *value = Json::from(word);
    }
    found
}

/// Leaves counts that are counts and numbers that are finite.
fn counts(options: &mut Options, losses: &mut Vec<Loss>) {
    let wholes = [
        ("max_tokens", &mut options.max_tokens),
        ("top_k", &mut options.top_k),
        ("budget_tokens", &mut options.budget_tokens),
        ("seed", &mut options.seed),
    ];
    for (name, value) in wholes {
        settle(name, value, whole, losses);
    }
    let numbers = [
        ("temperature", &mut options.temperature),
        ("top_p", &mut options.top_p),
        ("presence_penalty", &mut options.presence_penalty),
        ("frequency_penalty", &mut options.frequency_penalty),
    ];
    for (name, value) in numbers {
        settle(name, value, |number| number.as_f64().is_finite().then(|| number.clone()), losses);
    }
}

fn settle(name: &str, value: &mut Option<Number>, legal: impl Fn(&Number) -> Option<Number>, losses: &mut Vec<Loss>) {
    let Some(given) = value.as_ref() else { return };
    let kept = legal(given);
    if kept.as_ref() == Some(given) {
        return;
    }
    let kind = if kept.is_some() { LossKind::Coerced } else { LossKind::Dropped };
    losses.push(Loss::encode(kind, format!("options.{name}"), "no vendor takes this number"));
    *value = kept;
}

/// A number without a fraction that every vendor can count to.
fn whole(number: &Number) -> Option<Number> {
    let given = number.as_f64();
    let counts = given.fract() == 0.0 && given.abs() <= f64::from(i32::MAX);
    match number.as_i64() {
        Some(_) if counts => Some(number.clone()),
        None if counts => Some(Number::from_f64(given)).filter(|number| number.as_i64().is_some()),
        _ => None,
    }
}

/// Replaces what is no JSON by the letter and vendors refuse: half a surrogate pair, and numbers that are none.
pub(super) fn well_formed(body: &mut Json) {
    match body {
        Json::Number(number) if !number.is_json() => *body = Json::Null,
        Json::String(text) if text.to_str().is_err() => {
            *text = JsonString::from(text.to_str_lossy().into_owned());
        }
        Json::Array(items) => items.iter_mut().for_each(well_formed),
        Json::Object(object) => {
            if object.iter().any(|(key, _)| key.to_str().is_err()) {
                let pairs = std::mem::take(object).into_iter();
                *object =
                    pairs.map(|(key, value)| (JsonString::from(key.into_string_lossy()), value)).collect::<Object>();
            }
            object.iter_mut().for_each(|(_, value)| well_formed(value));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnkeep_model::json;

    #[test]
    fn schemas_are_written_in_the_words_of_json_schema() {
        let mut schema = json::parse(r#"{"type":"OBJECT","properties":{"type":{"type":"STRING","enum":["STRING"]}}}"#)
            .unwrap()
            .into_json();

        assert!(plain_schema(&mut schema));
        assert_eq!(schema.to_text(), r#"{"type":"object","properties":{"type":{"type":"string","enum":["STRING"]}}}"#);
        assert!(!plain_schema(&mut schema));
    }

    #[test]
    fn counts_are_whole() {
        let whole = |text: &str| whole(&Number::parse(text).unwrap()).map(|number| number.as_str().to_owned());

        assert_eq!(whole("12").as_deref(), Some("12"));
        assert_eq!(whole("12.5"), None);
        assert_eq!(whole("1e400"), None);
        assert_eq!(whole("99999999999999999999"), None);
    }

    #[test]
    fn what_is_no_json_is_replaced() {
        let text = r#"{"a\ud83d":["\ud83d","😀",NaN]}"#;
        let mut body = json::parse_with(text, json::Nan::Accept).unwrap().into_json();
        well_formed(&mut body);

        assert_eq!(body.to_text(), "{\"a\u{fffd}\":[\"\u{fffd}\",\"😀\",null]}");
    }
}
