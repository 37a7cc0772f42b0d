//! From a session to its conversation.

use turnkeep_model::{Author, Block, Body, Json, Outcome, Part, Session, Time, Turn, canon};

use super::{ConversationMessage, ConversationState, ConversationTurn, ToolCallRecord};

/// The name under which weakincentives' files leave what the model has no place for.
const WINK: &str = "wink";

impl ConversationState {
    /// The conversation of any session.
    pub fn of(session: &Session) -> ConversationState {
        let prompt = session.prompt.clone().unwrap_or_default();
        let reader = Reader::of(session);
        let (answered, rest): (Vec<&Turn>, Vec<&Turn>) = session.turns.iter().partition(|turn| is_answered(turn));
        ConversationState {
            evaluation_id: reader.evaluation.clone(),
            prompt_ns: prompt.ns,
            prompt_key: prompt.key,
            prompt_hash: prompt.hash,
            system_message: reader.system(session),
            turns: answered.into_iter().zip(1..).map(|(turn, due)| reader.turn(turn, due)).collect(),
            unanswered: rest.into_iter().flat_map(|turn| reader.users(turn)).collect(),
            created_at: reader.began.clone(),
            state_id: session
                .extra
                .fields(WINK)
                .and_then(|fields| fields.get("conversation")?.as_object()?.get_str("state_id"))
                .map_or_else(|| uuid_of(&[&reader.evaluation, "state"]), std::borrow::Cow::into_owned),
        }
    }
}

/// Whether a session that nothing ran here was read from a file that holds a conversation.
pub(super) fn came_with_one(session: &Session) -> bool {
    let evaluated = session.prompt.is_some() || session.turns.iter().any(|turn| turn.evaluation.is_some());
    session.runs.is_empty() && evaluated && !session.turns.is_empty()
}

fn is_answered(turn: &Turn) -> bool {
    turn.blocks.iter().any(Block::is_answer)
}

/// What every message of a session has in common.
struct Reader {
    evaluation: String,
    began: Option<String>,
}

impl Reader {
    fn of(session: &Session) -> Reader {
        let named = session.turns.iter().find_map(|turn| turn.evaluation.as_ref()).map(ToString::to_string);
        let evaluation = named.or_else(|| session.id.as_ref().map(ToString::to_string)).unwrap_or_default();
        Reader { evaluation, began: session.timing.created.as_ref().map(ToString::to_string) }
    }

    fn system(&self, session: &Session) -> ConversationMessage {
        let blocks = session.blocks().map(|(_, block)| block);
        self.message("system", &blocks.filter(|block| block.author == Author::System).collect::<Vec<_>>())
    }

    fn turn(&self, turn: &Turn, due: u32) -> ConversationTurn {
        let by = |wanted: fn(&Block) -> bool| turn.blocks.iter().filter(|block| wanted(block)).collect::<Vec<&Block>>();
        let results = by(|block| matches!(block.body, Body::ToolResult(_)));
        let assistant_message = self.message("assistant", &by(Block::is_answer));
        let begun = [&turn.timing.created, &turn.timing.started].into_iter().find_map(Option::as_ref);
        ConversationTurn {
            turn_number: numbered(turn).unwrap_or(due),
            user_messages: self.users(turn),
            tool_messages: results.iter().map(|block| self.message("tool", &[*block])).collect(),
            provider_payload: (turn.provider_payload != Json::Null).then(|| turn.provider_payload.clone()),
            evaluation_id: turn.evaluation.as_ref().map_or_else(|| self.evaluation.clone(), ToString::to_string),
            created_at: begun.map(ToString::to_string).or_else(|| assistant_message.created_at.clone()),
            assistant_message,
        }
    }

    fn users(&self, turn: &Turn) -> Vec<ConversationMessage> {
        let said = turn.blocks.iter().filter(|block| block.author == Author::User);
        said.map(|block| self.message("user", &[block])).collect()
    }

    fn message(&self, role: &str, blocks: &[&Block]) -> ConversationMessage {
        let key = blocks.first().map(|block| &block.message);
        let place = key.map_or_else(|| role.to_owned(), |key| key.ordinal.to_string());
        let written = blocks.iter().find_map(|block| block.message.time.as_ref()).map(Time::to_string);
        let mut made = ConversationMessage {
            role: role.to_owned(),
            created_at: written.or_else(|| self.began.clone()),
            message_id: key
                .and_then(|key| key.id.as_ref())
                .map_or_else(|| uuid_of(&[&self.evaluation, &place, role]), ToString::to_string),
            ..ConversationMessage::default()
        };
        blocks.iter().for_each(|block| add(&mut made, block));
        made
    }
}

/// The number that a file gave the turn, where it is not the one that was due.
fn numbered(turn: &Turn) -> Option<u32> {
    let number = turn.extra.spelling(WINK, "turn_number")?.as_number()?.as_u64()?;
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}

fn add(made: &mut ConversationMessage, block: &Block) {
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

fn text_of(parts: &[Part]) -> String {
    let one = |part: &Part| match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        other => format!("[{}]", other.kind()),
    };
    parts.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// A UUID that follows from these words: the same for every reader of the journal.
fn uuid_of(words: &[&str]) -> String {
    let words: Vec<Json> = words.iter().map(|word| Json::from(*word)).collect();
    let digest = canon::digest(&Json::Array(words));
    let bits = u128::from_str_radix(digest.get(..32).unwrap_or_default(), 16).unwrap_or_default();
    uuid::Builder::from_custom_bytes(bits.to_be_bytes()).into_uuid().to_string()
}
