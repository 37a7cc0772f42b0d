//! The other side of a wire: what a vendor answers.
//!
//! [`Speak`] is the inverse of a vendor's decoder and of its assembler: blocks become a response body, a response body
//! becomes the events of a stream. Whatever plays a vendor, a script or a test, speaks with it.

mod event;
mod refusal;
mod sayable;

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, FinishReason, Usage};

pub use event::{Event, Framing};
pub use refusal::Refusal;
pub(crate) use sayable::{joined, said, thought, with_object_arguments};

use crate::format::{anthropic, bedrock, gemini, ollama_chat, openai_chat, responses};

/// One answer of a vendor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Speech {
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
pub trait Speak: Send + Sync {
    /// The blocks as this vendor would say them: in its order, with what it cannot say left out. What a reader finds in
    /// the response has these bodies.
    fn sayable(&self, blocks: &[Block]) -> Vec<Block>;

    /// The body of a response.
    fn response(&self, speech: &Speech) -> Json;

    /// The events of the stream that makes up `body`, with texts in pieces of at most `piece` characters.
    fn events(&self, body: &Json, piece: usize) -> Vec<Event>;

    /// How its streams are cut into events.
    fn framing(&self) -> Framing;

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

/// How the vendor of a wire answers, if the wire is known.
pub fn speaker(wire: &str) -> Option<&'static dyn Speak> {
    Some(match wire {
        "openai.chat" => &openai_chat::ChatWire,
        "openai.responses" => &responses::Responses,
        "anthropic.messages" => &anthropic::Messages,
        "gemini.contents" => &gemini::Gemini,
        "ollama.chat" => &ollama_chat::OllamaWire,
        "bedrock.converse" => &bedrock::Converse,
        _ => return None,
    })
}

/// The seal that a vendor puts on thinking: it depends on the wire and on what was thought, so that whoever plays the
/// vendor later knows its own.
pub fn seal(wire: &str, thought: &str) -> String {
    let value = object([("thought", thought.into()), ("wire", wire.into())]);
    super::frame::aws::to_base64(turnkeep_model::canon::digest(&value).as_bytes())
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
