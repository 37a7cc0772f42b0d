//! weakincentives ("wink"): session snapshots, the conversations stored in them, slices, transcripts and debug bundles.
//!
//! A snapshot is data. The type names in it are never resolved to code: every slice opens as plain JSON under its
//! name, and a conversation slice (`ConversationState` or `InnerMessage`) becomes real turns.

#[cfg(feature = "zip")]
mod bundle;
mod clock;
mod codec;
mod coerce;
mod compat;
mod composite;
mod conversation;
mod decode;
mod document;
mod encode;
mod group;
mod inner;
mod lines;
mod message;
mod python;
mod slice;
mod state;
mod transcript;
mod typed;
mod types;

#[cfg(feature = "zip")]
pub(super) use bundle::BundleCodec;
pub(super) use codec::{ConversationCodec, SnapshotCodec};
pub(super) use composite::CompositeCodec;
pub(super) use slice::SliceCodec;
pub(super) use transcript::TranscriptCodec;

/// The name under which extras of these formats are kept.
const FORMAT: &str = "wink";

/// The slice of whole conversations.
const STATE_TYPE: &str = "weakincentives.runtime.conversation:ConversationState";

/// The slice of single messages.
const INNER_TYPE: &str = "weakincentives.runtime.inner_messages:InnerMessage";
