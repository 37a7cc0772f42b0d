//! What only some stores can do, each a trait of its own.
//!
//! A store hands out the capabilities that it has (`Store::search` and its siblings) and `None` for the others, so that a
//! caller asks before it relies on one, and no method exists only to say that it is unsupported.

use std::ops::Range;
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use turnkeep_model::{Head, RunId, Seq, SessionId};

use crate::error::Result;
use crate::store::BoxFuture;
use crate::verify::Finding;
use crate::window::Window;

/// Full-text search over what was said.
pub trait Search: Send + Sync {
    /// The newest hits; everything that was appended before is found.
    fn search<'a>(&'a self, query: &'a SearchQuery) -> BoxFuture<'a, Result<Vec<Hit>>>;

    /// Indexes what was appended and is not indexed yet, in short steps, as a search does first. `told` is called after
    /// each step. Dropping the future stops it after the step that runs, and the next call continues from there.
    fn catch_up<'a>(&'a self, told: &'a mut (dyn FnMut(Indexed) + Send)) -> BoxFuture<'a, Result<()>>;
}

/// How far an index is caught up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Indexed {
    /// How many sessions are indexed since it began.
    pub done: u64,
    /// How many were not when it began.
    pub all: u64,
}

/// What to search for.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    /// Words that must all be there; the case does not matter, and the last may be the beginning of one.
    pub text: String,
    /// Only in this session.
    pub session: Option<SessionId>,
    /// How many hits at most; 0 for the usual number.
    pub limit: usize,
}

/// Where something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The session.
    pub session: SessionId,
    /// The record.
    pub seq: Seq,
    /// Some of the text around the words.
    pub snippet: String,
    /// Where the words stand in the snippet, in bytes.
    pub marks: Vec<Range<usize>>,
}

/// Claims on sessions that nobody runs, for a fleet of workers.
///
/// Claiming appends `run.started`. That record is the fence: whoever held the session before appends at a stale place,
/// and is refused.
pub trait Leases: Send + Sync {
    /// Claims the session that has waited longest among those that are unfinished and that nobody holds.
    fn claim_next<'a>(&'a self, claim: &'a Claim) -> BoxFuture<'a, Result<Option<Lease>>>;

    /// Claims this session.
    ///
    /// Fails with `Conflict` while someone else holds it.
    fn claim<'a>(&'a self, session: &'a SessionId, claim: &'a Claim) -> BoxFuture<'a, Result<Lease>>;

    /// Holds on for `time` from now: a heartbeat.
    ///
    /// Fails with `Conflict` when it was let go, or has passed to someone else.
    fn renew<'a>(&'a self, lease: &'a Lease, time: Duration) -> BoxFuture<'a, Result<Lease>>;

    /// Lets go, if it is still held.
    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<()>>;
}

/// Who claims what, and for how long.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Claim {
    /// The worker's name, for people to read.
    pub worker: String,
    /// The run that begins with it.
    pub run: RunId,
    /// How long it is held without a heartbeat.
    pub time: Duration,
    /// The process that runs it, as `PID@HOST`, where it is known.
    pub process: Option<String>,
    /// [`Leases::claim_next`] claims only sessions that carry all of these labels; a label without a value matches any.
    pub tags: Vec<(String, Option<String>)>,
}

impl Claim {
    /// A claim of a worker on any session, for so long without a heartbeat. `run` begins with it.
    pub fn new(worker: impl Into<String>, run: RunId, time: Duration) -> Claim {
        Claim { worker: worker.into(), run, time, process: None, tags: Vec::new() }
    }

    /// The same, with the process that runs it.
    #[must_use]
    pub fn with_process(mut self, process: Option<String>) -> Claim {
        self.process = process;
        self
    }

    /// The same, only on sessions that carry this label, with this value or any.
    #[must_use]
    pub fn with_tag(mut self, key: impl Into<String>, value: Option<&str>) -> Claim {
        self.tags.push((key.into(), value.map(str::to_owned)));
        self
    }
}

/// A claim that was granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The session.
    pub session: SessionId,
    /// The place of its `run.started`. It grows with every claim: a fencing token.
    pub token: Seq,
    /// The worker.
    pub worker: String,
    /// Until when it is held, in milliseconds since 1970.
    pub until: i64,
}

/// Wakes whoever follows a session, whichever process changes it.
///
/// A store has one watcher in a process, however many sessions are followed and however many followers they have.
pub trait Watch: Send + Sync {
    /// Follows a session, which need not be there yet. Whatever is appended, forked or deleted after this call is told;
    /// several changes may be told as one, and one may be told that was none. So whoever wants to miss nothing watches
    /// first, then reads, and reads again when told.
    ///
    /// # Errors
    /// `Unavailable` where the system has no thread left.
    fn watch(&self, session: &SessionId) -> Result<Changes>;
}

/// What is told of a session. It ends when the store is closed.
pub type Changes = Pin<Box<dyn Stream<Item = Changed> + Send>>;

/// A session changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changed {
    /// Its last record, where that is known and the session is there. Whoever has read that far need not read again.
    pub last: Option<Seq>,
}

/// Carries pieces of answers to other processes while they arrive. Nothing of it is durable.
pub trait Chunks: Send + Sync {
    /// Sends a piece to whoever subscribes. It neither waits nor fails: a piece that cannot be sent is lost.
    fn publish(&self, session: &SessionId, chunk: Chunk);

    /// The pieces of answers of a session from now on, those of this process included. Some may be lost.
    ///
    /// # Errors
    /// `Unavailable` where the store was closed.
    fn subscribe(&self, session: &SessionId) -> Result<ChunkStream>;
}

/// Pieces of the answers of one session.
pub type ChunkStream = Pin<Box<dyn Stream<Item = Chunk> + Send>>;

/// A piece of an answer on its way. It is void when the answer is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The run that asked.
    pub run: RunId,
    /// The turn that the answer belongs to.
    pub turn: u32,
    /// Which try of the turn, from 1.
    pub attempt: u32,
    /// How many bytes of this answer's pieces came before: a piece that comes twice is known by it.
    pub offset: u64,
    /// What it is a piece of.
    pub kind: ChunkKind,
    /// The piece.
    pub text: String,
}

/// What a piece of an answer belongs to. Calls are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkKind {
    /// Text.
    Text,
    /// Thinking.
    Reasoning,
    /// The name of a tool: a call began.
    Call(u32),
    /// The arguments of a call.
    Arguments(u32),
}

/// Heads that need no replay of a long journal.
pub trait HeadCache: Send + Sync {
    /// The head of a session at its end.
    fn head<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Head>>;

    /// The head and the last `turns` turns; what comes before them is not read.
    fn window<'a>(&'a self, session: &'a SessionId, turns: u32) -> BoxFuture<'a, Result<Window>>;

    /// Drops every cached head. They are made anew when they are needed.
    fn forget(&self) -> BoxFuture<'_, Result<()>>;
}

/// An account of what is stored.
pub trait Accounting: Send + Sync {
    /// Bytes by session and by kind.
    fn usage(&self) -> BoxFuture<'_, Result<Usage>>;
}

/// What is stored, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usage {
    /// Every session, the largest first.
    pub sessions: Vec<SessionUse>,
    /// The lines of all journals as they were appended, what forks share counted once.
    pub raw: u64,
    /// What the journals take.
    pub journals: u64,
    /// What large bodies take, each stored once.
    pub bodies: u64,
    /// What listings, labels and cached heads take.
    pub listing: u64,
    /// What the search index takes.
    pub search: u64,
    /// What dictionaries take.
    pub dictionaries: u64,
    /// Space that is free inside the store.
    pub free: u64,
    /// All of it, as the disk sees it.
    pub total: u64,
}

impl Usage {
    /// Stored bytes over raw bytes, without the search index.
    pub fn amplification(&self) -> f64 {
        (self.total.saturating_sub(self.search)) as f64 / self.raw.max(1) as f64
    }
}

/// What one session takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionUse {
    /// The session.
    pub session: SessionId,
    /// Its lines as they were appended, those it shares included.
    pub raw: u64,
    /// What its own batches take.
    pub own: u64,
    /// The lines it shares with the session it was forked from.
    pub shared: u64,
}

/// Removal and erasure.
pub trait Maintenance: Send + Sync {
    /// Removes what `retention` no longer keeps, then everything that no session can reach.
    fn gc<'a>(&'a self, retention: &'a Retention) -> BoxFuture<'a, Result<Freed>>;

    /// Removes a text from one record, or from every record, of a session: from the journal, large bodies, the index and
    /// caches. `[erased]` stands in its place, and the record says that it was changed.
    fn erase<'a>(&'a self, session: &'a SessionId, seq: Option<Seq>, needle: &'a str) -> BoxFuture<'a, Result<Erased>>;
}

/// Finding damage, and saving what can be saved.
pub trait Repair: Send + Sync {
    /// What is wrong inside, beyond the journals themselves; of one session, or of all.
    fn check<'a>(&'a self, session: Option<&'a SessionId>) -> BoxFuture<'a, Result<Vec<Finding>>>;

    /// Saves what can be saved of damaged journals, and says what that was.
    fn repair(&self) -> BoxFuture<'_, Result<Vec<Repaired>>>;

    /// Clears findings that a store keeps until a person has seen them, and tells which they were. Most stores keep none:
    /// what is wrong with them can be found again.
    fn clear(&self) -> BoxFuture<'_, Result<Vec<Finding>>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

/// Which sessions are kept. What is not set keeps everything. Sessions that someone holds are always kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// Those changed within this time.
    pub age: Option<Duration>,
    /// This many, the last changed.
    pub count: Option<u64>,
    /// The last changed that have at most this many bytes together.
    pub bytes: Option<u64>,
    /// Whether it is only said what would go.
    pub rehearse: bool,
}

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Freed {
    /// Sessions that were no longer kept.
    pub sessions: Vec<SessionId>,
    /// Batches that no session could reach.
    pub batches: u64,
    /// Large bodies that no batch spoke of.
    pub bodies: u64,
    /// Bytes by which the store became smaller.
    pub bytes: u64,
}

/// What an erasure did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Erased {
    /// The records that were changed.
    pub records: Vec<Seq>,
    /// Forks and parents that share them, and changed with them.
    pub shared_with: Vec<SessionId>,
}

/// What a repair did to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The session.
    pub session: SessionId,
    /// Its last record.
    pub last: Seq,
    /// What had to be given up, in words.
    pub lost: Option<String>,
    /// What was derived from the journal and did not say what it says, and was made anew.
    pub anew: Vec<String>,
}
