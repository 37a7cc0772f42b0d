//! What a request asks.

use turnkeep_codec::format;
use turnkeep_codec::wire::Parts;
use turnkeep_model::json::{self, Json, Node, Object};
use turnkeep_model::{Author, Block, Body, Part, Session, canon};

use super::script::When;
use crate::transport::HttpRequest;

/// A request, understood.
pub(super) struct Asked {
    /// The body, with the model in it where the address names it.
    pub body: Json,
    /// The history.
    pub session: Session,
    pub model: String,
    pub delivery: Delivery,
    /// What ids of its answer are made of.
    pub token: String,
}

/// How an answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    Whole,
    Streamed,
}

impl Asked {
    /// Reads a request of a wire; an error is what is wrong with it, in words.
    pub(super) fn read(wire: &'static str, request: &HttpRequest) -> Result<Asked, String> {
        let text = std::str::from_utf8(&request.body).map_err(|_| "the body is no text".to_owned())?;
        let body = json::parse(text).map(Node::into_json).map_err(|_| "the body is no JSON".to_owned())?;
        let Json::Object(mut body) = body else { return Err("the body is no object".to_owned()) };
        let token = canon::digest(&Json::Object(body.clone())).get(..24).unwrap_or_default().to_owned();
        let delivery = delivery(wire, &request.url, &body);
        let model = named_in(&request.url).or_else(|| body.get_str("model").map(std::borrow::Cow::into_owned));
        let model = model.unwrap_or_default();
        match wire {
            "bedrock.converse" if !body.contains("modelId") => body.push("modelId", model.as_str()),
            "gemini.contents" if !body.contains("model") => body.push("model", model.as_str()),
            _ => {}
        }
        let body = Json::Object(body);
        let parts = Parts { request: Some(body.clone()), response: None };
        let codec = format::wire(wire).ok_or_else(|| format!("there is no wire `{wire}`"))?;
        let (session, _) = codec.decode(parts).map_err(|error| error.what().to_owned())?;
        Ok(Asked { body, session, model, delivery, token })
    }

    /// How many answers the history has.
    pub(super) fn answers(&self) -> usize {
        self.session.turns.iter().filter(|turn| turn.blocks.iter().any(Block::is_answer)).count()
    }

    /// Whether an answer is meant for this request.
    pub(super) fn fits(&self, when: &When) -> bool {
        let model = when.model.as_ref().is_none_or(|matcher| matcher.finds(&self.model));
        let user = when.user.as_ref().is_none_or(|matcher| matcher.finds(&self.last_user_text()));
        // Results are asked for where tools have just answered.
        let results =
            when.results.as_ref().is_none_or(|matcher| self.last_results().is_some_and(|text| matcher.finds(&text)));
        model && user && results
    }

    fn last_user_text(&self) -> String {
        let blocks = self.session.in_message_order().into_iter().map(|(_, _, block)| block);
        let said: Vec<&Block> = blocks.filter(|block| block.author == Author::User).collect();
        let last = said.last().map(|block| block.message.ordinal);
        let texts =
            said.iter().filter(|block| Some(block.message.ordinal) == last).filter_map(|block| block.body.as_text());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The results after the last answer, if nobody spoke since.
    fn last_results(&self) -> Option<String> {
        let blocks: Vec<&Block> = self.session.in_message_order().into_iter().map(|(_, _, block)| block).collect();
        let since = blocks.iter().rposition(|block| block.is_answer())?;
        let mut texts = Vec::new();
        for block in blocks.iter().skip(since + 1) {
            match &block.body {
                Body::ToolResult(result) => texts.extend(result.parts.iter().map(part_text)),
                _ => return None,
            }
        }
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}

fn part_text(part: &Part) -> String {
    match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        _ => String::new(),
    }
}

fn delivery(wire: &str, url: &str, body: &Object) -> Delivery {
    let flag = |key: &str| body.get(key).and_then(Json::as_bool);
    let path = url.split('?').next().unwrap_or(url);
    let is_streamed = match wire {
        "gemini.contents" => path.ends_with(":streamGenerateContent"),
        "bedrock.converse" => path.ends_with("/converse-stream"),
        // Ollama streams unless told otherwise.
        "ollama.chat" => flag("stream").unwrap_or(true),
        _ => flag("stream").unwrap_or(false),
    };
    if is_streamed { Delivery::Streamed } else { Delivery::Whole }
}

/// The model that an address names: `…/models/NAME:generateContent`, `…/model/NAME/converse`.
fn named_in(url: &str) -> Option<String> {
    let path = url.split('?').next()?;
    let after = |mark: &str| path.split_once(mark).map(|(_, rest)| rest);
    let name = match (after("/models/"), after("/model/")) {
        (Some(rest), _) => rest.split(':').next(),
        (None, Some(rest)) => rest.split('/').next(),
        (None, None) => None,
    };
    name.filter(|name| !name.is_empty()).map(unescaped)
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let code = more.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = more.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
