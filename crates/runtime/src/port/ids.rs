//! Ids.

/// Where a run takes new ids from.
pub trait Ids: Send + Sync {
    /// An id that nothing has had before.
    fn next(&self) -> String;
}

/// UUIDs of version 7: random, and later ones sort after earlier ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn next(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}
