//! From states of three generations to sessions.

use turnkeep_model::json::Json;
use turnkeep_model::{ExtraPart, Loss, Parent, Run, RunId, Session, SessionId, StopReason};

use super::conversation::ConversationBuilder;
use super::map::{Form, KeyRule, Map, keep_as, keep_fields, text};
use super::message;
use super::step::Step;
use super::store::{self, Stored};
use super::style::{self, Style};
use super::words::{self, Generation};
use super::{FORMAT, continuation, settings, state_out};

pub(super) const STATE_V2: Form = &[
    ("agentId", KeyRule::Null),
    ("parentAgentId", KeyRule::Null),
    ("createdAt", KeyRule::Optional),
    ("updatedAt", KeyRule::Optional),
    ("context", KeyRule::Derived),
    ("llmConfig", KeyRule::Null),
    ("executionCount", KeyRule::Derived),
    ("execution", KeyRule::Null),
];
pub(super) const STATE_JANUARY: Form = &[
    ("agentId", KeyRule::Null),
    ("parentAgentId", KeyRule::Null),
    ("createdAt", KeyRule::Optional),
    ("updatedAt", KeyRule::Optional),
    ("metadata", KeyRule::List),
    ("cachedContext", KeyRule::Derived),
    ("messageStore", KeyRule::Derived),
    ("execution", KeyRule::Null),
];
pub(super) const STATE_V1: Form = &[
    ("agentId", KeyRule::Null),
    ("parentAgentId", KeyRule::Null),
    ("currentStepStartedAt", KeyRule::Null),
    ("executionStartedAt", KeyRule::Null),
    ("metadata", KeyRule::List),
    ("cachedContext", KeyRule::Derived),
    ("usage", KeyRule::Derived),
    ("messageStore", KeyRule::List),
    ("stateInfo", KeyRule::Derived),
    ("currentStep", KeyRule::Null),
    ("status", KeyRule::Optional),
    ("steps", KeyRule::List),
];
pub(super) const CONTEXT: Form = &[
    ("metadata", KeyRule::List),
    ("systemPrompt", KeyRule::Empty),
    ("responseFormat", KeyRule::List),
    ("messageStore", KeyRule::Derived),
];
pub(super) const EXECUTION_V2: Form = &[
    ("executionId", KeyRule::Optional),
    ("status", KeyRule::Optional),
    ("startedAt", KeyRule::Optional),
    ("completedAt", KeyRule::Null),
    ("stepExecutions", KeyRule::List),
    ("continuation", KeyRule::Derived),
    ("currentStepStartedAt", KeyRule::Null),
    ("currentStep", KeyRule::Null),
];
pub(super) const EXECUTION_JANUARY: Form = &[
    ("executionId", KeyRule::Optional),
    ("status", KeyRule::Optional),
    ("startedAt", KeyRule::Optional),
    ("completedAt", KeyRule::Null),
    ("stepExecutions", KeyRule::List),
    ("currentExecution", KeyRule::Null),
    ("currentStep", KeyRule::Null),
];
pub(super) const STATE_INFO: Form = &[
    ("id", KeyRule::Optional),
    ("startedAt", KeyRule::Optional),
    ("updatedAt", KeyRule::Optional),
    ("cumulativeExecutionSeconds", KeyRule::Optional),
];

/// The note that the current step is the last one of the list.
pub(super) const CURRENT: &str = "current_step";

/// A state while it is read.
struct Reading {
    generation: Generation,
    session: Session,
    part: ExtraPart,
    losses: Vec<Loss>,
}

/// The session of a state.
pub(super) fn read(document: Json, generation: Generation) -> (Session, Vec<Loss>) {
    let mut reading =
        Reading { generation, session: Session::default(), part: ExtraPart::default(), losses: Vec::new() };
    let form = match generation {
        Generation::V1 => STATE_V1,
        Generation::January => STATE_JANUARY,
        Generation::V2 => STATE_V2,
    };
    match Map::open(document, form) {
        Ok(map) => reading.state(map),
        Err(raw) => keep_fields(&mut reading.part, "", [("state", raw)].into_iter().collect()),
    }
    let Reading { mut session, part, losses, .. } = reading;
    keep_as(&mut session.extra, generation.part(), part);
    (session, losses)
}

/// The session of a bare list of messages.
pub(super) fn read_messages(items: Vec<Json>) -> (Session, Vec<Loss>) {
    let mut session = Session::default();
    let stored: Stored = items.into_iter().map(|item| (message::SECTION.to_owned(), item)).collect();
    let mut conversation = ConversationBuilder::default();
    conversation.all(stored, Vec::new(), &style::V2);
    let losses = conversation.finish(&mut session, Generation::V2);
    (session, losses)
}

impl Reading {
    fn state(&mut self, mut map: Map) {
        self.identity(&mut map);
        let (prompt, stored) = match self.generation {
            Generation::V2 => self.context(&mut map),
            _ => (None, self.cached(&mut map)),
        };
        let steps = match self.generation {
            Generation::V1 => self.v1(&mut map),
            _ => self.execution(&mut map),
        };
        if self.generation == Generation::V2 {
            settings::take_config(&mut map, &mut self.session.options, &mut self.part);
            map.derived("executionCount", &Json::from(self.session.runs.len() as u64));
        }
        self.conversation(prompt, stored, steps);
        map.leave(&mut self.part, "");
    }

    fn identity(&mut self, map: &mut Map) {
        let id = map.text("agentId");
        let parent = map.text("parentAgentId");
        let odd = |id: &Option<String>| id.as_deref().is_some_and(|id| !words::is_uuid(id));
        if self.generation == Generation::V2 && (odd(&id) || odd(&parent)) {
            self.part.spelling.set("ids", "any");
        }
        self.session.id = id.map(SessionId::new);
        self.session.parent = parent.map(|id| Parent { session: SessionId::new(id), ..Parent::default() });
        self.session.timing.created = map.time("createdAt");
        self.session.timing.updated = map.time("updatedAt");
    }

    fn context(&mut self, map: &mut Map) -> (Option<String>, Stored) {
        let Some(mut context) = map.open_at("context", CONTEXT) else { return (None, Vec::new()) };
        self.session.metadata = context.object("metadata").unwrap_or_default();
        let prompt = context.text("systemPrompt");
        self.session.response_format = settings::take_format(&mut context, &mut self.part);
        let stored = store::take(&mut context, "messageStore", "context.messageStore", &mut self.part);
        context.leave(&mut self.part, "context");
        (prompt, stored)
    }

    fn cached(&mut self, map: &mut Map) -> Stored {
        self.session.metadata = map.object("metadata").unwrap_or_default();
        map.derived("cachedContext", &settings::empty_cache());
        let is_list = map.get("messageStore").is_some_and(|store| matches!(store, Json::Array(_)));
        if is_list == (self.generation == Generation::January) {
            self.part.spelling.set("store", if is_list { "list" } else { "sections" });
        }
        store::take(map, "messageStore", "messageStore", &mut self.part)
    }

    fn status(&mut self, map: &mut Map) {
        self.session.status = words::take_status(map, self.generation, &mut self.part);
    }

    fn v1(&mut self, map: &mut Map) -> Vec<Step> {
        self.session.usage = words::take_usage(map, "usage");
        self.status(map);
        if let Some(mut info) = map.open_at("stateInfo", STATE_INFO) {
            let timing = &mut self.session.timing;
            timing.started = info.time("startedAt");
            timing.updated = info.time("updatedAt");
            timing.seconds = info.number("cumulativeExecutionSeconds");
            info.leave(&mut self.part, "stateInfo");
        }
        let items = map.list("steps").unwrap_or_default();
        self.note_current(map, items.last());
        self.steps(items, map, "steps")
    }

    fn execution(&mut self, map: &mut Map) -> Vec<Step> {
        let form = if self.generation == Generation::V2 { EXECUTION_V2 } else { EXECUTION_JANUARY };
        let Some(mut execution) = map.open_at("execution", form) else { return Vec::new() };
        self.status(&mut execution);
        let mut run = Run { id: execution.text("executionId").map(RunId::new), ..Run::default() };
        if run.id.as_ref().is_some_and(|id| !words::is_uuid(id.as_str())) {
            self.part.spelling.set("run_ids", "any");
        }
        run.timing.started = execution.time("startedAt");
        run.timing.completed = execution.time("completedAt");
        if self.generation == Generation::V2 {
            run.stop_reason = self.stop_reason(&mut execution);
        }
        if run != Run::default() {
            self.session.runs.push(run);
        }
        let items = execution.list("stepExecutions").unwrap_or_default();
        let last = items.last().and_then(Json::as_object).and_then(|fields| fields.get("step"));
        self.note_current(&mut execution, last);
        let steps = self.steps(items, &mut execution, "stepExecutions");
        let (left, note) = execution.close();
        // An execution that says nothing is still there.
        if left.is_empty() && note.is_none() && !state_out::is_expected(&self.session, &steps) {
            self.part.spelling.set("execution", "empty");
        }
        keep_fields(&mut self.part, "execution", left);
        super::map::keep_keys(&mut self.part, "execution", note);
        steps
    }

    /// The gravest signal says why the run stopped; what else the signals say stays.
    fn stop_reason(&mut self, execution: &mut Map) -> Option<StopReason> {
        let mut map = execution.open_at("continuation", continuation::SIGNALS)?;
        let mut reason = None;
        if let Some(Json::Array(signals)) = map.get("stop_signals")
            && let Some(at) = continuation::primary(signals)
        {
            let mut signals = signals.clone();
            if let Some(Json::Object(signal)) = signals.get_mut(at) {
                reason = signal.get("reason").and_then(text).map(|word| StopReason::from_word(&word));
                signal.set("reason", Json::Null);
            }
            let plain = state_out::plain_signals();
            if Json::Array(signals.clone()) == plain {
                map.remove("stop_signals");
            } else {
                map.restore("stop_signals", Json::Array(signals));
            }
        }
        map.leave(&mut self.part, "execution.continuation");
        reason
    }

    /// A current step that is the last one of the list need not be kept twice.
    fn note_current(&mut self, map: &mut Map, last: Option<&Json>) {
        if matches!(last, Some(Json::Object(_))) && map.get("currentStep") == last {
            map.remove("currentStep");
            self.part.spelling.set(CURRENT, "last");
        }
    }

    /// The steps; where one cannot be read, the list stays as it is.
    fn steps(&mut self, items: Vec<Json>, map: &mut Map, key: &str) -> Vec<Step> {
        if !items.iter().all(|item| matches!(item, Json::Object(_))) {
            map.restore(key, Json::Array(items));
            return Vec::new();
        }
        items.into_iter().filter_map(|item| Step::read(item, self.generation).ok()).collect()
    }

    fn conversation(&mut self, prompt: Option<String>, stored: Stored, steps: Vec<Step>) {
        let mut conversation = ConversationBuilder::default();
        let style: &Style = if self.generation == Generation::V2 { &style::V2 } else { &style::OLD };
        let has_prompt = prompt.is_some();
        prompt.into_iter().for_each(|text| conversation.prompt(text));
        conversation.all(stored, steps, style);
        self.losses.extend(conversation.finish(&mut self.session, self.generation));
        if self.generation == Generation::V2 && !has_prompt {
            self.mark_prompt();
        }
    }

    /// A first message that could be taken for the system prompt is noted as a message.
    fn mark_prompt(&mut self) {
        let Some((turn, block)) = state_out::prompt(&self.session) else { return };
        if let Some(block) = self.session.turns.get_mut(turn).and_then(|turn| turn.blocks.get_mut(block)) {
            block.message.extra.part_mut(FORMAT).spelling.set("prompt", "message");
        }
    }
}
