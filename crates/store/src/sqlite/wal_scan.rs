//! Commits at the end of the write-ahead log that SQLite cannot reach.
//!
//! A page of the log whose sum is wrong ends the log for SQLite, which takes everything after it for the leavings of a
//! write that was cut off, and says nothing. Of a write that was cut off, one commit may stand there that was never
//! acknowledged. If there are more, or if one changed bit explains the wrong sum, something was lost. It is looked for
//! before SQLite begins the log anew. Where nothing is left of the header of the log, its pages still tell: the sum of each
//! goes on from the one before.

use std::fs;
use std::path::Path;

/// What stands before all pages of the log, and before each.
const HEADER: usize = 32;
const FRAME: usize = 24;

/// What a log begins with, but for the bit that tells the order of its sums.
const MAGIC: u32 = 0x377f_0682;

/// The size of a page where the log does not tell.
const USUAL_PAGE: usize = 4096;

/// A log with commits that cannot be reached.
pub(super) struct Unreachable {
    pub(super) log: Vec<u8>,
    pub(super) commits: usize,
}

/// The commits of a log that cannot be reached, if there are any.
pub(super) fn unreachable(log: &Path) -> Option<Unreachable> {
    let first = WalFile::read(log)?;
    let broken = first.broken();
    // Someone may be writing: then it is elsewhere by now.
    let still = broken.commits > 0 && WalFile::read(log)?.broken() == broken;
    still.then_some(Unreachable { log: first.bytes, commits: broken.commits })
}

/// Where a log ends for SQLite, and how many commits behind that were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Broken {
    at: usize,
    commits: usize,
}

struct WalFile {
    bytes: Vec<u8>,
    page: usize,
}

impl WalFile {
    fn read(file: &Path) -> Option<WalFile> {
        // Reading a named pipe would wait for someone at its other end.
        fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
        let bytes = fs::read(file).ok()?;
        Some(WalFile { page: page_size(&bytes), bytes })
    }

    fn broken(&self) -> Broken {
        let (header, rest) = self.bytes.split_at_checked(HEADER).unwrap_or_default();
        let salts = header.get(16..24).unwrap_or_default();
        let (order, mut sum) = (Order::of(header), header_sum(header));
        let mut frames = rest.chunks(FRAME + self.page);
        if !has_magic(header) || Some(sum) != pair(header, 24) {
            let cause = cause_in_header(header);
            let salts = if cause == Cause::OneBit { Some(salts) } else { chained_salts(frames.clone()) };
            return Broken { at: 0, commits: salts.map_or(0, |salts| lost(frames, salts, cause)) };
        }
        for at in 1.. {
            let before = frames.clone();
            let Some(frame) = frames.next() else {
                break;
            };
            let start = sum;
            sum = frame_sum(order, start, frame);
            if Some(sum) != pair(frame, 16) || frame.get(8..16) != Some(salts) {
                return Broken { at, commits: lost(before, salts, cause(sum, frame, salts)) };
            }
        }
        Broken { at: rest.len(), commits: 0 }
    }
}

/// Why a sum is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    OneBit,
    Other,
}

/// How many commits were lost in these pages.
fn lost<'a>(frames: impl Iterator<Item = &'a [u8]>, salts: &[u8], cause: Cause) -> usize {
    let commits = frames.filter(|frame| is_commit(frame, salts)).count();
    match cause {
        Cause::OneBit => commits,
        Cause::Other if commits > 1 => commits,
        Cause::Other => 0,
    }
}

/// The salts of a log whose header does not tell them: those of the first page whose sum goes on from the page before it.
fn chained_salts<'a>(frames: impl Iterator<Item = &'a [u8]> + Clone) -> Option<&'a [u8]> {
    let follows = |before: &[u8], frame: &[u8]| {
        let (start, stored) = (pair(before, 16)?, pair(frame, 16)?);
        let sums = [Order::Little, Order::Big].map(|order| frame_sum(order, start, frame));
        (before.get(8..16) == frame.get(8..16) && sums.contains(&stored)).then_some(())
    };
    let (before, _) = frames.clone().zip(frames.skip(1)).find(|(before, frame)| follows(before, frame).is_some())?;
    // The sum of zeros is zero: space that was never written.
    before.get(8..16).filter(|salts| *salts != [0; 8])
}

/// Whether a header begins as one. The sum of zeros is zero, so the sum alone does not tell.
fn has_magic(header: &[u8]) -> bool {
    word(header, 0).is_some_and(|magic| magic & !1 == MAGIC)
}

fn header_sum(header: &[u8]) -> [u32; 2] {
    Order::of(header).sum([0, 0], header.get(..24).unwrap_or_default())
}

fn frame_sum(order: Order, start: [u32; 2], frame: &[u8]) -> [u32; 2] {
    let sum = order.sum(start, frame.get(..8).unwrap_or_default());
    order.sum(sum, frame.get(FRAME..).unwrap_or_default())
}

fn cause_in_header(header: &[u8]) -> Cause {
    let right_with = |at: usize| {
        let mut header = header.to_vec();
        header.get_mut(at / 8).into_iter().for_each(|byte| *byte ^= 1 << (at % 8));
        Some(header_sum(&header)) == pair(&header, 24)
    };
    if (0..header.len() * 8).any(right_with) { Cause::OneBit } else { Cause::Other }
}

/// Why a page does not match its sum, which should be `told`, or the salts of the log.
fn cause(told: [u32; 2], frame: &[u8], salts: &[u8]) -> Cause {
    let (Some(stored), Some(own)) = (pair(frame, 16), frame.get(8..16)) else {
        return Cause::Other;
    };
    let differing = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
    let bits = |sum: [u32; 2]| [sum[0].to_be_bytes(), sum[1].to_be_bytes()].concat();
    let (salt, sum) = (differing(own, salts), differing(&bits(stored), &bits(told)));
    let content = || one_bit_away(told, stored, (frame.len() - FRAME + 8) / 8);
    match (salt, sum) {
        (1, 0) | (0, 1) => Cause::OneBit,
        (0, _) if content() => Cause::OneBit,
        _ => Cause::Other,
    }
}

/// Whether a page was the last of a commit to this log, and not to one that was there before it. A changed bit spares one
/// of the two salts.
fn is_commit(frame: &[u8], salts: &[u8]) -> bool {
    let salted = [(8, 0), (12, 4)].into_iter().any(|(own, log)| {
        frame.get(own..own + 4).is_some_and(|salt| salt != [0; 4] && Some(salt) == salts.get(log..log + 4))
    });
    salted && word(frame, 4) != Some(0)
}

/// How the numbers of a sum are written.
#[derive(Debug, Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn of(header: &[u8]) -> Order {
        if header.get(3).is_some_and(|byte| byte & 1 == 1) { Order::Big } else { Order::Little }
    }

    fn sum(self, start: [u32; 2], bytes: &[u8]) -> [u32; 2] {
        let [mut a, mut b] = start;
        let number = |word: [u8; 4]| match self {
            Order::Little => u32::from_le_bytes(word),
            Order::Big => u32::from_be_bytes(word),
        };
        let (words, _) = bytes.as_chunks::<4>();
        for two in words.chunks_exact(2) {
            if let [first, second] = two {
                a = a.wrapping_add(number(*first)).wrapping_add(b);
                b = b.wrapping_add(number(*second)).wrapping_add(a);
            }
        }
        [a, b]
    }
}

/// Whether one changed bit in `pairs` pairs of numbers makes the one sum the other. A sum is linear: what a number
/// adds to it depends only on how many come after it.
fn one_bit_away(told: [u32; 2], stored: [u32; 2], pairs: usize) -> bool {
    let missing = [stored[0].wrapping_sub(told[0]), stored[1].wrapping_sub(told[1])];
    let (mut first, mut second) = ([1u32, 1u32], [0u32, 1u32]);
    let next = |[a, b]: [u32; 2]| [a.wrapping_add(b), a.wrapping_add(b).wrapping_add(b)];
    let reaches = |[a, b]: [u32; 2]| {
        (0..32).any(|bit| {
            let (a, b) = (a << bit, b << bit);
            missing == [a, b] || missing == [a.wrapping_neg(), b.wrapping_neg()]
        })
    };
    (0..pairs).any(|_| {
        let found = reaches(first) || reaches(second);
        (first, second) = (next(first), next(second));
        found
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn pair(bytes: &[u8], at: usize) -> Option<[u32; 2]> {
    Some([word(bytes, at)?, word(bytes, at + 4)?])
}

/// The size of a page, as the head of the log tells. A changed bit makes it no size that a page can have.
fn page_size(log: &[u8]) -> usize {
    match word(log, 8).and_then(|size| usize::try_from(size).ok()) {
        Some(size @ 512..=65536) if size.is_power_of_two() => size,
        _ => USUAL_PAGE,
    }
}
