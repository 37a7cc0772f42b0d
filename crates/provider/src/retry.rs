//! When a request is sent again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use crate::error::ProviderError;

/// When a request is sent again. One whose answer had begun never is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// How often it is sent at most.
    pub tries: u32,
    /// How long the first wait is; each one is twice the one before.
    pub first: Duration,
    /// How long a wait is at most, where the vendor does not ask for one.
    pub longest: Duration,
    /// The longest wait that a vendor may ask for; asked for more, we give up.
    pub patience: Duration,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry {
            tries: 4,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(20),
            patience: Duration::from_secs(60),
        }
    }
}

impl Retry {
    /// Sends everything once.
    pub fn never() -> Retry {
        Retry { tries: 1, ..Retry::default() }
    }

    /// How long to wait before a request is sent again that failed for the `tries`-th time; `None` to give up. Waits are
    /// spread by `jitter` (0 to 1) between half and all of their length, so that many who failed together do not come
    /// back together.
    pub fn wait(&self, error: &ProviderError, tries: u32, jitter: f64) -> Option<Duration> {
        if tries >= self.tries || !error.kind.may_pass() {
            return None;
        }
        match error.retry_after {
            Some(wait) if wait > self.patience => None,
            Some(wait) => Some(wait),
            None => {
                let doubled = self.first.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
                Some(doubled.min(self.longest).mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0))
            }
        }
    }
}

/// Where the randomness of waits comes from.
pub trait Jitter: Send + Sync {
    /// A number from 0 to 1.
    fn next(&self) -> f64;
}

/// The system's randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemJitter;

impl Jitter for SystemJitter {
    fn next(&self) -> f64 {
        let bits = RandomState::new().build_hasher().finish() >> 11;
        bits as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ProviderErrorKind;

    fn error(kind: ProviderErrorKind, retry_after: Option<u64>) -> ProviderError {
        ProviderError { retry_after: retry_after.map(Duration::from_secs), ..ProviderError::new(kind, "e", "") }
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let retry = Retry { tries: 9, ..Retry::default() };
        let waits: Vec<_> = (1..9).map(|n| retry.wait(&error(ProviderErrorKind::Overloaded, None), n, 1.0)).collect();

        let expected = [500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000];
        assert_eq!(waits, expected.map(|ms| Some(Duration::from_millis(ms))));
        assert_eq!(retry.wait(&error(ProviderErrorKind::Overloaded, None), 1, 0.0), Some(Duration::from_millis(250)));
        assert_eq!(retry.wait(&error(ProviderErrorKind::Overloaded, None), 9, 0.0), None);
    }

    #[test]
    fn a_vendor_is_heard_up_to_a_limit() {
        let retry = Retry::default();

        assert_eq!(retry.wait(&error(ProviderErrorKind::RateLimited, Some(7)), 1, 0.3), Some(Duration::from_secs(7)));
        assert_eq!(retry.wait(&error(ProviderErrorKind::RateLimited, Some(61)), 1, 0.3), None);
    }

    #[test]
    fn what_began_or_cannot_pass_is_not_sent_again() {
        let kinds = [
            ProviderErrorKind::Cut,
            ProviderErrorKind::IdleTimeout,
            ProviderErrorKind::StreamError,
            ProviderErrorKind::Invalid,
        ];

        assert!(kinds.iter().all(|kind| Retry::default().wait(&error(*kind, None), 1, 0.5).is_none()));
    }

    #[test]
    fn chance_is_between_0_and_1() {
        assert!((0..100).map(|_| SystemJitter.next()).all(|jitter| (0.0..1.0).contains(&jitter)));
    }
}
