//! The conversation as a value of its own: folded from the journal, never stored beside it.

use serde::{Deserialize, Serialize};
use turnkeep_model::event::SessionChanged;
use turnkeep_model::{Author, Block, Body, ErrorKind, Event, Outcome, Part, Session, Turn};

use crate::error::{Error, Result};
use crate::recorder::Recorder;

/// The tag of a session whose conversation is recorded.
const RECORDED: &str = "conversation_recording";

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationMessage {
    /// `system`, `assistant`, `user` or `tool`.
    pub role: String,
    /// Its text.
    pub content: String,
    /// The calls it makes.
    pub tool_calls: Vec<ToolCallRecord>,
    /// The call it answers.
    pub tool_call_id: Option<String>,
    /// The tool's name, for results.
    pub name: Option<String>,
    /// When it was written.
    pub created_at: Option<String>,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationTurn {
    /// From 1, without gaps.
    pub turn_number: u32,
    /// What the user said before it.
    pub user_messages: Vec<ConversationMessage>,
    /// The answer.
    pub assistant_message: ConversationMessage,
    /// The results.
    pub tool_messages: Vec<ConversationMessage>,
    /// What the vendor answered, as JSON text.
    pub provider_payload: Option<String>,
    /// The evaluation it belongs to.
    pub evaluation_id: Option<String>,
}

/// A whole conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationState {
    /// The evaluation.
    pub evaluation_id: Option<String>,
    /// The prompt's namespace.
    pub prompt_ns: String,
    /// The prompt's key.
    pub prompt_key: String,
    /// The hash of the unrendered template, where it is known.
    pub prompt_hash: Option<String>,
    /// The system text.
    pub system_message: Option<ConversationMessage>,
    /// The turns.
    pub turns: Vec<ConversationTurn>,
}

/// From now on [`ConversationState::latest`] answers for this session.
///
/// # Errors
/// Those of recording.
pub async fn enable_conversation_recording(recorder: &mut Recorder) -> Result<()> {
    recorder
        .record_with(|state, _| {
            let mut tags = state.session.tags.clone();
            if tags.iter().any(|(key, _)| key == RECORDED) {
                return Ok(Vec::new());
            }
            tags.push((RECORDED.to_owned(), "on".to_owned()));
            Ok(vec![Event::from(SessionChanged { tags: Some(tags), ..SessionChanged::default() })])
        })
        .await
        .map(drop)
}

impl ConversationState {
    /// The conversation of a session that records it; `None` where recording was not enabled.
    pub fn latest(session: &Session) -> Option<ConversationState> {
        session.tags.iter().any(|(key, _)| key == RECORDED).then(|| ConversationState::of(session))
    }

    /// The conversation of any session.
    pub fn of(session: &Session) -> ConversationState {
        let prompt = session.prompt.clone().unwrap_or_default();
        let answered = session.turns.iter().filter(|turn| turn.blocks.iter().any(Block::is_answer));
        ConversationState {
            evaluation_id: session.turns.iter().find_map(|turn| turn.evaluation.as_ref()).map(ToString::to_string),
            prompt_ns: prompt.ns,
            prompt_key: prompt.key,
            prompt_hash: prompt.hash,
            system_message: system_of(session),
            turns: answered.zip(1..).map(|(turn, number)| turn_of(turn, number)).collect(),
        }
    }

    /// Refuses turns that are not numbered 1, 2, 3 …
    ///
    /// # Errors
    /// `Corrupt`, naming the first number that is wrong.
    pub fn check(&self) -> Result<()> {
        match self.turns.iter().zip(1..).find(|(turn, due)| turn.turn_number != *due) {
            None => Ok(()),
            Some((turn, due)) => Err(Error::new(
                ErrorKind::Corrupt,
                format!("the conversation has turn {} where {due} is due", turn.turn_number),
            )
            .hint("restore the missing turns")),
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

fn system_of(session: &Session) -> Option<ConversationMessage> {
    let texts: Vec<&Block> =
        session.blocks().map(|(_, block)| block).filter(|block| block.author == Author::System).collect();
    (!texts.is_empty()).then(|| message("system", &texts))
}

fn turn_of(turn: &Turn, turn_number: u32) -> ConversationTurn {
    let by = |wanted: fn(&Block) -> bool| turn.blocks.iter().filter(|block| wanted(block)).collect::<Vec<&Block>>();
    let results = by(|block| matches!(block.body, Body::ToolResult(_)));
    let users = by(|block| block.author == Author::User);
    ConversationTurn {
        turn_number,
        user_messages: users.iter().map(|block| message("user", &[*block])).collect(),
        assistant_message: message("assistant", &by(Block::is_answer)),
        tool_messages: results.iter().map(|block| message("tool", &[*block])).collect(),
        provider_payload: (turn.provider_payload != turnkeep_model::Json::Null)
            .then(|| turn.provider_payload.to_text()),
        evaluation_id: turn.evaluation.as_ref().map(ToString::to_string),
    }
}

fn message(role: &str, blocks: &[&Block]) -> ConversationMessage {
    let mut made = ConversationMessage {
        role: role.to_owned(),
        content: String::new(),
        tool_calls: Vec::new(),
        tool_call_id: None,
        name: None,
        created_at: blocks.iter().find_map(|block| block.message.time.as_ref()).map(ToString::to_string),
    };
    for block in blocks {
        match &block.body {
            Body::Text(text) => made.content.push_str(&text.text),
            Body::ToolCall(call) => made.tool_calls.push(ToolCallRecord {
                call_id: call.call.to_string(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            }),
            Body::ToolResult(result) => {
                made.tool_call_id = Some(result.call.to_string());
                made.name.clone_from(&result.name);
                made.content.push_str(&text_of(&result.parts));
                if made.content.is_empty() && result.outcome == Some(Outcome::Failed) {
                    made.content = result.error.clone().unwrap_or_default();
                }
            }
            _ => {}
        }
    }
    made
}

fn text_of(parts: &[Part]) -> String {
    let one = |part: &Part| match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        other => format!("[{}]", other.kind()),
    };
    parts.iter().map(one).collect::<Vec<_>>().join("\n")
}
