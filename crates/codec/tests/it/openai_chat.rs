//! What holds for OpenAI's chat wire beside the laws.

use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, format};
use turnkeep_model::json::{Json, parse};

use crate::corpus;

const ID: &str = "openai.chat";

#[test]
fn recorded_bodies_come_back_as_they_were() {
    let Some(records) = corpus::records("openai-chat") else {
        println!("skipped: recorded_bodies_come_back_as_they_were (TURNKEEP_CORPUS is not set)");
        return;
    };
    let codec = format::by_id(ID).unwrap();
    let (whole, in_order, different) = corpus::restored(codec, &records);

    println!("{ID}: {whole} bodies, {} restored, {in_order} in their order", whole - different.len());
    println!("different: {different:?}");
    assert!(different.len() * 100 <= whole, "{different:?}");
}

#[test]
fn recorded_streams_assemble() {
    let Some(records) = corpus::records("openai-chat") else {
        println!("skipped: recorded_streams_assemble (TURNKEEP_CORPUS is not set)");
        return;
    };
    let codec = format::by_id(ID).unwrap();
    let (mut streams, mut cut) = (0, Vec::new());
    for record in records.iter().filter(|record| record.kind == "stream") {
        let decoded = codec.decode(Input::new(record.text.as_bytes()), &DecodeOptions::default());
        let decoded = decoded.unwrap_or_else(|error| panic!("{}: {error:?}", record.id));
        streams += 1;
        if !decoded.losses.is_empty() {
            cut.push(record.id.as_str());
        }
        let encoded = codec.encode(&decoded.archive, &EncodeOptions::default()).unwrap();
        let body = parse(std::str::from_utf8(&encoded.bytes).unwrap()).unwrap().into_json();
        assert!(matches!(body, Json::Object(_)), "{}", record.id);
    }
    println!("{ID}: {streams} streams, {} of them cut off: {cut:?}", cut.len());
}
