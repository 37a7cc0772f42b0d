//! What holds for JSON values.

use proptest::prelude::*;
use turnkeep_model::canon::canonical;
use turnkeep_model::json::{self, Json, JsonSink, Layout, Nan, TreeSink};
use turnkeep_model::shape::{Shape, ShapeReader};
use turnkeep_model::{Session, diff};

use crate::generate;
use crate::property::for_all;

fn parse(text: &str) -> Result<Json, TestCaseError> {
    let node =
        json::parse_with(text, Nan::Accept).map_err(|error| TestCaseError::fail(format!("{error:?}: {text}")))?;
    Ok(node.into_json())
}

/// What is printed, in either layout, reads as the same value.
pub fn printed_reads_the_same() {
    for_all(1000, &generate::json(), |value| {
        for layout in [Layout::Compact, Layout::Pretty] {
            let mut sink = JsonSink::new(layout);
            value.write(&mut sink);
            prop_assert_eq!(&parse(&sink.into_text())?, &value);
        }
        Ok(())
    });
}

/// Numbers, strings, order and repetitions are spelled again as they were.
pub fn spelling_survives() {
    for_all(1000, &generate::json(), |value| {
        let text = value.to_text();
        prop_assert_eq!(parse(&text)?.to_text(), text);
        Ok(())
    });
}

/// A canonical text is its own canonical text.
pub fn canonical_is_idempotent() {
    for_all(1000, &generate::json(), |value| {
        let once = canonical(&value);
        prop_assert_eq!(canonical(&parse(&once)?), once);
        Ok(())
    });
}

/// The order of keys does not change the canonical text, as long as repeated ones keep theirs.
pub fn canonical_ignores_order() {
    for_all(1000, &generate::json(), |value| {
        prop_assert_eq!(canonical(&reversed(&value)), canonical(&value));
        Ok(())
    });
}

fn reversed(json: &Json) -> Json {
    match json {
        Json::Array(items) => Json::Array(items.iter().map(reversed).collect()),
        Json::Object(object) => {
            // Of repeated keys only the last counts; the others go, so that the order of the rest is free.
            let last = |at: usize| {
                object.iter().nth(at).is_some_and(|(key, _)| !object.iter().skip(at + 1).any(|(k, _)| k == key))
            };
            let pairs = object.iter().enumerate().filter(|(at, _)| last(*at));
            let pairs: Vec<_> = pairs.map(|(_, (key, value))| (key.clone(), reversed(value))).collect();
            Json::Object(pairs.into_iter().rev().collect())
        }
        scalar => scalar.clone(),
    }
}

/// A session is read from its tree as it was, without a loss.
pub fn sessions_have_one_shape() {
    for_all(300, &generate::session(), |session| {
        let mut sink = TreeSink::default();
        session.write(&mut sink);
        let text = sink.into_json().to_text();
        let node = json::parse_with(&text, Nan::Accept).map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
        let mut reading = ShapeReader::default();
        let read = Session::read(node, &mut reading).map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
        prop_assert_eq!(read, session);
        prop_assert_eq!(reading.losses, Vec::new());
        Ok(())
    });
}

/// A session does not differ from itself, and differs from every other one.
pub fn diff_is_empty_for_equals_only() {
    for_all(200, &(generate::session(), generate::session()), |(mut a, mut b)| {
        prop_assert_eq!(diff(&a, &a), Vec::new());
        turnkeep_model::number_densely(&mut a);
        turnkeep_model::number_densely(&mut b);
        prop_assert_eq!(diff(&a, &b).is_empty(), a == b);
        Ok(())
    });
}
