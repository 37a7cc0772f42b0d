//! What holds for every codec.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseError;
use turnkeep_codec::{Codec, Confidence, DecodeOptions, Decoded, EncodeOptions, Encoded, Input, format, sniff};
use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Archive, Loss};

use super::compare::archive_diff;
use crate::generate;
use crate::golden::Case;
use crate::property::for_all;

/// Every way to write a format: its default, and each of its variants; none where it is only read.
pub(super) fn writings(codec: &dyn Codec) -> Vec<EncodeOptions> {
    if !codec.spec().writes {
        return Vec::new();
    }
    let named = codec.spec().variants.iter().map(|variant| EncodeOptions::default().with_variant(*variant));
    std::iter::once(EncodeOptions::default()).chain(named).collect()
}

pub(super) fn encode(codec: &dyn Codec, archive: &Archive, options: &EncodeOptions) -> Result<Encoded, TestCaseError> {
    codec.encode(archive, options).map_err(|error| TestCaseError::fail(format!("cannot be written: {error:?}")))
}

pub(super) fn decode(codec: &dyn Codec, bytes: &[u8]) -> Result<Decoded, TestCaseError> {
    codec.decode(Input::new(bytes), &DecodeOptions::default()).map_err(|error| {
        TestCaseError::fail(format!("cannot be read again: {error:?}\n{}", String::from_utf8_lossy(bytes)))
    })
}

/// Archives as laws need them: ordinary chats, hostile sessions, several at once.
pub(super) fn archives() -> BoxedStrategy<Archive> {
    prop_oneof![
        2 => generate::plain_session().prop_map(Archive::from),
        4 => generate::session().prop_map(Archive::from),
        1 => generate::archive(),
    ]
    .boxed()
}

/// Checks something for generated archives, for what the fixtures hold, and for every way to write them.
fn for_archives(codec: &dyn Codec, cases: u32, holds: impl Fn(&Archive, &EncodeOptions) -> Result<(), TestCaseError>) {
    let all = |archive: &Archive| writings(codec).iter().try_for_each(|options| holds(archive, options));
    for case in Case::all(codec.spec().id) {
        if let Ok(decoded) = codec.decode(Input::new(&case.input), &DecodeOptions::default()) {
            let verdict = all(&decoded.archive);
            assert!(verdict.is_ok(), "fixture {}: {verdict:?}", case.name);
        }
    }
    for_all(cases, &archives(), |archive| all(&archive));
}

/// Every place that differs after writing and reading has a loss, and every loss such a place.
pub fn honest_loss(codec: &dyn Codec) {
    for_archives(codec, 100, |archive, options| {
        let Encoded { bytes, losses, .. } = encode(codec, archive, options)?;
        let read = decode(codec, &bytes)?.archive;
        let places = archive_diff(archive, &read);
        check_losses(&places, &losses)
            .map_err(|why| TestCaseError::fail(format!("{why}\n{losses:#?}\n{}", String::from_utf8_lossy(&bytes))))
    });
}

fn check_losses(places: &[String], losses: &[Loss]) -> Result<(), String> {
    if let Some(hidden) = places.iter().find(|place| !losses.iter().any(|loss| loss.covers(place))) {
        return Err(format!("`{hidden}` did not survive and no loss says so"));
    }
    if let Some(invented) = losses.iter().find(|loss| !places.iter().any(|place| loss.covers(place))) {
        return Err(format!("nothing is lost at `{}`: {}", invented.at, invented.what));
    }
    // A loss that names no place covers everything and says nothing.
    match losses.iter().find(|loss| loss.at.is_empty()) {
        Some(vague) if places.iter().all(|place| !place.is_empty()) => {
            Err(format!("a loss must name its place: {}", vague.what))
        }
        _ => Ok(()),
    }
}

/// What was read from a writing is written as the same bytes.
pub fn stable(codec: &dyn Codec) {
    for_archives(codec, 100, |archive, options| {
        let first = encode(codec, archive, options)?.bytes;
        let again = encode(codec, &decode(codec, &first)?.archive, options)?.bytes;
        prop_assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&first));
        Ok(())
    });
}

/// The same input gives the same output.
pub fn pure(codec: &dyn Codec) {
    for_archives(codec, 30, |archive, options| {
        let (a, b) = (encode(codec, archive, options)?, encode(codec, archive, options)?);
        prop_assert_eq!(&a.bytes, &b.bytes);
        prop_assert_eq!(a.losses, b.losses);
        let (c, d) = (decode(codec, &a.bytes)?, decode(codec, &a.bytes)?);
        prop_assert_eq!(c.archive, d.archive);
        prop_assert_eq!(c.losses, d.losses);
        Ok(())
    });
}

/// A format knows its own writings and fixtures, and no other format is certain of them.
pub fn sniffs_itself(codec: &dyn Codec) {
    // A blank file is no format's own, even where some format reads it.
    let is_blank = |case: &Case| case.input.iter().all(u8::is_ascii_whitespace);
    for case in Case::all(codec.spec().id).iter().filter(|case| !case.fails() && !is_blank(case)) {
        let verdict = sniffed(codec, &case.input, Some(&case.file_name()));
        assert!(verdict.is_ok(), "fixture {}: {verdict:?}", case.name);
    }
    // The lines of a slice are an application's own: its file is named after their type.
    let name = (codec.spec().id == "wink.slice").then_some("demo_app.state.Note.jsonl");
    for_archives(codec, 30, |archive, options| sniffed(codec, &encode(codec, archive, options)?.bytes, name));
}

fn sniffed(codec: &dyn Codec, bytes: &[u8], name: Option<&str>) -> Result<(), TestCaseError> {
    let shown = || String::from_utf8_lossy(bytes).into_owned();
    let mut input = Input::new(bytes);
    if let Some(name) = name {
        input = input.named(name);
    }
    let others = format::ALL.iter().filter(|other| other.spec().reads);
    let certain: Vec<_> = others
        .filter(|other| other.sniff(&input).confidence == Confidence::Certain)
        .map(|other| other.spec().id)
        .collect();
    prop_assert!(certain.iter().all(|id| *id == codec.spec().id), "{certain:?} are certain of\n{}", shown());
    let found = sniff(&input).map_err(|error| TestCaseError::fail(format!("{error:?}\n{}", shown())))?;
    let known = found.codec.spec().id == codec.spec().id || found.others.contains(&codec.spec().id);
    prop_assert!(known, "sniffed as {}\n{}", found.codec.spec().id, shown());
    Ok(())
}

/// A codec outside the table knows its own writings, and no format of the table is certain of them.
pub fn recognises_only_itself(codec: &dyn Codec) {
    for_archives(codec, 30, |archive, options| {
        let bytes = encode(codec, archive, options)?.bytes;
        let input = Input::new(&bytes);
        prop_assert!(codec.sniff(&input).confidence > Confidence::No, "{}", String::from_utf8_lossy(&bytes));
        let mistaken = format::ALL.iter().find(|other| other.sniff(&input).confidence == Confidence::Certain);
        let mistaken = mistaken.map(|other| other.spec().id);
        prop_assert_eq!(mistaken, None, "{}", String::from_utf8_lossy(&bytes));
        Ok(())
    });
}

/// The name and the value of a field that no format knows.
pub(super) const UNKNOWN: (&str, &str) = ("x_turnkeep_unknown", "kept or reported");

/// A field that nobody knows, at any object of a document, is given back or reported as lost, never hidden.
pub fn unknown_fields_are_not_hidden(codec: &dyn Codec) {
    if !codec.spec().writes {
        return;
    }
    for case in Case::all(codec.spec().id) {
        let Some(json) = document(&case.input) else {
            continue;
        };
        for index in 0..count_objects(&json) {
            let verdict = given_back_or_reported(codec, &case.input, &inject(&json, index));
            assert!(verdict.is_ok(), "fixture {}: {verdict:?}", case.name);
        }
    }
    for_all(30, &(archives(), any::<Index>()), |(archive, at)| {
        let bytes = encode(codec, &archive, &EncodeOptions::default())?.bytes;
        match document(&bytes) {
            Some(json) => given_back_or_reported(codec, &bytes, &inject(&json, at.index(count_objects(&json).max(1)))),
            None => Ok(()),
        }
    });
}

fn document(bytes: &[u8]) -> Option<Json> {
    Input::new(bytes).into_document().ok().map(|document| document.node.into_json())
}

fn given_back_or_reported(codec: &dyn Codec, original: &[u8], injected: &Json) -> Result<(), TestCaseError> {
    let injected = injected.to_text();
    let before = losses_and_bytes(codec, original);
    let (Ok(before), Ok(after)) = (before, losses_and_bytes(codec, injected.as_bytes())) else {
        return Ok(());
    };
    let kept = String::from_utf8_lossy(&after.1).contains(UNKNOWN.0);
    prop_assert!(kept || after.0 > before.0, "the field is gone without a word:\n{injected}");
    Ok(())
}

/// How many losses reading and writing gives, and the bytes written.
fn losses_and_bytes(codec: &dyn Codec, bytes: &[u8]) -> Result<(usize, Vec<u8>), TestCaseError> {
    let decoded = decode(codec, bytes)?;
    let encoded = encode(codec, &decoded.archive, &EncodeOptions::default())?;
    Ok((decoded.losses.len() + encoded.losses.len(), encoded.bytes))
}

pub(super) fn count_objects(json: &Json) -> usize {
    match json {
        Json::Array(items) => items.iter().map(count_objects).sum(),
        Json::Object(object) => 1 + object.iter().map(|(_, value)| count_objects(value)).sum::<usize>(),
        _ => 0,
    }
}

/// The value with an unknown field in its `index`th object.
pub(super) fn inject(json: &Json, index: usize) -> Json {
    let mut json = json.clone();
    let mut left = index;
    if let Some(object) = nth_object(&mut json, &mut left) {
        object.push(UNKNOWN.0, UNKNOWN.1);
    }
    json
}

fn nth_object<'a>(json: &'a mut Json, left: &mut usize) -> Option<&'a mut Object> {
    match json {
        Json::Array(items) => items.iter_mut().find_map(|item| nth_object(item, left)),
        Json::Object(object) => match left.checked_sub(1) {
            None => Some(object),
            Some(rest) => {
                *left = rest;
                object.iter_mut().find_map(|(_, value)| nth_object(value, left))
            }
        },
        _ => None,
    }
}
