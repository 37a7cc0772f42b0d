//! The next request of any session: made valid for the vendor, then written.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{
    Author, Block, Body, Data, Loss, LossKind, Media, Part, Reasoning, Session, Text, ToolResult, Turn,
};

use super::contract::LIMITS;
use super::decode::REQUEST;
use super::{FORMAT, options, restore, settle, signature};
use crate::codec::EncodeOptions;
use crate::fields::{Kept, Writer};
use crate::models;
use crate::models::settle::is_of_session;
use crate::wire::Kind;
use crate::wire::prefix::is_of_other_account;
use crate::wire::repair::{History, Piece, Sends, speaker};

/// What stands for the signature of a call that another model made, in the words of the vendor's documentation.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

/// The next request, and what is known of what did not survive.
pub(super) fn next(session: &mut Session, wanted: &EncodeOptions) -> (Json, Vec<Loss>) {
    let own = is_own(session);
    let mut losses = Vec::new();
    let model = model(session, wanted, &mut losses);
    let mut history = history(session, own, &model, wanted);
    losses.append(&mut history.losses);
    let (blocks, _) = history.into_blocks();
    let (system, talk): (Vec<&Block>, Vec<&Block>) =
        blocks.iter().partition(|block| matches!(block.author, Author::System | Author::Developer));
    // The rest of another format's session is nothing that this vendor knows.
    let kept = if own { Kept::of(&session.extra, FORMAT) } else { Kept::of_part(None) };
    let mut writer = Writer::new(kept.without(|key| key.is("contents") || key.is("model")), REQUEST);
    if !system.is_empty() {
        let parts: Vec<Json> = system.iter().map(|block| system_part(block)).collect();
        writer.set("systemInstruction", [("parts", Json::Array(parts))].into_iter().collect::<Object>());
    }
    writer.set("contents", contents(&talk));
    writer.set("model", model.as_str());
    let is_same_model = own && is_of_session(session, FORMAT, "model", &model);
    let mut head = writable(session, own, &mut losses);
    if !is_same_model {
        settle::thinking(&mut head.options, models::asked(FORMAT, None, &model, wanted), &mut losses);
    }
    options::write(&head, &mut writer);
    (Json::Object(writer.finish()), losses)
}

/// Whether a session was decoded from this wire.
fn is_own(session: &Session) -> bool {
    let kind = session.extra.spelling(FORMAT, "kind").and_then(Json::as_str);
    kind.is_some_and(|word| Kind::from_word(&word).is_some())
}

/// The model that the request is for. The vendor names it in the address; a body may name it too.
fn model(session: &Session, wanted: &EncodeOptions, losses: &mut Vec<Loss>) -> String {
    let last =
        || session.turns.iter().rev().find_map(|turn| turn.model.clone()).filter(|model| model.contains("gemini"));
    let own = || session.extra.fields(FORMAT).and_then(|fields| fields.get_str("model")).map(Into::into);
    let model = wanted.model.clone().or_else(own).or_else(last);
    model.unwrap_or_else(|| {
        losses.push(Loss::encode(
            LossKind::Synthesised,
            "extra",
            "a request names its model; the usual one is filled in",
        ));
        "gemini-3-flash-preview".to_owned()
    })
}

/// The session's settings as this wire can hold them.
fn writable(session: &Session, own: bool, losses: &mut Vec<Loss>) -> Session {
    let mut head = session.head();
    if !own {
        head.extra.remove(FORMAT);
        settle::settings(&mut head, losses);
    }
    head
}

fn history(session: &mut Session, own: bool, model: &str, wanted: &EncodeOptions) -> History {
    let mut history = History::take(session);
    let is_home = |turn: Option<&Turn>| own || turn.is_some_and(|turn| turn.api.as_deref() == Some(FORMAT));
    if !own {
        history.forget_extras(Some(FORMAT));
    }
    let account = wanted.account.as_deref();
    signature::limit(&mut history, session, model, account);
    history.limit_reasoning(session, |reasoning, turn| {
        let verifies = !is_of_other_account(reasoning, turn, account)
            && signature::verifies(reasoning.scope.as_ref().and_then(|scope| scope.model.as_deref()), model);
        sends(reasoning, is_home(turn) && (reasoning.signature.is_none() || verifies))
    });
    history.plain_bodies(session, |_, turn| is_home(turn));
    let takes = |media: &Media| own || settle::takes(media);
    history.describe_media(|media, block| side(block) != "system" && takes(media), takes);
    history.remove_empty_text(|text, block| text.is_empty() && !signature::is_signed(block));
    history.pieces.iter_mut().for_each(|piece| piece.block.author = speaker(&piece.block));
    history.pair_calls();
    if !own {
        history.lift_media();
        settle::bodies(&mut history);
    }
    name_results(&mut history);
    history.rename_calls(&LIMITS.call_ids);
    settle::names(&mut history);
    history.pieces.iter_mut().for_each(|piece| settle_result(&mut piece.block.body));
    history.number_messages(|before, block| {
        side(before) == side(block) && before.author == block.author || results(before, block)
    });
    say_something(&mut history);
    start_with_user(&mut history);
    sign_calls(&mut history);
    history
}

fn sends(reasoning: &Reasoning, own: bool) -> Sends {
    match (own, &reasoning.text) {
        (true, _) => Sends::Whole,
        (false, Some(_)) => Sends::Text,
        (false, None) => Sends::Nothing,
    }
}

/// Who speaks, as the vendor tells them apart.
fn side(block: &Block) -> &'static str {
    match block.author {
        Author::Assistant => "model",
        Author::System | Author::Developer => "system",
        _ => "user",
    }
}

fn results(before: &Block, block: &Block) -> bool {
    matches!((&before.body, &block.body), (Body::ToolResult(_), Body::ToolResult(_)))
}

/// A response is named after its call here.
fn name_results(history: &mut History) {
    let mut names: Vec<(turnkeep_model::CallId, String)> = Vec::new();
    for piece in &mut history.pieces {
        match &mut piece.block.body {
            Body::ToolCall(call) => names.push((call.call.clone(), call.name.clone())),
            Body::ToolResult(result) => {
                // Every call has one result by now, also where several share an id.
                let answered = names.iter().position(|(call, _)| *call == result.call);
                result.name = answered.map(|at| names.remove(at).1).or_else(|| result.name.take());
            }
            _ => {}
        }
    }
}

/// A response is an object: text stands under `output`, what went wrong under `error`.
fn settle_result(body: &mut Body) {
    let Body::ToolResult(result) = body else { return };
    // What stands beside the response is an image or a file of this wire.
    let is_response = matches!(result.parts.first(), Some(Part::Data(data)) if data.json.as_object().is_some());
    if is_response && result.parts.iter().skip(1).all(|part| matches!(part, Part::Media(_) | Part::Other { .. })) {
        return;
    }
    let output = output(result);
    let failed = result.error.is_some() || result.is_error == Some(true);
    let mut response = Object::new();
    response.push(if failed { "error" } else { "output" }, output);
    result.parts = vec![Part::Data(Data { json: Json::Object(response) })];
    result.error = None;
    result.is_error = None;
    result.outcome = None;
}

fn output(result: &ToolResult) -> Json {
    let texts: Vec<Json> =
        result.error.iter().map(|error| Json::from(error.as_str())).chain(result.parts.iter().map(value)).collect();
    match <[Json; 1]>::try_from(texts) {
        Ok([one]) => one,
        Err(texts) => Json::Array(texts),
    }
}

fn value(part: &Part) -> Json {
    match part {
        Part::Text(text) => Json::from(text.text.as_str()),
        Part::Data(data) => data.json.clone(),
        Part::Other { raw, .. } => Json::Object(raw.clone()),
        _ => Json::Null,
    }
}

/// A request has at least one content.
fn say_something(history: &mut History) {
    if history.pieces.iter().any(|piece| side(&piece.block) != "system") {
        return;
    }
    let ordinal = history.pieces.last().map_or(0, |piece| piece.block.message.ordinal + 1);
    let block = Block::text(Author::User, "[nothing was said]").in_message(ordinal);
    history.pieces.push(Piece { from: None, block });
    history.losses.push(Loss::encode(LossKind::Synthesised, "turns", "the vendor wants at least one content"));
}

/// A call comes after a user's turn: a history that begins with the model gets one.
fn start_with_user(history: &mut History) {
    let first = history.pieces.iter().position(|piece| side(&piece.block) != "system");
    let Some(at) = first.filter(|at| history.pieces.get(*at).is_some_and(|piece| side(&piece.block) == "model")) else {
        return;
    };
    let ordinal = history.pieces.get(at).map_or(0, |piece| piece.block.message.ordinal);
    for piece in history.pieces.iter_mut().skip(at) {
        piece.block.message.ordinal += 1;
    }
    let block = Block::new(Author::User, Text { text: "[the conversation before this was not kept]".to_owned() });
    history.pieces.insert(at, Piece { from: None, block: block.in_message(ordinal) });
    history.losses.push(Loss::encode(
        LossKind::Synthesised,
        "turns",
        "the vendor wants a user's turn before the model's",
    ));
}

/// The first call of an answer needs a signature; one that another model made has the vendor's own stand-in.
fn sign_calls(history: &mut History) {
    let mut signed = None;
    for piece in &mut history.pieces {
        let ordinal = piece.block.message.ordinal;
        if !matches!(piece.block.body, Body::ToolCall(_)) || signed == Some(ordinal) {
            continue;
        }
        signed = Some(ordinal);
        let fields = &mut piece.block.extra.part_mut(FORMAT).fields;
        if !fields.contains("thoughtSignature") && !fields.contains("thought_signature") {
            fields.set("thoughtSignature", FOREIGN_SIGNATURE);
        }
    }
}

fn system_part(block: &Block) -> Json {
    match &block.body {
        Body::Other { raw, .. } => raw.clone(),
        body => Json::Object([("text", Json::from(body.as_text().unwrap_or_default()))].into_iter().collect()),
    }
}

fn contents(blocks: &[&Block]) -> Vec<Json> {
    let mut messages: Vec<Vec<&Block>> = Vec::new();
    for block in blocks {
        match messages.last_mut() {
            Some(message) if message.last().is_some_and(|last| last.message.ordinal == block.message.ordinal) => {
                message.push(block);
            }
            _ => messages.push(vec![block]),
        }
    }
    messages.iter().map(|message| restore::content(message)).collect()
}
