//! Generators of every value of the model, realistic and hostile.
//!
//! What is generated is what decoders give: ordinals of messages increase in the order of the source, blocks of one
//! message share their key, and fields that the native format does not know have names that it does not know.

mod block;
mod bytes;
mod extra;
mod history;
mod journal;
mod json;
mod options;
mod session;
mod status;
mod text;
mod usage;

/// A strategy for a struct from strategies for all of its fields: a field that is added must be generated.
macro_rules! fields {
    ($type:ident { $($field:ident : $strategy:expr),* $(,)? }) => {
        proptest::strategy::Strategy::prop_map(
            fields!(@values $($strategy),*),
            |fields!(@names $($field),*)| $type { $($field),* },
        )
    };
    (@values) => { proptest::strategy::Just(()) };
    // Boxed, or the trees of large structs would fill the stack.
    (@values $head:expr $(, $tail:expr)*) => {
        ($head, proptest::strategy::Strategy::boxed(fields!(@values $($tail),*)))
    };
    (@names) => { () };
    (@names $head:ident $(, $tail:ident)*) => { ($head, fields!(@names $($tail),*)) };
}

pub(crate) use fields;

pub use block::{block, body, media, message_key, part, reasoning, tool_result};
pub use bytes::{Mutation, mutated, mutations, noise};
pub use extra::extra;
pub use history::history;
pub use journal::{event, journal};
pub use json::{json, json_string, number, object, plain_json};
pub use options::{options, response_format, tool_spec};
pub use session::{archive, plain_session, session, turn};
pub use status::{continuation, finish, status, stop_reason};
pub use text::{TRICKY, line, text, word};
pub use usage::{decimal, time, timing, usage};

use proptest::option;
use proptest::strategy::Strategy;

/// A value that is usually absent.
pub(crate) fn rare<S: Strategy>(strategy: S) -> impl Strategy<Value = Option<S::Value>> {
    option::weighted(0.15, strategy)
}

/// A value that is absent half of the time.
pub(crate) fn often<S: Strategy>(strategy: S) -> impl Strategy<Value = Option<S::Value>> {
    option::weighted(0.5, strategy)
}
