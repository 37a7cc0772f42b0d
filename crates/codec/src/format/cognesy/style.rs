//! How the formats of this family hold messages.

use super::call::Shape;
use super::map::{Form, KeyRule};

/// How a format holds messages.
#[derive(Debug)]
pub(super) struct Style {
    pub form: Form,
    /// The key of a message's metadata.
    pub metadata: &'static str,
    /// How calls are held: plain ones stand in the message, the others in its metadata.
    pub calls: Shape,
    /// Whether ids must be UUIDs.
    pub uuids: bool,
}

/// Messages of v2.
pub(super) const V2: Style = Style {
    form: &[
        ("id", KeyRule::Optional),
        ("createdAt", KeyRule::Optional),
        ("parentId", KeyRule::Optional),
        ("role", KeyRule::Optional),
        ("name", KeyRule::Optional),
        ("content", KeyRule::Empty),
        ("_metadata", KeyRule::Optional),
        ("tool_calls", KeyRule::Optional),
        ("tool_result", KeyRule::Optional),
    ],
    metadata: "_metadata",
    calls: Shape::Plain,
    uuids: true,
};

/// Messages of the older states and of continuation snapshots: what is empty is left out.
pub(super) const OLD: Style = Style {
    form: &[
        ("id", KeyRule::Optional),
        ("createdAt", KeyRule::Optional),
        ("role", KeyRule::Optional),
        ("name", KeyRule::Optional),
        ("content", KeyRule::Optional),
        ("_metadata", KeyRule::Optional),
    ],
    metadata: "_metadata",
    calls: Shape::Function,
    uuids: false,
};

/// Messages of slim snapshots as proposed.
pub(super) const PROPOSAL: Style = Style {
    form: &[("role", KeyRule::Optional), ("content", KeyRule::Empty), ("metadata", KeyRule::Map)],
    metadata: "metadata",
    calls: Shape::Function,
    uuids: false,
};

/// Messages of slim snapshots of v1.17 to v1.18.1.
pub(super) const SLIM_V1: Style = Style {
    form: &[("role", KeyRule::Optional), ("content", KeyRule::Empty), ("metadata", KeyRule::List)],
    ..PROPOSAL
};

/// Messages of slim snapshots of January 2026.
pub(super) const SLIM_JANUARY: Style = Style {
    form: &[("role", KeyRule::Optional), ("content", KeyRule::Empty), ("_metadata", KeyRule::List)],
    metadata: "_metadata",
    ..PROPOSAL
};
