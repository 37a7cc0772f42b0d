//! Telling other processes what changed and what is being said, with `NOTIFY`.
//!
//! A transaction that notifies holds a lock of the whole server from before its commit until after it, the sync of its log included:
//! appends that notified by themselves would be synced one after the other. So notices are sent beside them, many in one
//! statement, which is not synced. A process that dies between an append and its notice leaves followers without it; they
//! find out by looking from time to time (`watch.rs`).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use turnkeep_model::{Seq, SessionId};

use super::base::{Base, pause};
use super::notice::{Key, Notice, key};
use super::sql::query_one;
use crate::capability::{Changed, Chunk};
use crate::error::Result;
use crate::thread_pool::lock;

/// What comes within this time after a statement is sent with the next one.
const WINDOW: Duration = Duration::from_millis(10);

/// How long a statement is waited for; what was in it is lost then.
const LIMIT: Duration = Duration::from_secs(10);

/// How many notices wait at most. More are lost.
const ROOM: usize = 4096;

/// How many notices one statement has.
const GROUP: usize = 128;

// It is waited for by nobody, so its log need not be synced.
const NOTIFY: &str = "WITH s AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)) \
     SELECT count(pg_notify($1, payload)) FROM s, unnest($2::text[]) AS payload";

/// The notices that wait to be sent.
#[derive(Default)]
pub(super) struct Announcer {
    waiting: Mutex<VecDeque<(Key, Notice)>>,
    stirred: Notify,
}

impl Announcer {
    /// Tells that a session changed; without a last record, that it is gone.
    pub(super) fn changed(&self, session: &SessionId, last: Option<Seq>) {
        let (key, mut waiting) = (key(session), lock(&self.waiting));
        // After the pieces that came meanwhile: they are void when this is read.
        waiting.retain(|(other, notice)| *other != key || matches!(notice, Notice::Chunk(_)));
        self.push(&mut waiting, key, Notice::Changed(Changed { last }));
    }

    /// Tells of a piece of an answer.
    pub(super) fn chunk(&self, session: &SessionId, chunk: Chunk) {
        let (key, mut waiting) = (key(session), lock(&self.waiting));
        let before = waiting.iter_mut().rev().find(|(other, _)| *other == key);
        if let Some((_, Notice::Chunk(before))) = before
            && continues(before, &chunk)
        {
            before.text.push_str(&chunk.text);
            return;
        }
        self.push(&mut waiting, key, Notice::Chunk(chunk));
    }

    fn push(&self, waiting: &mut VecDeque<(Key, Notice)>, key: Key, notice: Notice) {
        if waiting.len() < ROOM {
            waiting.push_back((key, notice));
            self.stirred.notify_one();
        }
    }

    /// What is sent next.
    fn take(&self) -> Vec<String> {
        let mut waiting = lock(&self.waiting);
        let count = waiting.len().min(GROUP);
        waiting.drain(..count).flat_map(|(key, notice)| notice.payloads(&key)).collect()
    }
}

/// Whether a piece goes on where another ends.
fn continues(before: &Chunk, chunk: &Chunk) -> bool {
    let place = |chunk: &Chunk| (chunk.run.clone(), chunk.turn, chunk.attempt, chunk.kind);
    before.offset + before.text.len() as u64 == chunk.offset && place(before) == place(chunk)
}

/// Sends notices as long as the store is open.
pub(super) async fn announce(base: Arc<Base>) {
    loop {
        base.announcer.stirred.notified().await;
        loop {
            let payloads = base.announcer.take();
            if payloads.is_empty() {
                break;
            }
            // What is lost on the way is found out otherwise, or was only shown.
            let _ = tokio::time::timeout(LIMIT, send(&base, &payloads)).await;
            pause(WINDOW).await;
        }
    }
}

async fn send(base: &Base, payloads: &[String]) -> Result<()> {
    query_one(&base.client().await?, NOTIFY, &[&base.channel, &payloads]).await.map(drop)
}
