//! What holds for YAML texts.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use turnkeep_codec::yaml::{self, Notes, Style};
use turnkeep_model::json::{Json, Object};

use crate::generate::{self, TRICKY};
use crate::property::for_all;

const STYLES: [Style; 2] = [Style::Readable, Style::Go];

fn check(value: &Json) -> Result<(), TestCaseError> {
    for style in STYLES {
        let text = yaml::write(value, style);
        let (node, notes) =
            yaml::parse(&text).map_err(|error| TestCaseError::fail(format!("{error:?} in {style:?}:\n{text}")))?;
        prop_assert_eq!(&node.into_json(), value, "in {:?}:\n{}", style, text);
        prop_assert_eq!(notes, Notes::default());
    }
    Ok(())
}

/// What is written reads as the same value, in every style.
pub fn written_reads_the_same() {
    for_all(1500, &generate::json(), |value| check(&value));
}

/// Every text that stumbles some syntax survives in every place: alone, as a key, as a value, in a list.
pub fn tricky_texts_survive_everywhere() {
    let long = "long ".repeat(3000);
    for text in TRICKY.iter().copied().chain([long.as_str()]) {
        let value = || Json::from(text);
        let pair = |key: &str, value: Json| Json::Object(Object::from_iter([(key, value), ("z", Json::from(1u64))]));
        let places = [
            value(),
            pair(text, value()),
            pair("a", pair(text, value())),
            Json::Array(vec![value(), value()]),
            Json::Array(vec![Json::Array(vec![value()]), pair(text, Json::Array(vec![value(), pair(text, value())]))]),
            pair(text, pair(text, Json::Array(vec![]))),
            pair(text, Json::Null),
        ];
        for place in places {
            let verdict = check(&place);
            assert!(verdict.is_ok(), "{text:?}: {verdict:?}");
        }
    }
}

/// Other YAML readers take a string that is written for a string: no unquoted scalar of any schema stands for one.
pub fn plain_strings_are_strings_for_everyone() {
    let typed = [
        "null",
        "~",
        "true",
        "no",
        "on",
        "y",
        "0",
        "-1",
        "1.5",
        "1e3",
        "0x1F",
        "017",
        "0o17",
        "1_000",
        "1:30",
        "2026-01-16",
        ".inf",
        ".nan",
        "=",
        "<<",
    ];
    for text in typed {
        for style in STYLES {
            let written = yaml::write(&Json::from(text), style);
            assert!(written.starts_with(['"', '\'']), "{text} is written as {written}");
        }
    }
}
