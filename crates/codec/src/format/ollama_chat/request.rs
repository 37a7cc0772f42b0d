//! The next request of any session: made valid for Ollama, then written.

use turnkeep_model::json::{Json, Number};
use turnkeep_model::{Author, Block, Body, CallId, Extra, Loss, LossKind, Media, ResponseKind, Session};

use super::{ID, body, restore};
use crate::codec::EncodeOptions;
use crate::format::openai_chat::head::clamp;
use crate::format::openai_chat::request::settle_result;
use crate::models::fit::{self, ThinkingMode};
use crate::models::settle::is_of_session;
use crate::models::{self, Target};
use crate::wire::Kind;
use crate::wire::repair::{History, Sends, speaker};

/// The model to ask where nobody says which.
const MODEL: &str = "llama3.2";

/// The next request, and what is known of what did not survive.
pub(super) fn next(session: &mut Session, wanted: &EncodeOptions) -> (Json, Vec<Loss>) {
    let kind = session.extra.spelling(ID, "kind").and_then(Json::as_str);
    let own = kind.is_some_and(|word| Kind::from_word(&word).is_some());
    let mut history = history(session, own);
    let mut losses = std::mem::take(&mut history.losses);
    let model = model(session, own, wanted, &mut losses);
    let mut head = head(session, own, &mut losses);
    if !(own && is_of_session(session, ID, "model", &model)) {
        fit_thinking(&mut head, models::asked(ID, None, &model, wanted), &mut losses);
    }
    head.extra.part_mut(ID).fields.remove("model");
    head.extra.tidy();
    let messages = history.into_messages(restore::is_one_message, restore::message);
    (Json::Object(body::request(&head, Some(&model), messages)), losses)
}

fn history(session: &mut Session, own: bool) -> History {
    let mut history = History::take(session);
    if !own {
        history.forget_extras(Some(ID));
    }
    history.limit_reasoning(session, |_, _| Sends::Text);
    history.plain_bodies(session, |_, _| false);
    let takes = |media: &Media| {
        media.media_type.as_deref().is_none_or(|kind| kind.starts_with("image/")) && media.inline.is_some()
    };
    history.describe_media(|media, block| block.author == Author::User && takes(media), takes);
    history.remove_empty_text(|text, _| text.is_empty());
    for piece in &mut history.pieces {
        settle(&mut piece.block);
    }
    history.pair_calls();
    history.lift_media();
    name_results(&mut history);
    history.number_messages(|before, block| {
        let who = speaker(block);
        before.message.ordinal == block.message.ordinal && speaker(before) == who && who != Author::Tool
    });
    history
}

fn settle(block: &mut Block) {
    block.author = match speaker(block) {
        Author::Developer => Author::System,
        author => author,
    };
    block.message.name = None;
    match &mut block.body {
        Body::ToolResult(result) => {
            settle_result(result, false);
            block.message.extra.remove(ID);
        }
        Body::ToolCall(_) => {
            block.extra.remove(ID);
        }
        _ => {}
    }
}

/// A result says which tool answered, and which call where that has an id.
fn name_results(history: &mut History) {
    let mut called: Vec<(CallId, String)> = Vec::new();
    for piece in &mut history.pieces {
        match &mut piece.block.body {
            Body::ToolCall(call) => called.push((call.call.clone(), call.name.clone())),
            Body::ToolResult(result) => {
                if let Some(at) = called.iter().position(|(id, _)| *id == result.call) {
                    result.name = Some(called.remove(at).1);
                }
            }
            _ => {}
        }
    }
}

fn model(session: &Session, own: bool, wanted: &EncodeOptions, losses: &mut Vec<Loss>) -> String {
    if let Some(model) = &wanted.model {
        return model.clone();
    }
    let left = session.extra.fields(ID).and_then(|fields| fields.get_str("model")).filter(|_| own);
    let asked = left.map(std::borrow::Cow::into_owned).or_else(|| {
        let turns = session.turns.iter().rev();
        turns.filter(|turn| own || turn.api.as_deref() == Some(ID)).find_map(|turn| turn.model.clone())
    });
    asked.unwrap_or_else(|| {
        let at = format!("turns[{}].model", session.turns.len().saturating_sub(1));
        losses.push(Loss::encode(LossKind::Synthesised, at, "a request must name a model; give one with --model"));
        MODEL.to_owned()
    })
}

fn head(session: &Session, own: bool, losses: &mut Vec<Loss>) -> Session {
    let mut head = session.head();
    if !own {
        head.extra.remove(ID);
        head.tools.iter_mut().for_each(|tool| tool.extra = Extra::NONE);
    }
    for tool in &mut head.tools {
        match &mut tool.parameters {
            Json::Object(schema) if schema.get_str("type").is_none_or(|kind| kind != "object") => {
                schema.set("type", "object");
            }
            Json::Object(_) => {}
            parameters => *parameters = Json::Null,
        }
    }
    let options = &mut head.options;
    options.extra = Extra::NONE;
    clamp(&mut options.temperature, 0.0, 2.0, "temperature", losses);
    clamp(&mut options.top_p, 0.0, 1.0, "top_p", losses);
    clamp(&mut options.presence_penalty, -2.0, 2.0, "presence_penalty", losses);
    clamp(&mut options.frequency_penalty, -2.0, 2.0, "frequency_penalty", losses);
    let whole = |number: &Number| number.as_u64().is_some_and(|count| count > 0);
    options.max_tokens = options.max_tokens.take().filter(whole);
    options.top_k = options.top_k.take().filter(whole);
    options.seed = options.seed.take().filter(|seed| seed.as_i64().is_some());
    options.stop.retain(|text| !text.is_empty());
    if head
        .response_format
        .as_ref()
        .is_some_and(|format| !matches!(format.kind, ResponseKind::JsonObject | ResponseKind::JsonSchema))
    {
        head.response_format = None;
    }
    head
}

/// Thinking as the model takes it: a level, or a switch. Ollama has no budget.
fn fit_thinking(head: &mut Session, target: Target, losses: &mut Vec<Loss>) {
    head.extra.part_mut(ID).fields.remove("think");
    let mode = fit::thinking(&mut head.options, target, true, losses);
    if mode == ThinkingMode::On && head.options.reasoning.is_none() {
        head.extra.part_mut(ID).fields.set("think", true);
    }
}
