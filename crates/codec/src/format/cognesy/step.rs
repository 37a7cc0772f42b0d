//! Steps of an execution, from the document.

use turnkeep_model::json::Json;
use turnkeep_model::{Author, Block, Body, ExtraPart, Reasoning, ToolCall, Turn, TurnId};

use super::call;
use super::continuation;
use super::execution::{Lists, errors, execution};
use super::map::{Form, KeyRule, Map, keep_as, text};
use super::message::Messages;
use super::words::{self, Generation};

pub(super) const EXECUTED_V2: Form = &[
    ("id", KeyRule::Derived),
    ("step", KeyRule::Derived),
    ("continuation", KeyRule::Derived),
    ("startedAt", KeyRule::Optional),
    ("completedAt", KeyRule::Optional),
    ("duration", KeyRule::Optional),
];
pub(super) const EXECUTED_JANUARY: Form = &[
    ("id", KeyRule::Derived),
    ("stepNumber", KeyRule::Derived),
    ("step", KeyRule::Derived),
    ("outcome", KeyRule::Null),
    ("startedAt", KeyRule::Optional),
    ("completedAt", KeyRule::Optional),
    ("duration", KeyRule::Optional),
];
pub(super) const STEP: Form = &[
    ("id", KeyRule::Optional),
    ("inputMessages", KeyRule::List),
    ("outputMessages", KeyRule::List),
    ("toolExecutions", KeyRule::List),
    ("errors", KeyRule::List),
    ("inferenceResponse", KeyRule::Derived),
];
pub(super) const STEP_V1: Form = &[
    ("stepInfo", KeyRule::Derived),
    ("inputMessages", KeyRule::List),
    ("outputMessages", KeyRule::List),
    ("toolCalls", KeyRule::Derived),
    ("toolExecutions", KeyRule::List),
    ("errors", KeyRule::List),
    ("usage", KeyRule::Derived),
    ("inferenceResponse", KeyRule::Derived),
    ("stepType", KeyRule::Derived),
];
pub(super) const STEP_INFO: Form = &[("id", KeyRule::Optional), ("createdAt", KeyRule::Optional)];
pub(super) const RESPONSE: Form = &[
    ("content", KeyRule::Derived),
    ("finishReason", KeyRule::Empty),
    ("toolCalls", KeyRule::Derived),
    ("reasoningContent", KeyRule::Empty),
    ("usage", KeyRule::Derived),
    ("responseData", KeyRule::Derived),
    ("isPartial", KeyRule::False),
    ("id", KeyRule::Optional),
    ("createdAt", KeyRule::Optional),
    ("updatedAt", KeyRule::Optional),
];
pub(super) const DATA: Form = &[
    ("statusCode", KeyRule::Zero),
    ("body", KeyRule::Empty),
    ("headers", KeyRule::List),
    ("isStreamed", KeyRule::False),
];
pub(super) const ERROR: Form = &[("message", KeyRule::Empty), ("class", KeyRule::Optional)];
pub(super) const EXECUTION: Form = &[
    ("id", KeyRule::Optional),
    ("tool_call", KeyRule::Derived),
    ("result", KeyRule::Null),
    ("error", KeyRule::Null),
    ("startedAt", KeyRule::Optional),
    ("completedAt", KeyRule::Optional),
];

/// The path of a step in what its turn keeps.
pub(super) fn path(generation: Generation) -> &'static str {
    if generation == Generation::V1 { "" } else { "step" }
}

/// The path of a step's response in what its turn keeps.
pub(super) fn response_path(generation: Generation) -> &'static str {
    if generation == Generation::V1 { "inferenceResponse" } else { "step.inferenceResponse" }
}

/// A step that has been read, before it is known which blocks are its own.
#[derive(Debug)]
pub(super) struct Step {
    /// What the turn is to have; its notes are not complete.
    pub turn: Turn,
    notes: ExtraPart,
    outer: Option<Map>,
    step: Option<Map>,
    response: Option<Map>,
    executions: Vec<Json>,
    /// Which messages of the store its lists repeat.
    repeats: Vec<(&'static str, Json)>,
}

impl Step {
    /// Reads a step; what is no map gives itself back.
    pub(super) fn read(item: Json, generation: Generation) -> Result<Step, Json> {
        let form = match generation {
            Generation::V1 => STEP_V1,
            Generation::January => EXECUTED_JANUARY,
            Generation::V2 => EXECUTED_V2,
        };
        let outer = Map::open(item, form)?;
        let mut made = Step {
            turn: Turn::default(),
            notes: ExtraPart::default(),
            outer: None,
            step: None,
            response: None,
            executions: Vec::new(),
            repeats: Vec::new(),
        };
        if generation == Generation::V1 {
            made.open_v1(outer);
        } else {
            made.open(outer, generation);
        }
        made.open_response(generation);
        Ok(made)
    }

    fn open(&mut self, mut outer: Map, generation: Generation) {
        let timing = &mut self.turn.timing;
        timing.started = outer.time("startedAt");
        timing.completed = outer.time("completedAt");
        timing.seconds = outer.number("duration");
        self.turn.continuation = match generation {
            Generation::V2 => outer.open_at("continuation", continuation::SIGNALS).and_then(continuation::read_signals),
            _ => continuation::open_outcome(&mut outer, "outcome").map(continuation::read_outcome),
        };
        self.step = outer.open_at("step", STEP);
        if let Some(step) = &mut self.step {
            self.turn.id = step.text("id").map(TurnId::new);
            self.turn.errors = errors(step);
            self.executions = step.list("toolExecutions").unwrap_or_default();
        }
        if let Some(id) = &self.turn.id {
            outer.derived("id", &Json::from(id.as_str()));
        }
        self.outer = Some(outer);
    }

    fn open_v1(&mut self, mut step: Map) {
        if let Some(mut info) = step.open_at("stepInfo", STEP_INFO) {
            self.turn.id = info.text("id").map(TurnId::new);
            self.turn.timing.created = info.time("createdAt");
            info.leave(&mut self.notes, "stepInfo");
        }
        self.turn.usage = words::take_usage(&mut step, "usage");
        self.turn.errors = errors(&mut step);
        self.executions = step.list("toolExecutions").unwrap_or_default();
        self.step = Some(step);
    }

    fn open_response(&mut self, generation: Generation) {
        let path = response_path(generation);
        let Some(mut response) = self.step.as_mut().and_then(|step| step.open_at("inferenceResponse", RESPONSE)) else {
            return;
        };
        self.turn.finish = response.text("finishReason").map(words::finish);
        if generation == Generation::V1 {
            // The step has its own count; the response's is kept where it counts anything.
            response.derived("usage", &words::usage(&Default::default()));
        } else {
            self.turn.usage = words::take_usage(&mut response, "usage");
        }
        if let Some(mut data) = response.open_at("responseData", DATA) {
            self.turn.provider_payload = data.text("body").map(Json::from).unwrap_or_default();
            data.leave(&mut self.notes, &format!("{path}.responseData"));
        }
        self.response = Some(response);
    }

    /// The thinking that only the response holds.
    pub(super) fn reasoning(&mut self) -> Option<Block> {
        let text = self.response.as_mut()?.text("reasoningContent")?;
        Some(Block::new(Author::Assistant, Reasoning { text: Some(text), ..Reasoning::default() }))
    }

    /// Ties executions to the calls among `blocks`, and makes blocks of those that no message holds: a call and its
    /// result each.
    pub(super) fn executions(&mut self, blocks: &mut [Block], messages: &mut Messages) -> Vec<(Block, Block)> {
        let items = std::mem::take(&mut self.executions);
        if !are_readable(&items) {
            if let Some(step) = &mut self.step {
                step.restore("toolExecutions", Json::Array(items));
            }
            return Vec::new();
        }
        self.note_order(&items, blocks);
        items.into_iter().filter_map(|item| execution(item, blocks, messages)).collect()
    }

    /// Notes the order of executions where it is not that of the calls.
    fn note_order(&mut self, items: &[Json], blocks: &[Block]) {
        let held: Vec<&str> = blocks.iter().filter_map(call_of).filter_map(|call| call.call.as_given()).collect();
        let rank = |item: &Json| {
            let id = executed_id(item);
            held.iter().position(|held| Some(*held) == id.as_deref()).unwrap_or(held.len())
        };
        let mut order: Vec<(usize, usize)> = items.iter().map(rank).zip(0..).collect();
        order.sort_unstable();
        if !order.iter().map(|(_, at)| *at).eq(0..items.len()) {
            let places = (0..items.len()).filter_map(|at| order.iter().position(|(_, item)| *item == at));
            let places: Vec<Json> = places.map(|place| Json::from(place as u64)).collect();
            self.notes.spelling.set(EXECUTIONS, places);
        }
    }

    /// Refers to messages of the store instead of repeating them.
    pub(super) fn refer(&mut self, lists: &Lists<'_>) {
        let Some(step) = &mut self.step else { return };
        for key in ["inputMessages", "outputMessages"] {
            self.repeats.extend(lists.take(step, key).map(|note| (key, note)));
        }
    }

    /// Completes a turn with what the step says, now that its blocks are known.
    pub(super) fn complete(self, turn: &mut Turn, generation: Generation, number: usize) {
        let Step { turn: head, mut notes, outer, step, response, repeats, .. } = self;
        let blocks = std::mem::take(&mut turn.blocks);
        let run = turn.run.take();
        *turn = Turn { blocks, run, ..head };
        let (content, calls) = (Json::from(said(turn)), step_calls(turn, generation != Generation::V2));
        if let Some(mut response) = response {
            response.derived("content", &content);
            take_calls(&mut response, &calls, &mut notes);
            response.leave(&mut notes, response_path(generation));
        }
        if let Some(mut step) = step {
            repeats.into_iter().for_each(|(key, note)| notes.spelling.set(key, note));
            step.derived("toolCalls", &calls);
            step.derived("stepType", &Json::from(words::step_type(turn)));
            step.leave(&mut notes, path(generation));
        }
        if let Some(mut outer) = outer {
            outer.derived("stepNumber", &Json::from(number as u64));
            outer.leave(&mut notes, "");
        }
        keep_as(&mut turn.extra, generation.part(), notes);
    }
}

/// The note on the order of executions.
pub(super) const EXECUTIONS: &str = "executions";

fn call_of(block: &Block) -> Option<&ToolCall> {
    match &block.body {
        Body::ToolCall(call) => Some(call),
        _ => None,
    }
}

fn executed_id(item: &Json) -> Option<String> {
    item.as_object()?.get("tool_call")?.as_object()?.get("id").and_then(text)
}

/// Whether every execution has a call, and none the same as another one.
fn are_readable(items: &[Json]) -> bool {
    let mut ids: Vec<String> = items.iter().filter_map(executed_id).filter(|id| !id.is_empty()).collect();
    let given = ids.len();
    ids.sort_unstable();
    ids.dedup();
    let has_call =
        |item: &Json| item.as_object().is_some_and(|fields| matches!(fields.get("tool_call"), Some(Json::Object(_))));
    ids.len() == given && items.iter().all(has_call)
}

/// Drops the calls of a response that follow from the turn; ids may be missing there.
fn take_calls(response: &mut Map, calls: &Json, notes: &mut ExtraPart) {
    let Json::Array(items) = calls else { return };
    if response.get("toolCalls") == Some(calls) {
        return drop(response.remove("toolCalls"));
    }
    let without_ids = Json::Array(items.iter().cloned().map(without_id).collect());
    if response.get("toolCalls") == Some(&without_ids) && without_ids != *calls {
        notes.spelling.set("response_ids", "none");
        response.remove("toolCalls");
    }
    response.derived("toolCalls", calls);
}

/// The same call, with nothing as its id.
pub(super) fn without_id(call: Json) -> Json {
    match call {
        Json::Object(mut fields) => {
            fields.set("id", Json::Null);
            Json::Object(fields)
        }
        other => other,
    }
}

/// What the assistant said in a turn.
pub(super) fn said(turn: &Turn) -> String {
    let text = |block: &Block| match (&block.author, &block.body) {
        (Author::Assistant, Body::Text(text)) => Some(text.text.clone()),
        _ => None,
    };
    turn.blocks.iter().filter_map(text).collect()
}

/// The calls of a turn as steps list them.
pub(super) fn step_calls(turn: &Turn, id_last: bool) -> Json {
    let call = |block: &Block| match &block.body {
        Body::ToolCall(call) => Some(call::in_step(call, id_last)),
        _ => None,
    };
    Json::Array(turn.blocks.iter().filter_map(call).collect())
}
