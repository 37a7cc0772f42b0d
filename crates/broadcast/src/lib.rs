//! Publishes what agents do.
//!
//! Each type here is a [`Broadcaster`](turnkeep_runtime::port::Broadcaster); a [`Relay`](turnkeep_runtime::Relay) takes a
//! session to it. [`Ndjson`] writes lines to a file or to standard output, [`Pusher`] publishes over the Pusher HTTP API,
//! which Reverb, Sockudo and Soketi speak as well, and [`Webhooks`] posts signed messages to configured addresses.
//!
//! None of them knows a network: they send over the port [`Transport`](turnkeep_provider::Transport), and the feature
//! `http` brings the one that is real.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `http` | the network behind webhooks and the Pusher HTTP API |

mod exchange;
mod ndjson;
mod pusher;
mod signature;
mod webhook;

pub use ndjson::Ndjson;
pub use pusher::{Pusher, PusherApp, PusherLimits, body_md5, pusher_signature};
pub use webhook::{DeadLetter, WebhookRetry, WebhookTarget, Webhooks, webhook_signature};
