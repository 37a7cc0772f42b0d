//! The rows of a turn store as values.

/// The name of the hash of blocks.
pub(super) const ALGORITHM: &str = "sha256-canonical-json-v1";

/// All rows, in the order they were written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Rows {
    pub(super) turns: Vec<TurnRow>,
    pub(super) blocks: Vec<BlockRow>,
    pub(super) members: Vec<MemberRow>,
}

/// What names a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct TurnKey {
    pub(super) conv: String,
    pub(super) session: String,
    pub(super) turn: String,
}

/// A row of `turns`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TurnRow {
    pub(super) key: TurnKey,
    pub(super) created_ms: i64,
    pub(super) updated_ms: i64,
    pub(super) metadata: String,
    pub(super) data: String,
    pub(super) runtime_key: String,
    pub(super) inference_id: String,
}

/// What names a block: its id and the hash of its content.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct BlockKey {
    pub(super) id: String,
    pub(super) hash: String,
}

/// A row of `blocks`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct BlockRow {
    pub(super) key: BlockKey,
    pub(super) algorithm: String,
    pub(super) kind: String,
    pub(super) role: String,
    pub(super) payload: String,
    pub(super) metadata: String,
    pub(super) first_seen_ms: i64,
}

/// What names a snapshot of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct SnapshotKey {
    pub(super) turn: TurnKey,
    pub(super) phase: String,
    pub(super) created_ms: i64,
}

/// A row of `turn_block_membership`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct MemberRow {
    pub(super) snapshot: SnapshotKey,
    pub(super) ordinal: i64,
    pub(super) block: BlockKey,
}

/// The id under which a block without one is kept.
pub(super) fn made_up_id(turn: &str, ordinal: i64) -> String {
    format!("{turn}#{ordinal}")
}
