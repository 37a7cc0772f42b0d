//! How two archives differ, place by place.

use turnkeep_model::{Archive, diff_archives};

/// Every place where `b` differs from `a`, spelled as losses spell places.
pub fn archive_diff(a: &Archive, b: &Archive) -> Vec<String> {
    diff_archives(a, b).into_iter().map(|change| change.at).collect()
}
