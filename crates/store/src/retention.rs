//! Which sessions are no longer kept: one decision for every driver.

use turnkeep_model::{Seq, SessionId};

use crate::capability::Retention;
use crate::error::{Error, ErrorKind};

/// A session that may have to go.
pub(crate) struct Candidate {
    pub(crate) session: SessionId,
    /// Its last record. One that has another by the time it is to go is kept: someone works on it.
    pub(crate) last: Seq,
    pub(crate) updated: i64,
    pub(crate) bytes: u64,
    pub(crate) held: bool,
}

/// Those of `candidates`, the last changed first, that are no longer kept. Those that someone holds stay.
pub(crate) fn expired_of(candidates: Vec<Candidate>, retention: &Retention, now: i64) -> Vec<Candidate> {
    let oldest = retention.age.map(|age| now.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)));
    let (mut kept, mut bytes, mut expired) = (0u64, 0u64, Vec::new());
    for candidate in candidates {
        let keep = oldest.is_none_or(|oldest| candidate.updated >= oldest)
            && retention.count.is_none_or(|count| kept < count)
            && retention.bytes.is_none_or(|most| bytes.saturating_add(candidate.bytes) <= most);
        if keep || candidate.held {
            kept += 1;
            bytes = bytes.saturating_add(candidate.bytes);
        } else {
            expired.push(candidate);
        }
    }
    expired
}

/// The error of a cleaning that could not go on after it had removed some sessions.
pub(crate) fn unfinished(removed: usize, error: Error) -> Error {
    let what = match removed {
        0 => return error,
        1 => "1 session was removed, but its space was not given back",
        _ => &format!("{removed} sessions were removed, but their space was not given back"),
    };
    let hint = match error.kind() {
        ErrorKind::Io => Some("make room on the disk, or check it, then clean the store again"),
        _ => error.remedy(),
    };
    let told = Error::new(error.kind(), what).hint(hint.unwrap_or("clean the store again").to_owned());
    told.because(error)
}
