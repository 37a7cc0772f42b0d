//! The whole conversation as a value.
//!
//! It holds what every format has a word for; what only one has stays in [`Extra`](crate::Extra) on the node where it stood.
//! Nothing here is invented: an id, a time or a status that a source lacks is `None`.

use std::collections::HashSet;

use crate::block::{Block, Body, ToolCall};
use crate::extra::Extra;
use crate::id::{CallId, EvaluationId, RunId, Seq, SessionId, TurnId};
use crate::json::{Json, Object};
use crate::options::{Options, ResponseFormat, ToolSpec};
use crate::shape::{shape, string_enum};
use crate::status::{Continuation, Finish, Status, StopReason, TurnError};
use crate::time::{Time, Timing};
use crate::usage::Usage;

/// The whole conversation, its options, tools and side-state, as a value.
///
/// ```
/// use turnkeep_model::{Author, Block, Session, Turn};
///
/// let mut session = Session::default();
/// session.turns.push(Turn {
///     blocks: vec![
///         Block::text(Author::User, "Say hi.").in_message(0),
///         Block::text(Author::Assistant, "Hi!").in_message(1),
///     ],
///     ..Turn::default()
/// });
///
/// assert_eq!(session.blocks().count(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Session {
    /// Its id, if it has one: decoders invent none.
    pub id: Option<SessionId>,
    /// The session it came from.
    pub parent: Option<Parent>,
    /// Sessions that came from it.
    pub children: Vec<SessionId>,
    /// What it is about.
    pub title: Option<String>,
    /// The agent that leads it.
    pub agent: Option<String>,
    /// The prompt it evaluates.
    pub prompt: Option<PromptId>,
    /// The question it began with.
    pub initial_query: Option<String>,
    /// The tools the model is told of.
    pub tools: Vec<ToolSpec>,
    /// The form its answers must have.
    pub response_format: Option<ResponseFormat>,
    /// The settings of its model calls.
    pub options: Options,
    /// Where it stands.
    pub status: Option<Status>,
    /// What it used so far.
    pub usage: Usage,
    /// When it was made and changed, and how long it ran.
    pub timing: Timing,
    /// Lines that the agent logged.
    pub logs: Vec<String>,
    /// Labels.
    pub tags: Vec<(String, String)>,
    /// What the application keeps with it.
    pub metadata: Object,
    /// Named side-state of the application.
    pub slices: Vec<Slice>,
    /// Its executions.
    pub runs: Vec<Run>,
    /// The conversation.
    pub turns: Vec<Turn>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! {
    Session {
        id: opt,
        parent: opt,
        children: opt,
        title: opt,
        agent: opt,
        prompt: opt,
        initial_query: opt,
        tools: opt,
        response_format: opt,
        options: opt,
        status: opt,
        usage: opt,
        timing: opt,
        logs: opt,
        tags: opt,
        metadata: opt,
        slices: opt,
        runs: opt,
        turns: opt,
    }
}

/// The session that another one came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    /// Which session.
    pub session: SessionId,
    /// Where in its journal, if it is a fork.
    pub seq: Option<Seq>,
    /// What the source had beyond that.
    pub extra: Extra,
}

impl Default for Parent {
    fn default() -> Parent {
        Parent { session: SessionId::new(""), seq: None, extra: Extra::NONE }
    }
}

shape! { Parent { session: req, seq: opt } }

/// Which prompt a session evaluates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptId {
    /// Its namespace.
    pub ns: String,
    /// Its key.
    pub key: String,
    /// The hash of the unrendered template.
    pub hash: Option<String>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { PromptId { ns: req, key: req, hash: opt } }

/// One execution by one process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    /// Its id, if it has one.
    pub id: Option<RunId>,
    /// Where it stands.
    pub status: Option<Status>,
    /// When it ran.
    pub timing: Timing,
    /// Why it stopped.
    pub stop_reason: Option<StopReason>,
    /// Which try this is, from 1.
    pub attempt: Option<u32>,
    /// The process that ran it, as `PID@HOST`: who else wants to run the session can see whether it still lives.
    pub process: Option<String>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { Run { id: opt, status: opt, timing: opt, stop_reason: opt, attempt: opt, process: opt } }

/// One model answer, the input that led to it, and the results of the tools it called.
///
/// ```
/// use turnkeep_model::{Author, Block, Turn};
///
/// let turn = Turn { blocks: vec![Block::text(Author::User, "Hello?")], ..Turn::default() };
///
/// assert!(turn.blocks.iter().all(|block| !block.is_answer()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Turn {
    /// Its id, if it has one.
    pub id: Option<TurnId>,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// The evaluation it belongs to.
    pub evaluation: Option<EvaluationId>,
    /// The vendor that answered.
    pub provider: Option<String>,
    /// The vendor's interface.
    pub api: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The account it was billed to.
    pub account: Option<String>,
    /// Settings of this turn that differ from the session's.
    pub options: Options,
    /// What it used.
    pub usage: Usage,
    /// When it ran, and how long.
    pub timing: Timing,
    /// Why the answer ended.
    pub finish: Option<Finish>,
    /// Errors it ran into.
    pub errors: Vec<TurnError>,
    /// Whether the run goes on, and who decided.
    pub continuation: Option<Continuation>,
    /// What the vendor answered, as it came.
    pub provider_payload: Json,
    /// What the application keeps with it.
    pub metadata: Object,
    /// Data that the application passes along.
    pub data: Object,
    /// The content.
    pub blocks: Vec<Block>,
    /// What arrived of answers that broke off. It is shown and kept, and never sent to a model; its calls never run.
    pub interrupted: Vec<Block>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! {
    Turn {
        id: opt,
        run: opt,
        evaluation: opt,
        provider: opt,
        api: opt,
        model: opt,
        account: opt,
        options: opt,
        usage: opt,
        timing: opt,
        finish: opt,
        errors: opt,
        continuation: opt,
        provider_payload: opt,
        metadata: opt,
        data: opt,
        blocks: opt,
        interrupted: opt,
    }
}

impl Turn {
    /// All of it but its blocks.
    #[must_use]
    pub fn head(&self) -> Turn {
        Turn {
            id: self.id.clone(),
            run: self.run.clone(),
            evaluation: self.evaluation.clone(),
            provider: self.provider.clone(),
            api: self.api.clone(),
            model: self.model.clone(),
            account: self.account.clone(),
            options: self.options.clone(),
            usage: self.usage.clone(),
            timing: self.timing.clone(),
            finish: self.finish.clone(),
            errors: self.errors.clone(),
            continuation: self.continuation.clone(),
            provider_payload: self.provider_payload.clone(),
            metadata: self.metadata.clone(),
            data: self.data.clone(),
            extra: self.extra.clone(),
            interrupted: self.interrupted.clone(),
            blocks: Vec::new(),
        }
    }
}

/// Named side-state of an application.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Slice {
    /// Its name.
    pub name: String,
    /// The type of its items, where it is not the name: data, never code.
    pub item_type: Option<String>,
    /// The version of that type.
    pub version: Option<String>,
    /// Whether it is state or a log.
    pub policy: Option<SlicePolicy>,
    /// Its items, oldest first.
    pub items: Vec<Json>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { Slice { name: req, item_type: opt, version: opt, policy: opt, items: opt } }

string_enum! {
    /// Whether a slice is rolled back with the state or kept as a log.
    pub enum SlicePolicy {
        /// It is state.
        State = "state",
        /// It is a log.
        Log = "log",
        ; /// A word that only its source knows.
        other
    }
}

impl Session {
    /// All of it but its turns.
    #[must_use]
    pub fn head(&self) -> Session {
        Session {
            id: self.id.clone(),
            parent: self.parent.clone(),
            children: self.children.clone(),
            title: self.title.clone(),
            agent: self.agent.clone(),
            prompt: self.prompt.clone(),
            initial_query: self.initial_query.clone(),
            tools: self.tools.clone(),
            response_format: self.response_format.clone(),
            options: self.options.clone(),
            status: self.status.clone(),
            usage: self.usage.clone(),
            timing: self.timing.clone(),
            logs: self.logs.clone(),
            tags: self.tags.clone(),
            metadata: self.metadata.clone(),
            slices: self.slices.clone(),
            runs: self.runs.clone(),
            extra: self.extra.clone(),
            turns: Vec::new(),
        }
    }

    /// Every block with the index of its turn, in turn order.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, &Block)> {
        self.turns.iter().enumerate().flat_map(|(index, turn)| turn.blocks.iter().map(move |block| (index, block)))
    }

    /// Every block with the indices of its turn and of itself in it, in the order of the source's messages.
    pub fn in_message_order(&self) -> Vec<(usize, usize, &Block)> {
        let mut blocks: Vec<_> = self
            .turns
            .iter()
            .enumerate()
            .flat_map(|(t, turn)| turn.blocks.iter().enumerate().map(move |(b, block)| (t, b, block)))
            .collect();
        blocks.sort_by_key(|(_, _, block)| block.message.ordinal);
        blocks
    }

    /// Tool calls that have no result yet, in order.
    pub fn open_calls(&self) -> Vec<&ToolCall> {
        let answered: HashSet<&CallId> = self.blocks().filter_map(|(_, block)| result_of(block)).collect();
        self.blocks()
            .filter_map(|(_, block)| match &block.body {
                Body::ToolCall(call) if !answered.contains(&call.call) => Some(call),
                _ => None,
            })
            .collect()
    }

    /// Runs of turns from a user's question to the answer that ends it.
    pub fn exchanges(&self) -> Vec<std::ops::Range<usize>> {
        let mut starts: Vec<usize> = Vec::new();
        for (index, turn) in self.turns.iter().enumerate() {
            let asks = turn.blocks.iter().any(|block| block.author == crate::block::Author::User);
            if asks || starts.is_empty() {
                starts.push(index);
            }
        }
        let ends = starts.iter().skip(1).copied().chain([self.turns.len()]);
        starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
    }

    /// When it was last touched, as far as it says.
    pub fn last_time(&self) -> Option<&Time> {
        self.timing.updated.as_ref().or(self.timing.created.as_ref())
    }
}

fn result_of(block: &Block) -> Option<&CallId> {
    match &block.body {
        Body::ToolResult(result) => Some(&result.call),
        _ => None,
    }
}
