//! Foreign documents come back with their keys as they were.

use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Input, Keeps};
use turnkeep_model::json::Json;

use super::codec::count_objects;
use crate::golden::Case;
use crate::keys::{DISTURBANCES, Disturbance, documents};

/// A document whose keys stand in any order, or among keys that nobody knows, is written back as it was: at every object
/// of it.
///
/// Each format says what it keeps ([`Fidelity::keys`](turnkeep_codec::Fidelity)). Of one that keeps some, the order is not
/// compared: its program always sorts. A document that a codec reports losses for does not count.
pub fn keys_come_back(codec: &dyn Codec) {
    if codec.spec().fidelity.keys == Keeps::Nothing {
        return;
    }
    let mut wrong = Vec::new();
    let cases = Case::all(codec.spec().id);
    for case in cases.iter().filter(|case| !case.fails()) {
        for disturbance in DISTURBANCES {
            let Some(originals) = documents(&case.input) else { continue };
            wrong.extend(check_case(codec, disturbance, &originals).map(|why| format!("{}, {why}", case.name)));
        }
    }
    assert!(wrong.is_empty(), "{} documents did not come back:\n{}", wrong.len(), wrong.join("\n"));
}

/// What did not come back of the documents of a case: disturbed everywhere, and, so that no disturbance hides another, at
/// one object after the other.
fn check_case(codec: &dyn Codec, disturbance: &Disturbance, originals: &[Json]) -> Option<String> {
    let everywhere: Vec<Json> = originals.iter().map(|json| disturbance.everywhere(json)).collect();
    if let Some(why) = differs(codec, &everywhere) {
        return Some(format!("{}: {why}", disturbance.name));
    }
    let [original] = originals else { return None };
    (0..count_objects(original)).find_map(|index| {
        let why = differs(codec, &[disturbance.only(original, index)])?;
        Some(format!("{} at object {index}: {why}", disturbance.name))
    })
}

/// Where documents differ from what is written of them; nothing where the codec says that something is lost.
fn differs(codec: &dyn Codec, originals: &[Json]) -> Option<String> {
    let text: String = originals.iter().map(|json| json.to_text() + "\n").collect();
    let decoded = codec.decode(Input::new(text.as_bytes()), &DecodeOptions::default()).ok()?;
    let encoded = codec.encode(&decoded.archive, &EncodeOptions::default()).ok()?;
    if !(decoded.losses.is_empty() && encoded.losses.is_empty()) {
        return None;
    }
    let written = documents(&encoded.bytes).unwrap_or_default();
    let compared = |json: &Json| match codec.spec().fidelity.keys {
        Keeps::Some => crate::keys::sorted(json),
        _ => json.clone(),
    };
    if written.len() != originals.len() {
        return Some(format!("{} documents became {}", originals.len(), written.len()));
    }
    let mut pairs = originals.iter().zip(&written);
    pairs.find_map(|(original, written)| first_difference(&compared(original), &compared(written), "$"))
}

/// The first place where a value differs from what is written of it.
fn first_difference(original: &Json, written: &Json, at: &str) -> Option<String> {
    match (original, written) {
        (Json::Object(a), Json::Object(b)) => {
            let keys = |object: &turnkeep_model::json::Object| -> Vec<String> {
                object.iter().map(|(key, _)| key.to_str_lossy().into_owned()).collect()
            };
            if !a.iter().map(|(key, _)| key).eq(b.iter().map(|(key, _)| key)) {
                return Some(format!("{at} has the keys {:?} and not {:?}", keys(b), keys(a)));
            }
            let mut pairs = a.iter().zip(b.iter());
            pairs.find_map(|((key, a), (_, b))| first_difference(a, b, &format!("{at}.{}", key.to_str_lossy())))
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(index, (a, b))| first_difference(a, b, &format!("{at}[{index}]")))
        }
        (a, b) if a == b => None,
        (a, b) => Some(format!("{at} is {} and not {}", shortened(b), shortened(a))),
    }
}

fn shortened(json: &Json) -> String {
    json.to_text().chars().take(200).collect()
}
