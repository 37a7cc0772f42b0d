//! Going on with a conversation in a session that does not hold it yet.

use turnkeep_model::event::{Effect, SessionChanged, ToolIntended, TurnOpened};
use turnkeep_model::{
    Author, Block, CallId, EvaluationId, Event, MessageId, Part, PromptId, ResponseFormat, Session, Text, Time, Timing,
    ToolCall, ToolResult, Turn,
};
use turnkeep_store::Loaded;

use super::{ConversationMessage, ConversationState, ConversationTurn, enable_in};
use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::human::awake;
use crate::input::{Input, input_events};
use crate::port::Consent;
use crate::recorder::Recorder;

/// Makes the session hold this conversation: it is recorded in a session without one, and compared with the one of any
/// other.
///
/// # Errors
/// `ConversationStateMismatch` where the session has another conversation, `SnapshotRestoreError` where there is nothing
/// to go on from, and those of recording.
pub(crate) async fn adopt(
    agent: &Agent,
    recorder: &mut Recorder,
    state: &ConversationState,
    format: Option<ResponseFormat>,
) -> Result<()> {
    let turns = turns_of(state);
    if turns.is_empty() {
        return Err(Error::snapshot_restore("its conversation holds no message"));
    }
    recorder
        .record_with(|loaded, recorder| match loaded.session.turns.is_empty() {
            true => Ok(restoring(agent, state, &turns, &loaded.session, format.clone())),
            false => continuing(loaded, state, &recorder.now()),
        })
        .await
        .map(drop)
}

/// The events that put a conversation into an empty session: its turns, and an intent of every call without a result,
/// because it may have begun.
fn restoring(
    agent: &Agent,
    state: &ConversationState,
    turns: &[Turn],
    session: &Session,
    format: Option<ResponseFormat>,
) -> Vec<Event> {
    let (ns, key) = (state.prompt_ns.clone(), state.prompt_key.clone());
    let mut tagged = Session { tags: session.tags.clone(), ..Session::default() };
    enable_in(&mut tagged);
    let changed = SessionChanged {
        prompt: Some(PromptId { ns, key, hash: state.prompt_hash.clone(), ..PromptId::default() }),
        response_format: format,
        tags: Some(tagged.tags),
        ..SessionChanged::default()
    };
    let opened = turns.iter().map(|turn| TurnOpened { turn: Box::new(turn.clone()) }.into());
    let restored = Session { turns: turns.to_vec(), ..Session::default() };
    let open = restored.open_calls().into_iter().map(|call| intended(agent, state, call).into());
    std::iter::once(changed.into()).chain(opened).chain(open).collect()
}

/// That a call of an earlier process may have begun, under the key it had there. Where the key is not known, or a person
/// has to consent, it counts as one that must not be repeated.
fn intended(agent: &Agent, state: &ConversationState, call: &ToolCall) -> ToolIntended {
    let free = agent.tools().get(&call.name).filter(|tool| tool.consent() == Consent::NotNeeded);
    let known = free.map(|tool| tool.effect());
    let key = (!state.evaluation_id.is_empty()).then(|| format!("{}/{}", state.evaluation_id, call.call));
    let effect = match (known, &key) {
        (Some(Effect::Pure), _) => Effect::Pure,
        (Some(Effect::Keyed), Some(_)) => Effect::Keyed,
        _ => Effect::Once,
    };
    let key = key.filter(|_| effect != Effect::Pure);
    ToolIntended { call: call.call.clone(), effect, key, attempt: Some(1), duplicate_of: None }
}

/// The events that make a session with a conversation hold this state: none, or what the state asks and the session does
/// not.
///
/// # Errors
/// `ConversationStateMismatch` where the session's own conversation does not begin with the state, or lacks a result that
/// the state has: its call would be made again.
fn continuing(loaded: &Loaded, state: &ConversationState, now: &Time) -> Result<Vec<Event>> {
    let own = ConversationState::of(&loaded.session);
    let begins = own.turns.len() >= state.turns.len()
        && own.turns.iter().zip(&state.turns).all(|(own, other)| answers_alike(own, other));
    if !begins {
        return Err(Error::conversation_state_mismatch("the session holds another conversation"));
    }
    if !own.turns.iter().zip(&state.turns).all(|(own, other)| has_results_of(own, other)) {
        return Err(Error::conversation_state_mismatch("the session lacks results that the state has"));
    }
    let later = own.turns.iter().skip(state.turns.len()).flat_map(|turn| &turn.user_messages);
    let asked: Vec<&str> = later.chain(&own.unanswered).map(|message| message.content.as_str()).collect();
    let wanted: Vec<&str> = state.unanswered.iter().map(|message| message.content.as_str()).collect();
    if asked.starts_with(&wanted) {
        return Ok(Vec::new());
    }
    match wanted.strip_prefix(asked.as_slice()) {
        Some(missing) if own.turns.len() == state.turns.len() => {
            let blocks = missing.iter().zip(0..).map(|(text, n)| Block::text(Author::User, *text).in_message(n));
            let input = Input::from(blocks.collect::<Vec<_>>());
            Ok(awake(loaded, input_events(loaded, &input, now)))
        }
        _ => Err(Error::conversation_state_mismatch("the session was asked something else")),
    }
}

fn answers_alike(own: &ConversationTurn, other: &ConversationTurn) -> bool {
    let (own, other) = (&own.assistant_message, &other.assistant_message);
    (&own.content, &own.tool_calls) == (&other.content, &other.tool_calls)
}

fn has_results_of(own: &ConversationTurn, other: &ConversationTurn) -> bool {
    let answers = |call: &Option<String>| own.tool_messages.iter().any(|message| message.tool_call_id == *call);
    other.tool_messages.iter().all(|message| answers(&message.tool_call_id))
}

fn turns_of(state: &ConversationState) -> Vec<Turn> {
    let mut writer = Writer::default();
    let system = writer.text(Author::System, &state.system_message);
    let mut turns: Vec<Turn> = state.turns.iter().map(|turn| writer.turn(turn)).collect();
    let rest: Vec<Block> = state.unanswered.iter().flat_map(|said| writer.text(Author::User, said)).collect();
    if !rest.is_empty() || (turns.is_empty() && system.is_some()) {
        turns.push(Turn { evaluation: evaluation(&state.evaluation_id), blocks: rest, ..Turn::default() });
    }
    if let Some(first) = turns.first_mut() {
        first.blocks.splice(0..0, system);
    }
    turns
}

fn evaluation(id: &str) -> Option<EvaluationId> {
    (!id.is_empty()).then(|| EvaluationId::new(id))
}

/// The id of a call. A source that has none left it empty: its position stands for it.
fn call_id(text: &str, position: u32) -> CallId {
    let minted = text.strip_prefix('#').and_then(|position| position.parse().ok());
    match (minted, text.is_empty()) {
        (Some(position), _) => CallId::Minted(position),
        (None, true) => CallId::Minted(position),
        (None, false) => CallId::given(text),
    }
}

/// Writes messages as blocks, each with its place.
#[derive(Default)]
struct Writer {
    messages: u32,
    calls: u32,
}

impl Writer {
    fn turn(&mut self, turn: &ConversationTurn) -> Turn {
        let mut blocks: Vec<Block> = turn.user_messages.iter().flat_map(|said| self.text(Author::User, said)).collect();
        let first = self.calls;
        blocks.extend(self.answer(&turn.assistant_message));
        blocks.extend(turn.tool_messages.iter().zip(first..).map(|(told, position)| self.result(told, position)));
        let created = turn.created_at.clone().map(Time::new);
        Turn {
            evaluation: evaluation(&turn.evaluation_id),
            timing: Timing { created, ..Timing::default() },
            provider_payload: turn.provider_payload.clone().unwrap_or_default(),
            blocks,
            ..Turn::default()
        }
    }

    fn text(&mut self, author: Author, message: &ConversationMessage) -> Option<Block> {
        let block = (!message.content.is_empty()).then(|| Block::text(author, message.content.clone()))?;
        self.message(message, vec![block]).pop()
    }

    fn answer(&mut self, message: &ConversationMessage) -> Vec<Block> {
        let silent = message.content.is_empty() && !message.tool_calls.is_empty();
        let text = (!silent).then(|| Block::text(Author::Assistant, message.content.clone()));
        let calls = message.tool_calls.iter().zip(self.calls..).map(|(call, position)| {
            let (name, arguments) = (call.name.clone(), call.arguments.clone());
            Block::new(Author::Assistant, ToolCall { call: call_id(&call.call_id, position), name, arguments })
        });
        let blocks = text.into_iter().chain(calls).collect();
        self.calls = self.calls.saturating_add(u32::try_from(message.tool_calls.len()).unwrap_or(u32::MAX));
        self.message(message, blocks)
    }

    fn result(&mut self, message: &ConversationMessage, position: u32) -> Block {
        let result = ToolResult {
            call: call_id(message.tool_call_id.as_deref().unwrap_or_default(), position),
            name: message.name.clone(),
            parts: vec![Part::Text(Text { text: message.content.clone() })],
            error: None,
            is_error: None,
            outcome: None,
        };
        let block = Block::new(Author::Tool, result);
        self.message(message, vec![block.clone()]).pop().unwrap_or(block)
    }

    /// Blocks as one message.
    fn message(&mut self, message: &ConversationMessage, mut blocks: Vec<Block>) -> Vec<Block> {
        for block in &mut blocks {
            block.message.ordinal = self.messages;
            block.message.id = (!message.message_id.is_empty()).then(|| MessageId::new(message.message_id.clone()));
            block.message.time = message.created_at.clone().map(Time::new);
        }
        self.messages = self.messages.saturating_add(1);
        blocks
    }
}
