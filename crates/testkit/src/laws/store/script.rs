//! Small sessions to store.

use turnkeep_model::event::{BlockAdded, LogAdded, SessionOpened, ToolIntended, ToolSettled, TurnOpened};
use turnkeep_model::{
    Author, Batch, Block, CallId, Event, Outcome, Seq, Session, SessionId, Time, ToolCall, Turn, event::Effect,
};
use turnkeep_store::{SearchQuery, Store};

/// An id.
pub fn id(text: &str) -> SessionId {
    SessionId::new(text)
}

/// A batch that logs one line.
pub fn said(at: Seq, line: &str) -> Batch {
    batch(at, vec![LogAdded { line: line.to_owned() }.into()])
}

/// A batch of these events after `at`.
pub fn batch(at: Seq, events: Vec<Event>) -> Batch {
    let mut batch = Batch::new(at.next(), events.into_iter().map(Into::into).collect());
    batch.time = Some(Time::new(format!("2026-01-01T00:00:{:02}.000Z", at.0 % 60)));
    batch
}

/// A batch with a turn in which a user says this.
pub(super) fn turn_with(at: Seq, text: &str) -> Batch {
    let mut turn = Turn::default();
    turn.blocks.push(Block::text(Author::User, text));
    batch(at, vec![TurnOpened { turn: Box::new(turn) }.into()])
}

/// A batch with a block of the first turn in which the assistant says this.
pub(super) fn block_with(at: Seq, text: &str) -> Batch {
    batch(at, vec![BlockAdded { turn: 0, block: Block::text(Author::Assistant, text) }.into()])
}

/// Appends a turn in which a user says this.
pub async fn tell(store: &dyn Store, session: &SessionId, at: Seq, text: &str) -> Seq {
    store.append(session, at, &turn_with(at, text)).await.expect("append a turn")
}

/// Appends to the first turn what the assistant says.
pub async fn answer(store: &dyn Store, session: &SessionId, at: Seq, text: &str) -> Seq {
    store.append(session, at, &block_with(at, text)).await.expect("append a block")
}

/// The sessions and records in which a store that can search finds this, in order.
pub async fn found(store: &dyn Store, text: &str) -> Vec<(String, u64)> {
    let asked = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
    let hits = store.search().expect("a store that can search").search(&asked).await.expect("search");
    let mut found: Vec<_> = hits.into_iter().map(|hit| (hit.session.to_string(), hit.seq.0)).collect();
    found.sort();
    found
}

fn opening(title: &str) -> Event {
    let session = Session {
        title: Some(title.to_owned()),
        tags: vec![("team".to_owned(), title.to_owned()), ("kind".to_owned(), "test".to_owned())],
        ..Session::default()
    };
    SessionOpened { session: Box::new(session) }.into()
}

/// Appends a conversation of `turns` turns: of each the answer and the intent of its call are one batch, the outcome is
/// another.
pub async fn talk(store: &dyn Store, session: &SessionId, turns: u32) -> Seq {
    let open = batch(Seq::START, vec![opening(session.as_str())]);
    let mut at = store.append(session, Seq::START, &open).await.expect("the first append");
    for turn in 0..turns {
        at = turn_of(store, session, at, turn).await;
    }
    at
}

async fn turn_of(store: &dyn Store, session: &SessionId, at: Seq, turn: u32) -> Seq {
    let call = CallId::given(format!("call_{turn}"));
    let block = |author, text: String| BlockAdded { turn, block: Block::text(author, text).in_message(turn) }.into();
    let name = "look".to_owned();
    let calling = ToolCall { call: call.clone(), name, arguments: "{}".to_owned() };
    let answer = batch(
        at,
        vec![
            TurnOpened { turn: Box::new(Turn::default()) }.into(),
            block(Author::User, format!("question {turn}")),
            BlockAdded { turn, block: Block::new(Author::Assistant, calling).in_message(turn) }.into(),
            ToolIntended { call: call.clone(), effect: Effect::Once, key: None, attempt: None, duplicate_of: None }
                .into(),
        ],
    );
    let at = store.append(session, at, &answer).await.expect("append an answer");
    let settled = ToolSettled::new(call, Outcome::Success).into();
    let outcome = batch(at, vec![settled, block(Author::Tool, format!("result {turn}"))]);
    store.append(session, at, &outcome).await.expect("append an outcome")
}
