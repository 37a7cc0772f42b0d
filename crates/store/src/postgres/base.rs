//! What every request needs: connections, dictionaries, heads at hand, and how long a server is waited for.
//!
//! No request waits for ever. What takes moments ends after [`PATIENCE`]; what may take long ends when a probe on a connection of
//! its own finds that the server answers nobody.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use deadpool_postgres::{Client, Manager, ManagerConfig, Pool, QueueMode, RecyclingMethod, Runtime};
use futures_util::future::{Either, select};
use tokio::sync::Notify;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Config, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::announce::Announcer;
use super::fault::{failed, from_server, no_connection};
use super::heads::Residents;
use super::notice::channel;
use super::schema;
use super::tls;
use super::watch::Listeners;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::packed::dictionary::{Dictionaries, Effort};
use crate::packed::pack::Unpacker;
use crate::thread_pool::lock;

/// How many connections one store has at most.
const CONNECTIONS: usize = 10;

/// How long a server that does not answer, or stops and starts again, is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How long before that nothing is tried again: so the last attempt tells what is wrong.
const LAST: Duration = Duration::from_millis(500);

/// How often a server is asked whether it answers at all, while something takes long.
const PROBE: Duration = Duration::from_secs(5);

/// What every request needs.
pub(super) struct Base {
    connections: Connections,
    pub(super) options: Options,
    pub(super) dictionaries: Dictionaries,
    unpackers: Mutex<Vec<Unpacker>>,
    pub(super) heads: Mutex<Residents>,
    /// Told of every append, for whoever keeps the index.
    pub(super) stirred: Notify,
    /// Where processes tell each other what happens in this schema.
    pub(super) channel: String,
    pub(super) announcer: Announcer,
    pub(super) listeners: Listeners,
}

/// A connection that is read by whoever made it.
pub(super) type ListenConnection =
    (tokio_postgres::Client, tokio_postgres::Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>);

impl Base {
    /// Connects, and brings the schema to the newest version.
    pub(super) async fn open(address: Address, options: Options) -> Result<Arc<Base>> {
        let connections = Connections::to(&address)?;
        let mut client = connections.within(PATIENCE, connections.first()).await?;
        connections.while_answered(schema::migrate(&mut client, &address.schema)).await?;
        Ok(Arc::new(Base {
            connections,
            options,
            // None is trained here: it would hold pieces of what is said, and an erasure could not take them back from
            // processes that still compress with it.
            dictionaries: Dictionaries::new(None, Effort::Little)?,
            unpackers: Mutex::default(),
            heads: Mutex::default(),
            stirred: Notify::new(),
            channel: channel(&address.schema),
            announcer: Announcer::default(),
            listeners: Listeners::default(),
        }))
    }

    /// Connects, and removes the schema with everything in it.
    pub(super) async fn destroy(address: Address) -> Result<()> {
        let connections = Connections::to(&address)?;
        let client = connections.within(PATIENCE, connections.first()).await?;
        connections.while_answered(schema::destroy(&client, &address.schema)).await
    }

    /// A connection.
    pub(super) async fn client(&self) -> Result<Client> {
        self.connections.pool.get().await.map_err(no_connection)
    }

    /// A connection beside the others.
    pub(super) async fn connect(&self) -> Result<ListenConnection> {
        let Connections { config, tls, .. } = &self.connections;
        config.connect(tls.clone()).await.map_err(failed)
    }

    /// Does what should take moments, unless the server does not answer.
    pub(super) async fn within<T>(&self, limit: Duration, task: impl Future<Output = Result<T>>) -> Result<T> {
        self.connections.within(limit, task).await
    }

    /// Does what may take long, for as long as the server answers anyone.
    pub(super) async fn while_answered<T>(&self, task: impl Future<Output = Result<T>>) -> Result<T> {
        self.connections.while_answered(task).await
    }

    /// A connection, once there is one again.
    pub(super) async fn awaited(&self) -> Result<Client> {
        patiently(|| self.client()).await
    }

    /// Runs `work` with something that decompresses.
    pub(super) fn unpack<T>(&self, work: impl FnOnce(&mut Unpacker) -> Result<T>) -> Result<T> {
        let mut unpacker = lock(&self.unpackers).pop().unwrap_or_default();
        let done = work(&mut unpacker);
        lock(&self.unpackers).push(unpacker);
        done
    }
}

/// Connections to the server, made as they are needed.
struct Connections {
    pool: Pool,
    /// One more, to ask whether the server answers at all.
    probe: Pool,
    config: Config,
    tls: MakeRustlsConnect,
}

impl Connections {
    fn to(address: &Address) -> Result<Connections> {
        let tls = tls::connector(&address.trust)?;
        let (pool, probe) = (pool(address, &tls, CONNECTIONS)?, pool(address, &tls, 1)?);
        Ok(Connections { pool, probe, config: address.config.clone(), tls })
    }

    /// The first connection.
    async fn first(&self) -> Result<Client> {
        let start = Instant::now();
        loop {
            match self.pool.get().await.map_err(no_connection) {
                // A server that starts, or is full, is worth waiting for; one that is not there is not.
                Err(error) if from_server(&error) && worth_waiting(&error, start) => {
                    pause(Duration::from_millis(50)).await;
                }
                done => return done,
            }
        }
    }

    async fn within<T>(&self, limit: Duration, task: impl Future<Output = Result<T>>) -> Result<T> {
        let done = tokio::time::timeout(limit, task).await;
        done.unwrap_or_else(|_| Err(self.give_up()))
    }

    async fn while_answered<T>(&self, task: impl Future<Output = Result<T>>) -> Result<T> {
        let done = match select(pin!(task), pin!(self.silence())).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        };
        done.unwrap_or_else(|| Err(self.give_up()))
    }

    /// Lets go of connections that do not answer, so that nobody asks on them again.
    fn give_up(&self) -> Error {
        self.pool.retain(|_, _| false);
        self.probe.retain(|_, _| false);
        let what = format!("PostgreSQL did not answer within {} seconds", PATIENCE.as_secs());
        Error::new(ErrorKind::Unavailable, what)
            .hint("check that the server runs and is not overloaded, then try again")
    }

    /// Ends when the server has not answered for too long.
    async fn silence(&self) {
        let mut heard = Instant::now();
        loop {
            pause(PROBE).await;
            let left = PATIENCE.saturating_sub(heard.elapsed());
            if tokio::time::timeout(left, self.answers()).await == Ok(true) {
                heard = Instant::now();
            } else if heard.elapsed() >= PATIENCE {
                return;
            }
        }
    }

    /// Whether the server answers; that it takes no more connections is an answer, too.
    async fn answers(&self) -> bool {
        match self.probe.get().await.map_err(no_connection) {
            Ok(client) => client.simple_query("").await.is_ok(),
            Err(error) => from_server(&error),
        }
    }
}

fn pool(address: &Address, tls: &MakeRustlsConnect, size: usize) -> Result<Pool> {
    let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(address.config.clone(), tls.clone(), manager);
    // The connection that was used last knows the statements, and its server process is awake.
    let pool = Pool::builder(manager).max_size(size).queue_mode(QueueMode::Lifo).runtime(Runtime::Tokio1);
    pool.build().map_err(|error| Error::new(ErrorKind::Unavailable, "no connections can be made").because(error))
}

/// Whether trying again may help, and is not yet hopeless.
pub(super) fn worth_waiting(error: &Error, since: Instant) -> bool {
    error.kind() == ErrorKind::Unavailable && since.elapsed() < PATIENCE - LAST
}

pub(super) async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Tries again while the server cannot be reached. Only for what does no harm when it is done twice.
pub(super) async fn patiently<T, F: Future<Output = Result<T>>>(attempt: impl Fn() -> F) -> Result<T> {
    let (start, mut wait) = (Instant::now(), Duration::from_millis(5));
    loop {
        match attempt().await {
            Err(error) if worth_waiting(&error, start) => pause(wait).await,
            done => return done,
        }
        wait = (wait * 2).min(Duration::from_millis(250));
    }
}

/// A number that nobody else has.
pub(super) fn random() -> i64 {
    RandomState::new().build_hasher().finish().cast_signed()
}
