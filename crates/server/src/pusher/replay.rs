//! Requests that were made before.

use std::collections::{BTreeMap, HashMap};

/// How many signatures are remembered.
const REMEMBERED: usize = 1 << 18;

/// Two equal events in one second have the same signature: the time in it has no fraction. For so many seconds after the
/// first, an equal request is taken for a second event.
const GRACE: u64 = 2;

/// The signatures of the last minutes, by the time that is signed with them.
#[derive(Debug, Default)]
pub(super) struct SeenSignatures {
    by_time: BTreeMap<u64, HashMap<[u8; 16], u64>>,
    count: usize,
    /// What was signed at this time or before is no longer remembered.
    forgotten: Option<u64>,
}

impl SeenSignatures {
    /// Whether a request signed at `time` may be served at `now`: it was not made before. `window` is how old it may be.
    pub(super) fn admit(&mut self, signature: [u8; 16], time: u64, now: u64, window: u64) -> bool {
        while let Some(first) = self.by_time.first_entry().filter(|first| first.key() + window < now) {
            self.count -= first.remove().len();
        }
        if self.forgotten.is_some_and(|forgotten| time <= forgotten) {
            return false;
        }
        let seen = self.by_time.entry(time).or_default();
        if let Some(first) = seen.get(&signature) {
            return now <= first + GRACE;
        }
        seen.insert(signature, now);
        self.count += 1;
        self.forget(REMEMBERED);
        true
    }

    /// Keeps the newest. Whatever is as old as what was forgotten is refused, since it may be a repetition.
    fn forget(&mut self, most: usize) {
        while self.count > most && self.by_time.len() > 1 {
            let Some((time, seen)) = self.by_time.pop_first() else { return };
            self.count -= seen.len();
            self.forgotten = Some(time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: u64 = 600;

    #[test]
    fn a_request_is_served_once_and_an_equal_event_of_the_same_second_too() {
        let mut seen = SeenSignatures::default();
        let mut admit = |signature: u8, time, now| seen.admit([signature; 16], time, now, WINDOW);

        assert!(admit(1, 1000, 1000));
        assert!(admit(1, 1000, 1001), "two equal events in a second");
        assert!(!admit(1, 1000, 1003));
        assert!(!admit(1, 1000, 1599));
        assert!(admit(2, 1000, 1597));
        assert!(!admit(2, 1000, 1600));
    }

    #[test]
    fn a_signed_time_in_the_future_is_remembered_until_it_is_too_old() {
        let mut seen = SeenSignatures::default();

        assert!(seen.admit([1; 16], 1600, 1000, WINDOW));
        assert!(!seen.admit([1; 16], 1600, 2200, WINDOW));
    }

    #[test]
    fn memory_is_bounded_and_what_was_forgotten_is_refused() {
        let mut seen = SeenSignatures::default();
        for time in 1000..1010 {
            assert!(seen.admit([1; 16], time, time, WINDOW));
        }

        seen.forget(3);

        assert_eq!((seen.count, seen.by_time.len()), (3, 3));
        assert!(!seen.admit([2; 16], 1006, 1010, WINDOW));
        assert!(seen.admit([2; 16], 1007, 1010, WINDOW));
    }

    #[test]
    fn what_is_too_old_to_be_served_is_forgotten() {
        let mut seen = SeenSignatures::default();
        assert!(seen.admit([1; 16], 1000, 1000, WINDOW));

        assert!(seen.admit([2; 16], 2000, 2000, WINDOW));

        assert_eq!((seen.count, seen.forgotten), (1, None));
    }
}
