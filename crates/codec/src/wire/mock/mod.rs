//! The other side of a wire: what a vendor answers.
//!
//! [`VendorMock`] is the inverse of a vendor's decoder and of its assembler: blocks become a response body, a response body
//! becomes the events of a stream. Whatever plays a vendor, a script or a test, speaks with it.

mod expressible;
mod refusal;

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, FinishReason, Usage};

pub(crate) use expressible::{joined, said, signed, stop_reason, thought, with_object_arguments};
pub use refusal::Refusal;

pub use super::frame::Event;

/// One answer of a vendor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MockAnswer {
    /// What ids are made of: letters and digits that no other answer has.
    pub token: String,
    /// The model that answers.
    pub model: String,
    /// When it answers, in seconds since 1970.
    pub created: i64,
    /// What it says.
    pub blocks: Vec<Block>,
    /// Why it ends.
    pub finish: FinishReason,
    /// What it counts.
    pub usage: Usage,
}

/// How one vendor answers. Everything here is a pure function.
pub trait VendorMock: Send + Sync {
    /// The blocks as this vendor would say them: in its order, with what it cannot say left out. What a reader finds in
    /// the response has these bodies.
    fn expressible(&self, blocks: &[Block]) -> Vec<Block>;

    /// The body of a response.
    fn response(&self, speech: &MockAnswer) -> Json;

    /// The events of the stream that makes up `body`, with texts in pieces of at most `piece` characters.
    fn events(&self, body: &Json, piece: usize) -> Vec<Event>;

    /// Takes out of the body of a streamed answer what `request` did not ask for.
    fn trim_stream(&self, _request: &Json, _body: &mut Json) {}

    /// What it says of thinking that it did not seal.
    fn foreign_seal(&self) -> &'static str {
        "messages.1.content.0: Invalid `signature` in `thinking` block"
    }

    /// The body of an answer that says what went wrong.
    fn refusal(&self, refusal: &Refusal) -> Json;

    /// What stands in the head of such an answer.
    fn refusal_headers(&self, _: &Refusal) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// What a stream that has begun says when something goes wrong.
    fn late_refusal(&self, refusal: &Refusal) -> Event;

    /// An id as this vendor gives it to calls.
    fn call_id(&self, token: &str) -> String;
}

/// The seal that a vendor puts on thinking: it depends on the wire and on what was thought, so that whoever plays the
/// vendor later knows its own.
pub fn seal(wire: &str, thought: &str) -> String {
    let value = object([("thought", thought.into()), ("wire", wire.into())]);
    crate::base64_text::encode(turnkeep_model::canon::digest(&value).as_bytes())
}

/// An object of some pairs.
pub(crate) fn object<const N: usize>(pairs: [(&str, Json); N]) -> Json {
    Json::Object(pairs.into_iter().collect())
}

/// A text cut into pieces of at most `size` characters; of nothing there are none.
pub(crate) fn pieces(text: &str, size: usize) -> Vec<&str> {
    let mut starts: Vec<usize> = text.char_indices().step_by(size.max(1)).map(|(at, _)| at).collect();
    starts.push(text.len());
    starts
        .windows(2)
        .filter_map(|pair| text.get(*pair.first()?..*pair.last()?))
        .filter(|text| !text.is_empty())
        .collect()
}

/// The object under a key, or an empty one.
pub(crate) fn object_at(json: &Json, key: &str) -> Object {
    json.as_object().and_then(|object| object.get(key)?.as_object().cloned()).unwrap_or_default()
}

/// The elements under a key.
pub(crate) fn items_at<'a>(object: &'a Object, key: &str) -> &'a [Json] {
    object.get(key).and_then(Json::as_array).unwrap_or_default()
}

/// The text under a key, or none at all.
pub(crate) fn text_at(object: &Object, key: &str) -> String {
    object.get_str(key).map(std::borrow::Cow::into_owned).unwrap_or_default()
}

/// The object without some keys.
pub(crate) fn without(object: &Object, keys: &[&str]) -> Object {
    let mut rest = object.clone();
    keys.iter().for_each(|key| drop(rest.remove(key)));
    rest
}
