//! Cassettes of go-vcr, versions 1 and 2: matched by method and address, each exchange once.

use turnkeep_model::Result;
use turnkeep_model::json::{Json, Object};

use super::content::{Content, Keep, corrupt};
use super::exchange::{Answer, Asked, Chunk, End, Exchange, RecordedAnswer, count, method_of};
use super::file::{Origin, Recording};

pub(super) fn read(object: &Object) -> Result<Recording> {
    let interactions = object.get("interactions").and_then(Json::as_array).unwrap_or_default();
    let exchanges = interactions.iter().enumerate().map(|(number, json)| interaction(number as u64, json));
    Ok(Recording { exchanges: exchanges.collect::<Result<_>>()?, origin: Origin::Vcr, ..Recording::default() })
}

fn interaction(number: u64, json: &Json) -> Result<Exchange> {
    let part = |key: &str| json.as_object().and_then(|object| object.get(key)?.as_object());
    let (Some(request), Some(response)) = (part("request"), part("response")) else {
        return Err(corrupt("an interaction has a request and a response").path(format!("interactions[{number}]")));
    };
    let text = |object: &Object, key: &str| object.get_str(key).map(std::borrow::Cow::into_owned).unwrap_or_default();
    let asked = Asked {
        method: method_of(&text(request, "method"))?,
        url: text(request, "url"),
        headers: headers(request),
        body: Content::of(text(request, "body").as_bytes(), Keep::Value),
        digest: None,
    };
    let body = text(response, "body").into_bytes();
    let chunks = if body.is_empty() { Vec::new() } else { vec![Chunk { at: 0, bytes: body }] };
    let status = u16::try_from(count(response, "code")).unwrap_or(200);
    let came = RecordedAnswer { status, headers: headers(response), after: 0, chunks, end: End::Complete };
    Ok(Exchange { number, asked, answer: Answer::RecordedAnswer(came) })
}

/// Headers; those that describe how the body travelled no longer fit it.
fn headers(object: &Object) -> Vec<(String, String)> {
    let fields = object.get("headers").and_then(Json::as_object).cloned().unwrap_or_default();
    let pairs = fields.iter().flat_map(|(name, values)| {
        let name = name.to_str_lossy().to_lowercase();
        let values = values.as_array().unwrap_or(std::slice::from_ref(values));
        values.iter().filter_map(Json::as_str).map(move |value| (name.clone(), value.into_owned())).collect::<Vec<_>>()
    });
    pairs
        .filter(|(name, _)| !matches!(name.as_str(), "content-length" | "content-encoding" | "transfer-encoding"))
        .collect()
}
