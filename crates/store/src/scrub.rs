//! Taking a secret out of a line.
//!
//! The changed line is written anew with a checksum of its own, and every record that held the secret says that it was erased.

use turnkeep_model::json::{self, Nan};
use turnkeep_model::{Batch, Json, Object, Seq, Spelling};

use crate::checksum;
use crate::error::{Error, ErrorKind, Result};

/// What stands where something was erased.
pub(crate) const MARK: &str = "[erased]";

/// Refuses what would be found again in what stands in its place.
pub(crate) fn check_needle(needle: &str) -> Result<()> {
    if needle.is_empty() || MARK.contains(needle) {
        return Err(Error::new(ErrorKind::Unsupported, "this text cannot be erased").hint("name the secret itself"));
    }
    Ok(())
}

/// The line without the needle, and the records that held it.
pub(crate) fn without(line: &str, first: Seq, only: Option<Seq>, needle: &str) -> Result<Option<(String, Vec<Seq>)>> {
    let Json::Object(mut batch) = json::parse_with(line, Nan::Accept)?.into_json() else {
        return Err(Error::new(ErrorKind::Corrupt, "the batch is no object").hint("run `turnkeep verify`"));
    };
    let mut records = Vec::new();
    if let Some((_, Json::Array(events))) = batch.iter_mut().find(|(key, _)| key.to_str_lossy() == "events") {
        for (event, seq) in events.iter_mut().zip(first.0..) {
            if only.is_none_or(|only| only == Seq(seq)) && scrub(event, needle) {
                if let Json::Object(event) = event {
                    event.set("erased", true);
                }
                records.push(Seq(seq));
            }
        }
    }
    if records.is_empty() {
        return Ok(None);
    }
    batch.remove("sum");
    let changed = checksum::with_checksum(Json::Object(batch).to_text());
    // What is written now is ours, whoever spelled it before.
    let batch = Batch::from_line_spelled(&changed, Spelling::Ours)?;
    Ok(Some((batch.to_line(), records)))
}

/// Replaces the needle in every string below; tells whether it was there.
pub(crate) fn scrub(json: &mut Json, needle: &str) -> bool {
    match json {
        Json::String(text) => {
            let plain = text.to_str_lossy().into_owned();
            let found = plain.contains(needle);
            if found {
                *json = Json::from(plain.replace(needle, MARK));
            }
            found
        }
        Json::Array(items) => items.iter_mut().fold(false, |found, item| scrub(item, needle) | found),
        Json::Object(object) => scrub_object(object, needle),
        _ => false,
    }
}

fn scrub_object(object: &mut Object, needle: &str) -> bool {
    let found = object.iter_mut().fold(false, |found, (_, value)| scrub(value, needle) | found);
    let named = object.iter().any(|(key, _)| key.to_str_lossy().contains(needle));
    if named {
        let renamed: Vec<(String, Json)> =
            object.iter().map(|(key, value)| (key.to_str_lossy().replace(needle, MARK), value.clone())).collect();
        *object = Object::new();
        renamed.into_iter().for_each(|(key, value)| object.push(key.as_str(), value));
    }
    found | named
}
