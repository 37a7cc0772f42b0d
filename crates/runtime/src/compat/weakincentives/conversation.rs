//! The conversation as a value of its own.
//!
//! The turns are the truth. A [`ConversationState`] is made of them whenever someone asks for it: as a [derived
//! slice](crate::slices) of a session that records its conversation, it is in every snapshot and checkpoint, and never
//! stored beside the turns. The tag in the session says that it is recorded, so every process and every store agrees.

mod read;
mod restore;

use serde::{Deserialize, Serialize};
use turnkeep_model::event::{SessionChanged, SliceOp};
use turnkeep_model::{Event, Json, Session};

use crate::error::{Error, Result};
use crate::recorder::Recorder;
use crate::slices::SliceItem;
use crate::typed;

pub(crate) use restore::adopt;

/// The tag of a session whose conversation is recorded.
const RECORDED: &str = "conversation_recording";

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConversationMessage {
    /// `system`, `assistant`, `user` or `tool`.
    pub role: String,
    /// Its text.
    pub content: String,
    /// The calls it makes.
    #[serde(default)]
    pub tool_calls: Vec<ToolCallRecord>,
    /// The call it answers.
    #[serde(default)]
    pub tool_call_id: Option<String>,
    /// The tool's name, for results.
    #[serde(default)]
    pub name: Option<String>,
    /// When it was written, with its zone. Absent only in conversations of sources that keep no times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Its id: the source's, or a UUID that follows from the evaluation and the place of the message.
    #[serde(default)]
    pub message_id: String,
}

/// A call that the assistant made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallRecord {
    /// Its id.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
}

/// An answer with the results of the tools it called.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConversationTurn {
    /// From 1, without gaps.
    #[serde(default)]
    pub turn_number: u32,
    /// What the user said before it. The specification has no place for it.
    #[serde(default)]
    pub user_messages: Vec<ConversationMessage>,
    /// The answer.
    pub assistant_message: ConversationMessage,
    /// The results.
    #[serde(default)]
    pub tool_messages: Vec<ConversationMessage>,
    /// What the vendor answered.
    #[serde(default, with = "typed::verbatim")]
    pub provider_payload: Option<Json>,
    /// The evaluation it belongs to.
    #[serde(default)]
    pub evaluation_id: String,
    /// When it was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
}

/// A whole conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConversationState {
    /// The evaluation. The runtime gives it the id of its session, so that the keys of its calls follow from it.
    pub evaluation_id: String,
    /// The prompt's namespace.
    pub prompt_ns: String,
    /// The prompt's key.
    pub prompt_key: String,
    /// The hash of the unrendered template, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_hash: Option<String>,
    /// The system text; an empty one stands for none.
    pub system_message: ConversationMessage,
    /// The turns.
    #[serde(default)]
    pub turns: Vec<ConversationTurn>,
    /// What the user said that has no answer yet. The specification has no place for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<ConversationMessage>,
    /// When it was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Its id: a UUID that follows from the evaluation.
    #[serde(default)]
    pub state_id: String,
}

impl SliceItem for ConversationState {
    const NAME: &'static str = "weakincentives.runtime.conversation:ConversationState";

    fn derived(session: &Session) -> Option<Vec<ConversationState>> {
        is_recorded(session).then(|| vec![ConversationState::of(session)])
    }
}

/// From now on the conversation of this session is a slice of it: [`ConversationState::latest`] answers, and snapshots
/// hold it.
///
/// # Errors
/// Those of recording.
pub async fn enable_conversation_recording(recorder: &mut Recorder) -> Result<()> {
    recorder
        .record_with(|state, _| {
            if is_recorded(&state.session) {
                return Ok(Vec::new());
            }
            let mut session = Session { tags: state.session.tags.clone(), ..Session::default() };
            enable_in(&mut session);
            Ok(vec![Event::from(SessionChanged { tags: Some(session.tags), ..SessionChanged::default() })])
        })
        .await
        .map(drop)
}

/// Has the conversation of a session recorded from its beginning on.
pub(crate) fn enable_in(session: &mut Session) {
    if !is_recorded(session) {
        session.tags.push((RECORDED.to_owned(), "on".to_owned()));
    }
}

/// Has the conversation of a restored session recorded where it came with one.
pub(crate) fn enable_if_held(session: &mut Session) {
    if ConversationState::latest(session).is_some() {
        enable_in(session);
    }
}

pub(crate) fn is_recorded(session: &Session) -> bool {
    session.tags.iter().any(|(key, _)| key == RECORDED)
}

/// Takes a copy of the conversation out of the slices that an earlier version recorded there when an evaluation ended: it
/// would be out of date from the next turn on.
pub(crate) async fn drop_stored_copy(recorder: &mut Recorder) -> Result<()> {
    recorder
        .record_with(|state, _| {
            let held = state.session.slices.iter().find(|slice| slice.name == ConversationState::NAME);
            let Some(held) = held.filter(|_| is_recorded(&state.session)) else {
                return Ok(Vec::new());
            };
            let own = ConversationState::of(&state.session).state_id;
            let is_copy = |item: &&Json| {
                item.as_object().and_then(|fields| fields.get_str("state_id")).is_some_and(|id| *id == own)
            };
            let others: Vec<Json> = held.items.iter().filter(|item| !is_copy(item)).cloned().collect();
            if others.len() == held.items.len() {
                return Ok(Vec::new());
            }
            Ok(vec![crate::slices::change::<ConversationState>(SliceOp::Replace, others).into()])
        })
        .await
        .map(drop)
}

impl ConversationState {
    /// The conversation of a session that records it, or that was restored from a snapshot which has one; `None` where
    /// recording was not enabled.
    pub fn latest(session: &Session) -> Option<ConversationState> {
        if is_recorded(session) || read::came_with_one(session) {
            return Some(ConversationState::of(session));
        }
        crate::slices::query(session).ok()?.pop()
    }

    /// Refuses turns that are not numbered 1, 2, 3 …
    ///
    /// # Errors
    /// [`Named::SnapshotRestore`](crate::Named::SnapshotRestore), naming the first number that is wrong.
    pub fn check(&self) -> Result<()> {
        match self.turns.iter().zip(1..).find(|(turn, due)| turn.turn_number != *due) {
            None => Ok(()),
            Some((turn, due)) => Err(Error::snapshot_restore(format_args!(
                "the conversation has turn {} where turn {due} is due",
                turn.turn_number
            ))),
        }
    }

    /// The calls of the last turn that have no result.
    pub fn pending(&self) -> Vec<&ToolCallRecord> {
        let Some(last) = self.turns.last() else {
            return Vec::new();
        };
        let answered = |call: &&ToolCallRecord| {
            !last.tool_messages.iter().any(|message| message.tool_call_id.as_deref() == Some(&call.call_id))
        };
        last.assistant_message.tool_calls.iter().filter(answered).collect()
    }
}
