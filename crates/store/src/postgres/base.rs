//! What every request needs: connections, dictionaries, heads at hand, and patience.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use deadpool_postgres::{Client, Manager, ManagerConfig, Pool, QueueMode, RecyclingMethod, Runtime};
use tokio::sync::Notify;

use super::address::Address;
use super::fault::{from_server, no_connection};
use super::heads::Residents;
use super::schema;
use super::tls;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::packed::dictionary::{Dictionaries, Effort};
use crate::packed::pack::Unpacker;
use crate::work::lock;

/// How many connections one store has at most.
const CONNECTIONS: usize = 10;

/// How long a server that stops and starts again is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// What every request needs.
pub(super) struct Base {
    pool: Pool,
    pub(super) options: Options,
    pub(super) dictionaries: Dictionaries,
    unpackers: Mutex<Vec<Unpacker>>,
    pub(super) heads: Mutex<Residents>,
    /// Told of every append, for whoever keeps the index.
    pub(super) stirred: Notify,
}

impl Base {
    /// Connects, and brings the schema to the newest version.
    pub(super) async fn open(address: Address, options: Options) -> Result<Arc<Base>> {
        let pool = pool(&address)?;
        let start = Instant::now();
        let mut client = loop {
            match pool.get().await.map_err(no_connection) {
                // A server that starts, or is full, is worth waiting for; one that is not there is not.
                Err(error) if from_server(&error) && worth_waiting(&error, start) => {
                    pause(Duration::from_millis(50)).await;
                }
                done => break done?,
            }
        };
        schema::migrate(&mut client, &address.schema).await?;
        Ok(Arc::new(Base {
            pool,
            options,
            // None is trained here: it would hold pieces of what is said, and an erasure could not take them back from
            // processes that still compress with it.
            dictionaries: Dictionaries::new(None, Effort::Little)?,
            unpackers: Mutex::default(),
            heads: Mutex::default(),
            stirred: Notify::new(),
        }))
    }

    /// Connects, and removes the schema with everything in it.
    pub(super) async fn destroy(address: Address) -> Result<()> {
        let client = pool(&address)?.get().await.map_err(no_connection)?;
        schema::destroy(&client, &address.schema).await
    }

    /// A connection.
    pub(super) async fn client(&self) -> Result<Client> {
        self.pool.get().await.map_err(no_connection)
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

fn pool(address: &Address) -> Result<Pool> {
    let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(address.config.clone(), tls::connector(&address.trust)?, manager);
    // The connection that was used last knows the statements, and its server process is awake.
    let pool = Pool::builder(manager).max_size(CONNECTIONS).queue_mode(QueueMode::Lifo).runtime(Runtime::Tokio1);
    pool.build().map_err(|error| Error::new(ErrorKind::Unavailable, "no connections can be made").because(error))
}

/// Whether trying again may help, and is not yet hopeless.
pub(super) fn worth_waiting(error: &Error, since: Instant) -> bool {
    error.kind() == ErrorKind::Unavailable && since.elapsed() < PATIENCE
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
