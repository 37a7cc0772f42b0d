//! What OpenAI's Responses interface answers.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, Body, FinishReason, ItemId, Reasoning};

use super::wire::Responses;
use super::{FORMAT, item, usage};
use crate::format::openai_chat;
use crate::wire::mock::{
    Event, MockAnswer, Refusal, VendorMock, items_at, object, pieces, said, seal, text_at, without,
};

impl VendorMock for Responses {
    fn expressible(&self, blocks: &[Block]) -> Vec<Block> {
        said(blocks).into_iter().map(sealed).collect()
    }

    fn response(&self, speech: &MockAnswer) -> Json {
        let mut blocks = self.expressible(&speech.blocks);
        for (index, block) in blocks.iter_mut().enumerate() {
            name(block, index, &speech.token);
        }
        let output: Vec<Json> =
            item::write_all(&blocks.iter().collect::<Vec<_>>()).into_iter().map(completed).collect();
        let (status, reason) = status(&speech.finish);
        let details = reason.map_or(Json::Null, |reason| object([("reason", reason.into())]));
        object([
            ("id", format!("resp_{}", speech.token).into()),
            ("object", "response".into()),
            ("created_at", speech.created.into()),
            ("status", status.into()),
            ("error", Json::Null),
            ("incomplete_details", details),
            ("model", speech.model.as_str().into()),
            ("output", output.into()),
            ("usage", usage::write(&speech.usage).unwrap_or_default()),
        ])
    }

    fn events(&self, body: &Json, piece: usize) -> Vec<Event> {
        let whole = body.as_object().cloned().unwrap_or_default();
        let mut begun = without(&whole, &["usage"]);
        begun.set("status", "in_progress");
        begun.set("incomplete_details", Json::Null);
        begun.set("output", Vec::new());
        begun.push("usage", Json::Null);
        let mut events: Vec<(String, Object)> = Vec::new();
        for kind in ["response.created", "response.in_progress"] {
            events.push((kind.to_owned(), [("response", Json::Object(begun.clone()))].into_iter().collect()));
        }
        for (index, item) in items_at(&whole, "output").iter().filter_map(Json::as_object).enumerate() {
            events.extend(item_events(index as u64, item, piece));
        }
        let end = match whole.get_str("status").as_deref() {
            Some("incomplete") => "response.incomplete",
            Some("failed") => "response.failed",
            _ => "response.completed",
        };
        events.push((end.to_owned(), [("response", body.clone())].into_iter().collect()));
        let numbered = events.into_iter().enumerate();
        numbered.map(|(number, (kind, fields))| event(&kind, number as u64, fields)).collect()
    }

    fn foreign_seal(&self) -> &'static str {
        "The encrypted content for item rs_… could not be verified."
    }

    fn refusal(&self, refusal: &Refusal) -> Json {
        openai_chat::error(refusal)
    }

    fn late_refusal(&self, refusal: &Refusal) -> Event {
        let code = refusal.class.as_deref().unwrap_or("server_error");
        let fields = [("code", Json::from(code)), ("message", refusal.message.as_str().into()), ("param", Json::Null)];
        event("error", 0, fields.into_iter().collect())
    }

    fn call_id(&self, token: &str) -> String {
        format!("call_{token}")
    }
}

fn event(kind: &str, number: u64, fields: Object) -> Event {
    let mut data: Object = [("type", Json::from(kind)), ("sequence_number", number.into())].into_iter().collect();
    fields.into_iter().for_each(|(key, value)| data.push(key, value));
    Event::Named(kind.to_owned(), data.into())
}

/// What was thought is told in summaries, and sealed.
fn sealed(mut block: Block) -> Block {
    if let Body::Reasoning(reasoning) = &mut block.body {
        let mut summary = std::mem::take(&mut reasoning.summary);
        if summary.is_empty() {
            summary.extend(reasoning.text.take().filter(|text| !text.is_empty()));
        }
        let encrypted = reasoning.encrypted.take().unwrap_or_else(|| seal(FORMAT, &summary.join("\n\n")));
        *reasoning = Reasoning { summary, encrypted: Some(encrypted), ..Reasoning::default() };
    }
    block
}

/// Every block is an item of its own, with an id that says what it is.
fn name(block: &mut Block, index: usize, token: &str) {
    let prefix = match &block.body {
        Body::Reasoning(_) => "rs",
        Body::ToolCall(_) => "fc",
        _ => "msg",
    };
    block.message.ordinal = u32::try_from(index).unwrap_or(u32::MAX);
    block.item_id.get_or_insert_with(|| ItemId::new(format!("{prefix}_{token}{index}")));
}

fn completed(item: Json) -> Json {
    let Json::Object(mut item) = item else { return item };
    let kind = text_at(&item, "type");
    if kind != "reasoning" {
        item.set("status", "completed");
    }
    if let ("message", Some(Json::Array(parts))) = (kind.as_str(), item.get("content").cloned()) {
        item.set("content", parts.into_iter().map(annotated).collect::<Vec<_>>());
    }
    item.into()
}

fn annotated(part: Json) -> Json {
    let Json::Object(mut part) = part else { return part };
    part.set("annotations", Vec::new());
    part.into()
}

fn status(finish: &FinishReason) -> (&'static str, Option<&str>) {
    match finish {
        FinishReason::Length => ("incomplete", Some("max_output_tokens")),
        FinishReason::ContentFilter => ("incomplete", Some("content_filter")),
        FinishReason::Error => ("failed", None),
        FinishReason::Other(word) => ("incomplete", Some(word)),
        _ => ("completed", None),
    }
}

/// The events of one item: it is added bare, its texts grow, it is done.
fn item_events(index: u64, item: &Object, piece: usize) -> Vec<(String, Object)> {
    let inside = Inside { output: index, id: text_at(item, "id"), piece };
    let mut bare = item.clone();
    let events = match item.get_str("type").as_deref() {
        Some("message") => {
            bare.set("content", Vec::new());
            inside.parts(items_at(item, "content"), &CONTENT)
        }
        Some("reasoning") => {
            bare.set("summary", Vec::new());
            inside.parts(items_at(item, "summary"), &SUMMARY)
        }
        Some("function_call") => {
            bare.set("arguments", "");
            inside.texts("response.function_call_arguments", "arguments", &text_at(item, "arguments"), None)
        }
        _ => Vec::new(),
    };
    if bare.contains("status") {
        bare.set("status", "in_progress");
    }
    let whole = |kind: &str, item: Object| {
        (kind.to_owned(), [("output_index", Json::from(index)), ("item", item.into())].into_iter().collect())
    };
    let mut all = vec![whole("response.output_item.added", bare)];
    all.extend(events);
    all.push(whole("response.output_item.done", item.clone()));
    all
}

/// The names of the events of a list of parts.
struct Names {
    part: &'static str,
    text: &'static str,
    index: &'static str,
}

const CONTENT: Names = Names { part: "response.content_part", text: "response.output_text", index: "content_index" };
const SUMMARY: Names =
    Names { part: "response.reasoning_summary_part", text: "response.reasoning_summary_text", index: "summary_index" };

/// Where events inside an item belong.
struct Inside {
    output: u64,
    id: String,
    piece: usize,
}

impl Inside {
    fn fields(&self, place: Option<(&'static str, u64)>, more: [(&str, Json); 1]) -> Object {
        let mut fields: Object =
            [("item_id", Json::from(self.id.as_str())), ("output_index", self.output.into())].into_iter().collect();
        place.into_iter().for_each(|(key, index)| fields.push(key, index));
        more.into_iter().for_each(|(key, value)| fields.push(key, value));
        fields
    }

    fn parts(&self, parts: &[Json], names: &Names) -> Vec<(String, Object)> {
        let mut events = Vec::new();
        for (index, part) in parts.iter().filter_map(Json::as_object).enumerate() {
            let place = Some((names.index, index as u64));
            let mut bare = part.clone();
            bare.set("text", "");
            events.push((format!("{}.added", names.part), self.fields(place, [("part", bare.into())])));
            events.extend(self.texts(names.text, "text", &text_at(part, "text"), place));
            events.push((format!("{}.done", names.part), self.fields(place, [("part", part.clone().into())])));
        }
        events
    }

    fn texts(&self, name: &str, key: &str, text: &str, place: Option<(&'static str, u64)>) -> Vec<(String, Object)> {
        let deltas = pieces(text, self.piece).into_iter();
        let deltas = deltas.map(|text| (format!("{name}.delta"), self.fields(place, [("delta", text.into())])));
        let done = (format!("{name}.done"), self.fields(place, [(key, text.into())]));
        deltas.chain([done]).collect()
    }
}
