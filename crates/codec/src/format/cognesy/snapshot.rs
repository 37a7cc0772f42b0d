//! Continuation snapshots: sections of messages without the steps that made them.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{ExtraPart, Loss, Parent, Session, SessionId};

use super::conversation::ConversationBuilder;
use super::map::{Draft, Form, KeyRule, Map, keep_as, word};
use super::message_out;
use super::slim::truncated;
use super::state_out::stored;
use super::store;
use super::style;
use super::words::{self, Generation};

/// The version that is read and written.
pub(super) const VERSION: u64 = 1;

const SNAPSHOT: Form = &[
    ("version", KeyRule::Derived),
    ("agent_id", KeyRule::Null),
    ("parent_agent_id", KeyRule::Null),
    ("status", KeyRule::Optional),
    ("metadata", KeyRule::List),
    ("messageStore", KeyRule::Optional),
    ("message_store", KeyRule::Optional),
    ("messages", KeyRule::Optional),
];

/// The keys under which the messages may stand.
pub(super) const STORES: [&str; 3] = ["messageStore", "message_store", "messages"];

/// The note on where the messages stood.
const STORE_NOTE: &str = "store";

/// The name under which snapshots keep what only they have.
const PART: &str = "cognesy.continuation";

/// The session of a snapshot.
pub(super) fn read(document: Json) -> (Session, Vec<Loss>) {
    let mut session = Session::default();
    let mut part = ExtraPart::default();
    let mut losses = vec![truncated("a continuation snapshot")];
    if let Ok(mut map) = Map::open(document, SNAPSHOT) {
        map.derived("version", &Json::from(VERSION));
        session.id = map.text("agent_id").map(SessionId::new);
        session.parent =
            map.text("parent_agent_id").map(|id| Parent { session: SessionId::new(id), ..Parent::default() });
        session.status = words::take_status(&mut map, Generation::January, &mut part);
        session.metadata = map.object("metadata").unwrap_or_default();
        let found = STORES.into_iter().find(|key| map.get(key).is_some_and(|store| *store != Json::Null));
        if found != Some("messageStore") {
            part.spelling.set(STORE_NOTE, found.unwrap_or("none"));
        } else if matches!(map.get("messageStore"), Some(Json::Array(_))) {
            part.spelling.set(STORE_NOTE, "list");
        }
        let stored = store::take(&mut map, found.unwrap_or("messageStore"), "messageStore", &mut part);
        map.leave(&mut part, "");
        let mut conversation = ConversationBuilder::default();
        conversation.all(stored, Vec::new(), &style::OLD);
        losses.extend(conversation.finish(&mut session, Generation::January));
    }
    keep_as(&mut session.extra, PART, part);
    (session, losses)
}

/// The snapshot of a session.
pub(super) fn write(session: &Session) -> Json {
    let notes = session.extra.part(PART);
    let mut draft = Draft::default();
    draft.derive("version", VERSION);
    draft.put_text("agent_id", session.id.as_ref().map(turnkeep_model::SessionId::as_str));
    draft.put_text("parent_agent_id", session.parent.as_ref().map(|parent| parent.session.as_str()));
    words::put_status(&mut draft, session.status.as_ref(), Generation::January, notes);
    if !session.metadata.is_empty() {
        draft.put("metadata", session.metadata.clone());
    }
    let groups = message_out::groups(session, |_| false);
    let place = word(notes, STORE_NOTE);
    let as_list = matches!(place.as_deref(), Some("messages" | "list" | "none"));
    let messages = stored(&groups, !as_list, |group| message_out::write(group, &style::OLD, Object::new()));
    let key = match place.as_deref() {
        Some("message_store") => "message_store",
        Some("messages" | "none") => "messages",
        _ => "messageStore",
    };
    match (as_list, messages.is_empty(), place.as_deref()) {
        (true, true, Some("none")) => {}
        (true, ..) => draft.put(key, messages.into_iter().map(|(_, message)| message).collect::<Vec<_>>()),
        (false, ..) => draft.put(key, store::write(messages, notes, "messageStore")),
    }
    draft.finish(SNAPSHOT, notes, "")
}
