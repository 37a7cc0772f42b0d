//! From sessions to states of three generations.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, Extra, ExtraPart, MessageKey, Session};

use super::conversation;
use super::map::{Draft, has_note, note, text, word};
use super::message_out::{self, Group};
use super::state::{CONTEXT, CURRENT, EXECUTION_JANUARY, EXECUTION_V2, STATE_INFO, STATE_JANUARY, STATE_V1, STATE_V2};
use super::step::Step;
use super::step_out::{self, Writer};
use super::store::{self, Stored};
use super::style::{self, Style};
use super::words::{self, Generation};
use super::{continuation, settings};

/// Where the system prompt stands: the very first block, if nothing but its text is known of it.
pub(super) fn prompt(session: &Session) -> Option<(usize, usize)> {
    let first = session.turns.iter().enumerate().flat_map(|(t, turn)| {
        turn.blocks.iter().enumerate().map(move |(b, block)| (block.message.ordinal, t, b, block))
    });
    let (ordinal, turn, at, block) = first.min_by_key(|(ordinal, ..)| *ordinal)?;
    let bare = MessageKey { ordinal, ..MessageKey::default() };
    let says_only_text = block.message == bare && block.metadata.is_empty() && block.extra == Extra::NONE;
    let is_system = block.author == Author::System && block.body.as_text().is_some_and(|text| !text.is_empty());
    let alone = !session.blocks().any(|(_, other)| other.message.ordinal == ordinal && !std::ptr::eq(other, block));
    (is_system && says_only_text && alone).then_some((turn, at))
}

/// The text of the system prompt.
pub(super) fn prompt_text(session: &Session) -> Option<&str> {
    let (turn, block) = prompt(session)?;
    session.turns.get(turn)?.blocks.get(block)?.body.as_text()
}

/// The signals of a run of which only the reason to stop is known, without the reason.
pub(super) fn plain_signals() -> Json {
    let mut draft = Draft::default();
    draft.put("reason", Json::Null);
    Json::Array(vec![draft.finish(continuation::SIGNAL, None, "")])
}

/// Whether a state with this session has an execution.
pub(super) fn is_expected(session: &Session, steps: &[Step]) -> bool {
    session.status.is_some() || !session.runs.is_empty() || !steps.is_empty()
}

/// The state of a session.
pub(super) fn write(session: &Session, generation: Generation) -> Json {
    Writing::new(session, generation).state()
}

/// The state of a session that has a header of its own.
pub(super) fn write_in_session(session: &Session) -> Json {
    Writing { in_session: true, ..Writing::new(session, Generation::V2) }.state()
}

/// The messages of a session as a bare list.
pub(super) fn write_messages(session: &Session) -> Json {
    let groups = message_out::groups(session, |_| false);
    Json::Array(groups.iter().map(|group| message_out::write(group, &style::V2, Object::new())).collect())
}

struct Writing<'a> {
    session: &'a Session,
    generation: Generation,
    in_session: bool,
    /// The turns that are steps.
    steps: Vec<usize>,
}

impl<'a> Writing<'a> {
    fn new(session: &'a Session, generation: Generation) -> Writing<'a> {
        Writing { session, generation, in_session: false, steps: step_out::steps(session, generation) }
    }

    fn state(&self) -> Json {
        let mut draft = Draft::default();
        self.identity(&mut draft);
        let stored = self.stored();
        let writer = Writer { generation: self.generation, store: &stored };
        let notes = self.notes();
        // Steps refer to messages: they are written while those are still at hand.
        match self.generation {
            Generation::V2 => {
                self.put_execution(&mut draft, &writer);
                draft.hold("context", self.context(stored));
                settings::put_config(&mut draft, &self.session.options, notes);
                draft.derive("executionCount", self.session.runs.len() as u64);
                draft.finish(STATE_V2, notes, "")
            }
            Generation::January => {
                self.put_execution(&mut draft, &writer);
                self.put_cached(&mut draft, stored);
                draft.finish(STATE_JANUARY, notes, "")
            }
            Generation::V1 => {
                self.put_v1(&mut draft, &writer);
                self.put_cached(&mut draft, stored);
                draft.finish(STATE_V1, notes, "")
            }
        }
    }

    fn notes(&self) -> Option<&ExtraPart> {
        self.session.extra.part(self.generation.part())
    }

    fn note(&self, key: &str) -> Option<&Json> {
        self.notes().and_then(|notes| notes.spelling.get(key))
    }

    fn id<'i>(&self, id: &'i str) -> Option<&'i str> {
        let any = self.generation != Generation::V2 || has_note(self.notes(), "ids");
        Some(id).filter(|id| any || words::is_uuid(id))
    }

    /// The id of the agent as the state says it.
    fn agent(&self) -> Option<String> {
        match self.note("agent") {
            Some(own) => text(own),
            None => self.session.id.as_ref().and_then(|id| self.id(id.as_str())).map(str::to_owned),
        }
    }

    fn parent(&self) -> Option<String> {
        match self.note("parent_agent") {
            Some(own) => text(own),
            None => self.session.parent.as_ref().and_then(|parent| self.id(parent.session.as_str())).map(str::to_owned),
        }
    }

    fn identity(&self, draft: &mut Draft) {
        draft.put_text("agentId", self.agent().as_deref());
        draft.put_text("parentAgentId", self.parent().as_deref());
        if self.generation == Generation::V1 {
            return;
        }
        let timing = &self.session.timing;
        for (key, time) in [("createdAt", &timing.created), ("updatedAt", &timing.updated)] {
            if !has_note(self.notes(), &format!("{key}_of")) {
                draft.put_time(key, time.as_ref());
            }
        }
    }

    fn style(&self) -> &'static Style {
        if self.generation == Generation::V2 { &style::V2 } else { &style::OLD }
    }

    fn stored(&self) -> Stored {
        let prompt = if self.generation == Generation::V2 { prompt(self.session) } else { None };
        let prompt = prompt.and_then(|(turn, at)| self.session.turns.get(turn)?.blocks.get(at));
        let is_prompt = |block: &Block| prompt.is_some_and(|prompt| std::ptr::eq(prompt, block));
        let groups = message_out::groups(self.session, is_prompt);
        let sectioned = self.generation != Generation::V1;
        stored(&groups, sectioned, |group| message_out::write(group, self.style(), self.tags(group)))
    }

    fn tags(&self, group: &Group<'_>) -> Object {
        let wanted = |block: &Block| conversation::is_output(block) && note(&block.message.extra, "tags").is_none();
        let is_output = self.generation == Generation::V2 && group.first().is_some_and(wanted);
        let turn = self.session.turns.get(group.turn).filter(|_| is_output);
        turn.and_then(|turn| conversation::tags(turn, self.agent().as_deref())).unwrap_or_default()
    }

    fn context(&self, stored: Stored) -> Json {
        let notes = self.notes();
        let mut draft = Draft::default();
        if !self.session.metadata.is_empty() {
            draft.put("metadata", self.session.metadata.clone());
        }
        // The agent's definition may hold it instead.
        if !self.in_session || !has_note(self.notes(), "prompt_of") {
            draft.put_text("systemPrompt", prompt_text(self.session));
        }
        settings::put_format(&mut draft, self.session.response_format.as_ref(), notes);
        draft.nest("messageStore", store::write(stored, notes, "context.messageStore"));
        draft.finish(CONTEXT, notes, "context")
    }

    fn put_cached(&self, draft: &mut Draft, stored: Stored) {
        let notes = self.notes();
        if !self.session.metadata.is_empty() {
            draft.put("metadata", self.session.metadata.clone());
        }
        draft.derive("cachedContext", settings::empty_cache());
        let as_list = match word(self.notes(), "store").as_deref() {
            Some(word) => word == "list",
            None => self.generation == Generation::V1,
        };
        if as_list {
            let messages: Vec<Json> = stored.into_iter().map(|(_, message)| message).collect();
            draft.nest("messageStore", Json::Array(messages));
        } else {
            draft.nest("messageStore", store::write(stored, notes, "messageStore"));
        }
    }

    fn put_status(&self, draft: &mut Draft) {
        words::put_status(draft, self.session.status.as_ref(), self.generation, self.notes());
    }

    fn steps(&self, writer: &Writer<'_>) -> Vec<Json> {
        let turns = self.steps.iter().filter_map(|at| self.session.turns.get(*at));
        turns.enumerate().map(|(at, turn)| writer.executed(turn, at + 1)).collect()
    }

    fn put_current(&self, draft: &mut Draft, writer: &Writer<'_>) {
        let last = self.steps.last().and_then(|at| self.session.turns.get(*at));
        if let Some(turn) = last.filter(|_| has_note(self.notes(), CURRENT)) {
            draft.put("currentStep", writer.step(turn));
        }
    }

    fn put_v1(&self, draft: &mut Draft, writer: &Writer<'_>) {
        let timing = &self.session.timing;
        let mut info = Draft::default();
        info.put_time("startedAt", timing.started.as_ref().or(timing.created.as_ref()));
        info.put_time("updatedAt", timing.updated.as_ref());
        info.put_some("cumulativeExecutionSeconds", timing.seconds.clone());
        draft.nest("usage", words::usage(&self.session.usage));
        draft.nest("stateInfo", info.finish(STATE_INFO, self.notes(), "stateInfo"));
        self.put_current(draft, writer);
        self.put_status(draft);
        let steps = self.steps(writer);
        if !steps.is_empty() {
            draft.put("steps", steps);
        }
    }

    fn put_execution(&self, draft: &mut Draft, writer: &Writer<'_>) {
        let notes = self.notes();
        let mut execution = Draft::default();
        if let Some(run) = self.session.runs.last() {
            execution.put_text("executionId", run.id.as_ref().and_then(|id| self.run_id(id.as_str())));
            execution.put_time("startedAt", run.timing.started.as_ref());
            execution.put_time("completedAt", run.timing.completed.as_ref());
        }
        self.put_status(&mut execution);
        let steps = self.steps(writer);
        if !steps.is_empty() {
            execution.put("stepExecutions", steps);
        }
        if self.generation == Generation::V2 {
            execution.nest("continuation", self.continuation());
        }
        self.put_current(&mut execution, writer);
        let form = if self.generation == Generation::V2 { EXECUTION_V2 } else { EXECUTION_JANUARY };
        let says_nothing = execution.is_blank() && !has_note(self.notes(), "execution");
        let kept = super::map::left_at(notes, "").is_some_and(|left| left.contains("execution"));
        if !says_nothing || kept || super::map::has_keys(notes, "execution") {
            draft.nest("execution", execution.finish(form, notes, "execution"));
        }
    }

    fn run_id<'i>(&self, id: &'i str) -> Option<&'i str> {
        self.id(id).or_else(|| Some(id).filter(|_| has_note(self.notes(), "run_ids")))
    }

    /// The signals of the run, with the reason to stop in the one that was taken apart.
    fn continuation(&self) -> Json {
        let notes = self.notes();
        let reason = self.session.runs.last().and_then(|run| run.stop_reason.as_ref());
        let left = super::map::left_at(notes, "execution.continuation").and_then(|left| left.get("stop_signals"));
        let mut signals = match left.cloned().unwrap_or_else(plain_signals) {
            Json::Array(signals) => signals,
            _ => Vec::new(),
        };
        let unset = |signal: &Json| signal.as_object().is_some_and(|fields| fields.get("reason") == Some(&Json::Null));
        let mut draft = Draft::default();
        if let (Some(reason), Some(at)) = (reason, signals.iter().position(unset)) {
            if let Some(Json::Object(signal)) = signals.get_mut(at) {
                signal.set("reason", reason.as_str());
            }
            draft.put("stop_signals", signals);
        }
        draft.finish(continuation::SIGNALS, notes, "execution.continuation")
    }
}

/// The messages of some groups with their sections. A summary that nothing stands before has its own section.
pub(super) fn stored(groups: &[Group<'_>], sectioned: bool, write: impl Fn(&Group<'_>) -> Json) -> Stored {
    let mut leads = sectioned;
    let stored = groups.iter().map(|group| {
        leads = leads && group.first().is_some_and(|block| matches!(block.body, Body::Summary(_)));
        (group.section(leads), write(group))
    });
    stored.collect()
}
