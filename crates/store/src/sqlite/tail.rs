//! Commits at the end of the write-ahead log that SQLite cannot reach.
//!
//! A page of the log whose sum is wrong ends the log for SQLite, which takes everything after it for the leavings of a
//! write that was cut off, and says nothing. If a commit stands there all the same, something was lost: the power, with
//! writes that were not synced yet, or a bit. What is behind is looked at before SQLite begins the log anew.

use std::fs;
use std::path::Path;

/// What stands before all pages of the log, and before each.
const HEADER: usize = 32;
const FRAME: usize = 24;

/// The size of a page where the database does not tell.
const USUAL_PAGE: usize = 4096;

/// How many commits of the log of this database cannot be reached.
pub(super) fn unreachable_commits(database: &Path) -> usize {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    let read = || Some(Log { bytes: fs::read(&name).ok()?, page: page_size(database) });
    let Some(first) = read().map(|log| log.broken()) else {
        return 0;
    };
    if first.commits == 0 {
        return 0;
    }
    // Someone may be writing: then it is elsewhere by now.
    read().map(|log| log.broken()).filter(|again| *again == first).map_or(0, |broken| broken.commits)
}

/// Where a log ends for SQLite, and how many commits stand behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Broken {
    at: usize,
    commits: usize,
}

struct Log {
    bytes: Vec<u8>,
    page: usize,
}

impl Log {
    fn broken(&self) -> Broken {
        let header = self.bytes.get(..HEADER).unwrap_or_default();
        let salts = header.get(16..24).unwrap_or_default();
        let order = Order::of(header);
        let mut sum = order.sum([0, 0], header.get(..24).unwrap_or_default());
        let mut frames = self.bytes.get(HEADER..).unwrap_or_default().chunks(FRAME + self.page);
        let mut at = 0;
        if Some(sum) == pair(header, 24) {
            for frame in frames.by_ref() {
                sum = order
                    .sum(order.sum(sum, frame.get(..8).unwrap_or_default()), frame.get(FRAME..).unwrap_or_default());
                if Some(sum) != pair(frame, 16) || frame.get(8..16) != Some(salts) {
                    let commits =
                        usize::from(is_commit(frame, salts)) + frames.filter(|frame| is_commit(frame, salts)).count();
                    return Broken { at, commits };
                }
                at += 1;
            }
        }
        Broken { at, commits: frames.filter(|frame| is_commit(frame, salts)).count() }
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

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn pair(bytes: &[u8], at: usize) -> Option<[u32; 2]> {
    Some([word(bytes, at)?, word(bytes, at + 4)?])
}

/// The size of a page of a database, as its first page says.
fn page_size(database: &Path) -> usize {
    use std::io::Read;
    let mut start = [0; 18];
    let read = fs::File::open(database).and_then(|mut file| file.read_exact(&mut start));
    match (read, start) {
        (Ok(()), [.., 0, 1]) => 1 << 16,
        (Ok(()), [.., high, low]) if high >= 2 && low == 0 && high.is_power_of_two() => usize::from(high) << 8,
        _ => USUAL_PAGE,
    }
}
