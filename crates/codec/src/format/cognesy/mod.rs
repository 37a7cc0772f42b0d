//! Documents of instructor-php (cognesy): slim snapshots, states of three generations, continuation snapshots, session
//! files and the message storage.
//!
//! Class names in these documents are data and are never resolved. A tool's answer that the program encodes once more at
//! every save is read as what it says and written as it stood.

mod call;
mod check;
mod codec;
mod content;
mod continuation;
mod conversation;
mod execution;
mod jsonl;
mod jsonl_out;
mod map;
mod message;
mod message_out;
mod php;
mod session;
mod settings;
mod slim;
mod slim_out;
mod snapshot;
mod sniff;
mod state;
mod state_out;
mod step;
mod step_out;
mod store;
mod style;
mod verdict;
pub mod view;
mod words;

pub(super) use codec::{ContinuationCodec, JsonlCodec, SessionCodec, SlimCodec, StateCodec};
pub use continuation::{read_continuation_outcome, resolve, write_continuation_outcome};
pub use slim::Dialect;

/// The name under which extras of these formats are kept.
const FORMAT: &str = "cognesy";
