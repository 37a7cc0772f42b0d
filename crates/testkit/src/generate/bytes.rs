//! Damage: noise, and changes of bytes that were good.

use proptest::prelude::*;
use proptest::{collection, sample};

/// One way to damage some bytes.
#[derive(Debug, Clone)]
pub enum Mutation {
    /// One bit is flipped.
    Flip(sample::Index, u8),
    /// All after a place is gone.
    Cut(sample::Index),
    /// A range is gone.
    Remove(sample::Index, u8),
    /// A range stands twice.
    Repeat(sample::Index, u8),
    /// Something stands where it should not.
    Insert(sample::Index, &'static [u8]),
}

/// What readers stumble over.
const INSERTS: &[&[u8]] = &[
    b"\0",
    b"\n",
    b"\r",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"- ",
    b"  ",
    b"\t",
    b"|",
    b"&a ",
    b"*a",
    b"!x ",
    b"!json ",
    b"? ",
    b"#",
    b"---\n",
    b"...\n",
    b"<<: ",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"\\ud800",
    b"null",
    b"1e999",
    b"-",
    b"\"turnkeep\":2,",
    b"99999999999999999999",
];

/// A few mutations.
pub fn mutations() -> BoxedStrategy<Vec<Mutation>> {
    let place = any::<sample::Index>;
    let one = prop_oneof![
        3 => (place(), 0..8u8).prop_map(|(at, bit)| Mutation::Flip(at, bit)),
        2 => place().prop_map(Mutation::Cut),
        2 => (place(), 1..40u8).prop_map(|(at, length)| Mutation::Remove(at, length)),
        2 => (place(), 1..40u8).prop_map(|(at, length)| Mutation::Repeat(at, length)),
        3 => (place(), sample::select(INSERTS)).prop_map(|(at, what)| Mutation::Insert(at, what)),
    ];
    collection::vec(one, 1..4).boxed()
}

/// The bytes after the mutations.
pub fn mutated(bytes: &[u8], mutations: &[Mutation]) -> Vec<u8> {
    mutations.iter().fold(bytes.to_vec(), |bytes, mutation| mutation.apply(bytes))
}

impl Mutation {
    fn apply(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if bytes.is_empty() {
            return bytes;
        }
        let range = |at: &sample::Index, length: &u8| {
            let start = at.index(bytes.len());
            start..bytes.len().min(start + usize::from(*length))
        };
        match self {
            Mutation::Flip(at, bit) => {
                let at = at.index(bytes.len());
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bit);
            }
            Mutation::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Mutation::Remove(at, length) => drop(bytes.drain(range(at, length))),
            Mutation::Repeat(at, length) => {
                let range = range(at, length);
                let (end, copy) = (range.end, bytes.get(range).unwrap_or_default().to_vec());
                bytes.splice(end..end, copy);
            }
            Mutation::Insert(at, what) => {
                let at = at.index(bytes.len() + 1);
                bytes.splice(at..at, what.iter().copied());
            }
        }
        bytes
    }
}

/// Bytes and texts that are nothing at all.
pub fn noise() -> BoxedStrategy<Vec<u8>> {
    let bytes = collection::vec(any::<u8>(), 0..64);
    let tokens = collection::vec(sample::select(INSERTS), 0..24).prop_map(|tokens| tokens.concat());
    prop_oneof![1 => bytes, 1 => super::text().prop_map(String::into_bytes), 2 => tokens].boxed()
}
