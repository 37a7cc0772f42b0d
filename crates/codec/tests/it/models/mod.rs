//! What holds of the table of models where it is used: in conversion, in repair and in lint.
#![expect(clippy::print_stdout, reason = "the counts are what these tests tell")]

mod bodies;
mod conversions;
mod refusals;
mod vendors;

use turnkeep_codec::{EncodeOptions, Encoded, Target, encode};
use turnkeep_model::{Archive, Json, json};

use crate::recorded::wire;

/// The next request of a session for a model, with its losses.
fn asked(archive: &Archive, target: &str, model: Option<&str>) -> (Json, Encoded) {
    let (id, variant) = target.split_once(':').map_or((target, None), |(id, variant)| (id, Some(variant)));
    let mut options = EncodeOptions::default();
    options.as_request = true;
    options.model = model.map(str::to_owned);
    let target = Target { codec: wire(id), variant: variant.map(str::to_owned) };
    let encoded = encode(archive, &target, &options).unwrap();
    (parsed(std::str::from_utf8(&encoded.bytes).unwrap()), encoded)
}

fn parsed(text: &str) -> Json {
    json::parse_with(text, json::Nan::Accept).unwrap().into_json()
}

/// The value at some keys and indices of a body.
fn at<'b>(body: &'b Json, place: &str) -> Option<&'b Json> {
    place.split('.').try_fold(body, |value, key| match value {
        Json::Object(object) => object.get(key),
        Json::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    })
}
