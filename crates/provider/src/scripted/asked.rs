//! What a request asks.

use turnkeep_codec::wire::{Contract, Delivery, Naming, Parts, Wire};
use turnkeep_model::json::{self, Json, Node, Object};
use turnkeep_model::{Author, Block, Body, Part, Session, canon};

use super::script::When;
use crate::address::decoded;
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

impl Asked {
    /// Reads a request of a wire; an error is what is wrong with it, in words.
    pub(super) fn read(wire: &dyn Wire, request: &HttpRequest) -> Result<Asked, String> {
        let text = std::str::from_utf8(&request.body).map_err(|_| "the body is no text".to_owned())?;
        let body = json::parse(text).map(Node::into_json).map_err(|_| "the body is no JSON".to_owned())?;
        let Json::Object(mut body) = body else { return Err("the body is no object".to_owned()) };
        let token = canon::digest(&Json::Object(body.clone())).get(..24).unwrap_or_default().to_owned();
        let delivery = delivery(wire.contract(), &request.url, &body);
        let model = named_in(&request.url).or_else(|| body.get_str("model").map(std::borrow::Cow::into_owned));
        let model = model.unwrap_or_default();
        if let Naming::Address(key) = wire.contract().naming
            && !body.contains(key)
        {
            body.push(key, model.as_str());
        }
        let body = Json::Object(body);
        let parts = Parts { request: Some(body.clone()), response: None };
        let (session, _) = wire.decode(parts).map_err(|error| error.what().to_owned())?;
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

/// How the answer to a request is wanted: the address says so, or the body does.
fn delivery(contract: &Contract, url: &str, body: &Object) -> Delivery {
    let told = body.get("stream").and_then(Json::as_bool).map(|streams| match streams {
        true => Delivery::Stream,
        false => Delivery::Whole,
    });
    contract.route.delivery(url).or(told).unwrap_or(contract.default_delivery)
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
    name.filter(|name| !name.is_empty()).map(decoded)
}
