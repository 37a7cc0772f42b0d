//! Cached heads: a head with a checksum over its session row and its text.
//!
//! A cached head saves replaying a journal and is never needed: one that does not match its checksum, or belongs to another row,
//! is ignored and made anew.

use turnkeep_model::{Batch, Head, Seq};

use super::pack::unpacked;
use crate::error::Result;
use crate::verify::Finding;
use crate::window::take_in;

/// How many digits a sum has.
const DIGITS: usize = 16;

/// What is kept of a head of a session row.
pub(crate) fn text(sid: i64, head: &Head) -> String {
    let mut text = head.to_json();
    let sum = sum(sid, &text);
    text.push_str(&sum);
    text
}

/// The head of a session row, if it is as it was kept. One that is not is made anew.
fn head(sid: i64, raw: u64, data: &[u8]) -> Option<Head> {
    let text = String::from_utf8(unpacked(raw, data)?).ok()?;
    let (json, end) = text.split_at_checked(text.len().checked_sub(DIGITS)?)?;
    if sum(sid, json) == end { Head::from_json(json).ok() } else { None }
}

fn sum(sid: i64, json: &str) -> String {
    let hash = blake3::Hasher::new().update(&sid.to_le_bytes()).update(json.as_bytes()).finalize();
    hash.to_hex().chars().take(DIGITS).collect()
}

/// A head that was saved.
pub(crate) struct Saved {
    pub(crate) seq: Seq,
    /// The head, if it is as it was.
    pub(crate) head: Option<Head>,
}

impl Saved {
    pub(crate) fn of(sid: i64, seq: Seq, raw: u64, data: &[u8]) -> Saved {
        Saved { seq, head: head(sid, raw, data).filter(|head| head.seq == seq) }
    }
}

/// Compares a saved head with the journal as it is read.
pub(crate) struct HeadCheck {
    saved: Option<Saved>,
    told: Head,
    verdict: Verdict,
}

#[derive(PartialEq, Eq)]
enum Verdict {
    Same,
    Otherwise,
}

impl HeadCheck {
    pub(crate) fn new(saved: Option<Saved>) -> HeadCheck {
        HeadCheck { saved, told: Head::default(), verdict: Verdict::Otherwise }
    }

    pub(crate) fn take(&mut self, batch: &Batch) -> Result<()> {
        let Some(saved) = &self.saved else {
            return Ok(());
        };
        take_in(&mut self.told, batch)?;
        let same = |head: &Head| head.seq == self.told.seq && head.to_json() == self.told.to_json();
        if saved.head.as_ref().is_some_and(same) {
            self.verdict = Verdict::Same;
        }
        Ok(())
    }

    pub(crate) fn finding(&self) -> Option<Finding> {
        let what = "the cached head does not say what the journal says".to_owned();
        (self.saved.is_some() && self.verdict != Verdict::Same).then_some(Finding::Stale { what })
    }
}
