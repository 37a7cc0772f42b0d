//! What holds for turnkeep's own formats.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseError;
use turnkeep_codec::{Codec, EncodeOptions, Input};
use turnkeep_model::json::{self, Json, Nan};
use turnkeep_model::{Archive, Journal, canon, fold};

use super::codec::{archives, count_objects, decode, encode, inject, writings};
use crate::generate;
use crate::property::for_all;

/// Nothing is lost: documents give back their archives, journals their sessions and their own bytes.
pub fn lossless(codec: &dyn Codec) {
    if holds_journals(codec) { journals_are_lossless(codec) } else { documents_are_lossless(codec) }
}

fn holds_journals(codec: &dyn Codec) -> bool {
    codec.spec().id.ends_with(".jsonl")
}

fn documents_are_lossless(codec: &dyn Codec) {
    for_all(150, &archives(), |archive| {
        for options in writings(codec) {
            let encoded = encode(codec, &archive, &options)?;
            let decoded = decode(codec, &encoded.bytes)?;
            prop_assert_eq!(&decoded.archive, &archive);
            prop_assert_eq!(encoded.losses.len() + decoded.losses.len(), 0);
        }
        Ok(())
    });
}

fn journals_are_lossless(codec: &dyn Codec) {
    let options = EncodeOptions::default();
    for_all(100, &generate::session(), |session| {
        let encoded = encode(codec, &session.clone().into(), &options)?;
        let decoded = decode(codec, &encoded.bytes)?;
        prop_assert_eq!(decoded.archive.main_session(), Some(&session));
        prop_assert_eq!(encoded.losses.len() + decoded.losses.len(), 0);
        Ok(())
    });
    for_all(100, &generate::journal(), |journal| {
        let encoded = encode(codec, &told(&journal)?, &options)?;
        let decoded = decode(codec, &encoded.bytes)?;
        prop_assert_eq!(decoded.archive.journal.as_deref(), Some(&journal));
        let again = encode(codec, &decoded.archive, &options)?;
        prop_assert_eq!(String::from_utf8_lossy(&again.bytes), String::from_utf8_lossy(&encoded.bytes));
        prop_assert_eq!(encoded.losses.len() + decoded.losses.len() + again.losses.len(), 0);
        Ok(())
    });
}

/// The archive of what a journal tells.
fn told(journal: &Journal) -> Result<Archive, TestCaseError> {
    let session = fold(journal).map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
    Ok(Archive { seq: Some(journal.last()), journal: Some(Box::new(journal.clone())), ..Archive::from(session) })
}

/// A field added at any object comes back where it stood. Maps of names to values are not extended: a new key there is
/// a new entry, not an unknown field.
pub fn unknown_fields_survive(codec: &dyn Codec) {
    if holds_journals(codec) {
        let journals = (generate::journal(), any::<Index>());
        return for_all(100, &journals, |(journal, at)| field_survives(codec, &told(&journal)?, at));
    }
    for_all(150, &(archives(), any::<Index>()), |(archive, at)| field_survives(codec, &archive, at));
}

fn field_survives(codec: &dyn Codec, archive: &Archive, at: Index) -> Result<(), TestCaseError> {
    let options = EncodeOptions::default();
    let bytes = encode(codec, archive, &options)?.bytes;
    let mut wanted = values(codec, &bytes)?;
    let chosen = at.index(wanted.len().max(1));
    let line = wanted.get_mut(chosen).ok_or_else(|| TestCaseError::fail("nothing written"))?;
    let index = at.index(count_objects(line).max(1));
    *line = inject(line, index);
    if wanted.iter().any(extends_a_map) {
        return Ok(());
    }
    let text: Vec<String> = wanted.iter().map(Json::to_text).collect();
    let decoded = decode(codec, text.join("\n").as_bytes())?;
    let found = values(codec, &encode(codec, &decoded.archive, &options)?.bytes)?;
    let canonical = |values: &[Json]| values.iter().map(sorted).collect::<Vec<_>>().join("\n");
    prop_assert_eq!(canonical(&found), canonical(&wanted));
    prop_assert_eq!(decoded.losses, Vec::new());
    Ok(())
}

/// The values that some bytes hold: one, or one a line, without sums.
fn values(codec: &dyn Codec, bytes: &[u8]) -> Result<Vec<Json>, TestCaseError> {
    let failed = |error| TestCaseError::fail(format!("{error:?}"));
    if !holds_journals(codec) {
        let document = Input::new(bytes).into_document().map_err(failed)?;
        return Ok(vec![document.node.into_json()]);
    }
    let mut lines = Vec::new();
    for line in String::from_utf8_lossy(bytes).lines() {
        let mut value = json::parse_with(line, Nan::Accept).map_err(failed)?.into_json();
        if let Json::Object(fields) = &mut value {
            fields.remove("sum");
        }
        lines.push(value);
    }
    Ok(lines)
}

/// Whether the unknown field became an entry of a map of names to values.
fn extends_a_map(json: &Json) -> bool {
    let Json::Object(object) = json else {
        return json.as_array().is_some_and(|items| items.iter().any(extends_a_map));
    };
    object.iter().any(|(key, value)| {
        let map = matches!(&*key.to_str_lossy(), "by_model" | "extra" | "tags");
        let extended = value.as_object().is_some_and(|map| map.contains(super::codec::UNKNOWN.0));
        map && extended || extends_a_map(value)
    })
}

/// Equal values in one spelling, repeated keys kept.
fn sorted(json: &Json) -> String {
    match json {
        Json::Object(object) => {
            let pairs =
                object.iter().map(|(key, value)| format!("{}:{}", sorted(&Json::String(key.clone())), sorted(value)));
            let mut pairs: Vec<_> = pairs.collect();
            pairs.sort();
            format!("{{{}}}", pairs.join(","))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(",")),
        scalar => canon::canonical(scalar),
    }
}
