//! Typed ids: two strings side by side are a bug waiting.

use std::fmt;

use crate::error::Result;
use crate::json::{Node, Sink, Value};
use crate::shape::{Shape, ShapeReader};

macro_rules! ids {
    ($($(#[$meta:meta])* $type:ident)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $type(Box<str>);

        impl $type {
            /// An id from any text.
            pub fn new(id: impl Into<String>) -> $type {
                $type(id.into().into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $type {
            fn from(id: &str) -> $type {
                $type(id.into())
            }
        }

        impl From<String> for $type {
            fn from(id: String) -> $type {
                $type(id.into())
            }
        }

        impl Shape for $type {
            fn write<S: Sink>(&self, out: &mut S) {
                out.text(&self.0);
            }

            fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<$type> {
                String::read(node, reading).map($type::new)
            }
        }
    )*};
}

ids! {
    /// Names a session.
    SessionId
    /// Names one execution by one process.
    RunId
    /// Names a turn.
    TurnId
    /// Names one block.
    BlockId
    /// Names the message that some blocks were.
    MessageId
    /// Names one evaluation of a prompt.
    EvaluationId
    /// Names an item at the provider that made it.
    ItemId
}

/// Ties a tool call to its result.
///
/// ```
/// use turnkeep_model::CallId;
///
/// assert_eq!(CallId::given("call_1").to_string(), "call_1");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallId {
    /// The id that the provider or the source gave.
    Given(Box<str>),
    /// The source has none: the position of the call in its session. Never sent as if a provider had issued it.
    Minted(u32),
}

impl CallId {
    /// An id that the source gave.
    pub fn given(id: impl Into<String>) -> CallId {
        CallId::Given(id.into().into())
    }

    /// The id, if the source gave one.
    pub fn as_given(&self) -> Option<&str> {
        match self {
            CallId::Given(id) => Some(id),
            CallId::Minted(_) => None,
        }
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallId::Given(id) => f.write_str(id),
            CallId::Minted(position) => write!(f, "#{position}"),
        }
    }
}

impl Shape for CallId {
    fn write<S: Sink>(&self, out: &mut S) {
        match self {
            CallId::Given(id) => out.text(id),
            CallId::Minted(position) => position.write(out),
        }
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<CallId> {
        match node.value {
            Value::Number(_) => u32::read(node, reading).map(CallId::Minted),
            _ => String::read(node, reading).map(CallId::given),
        }
    }
}

/// A position in a journal. The first record has 1; 0 is the place before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Seq(pub u64);

impl Seq {
    /// The place before the first record.
    pub const START: Seq = Seq(0);

    /// The place after this one.
    #[must_use]
    pub fn next(self) -> Seq {
        Seq(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Shape for Seq {
    fn write<S: Sink>(&self, out: &mut S) {
        self.0.write(out);
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Seq> {
        u64::read(node, reading).map(Seq)
    }

    fn is_absent(&self) -> bool {
        *self == Seq::START
    }
}
