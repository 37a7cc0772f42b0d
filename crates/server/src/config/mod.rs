//! How a server is configured: the table `[server]` of `turnkeep.toml`.
//!
//! Only the user's own file and a file that a person named may configure a server: whoever can change a project's file could
//! otherwise name programs that the server starts.

mod app;
mod read;

use std::path::PathBuf;
use std::time::Duration;

use turnkeep_provider::endpoint::Endpoints;

pub use crate::tenant::TenantName;
pub use read::read;
use turnkeep_provider::KeySource;

use crate::live::View;
use crate::pusher;

/// Everything a server is told before it starts.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The store of the tenant `default`, by its URL. The other stores are derived from it.
    pub store: String,
    /// Names under which the server may be addressed, besides those of the loopback interface.
    pub hosts: Vec<String>,
    /// Web pages of these origins may use the server.
    pub origins: Vec<String>,
    /// What one caller may use.
    pub limits: Limits,
    /// Tool manifests, by the name that a request refers to them with.
    pub tools: Vec<(String, PathBuf)>,
    /// Tenants whose store is not derived.
    pub tenants: Vec<TenantConfig>,
    /// Apps of the Pusher protocol.
    pub apps: Vec<App>,
    /// The models that runs can ask.
    pub endpoints: Endpoints,
}

/// What one caller may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest body of a request, in bytes.
    pub body: usize,
    /// How many requests a token may make in a window.
    pub requests: u32,
    /// The window.
    pub window: Duration,
    /// How many connections are held at once.
    pub connections: usize,
    /// How many event streams are held open at once.
    pub streams: usize,
    /// How many runs of a tenant may go on at once.
    pub runs: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body: 32 << 20,
            requests: 6000,
            window: Duration::from_secs(60),
            connections: 20_000,
            streams: 10_000,
            runs: 64,
        }
    }
}

/// A tenant with a store of its own choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantConfig {
    /// Its name, as tokens refer to it.
    pub name: TenantName,
    /// Its store.
    pub store: String,
}

/// An app of the Pusher protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct App {
    /// What the configuration calls it.
    pub name: String,
    /// Its id, in the paths of the HTTP API.
    pub id: String,
    /// Its public key.
    pub key: String,
    /// Where its secret comes from.
    pub secret: KeySource,
    /// Whose sessions it shows.
    pub tenant: TenantName,
    /// What its channels tell of a session.
    pub view: View,
    /// Web pages of these origins may connect, beside those of the server; none named means the server's `origins`.
    pub origins: Vec<String>,
    /// Who may send events to other clients.
    pub client_events: pusher::ClientEvents,
    /// Whether it may be used at all.
    pub enabled: bool,
    /// Whether listeners are told how many they are.
    pub subscription_counts: bool,
    /// Whether `agent.ID` tells of a session to everybody who has the key, without a signature.
    pub public_sessions: bool,
    /// How much of everything.
    pub limits: pusher::Limits,
}
