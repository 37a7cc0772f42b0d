//! llm4s: agent states (`llm4s.state`) and the sessions of its assistant (`llm4s.session`).
//!
//! The document of these formats is a JSON tree, borrowed from the text or from the session. Decoding takes its known
//! keys and leaves the rest in extras; encoding puts both together again. What the library itself makes of a file, its
//! refusals included, is a rewriting of that tree (`compat`), which then decodes like any other.

mod codec;
mod compat;
mod compose;
mod decode;
mod encode;
mod java;
mod message;
mod options;
mod rules;
mod status;
mod tree;
mod ujson;
mod usage;

pub(super) use codec::{SessionCodec, StateCodec};
pub(crate) use rules::lint;

/// The name under which extras of these formats are kept.
const FORMAT: &str = "llm4s";

/// The keys of a state, in the order of the library.
const STATE: [&str; 7] =
    ["conversation", "initialQuery", "status", "logs", "systemMessage", "completionOptions", "usageSummary"];

/// The keys of a session.
const SESSION: [&str; 4] = ["sessionId", "sessionDir", "created", "agentState"];

/// The keys of the agent state in a session.
const AGENT: [&str; 5] = ["conversation", "initialQuery", "status", "logs", "toolNames"];
