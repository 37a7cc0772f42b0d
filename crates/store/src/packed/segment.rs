//! Segments: ranges of records in one session row. The journal of a fork is a list of them, its ancestors' first.

use turnkeep_model::Seq;

/// A part of a journal: the batches of one session row, up to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) sid: i64,
    pub(crate) after: Seq,
    pub(crate) until: Seq,
}

impl Segment {
    /// It in pieces of so many records each, in order.
    pub(crate) fn pieces(self, records: u64) -> impl Iterator<Item = Segment> {
        let next = move |after: Seq| {
            let until = Seq(after.0.saturating_add(records)).min(self.until);
            (after < self.until).then_some(Segment { after, until, ..self })
        };
        std::iter::successors(next(self.after), move |piece| next(piece.until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_each_other_to_the_end() {
        let part = |after, until| Segment { sid: 7, after: Seq(after), until: Seq(until) };

        assert_eq!(part(3, 10).pieces(3).collect::<Vec<_>>(), [part(3, 6), part(6, 9), part(9, 10)]);
        assert_eq!(part(3, 6).pieces(3).collect::<Vec<_>>(), [part(3, 6)]);
        assert_eq!(part(3, 3).pieces(3).collect::<Vec<_>>(), []);
        assert_eq!(part(u64::MAX - 1, u64::MAX).pieces(3).count(), 1);
    }
}
