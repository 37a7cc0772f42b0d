//! How a store is opened.

use std::fmt;
use std::sync::Arc;

use turnkeep_model::SessionId;

/// What an acknowledged append survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The end of the process, however sudden: the system has the bytes.
    Process,
    /// The loss of power: the disk has the bytes.
    #[default]
    Power,
}

impl Durability {
    /// The level of a word in a URL.
    pub fn from_word(word: &str) -> Option<Durability> {
        match word {
            "process" => Some(Durability::Process),
            "power" => Some(Durability::Power),
            _ => None,
        }
    }
}

/// Something a store did on its own that its owner should hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// A write that was cut off had left a torn tail; it was never acknowledged, and was removed.
    TornTail {
        /// Whose journal.
        session: SessionId,
        /// How many bytes.
        bytes: u64,
    },
    /// The end of a database's log could not be read: what was committed last is lost. It is told whenever the store is
    /// opened, until someone clears it with [`Repair::clear`](crate::Repair::clear). Without a listener, opening the store
    /// fails with `Corrupt` instead.
    LostCommits {
        /// How many commits.
        count: usize,
    },
}

/// Where a store takes the time from: milliseconds since 1970.
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<dyn Fn() -> i64 + Send + Sync>>);

impl Clock {
    /// A clock of one's own.
    pub fn new(read: impl Fn() -> i64 + Send + Sync + 'static) -> Clock {
        Clock(Some(Arc::new(read)))
    }

    /// The time.
    pub fn now(&self) -> i64 {
        self.own().unwrap_or_else(|| jiff::Timestamp::now().as_millisecond())
    }

    /// The time, if it is not the machine's.
    pub(crate) fn own(&self) -> Option<i64> {
        self.0.as_ref().map(|read| read())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// Who hears of what a store does on its own; nobody by default.
#[derive(Clone, Default)]
pub struct Listener(Option<Arc<dyn Fn(Notice) + Send + Sync>>);

impl Listener {
    /// Someone who wants to hear.
    pub fn new(notify: impl Fn(Notice) + Send + Sync + 'static) -> Listener {
        Listener(Some(Arc::new(notify)))
    }

    /// Whether anyone hears.
    #[cfg_attr(
        not(feature = "sqlite"),
        allow(dead_code, reason = "only SQLite keeps findings that someone must hear of")
    )]
    pub(crate) fn hears(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn tell(&self, notice: Notice) {
        if let Some(notify) = &self.0 {
            notify(notice);
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Listener" } else { "nobody" })
    }
}

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// What an acknowledged append survives.
    pub durability: Durability,
    /// The largest batch that is taken, in bytes of its line.
    pub max_batch: usize,
    /// Where the time is taken from.
    pub clock: Clock,
    /// Who hears of what the store does on its own.
    pub listener: Listener,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            durability: Durability::Power,
            max_batch: 256 << 20,
            clock: Clock::default(),
            listener: Listener::default(),
        }
    }
}
