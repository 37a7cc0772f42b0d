//! Whether a request still says what its source said.

use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, Target};
use turnkeep_model::json::{self, Json, Nan, TreeSink};
use turnkeep_model::shape::Shape;
use turnkeep_model::{Loss, LossKind, Session, Severity};

use super::said::{Heard, Said, said};
use crate::recorded::wire;

/// What a conversion made, and what it said of its losses.
pub(super) struct Converted {
    pub(super) body: Json,
    pub(super) losses: Vec<Loss>,
    session: Session,
}

/// The next request on the wire `to` of a body of the wire `from`.
pub(super) fn convert(body: &Json, from: &str, to: &str) -> Result<Converted, String> {
    let bytes = body.to_text().into_bytes();
    let decoded =
        wire(from).decode(Input::new(&bytes), &DecodeOptions::default()).map_err(|error| error.to_string())?;
    let mut options = EncodeOptions::default();
    options.as_request = true;
    let target = Target { codec: wire(to), variant: None };
    let encoded = turnkeep_codec::encode(&decoded.archive, &target, &options).map_err(|error| error.to_string())?;
    let text = String::from_utf8(encoded.bytes).map_err(|error| error.to_string())?;
    let body = json::parse_with(&text, Nan::Accept).map_err(|error| error.to_string())?.into_json();
    let session = decoded.archive.main_session().cloned().unwrap_or_default();
    Ok(Converted { body, losses: decoded.losses.into_iter().chain(encoded.losses).collect(), session })
}

/// What a body says and its next request on another wire neither says nor names as lost.
pub(super) fn gone(body: &Json, from: &str, to: &str) -> Vec<String> {
    let converted = match convert(body, from, to) {
        Ok(converted) => converted,
        Err(error) => return vec![format!("no request: {error}")],
    };
    let heard = Heard::of(&converted.body);
    let missing: Vec<Said> = said(body).into_iter().filter(|said| !heard.has(&said.text)).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let places = places(&converted.session);
    missing.into_iter().filter_map(|said| silently(&said, &places, &converted.losses)).collect()
}

/// Where each part of a session stands, and what it says.
fn places(session: &Session) -> Vec<(String, Heard)> {
    let mut places = Vec::new();
    for (turn, content) in session.turns.iter().enumerate() {
        for (block, content) in content.blocks.iter().enumerate() {
            places.push((format!("turns[{turn}].blocks[{block}]"), Heard::of(&tree(content))));
        }
        places.push((format!("turns[{turn}]"), Heard::of(&tree(&content.head()))));
    }
    places.push(("extra".to_owned(), Heard::of(&tree(&session.head()))));
    places
}

fn tree<T: Shape>(value: &T) -> Json {
    let mut sink = TreeSink::default();
    value.write(&mut sink);
    sink.into_json()
}

/// The complaint, unless a content loss names the place where it stood.
fn silently(said: &Said, places: &[(String, Heard)], losses: &[Loss]) -> Option<String> {
    let shown: String = said.text.chars().take(60).collect();
    let mut found =
        places.iter().filter(|(_, heard)| heard.has(&said.text)).map(|(place, _)| place.as_str()).peekable();
    if found.peek().is_none() {
        return Some(format!("{}: `{shown}` is not in the session", said.at));
    }
    let found: Vec<&str> = found.collect();
    let named = found.iter().any(|place| losses.iter().any(|loss| names(loss) && loss.covers(place)));
    (!named).then(|| format!("{}: `{shown}`, at {found:?}, is gone and no content loss says so", said.at))
}

/// Whether a loss says that something said is gone, or has another name, as tools have where a vendor refuses theirs.
fn names(loss: &Loss) -> bool {
    loss.severity() == Severity::Content || loss.kind == LossKind::Renamed
}
