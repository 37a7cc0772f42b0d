//! The next request of any session.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{
    Author, Block, Body, CallId, Effort, Extra, Loss, LossKind, Media, Number, Outcome, Part, Reasoning, ResponseKind,
    Session, ToolCall, ToolMode, ToolResult, ToolSpec,
};

use super::contract::LIMITS;
use super::decode::{HOST, REQUEST};
use super::{WIRE, block, media, settings};
use crate::codec::EncodeOptions;
use crate::fields::{Kept, Writer};
use crate::models::settle::is_of_session;
use crate::models::{self, Medium, Target, fit};
use crate::wire::cache;
use crate::wire::degrade::{object_of, wrapped};
use crate::wire::dialogue::{At, Dialogue, Item, Message, Side, UNKNOWN_OUTCOME, Wants, legal};
use crate::wire::document::in_words;
use crate::wire::prefix::{self, is_of_other_account};

/// The model that a request is for where nothing names one.
const MODEL: &str = "anthropic.claude-sonnet-4-5-20250929-v1:0";
/// The longest name of a tool.
const LENGTH: usize = LIMITS.tool_name;

/// The next request of a session, and what is known of the places where it says something else than the session.
pub(super) fn next(session: &Session, options: &EncodeOptions) -> (Json, Vec<Loss>) {
    let mut losses = Vec::new();
    let model = model(session, options, &mut losses);
    let target = models::asked(WIRE, None, &model, options);
    let is_own = session.extra.part(WIRE).is_some();
    let broken = prefix::broken(session);
    let sends = |at: At, block: &Block| {
        let (turn, _) = at.indices();
        let turn = session.turns.get(turn);
        let is_home = is_own || turn.is_some_and(|turn| turn.api.as_deref() == Some(WIRE));
        match &block.body {
            Body::Reasoning(_) if broken.contains(&at.indices()) => {
                Err((LossKind::Dropped, "what stands before it is not what it was signed with"))
            }
            Body::Reasoning(reasoning) if is_of_other_account(reasoning, turn, options.account.as_deref()) => {
                Err((LossKind::Dropped, "only the account it was made for can verify it"))
            }
            Body::Other { kind, .. } if kind == "video" && !takes_video(target) => {
                Err((LossKind::Dropped, "this model takes no video"))
            }
            _ => sends(block, &model, is_home),
        }
    };
    let wants = Wants { wire: WIRE, ids: LIMITS.call_ids, sends: &sends };
    let dialogue = Dialogue::of(session, &wants);
    let mut head = session.head();
    if is_own && is_of_session(session, WIRE, "modelId", &model) {
        fit::only_in_loop(&mut head.options, dialogue.may_think(), &mut losses);
    } else {
        fit_thinking(&mut head, &dialogue, target, &mut losses);
    }
    fit::room(&mut head.options, target, None, &mut losses);
    fit(&mut head, &dialogue, &mut losses);
    let mut writer = Writer::new(Kept::of(&session.extra, WIRE), REQUEST);
    writer.set("modelId", model.as_str());
    let mut encoder = Encoder { target, losses };
    let system = encoder.system(&dialogue);
    if !system.is_empty() {
        writer.set("system", system);
    }
    let messages: Vec<Json> = dialogue.messages.iter().map(|message| encoder.message(message)).collect();
    writer.set("messages", messages);
    settings::write(&head, &mut writer);
    let Encoder { mut losses, .. } = encoder;
    losses.extend(dialogue.losses);
    (Json::Object(writer.finish()), losses)
}

/// Whether a model may take video: one that the table does not know may.
fn takes_video(target: Target) -> bool {
    !target.is_known || target.row.media.contains(&Medium::Video)
}

/// Whether a model may read media from S3; Claude does not.
fn reads_s3(target: Target) -> bool {
    !(target.is_known && target.row.maker == "Anthropic")
}

/// Whether a model may take a part of a result that is kept as it came.
fn takes(target: Target, kind: &str, raw: &Object) -> bool {
    let in_s3 = raw.get("source").and_then(Json::as_object).is_some_and(|source| source.contains("s3Location"));
    (kind != "video" || takes_video(target)) && (!in_s3 || reads_s3(target))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn model(session: &Session, options: &EncodeOptions, losses: &mut Vec<Loss>) -> String {
    let own = || session.extra.fields(WIRE)?.get_str("modelId").map(std::borrow::Cow::into_owned);
    if let Some(model) = options.model.clone().or_else(own) {
        return model;
    }
    let what = format!("a request names its model; `{MODEL}` was filled in");
    for at in ["extra", "extra.bedrock.converse", "extra.bedrock.converse.fields"] {
        losses.push(Loss::encode(LossKind::Synthesised, at, what.clone()));
    }
    MODEL.to_owned()
}

/// Whether a block can be sent, or why not.
fn sends(block: &Block, model: &str, is_own: bool) -> Result<(), (LossKind, &'static str)> {
    let blank = Err((LossKind::Dropped, "the vendor refuses empty text"));
    match &block.body {
        Body::Text(text) if text.text.trim().is_empty() => blank,
        Body::Summary(summary) if summary.text.trim().is_empty() => blank,
        Body::Reasoning(reasoning) if !verifies(reasoning, model) => {
            Err((LossKind::Dropped, "the vendor takes thinking back only as the same model signed it"))
        }
        Body::Other { kind, raw } if !(is_own && raw.as_object().is_some_and(|raw| raw.contains(kind))) => {
            Err((LossKind::Dropped, "the vendor does not know this kind of block"))
        }
        _ => Ok(()),
    }
}

fn verifies(reasoning: &Reasoning, model: &str) -> bool {
    let is_signed = reasoning.signature.as_deref().is_some_and(|signature| !signature.is_empty());
    let is_opaque = is_signed || reasoning.text.is_none() && reasoning.encrypted.is_some();
    reasoning.scope.as_ref().is_some_and(|scope| {
        is_opaque
            && scope.provider.as_deref() == Some(HOST)
            && scope.model.as_deref().is_none_or(|made_by| made_by == model)
    })
}

/// Thinking in the terms of the model. Only Claude is told here how to think: others have no common setting.
fn fit_thinking(head: &mut Session, dialogue: &Dialogue<'_>, target: Target, losses: &mut Vec<Loss>) {
    let options = &mut head.options;
    fit::thinking(options, target, dialogue.may_think(), losses);
    let is_claude = target.row.maker == "Anthropic";
    if options.reasoning.take_if(|effort| !is_claude || *effort == Effort::None).is_some() {
        losses.push(Loss::encode(LossKind::Dropped, "options.reasoning", "there is no way to tell this model here"));
    }
}

/// Makes settings and tools fit what the vendor takes.
fn fit(head: &mut Session, dialogue: &Dialogue<'_>, losses: &mut Vec<Loss>) {
    let options = &mut head.options;
    let counted = |number: &Number| number.as_u64().is_some_and(|count| count > 0);
    let within = |number: &Number| number.is_json() && (0.0..=1.0).contains(&number.as_f64());
    options.max_tokens = options.max_tokens.take().filter(counted);
    let given = options.temperature.clone();
    options.temperature = options
        .temperature
        .take()
        .filter(Number::is_json)
        .map(|number| if within(&number) { number } else { Number::from(u64::from(number.as_f64() > 1.0)) });
    if options.temperature != given {
        losses.push(Loss::encode(LossKind::Coerced, "options.temperature", "it is from 0 to 1 with the vendor"));
    }
    options.top_p = options.top_p.take().filter(within);
    options.top_k = options.top_k.take().filter(|number| number.as_u64().is_some());
    options.budget_tokens = options.budget_tokens.take().filter(counted);
    options.stop.retain(|text| !text.trim().is_empty());
    let formats = |kind: &ResponseKind| *kind == ResponseKind::JsonSchema;
    head.response_format =
        head.response_format.take().filter(|format| formats(&format.kind) && format.schema.as_object().is_some());
    fit_tools(head, dialogue, losses);
}

/// A history with calls needs the tools it calls; names are made legal; there is no way to forbid calls.
fn fit_tools(head: &mut Session, dialogue: &Dialogue<'_>, losses: &mut Vec<Loss>) {
    for (index, tool) in head.tools.iter_mut().enumerate() {
        let name = legal(&tool.name, is_word, LENGTH);
        if name != tool.name {
            let what = format!("the vendor does not take this name; it is sent as `{name}`");
            losses.push(Loss::encode(LossKind::Renamed, format!("tools[{index}].name"), what));
            tool.name = name;
        }
        tool.description = tool.description.take().filter(|text| !text.is_empty());
        if tool.parameters.as_object().is_none() {
            tool.parameters = any_object();
        }
    }
    let has_vendors = head.extra.fields(WIRE).is_some_and(|fields| fields.contains("toolConfig"));
    if head.tools.is_empty() && !has_vendors && dialogue.uses_tools() {
        for item in dialogue.items() {
            let Item::Call(_, _, call, _) = item else { continue };
            let name = legal(&call.name, is_word, LENGTH);
            if head.tools.iter().all(|tool| tool.name != name) {
                head.tools.push(ToolSpec { name, parameters: any_object(), ..ToolSpec::default() });
            }
        }
        let what = "a history with calls needs the tools it calls; they are named without their parameters";
        losses.push(Loss::encode(LossKind::Synthesised, "tools", what));
    }
    let has_tools = !head.tools.is_empty() || has_vendors;
    head.options.tool_choice = head.options.tool_choice.take().filter(|_| has_tools);
    if let Some(choice) = &mut head.options.tool_choice {
        choice.names.iter_mut().for_each(|name| *name = legal(name, is_word, LENGTH));
        if choice.mode == ToolMode::None {
            losses.push(Loss::encode(LossKind::Coerced, "options.tool_choice.mode", "the vendor cannot forbid calls"));
        }
    }
}

fn any_object() -> Json {
    Json::Object([("type", Json::from("object"))].into_iter().collect())
}

fn text_value(text: &str) -> Json {
    Json::Object([("text", Json::from(text))].into_iter().collect())
}

/// Whether a part that the model has no place for is one of this wire's.
fn is_part(kind: &str, raw: &Object) -> bool {
    match kind {
        "image" | "document" | "video" => raw.get_str("format").is_some() && raw.contains("source"),
        "searchResult" => raw.get_str("source").is_some() && raw.contains("content"),
        _ => false,
    }
}

struct Encoder {
    target: Target,
    losses: Vec<Loss>,
}

impl Encoder {
    fn system(&mut self, dialogue: &Dialogue<'_>) -> Vec<Json> {
        let mut content = Vec::new();
        for (at, block) in &dialogue.system {
            content.push(match &block.body {
                Body::Media(media) => text_value(&in_words(media)),
                _ => block::write(block),
            });
            content.extend(self.cache_point(*at, block));
        }
        content
    }

    /// The cache point after a block that another wire marked.
    fn cache_point(&mut self, at: At, block: &Block) -> Option<Json> {
        let point = cache::point(cache::control(&block.extra)?);
        for field in ["extra", "extra.anthropic.messages", "extra.openai.chat"] {
            let what = "`cache_control` is a cache point after the block here";
            self.losses.push(Loss::encode(LossKind::Renamed, at.path(field), what));
        }
        Some(point)
    }

    fn message(&mut self, message: &Message<'_>) -> Json {
        let role = match message.side {
            Side::User => "user",
            Side::Assistant => "assistant",
            Side::System => "system",
        };
        let mut content = Vec::with_capacity(message.items.len());
        for item in &message.items {
            content.push(self.item(item, message.side));
            if let Item::Block(at, block) | Item::Call(at, block, ..) | Item::Result(at, block, ..) = item {
                content.extend(self.cache_point(*at, block));
            }
        }
        Json::Object([("role", Json::from(role)), ("content", Json::Array(content))].into_iter().collect())
    }

    fn item(&mut self, item: &Item<'_>, side: Side) -> Json {
        match item {
            Item::Block(at, content) => match &content.body {
                Body::Media(media) => self.media(*at, content, media, side),
                _ => block::write(content),
            },
            Item::Call(at, content, call, id) => self.call(*at, content, call, id),
            Item::Result(at, content, result, id) => self.result(*at, content, result, id),
            Item::Unknown(id) => block::result_value(id, vec![text_value(UNKNOWN_OUTCOME)], None, &Extra::NONE),
        }
    }

    fn media(&mut self, at: At, content: &Block, media: &Media, side: Side) -> Json {
        let is_own = content.extra.part(WIRE).is_some();
        let sent = if is_own { media.clone() } else { media::named(media) };
        // A text document is inline as well: only what is elsewhere has to be fetched.
        let is_here = sent.inline.is_some() || sent.text.is_some() || reads_s3(self.target);
        if let Some(value) = media::write(&sent, &content.extra).filter(|_| side == Side::User && is_here) {
            return value;
        }
        self.losses.push(Loss::encode(LossKind::Textified, at.path(""), "the vendor does not take such media here"));
        text_value(&in_words(media))
    }

    fn call(&mut self, at: At, content: &Block, call: &ToolCall, id: &str) -> Json {
        let mut call = call.clone();
        call.call = CallId::given(id);
        let name = legal(&call.name, is_word, LENGTH);
        if name != call.name {
            let what = format!("the vendor does not take this name; it is sent as `{name}`");
            self.losses.push(Loss::encode(LossKind::Renamed, at.path("name"), what));
            call.name = name;
        }
        let mut extra = content.extra.clone();
        if let Some(part) = extra.parts_mut().find(|(name, _)| *name == WIRE).map(|(_, part)| part) {
            part.spelling.remove("input");
            part.spelling.remove("absent");
        }
        if call.arguments.trim().is_empty() {
            call.arguments = "{}".to_owned();
        }
        if object_of(&call.arguments).is_none() {
            let what = "arguments are an object with the vendor; these are sent as text inside one";
            self.losses.push(Loss::encode(LossKind::Wrapped, at.path("arguments"), what));
            call.arguments = wrapped(&call.arguments).to_text();
        }
        block::write(&Block { extra, ..Block::new(Author::Assistant, call) })
    }

    fn result(&mut self, at: At, content: &Block, result: &ToolResult, id: &str) -> Json {
        let mut parts = Vec::new();
        for (index, part) in result.parts.iter().enumerate() {
            parts.extend(self.part(at, index, part));
        }
        let told = |text: &String| result.parts.iter().any(|part| matches!(part, Part::Text(t) if t.text == *text));
        if let Some(error) = result.error.as_ref().filter(|error| !error.trim().is_empty() && !told(error)) {
            parts.push(text_value(error));
        }
        let is_error = result.is_error.or(result.error.is_some().then_some(true));
        if parts.is_empty() {
            // An error has to say something, and so has an outcome that nobody knows.
            match (&result.outcome, is_error) {
                (Some(Outcome::Interrupted), _) => parts.push(text_value(UNKNOWN_OUTCOME)),
                (_, Some(true)) => parts.push(text_value("(the tool failed without saying why)")),
                _ => {}
            }
        }
        block::result_value(id, parts, is_error, &content.extra)
    }

    fn part(&mut self, at: At, index: usize, part: &Part) -> Option<Json> {
        let mut textified = |what: &str| {
            self.losses.push(Loss::encode(LossKind::Textified, at.path(&format!("parts[{index}]")), what));
        };
        match part {
            Part::Text(text) if text.text.trim().is_empty() => None,
            Part::Data(data) if data.json.as_object().is_none() => {
                textified("a result is text or an object with the vendor");
                Some(text_value(&data.json.to_text()))
            }
            Part::Text(_) | Part::Data(_) => Some(block::part_value(part)),
            Part::Media(media) => {
                let sent = media::write(&media::named(media), &Extra::NONE);
                // A text document is inline as well: only what is elsewhere has to be fetched.
                let is_inline = media.inline.is_some() || media.text.is_some();
                sent.filter(|_| is_inline || reads_s3(self.target)).or_else(|| {
                    textified("the vendor does not take such media");
                    Some(text_value(&in_words(media)))
                })
            }
            Part::Other { kind, raw } if is_part(kind, raw) && takes(self.target, kind, raw) => {
                Some(Json::Object([(kind.as_str(), Json::Object(raw.clone()))].into_iter().collect()))
            }
            Part::Other { raw, .. } => {
                textified("the vendor does not know this kind of part");
                Some(text_value(&Json::Object(raw.clone()).to_text()))
            }
            _ => None,
        }
    }
}
