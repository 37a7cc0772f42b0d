//! How often something may happen.

use std::time::Duration;

/// So many a second, as many at once.
#[derive(Debug)]
pub(super) struct Rate {
    each_second: u32,
    left: f64,
    at: Duration,
}

impl Rate {
    pub(super) fn new(each_second: u32) -> Rate {
        Rate { each_second, left: f64::from(each_second), at: Duration::ZERO }
    }

    /// Whether one more may happen now.
    pub(super) fn take(&mut self, now: Duration) -> bool {
        let most = f64::from(self.each_second);
        self.left = (self.left + now.saturating_sub(self.at).as_secs_f64() * most).min(most);
        self.at = now;
        let granted = self.left >= 1.0;
        if granted {
            self.left -= 1.0;
        }
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_up_comes_back_with_time() {
        let mut rate = Rate::new(2);
        let mut take = |milliseconds| rate.take(Duration::from_millis(milliseconds));

        assert_eq!(
            [take(0), take(0), take(0), take(400), take(600), take(700)],
            [true, true, false, false, true, false]
        );
        assert_eq!([take(9_000), take(9_000), take(9_000)], [true, true, false]);
    }
}
