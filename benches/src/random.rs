//! A fixed stream of numbers: every run measures the same documents.

/// SplitMix64: small, fast, and the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` up to but not including `high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low).max(1)
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.between(0, n) == 0
    }

    /// One of `words`, or nothing where there is none.
    pub(crate) fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let at = self.between(0, words.len() as u64);
        usize::try_from(at).ok().and_then(|at| words.get(at)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_fixed() {
        let mut random = Random::new(7);

        assert_eq!([random.next(), random.next()], [0x63CB_E1E4_5932_0DD7, 0x044C_3CD7_F43C_661C]);
    }
}
