//! Hearing what other processes tell, on one connection for all sessions that are followed.
//!
//! Whatever was told while that connection was not there is lost. So when it is there again, every follower is woken; and from time
//! to time every followed session is looked at, for notices that were never sent.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio_postgres::AsyncMessage;
use turnkeep_model::{Seq, SessionId};

use super::base::{Base, ListenConnection, pause};
use super::fault::failed;
use super::notice::{Key, Notice, key};
use super::sql::{get, query, unsigned};
use super::store::PostgresStore;
use crate::capability::{Changed, Changes, Chunk, ChunkStream, Chunks, Watch};
use crate::error::Result;
use crate::subscribers::{Following, Subscribers, Told};
use crate::thread_pool::{gone, lock};

/// How often every followed session is looked at.
const SWEEP: Duration = Duration::from_secs(2);

/// How long a new connection may take, and how often one that is silent is asked whether it lives.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long is waited before another connection is made, from the first time on.
const WAITS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// Who follows the sessions of this store.
#[derive(Default)]
pub(super) struct Listeners {
    changes: Arc<Subscribers<Changed>>,
    chunks: Arc<Subscribers<Chunk>>,
    /// The sessions by what notices call them.
    names: Mutex<HashMap<Key, SessionId>>,
    listening: AtomicBool,
}

impl Listeners {
    /// Ends every subscription.
    pub(super) fn close(&self) {
        self.changes.close();
        self.chunks.close();
    }

    fn hear(&self, payload: &str) {
        let Some((key, notice)) = Notice::read(payload) else {
            return;
        };
        let session = lock(&self.names).get(&key).cloned();
        match (session, notice) {
            (Some(session), Notice::Changed(changed)) => self.changes.tell(&session, &changed),
            (Some(session), Notice::Chunk(chunk)) => self.chunks.tell(&session, &chunk),
            (None, _) => {}
        }
    }

    fn forget_the_others(&self) {
        let is_followed = |session: &SessionId| self.changes.is_followed(session) || self.chunks.is_followed(session);
        lock(&self.names).retain(|_, session| is_followed(session));
    }
}

impl PostgresStore {
    /// Follows a session. Nobody listens to the server before the first follower comes.
    fn follow<T: Told>(&self, session: &SessionId, subscribers: &Arc<Subscribers<T>>) -> Result<Following<T>> {
        let (listeners, runtime) = (&self.base.listeners, self.runtime.as_ref().ok_or_else(gone)?);
        let following = subscribers.follow(session);
        lock(&listeners.names).insert(key(session), session.clone());
        if !listeners.listening.swap(true, Ordering::SeqCst) {
            runtime.spawn(listen(Arc::clone(&self.base)));
            runtime.spawn(sweep(Arc::clone(&self.base)));
        }
        Ok(following)
    }
}

impl Watch for PostgresStore {
    fn watch(&self, session: &SessionId) -> Result<Changes> {
        Ok(Box::pin(self.follow(session, &self.base.listeners.changes)?))
    }
}

impl Chunks for PostgresStore {
    fn publish(&self, session: &SessionId, chunk: Chunk) {
        self.base.announcer.chunk(session, chunk);
    }

    fn subscribe(&self, session: &SessionId) -> Result<ChunkStream> {
        Ok(Box::pin(self.follow(session, &self.base.listeners.chunks)?))
    }
}

/// Listens as long as the store is open, on one connection after the other.
async fn listen(base: Arc<Base>) {
    let [first, longest] = WAITS;
    let mut wait = first;
    loop {
        if let Ok(Ok(connection)) = tokio::time::timeout(PATIENCE, base.connect()).await
            && let Ok(()) = listen_on(&base, connection).await
        {
            wait = first;
        }
        pause(wait).await;
        wait = (wait * 2).min(longest);
    }
}

/// Listens until the connection is lost.
async fn listen_on(base: &Arc<Base>, (client, mut connection): ListenConnection) -> Result<()> {
    let heard = Arc::clone(base);
    let mut reading = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(told) = message {
                heard.listeners.hear(told.payload());
            }
        }
    });
    let listen = format!("LISTEN {}", base.channel);
    tokio::time::timeout(PATIENCE, client.batch_execute(&listen)).await.map_err(|_| gone())?.map_err(failed)?;
    base.listeners.changes.tell_all(&Changed { last: None });
    while let Either::Right((_, still)) = select(reading, Box::pin(pause(PATIENCE))).await {
        reading = still;
        // A connection whose other end vanished without a word is silent for ever.
        if !matches!(tokio::time::timeout(PATIENCE, client.simple_query("")).await, Ok(Ok(_))) {
            reading.abort();
            break;
        }
    }
    Ok(())
}

/// Looks at every followed session from time to time.
async fn sweep(base: Arc<Base>) {
    let mut known = HashMap::new();
    loop {
        pause(SWEEP).await;
        base.listeners.forget_the_others();
        let sessions = base.listeners.changes.sessions();
        known.retain(|session, _| base.listeners.changes.is_followed(session));
        // While the server is away there is nothing to see.
        if !sessions.is_empty()
            && let Ok(Ok(now)) = tokio::time::timeout(PATIENCE, lasts(&base, &sessions)).await
        {
            tell_changes(&base, &mut known, sessions, &now);
        }
    }
}

fn tell_changes(
    base: &Base,
    known: &mut HashMap<SessionId, Option<Seq>>,
    sessions: Vec<SessionId>,
    now: &HashMap<String, Seq>,
) {
    for session in sessions {
        let last = now.get(session.as_str()).copied();
        if known.get(&session) != Some(&last) {
            base.listeners.changes.tell(&session, &Changed { last });
            known.insert(session, last);
        }
    }
}

/// The last record of each of these sessions that is there.
async fn lasts(base: &Base, sessions: &[SessionId]) -> Result<HashMap<String, Seq>> {
    let ids: Vec<&str> = sessions.iter().map(SessionId::as_str).collect();
    let rows = query(&base.client().await?, "SELECT id, last FROM session WHERE id = ANY ($1)", &[&ids]).await?;
    rows.iter().map(|row| Ok((get(row, 0)?, Seq(unsigned(row, 1)?)))).collect()
}
