//! The write-ahead log of an SQLite database: what was committed but not yet moved into the file.

use std::collections::BTreeMap;

use turnkeep_model::{Error, ErrorKind, Loss, LossKind, Result};

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The only version of the log there is.
const VERSION: u32 = 3_007_000;

/// The database with its log applied: every complete transaction, and nothing after the last one.
pub(super) fn apply(mut database: Vec<u8>, wal: &[u8], losses: &mut Vec<Loss>) -> Result<Vec<u8>> {
    if wal.is_empty() {
        return Ok(database);
    }
    let Some(log) = Log::open(wal) else {
        losses.push(loss("the log beside the database has no valid start and was not applied"));
        return Ok(database);
    };
    if let Some(size) = page_size(&database)
        && size != log.page_size
    {
        return Err(Error::new(ErrorKind::Corrupt, "the log beside the database has another page size")
            .hint("keep the database and its -wal file of the same moment together"));
    }
    let page_size = log.page_size;
    let committed = log.committed(losses);
    let Some(pages) = committed.pages else { return Ok(database) };
    let largest = database.len() / page_size + committed.frames;
    if pages as usize > largest {
        return Err(Error::new(ErrorKind::Corrupt, "the log beside the database claims more pages than there are"));
    }
    database.resize(pages as usize * page_size, 0);
    for (page, content) in committed.content {
        let from = (page as usize).saturating_sub(1) * page_size;
        if let Some(place) = database.get_mut(from..from + page_size) {
            place.copy_from_slice(content);
        }
    }
    Ok(database)
}

/// The page size that a database's header names.
fn page_size(database: &[u8]) -> Option<usize> {
    match u16::from_be_bytes(database.get(16..18)?.try_into().ok()?) {
        1 => Some(65536),
        size => Some(usize::from(size)),
    }
}

fn loss(what: impl Into<String>) -> Loss {
    Loss::decode(LossKind::Dropped, "", what)
}

struct Log<'a> {
    frames: &'a [u8],
    page_size: usize,
    salt: &'a [u8],
    big_endian: bool,
    sum: (u32, u32),
}

/// What the complete transactions of a log hold.
#[derive(Default)]
struct Committed<'a> {
    /// The newest content of each page.
    content: BTreeMap<u32, &'a [u8]>,
    /// How many pages the database has then.
    pages: Option<u32>,
    /// How many frames were committed.
    frames: usize,
}

/// One page of a log.
struct Frame<'a> {
    page: u32,
    pages_after: u32,
    content: &'a [u8],
}

enum WalItem<'a> {
    Frame(Frame<'a>),
    /// Left over from an older log.
    Stale,
    Damaged,
    End,
}

impl<'a> Log<'a> {
    fn open(wal: &'a [u8]) -> Option<Log<'a>> {
        let (header, frames) = wal.split_at_checked(HEADER)?;
        let big_endian = match number(header, 0)? {
            0x377f_0682 => false,
            0x377f_0683 => true,
            _ => return None,
        };
        let page_size = number(header, 8)? as usize;
        if number(header, 4)? != VERSION || !(512..=65536).contains(&page_size) || !page_size.is_power_of_two() {
            return None;
        }
        let sum = checksum(header.get(..24)?, (0, 0), big_endian);
        let log = Log { frames, page_size, salt: header.get(16..24)?, big_endian, sum };
        (sum == (number(header, 24)?, number(header, 28)?)).then_some(log)
    }

    fn committed(mut self, losses: &mut Vec<Loss>) -> Committed<'a> {
        let mut committed = Committed::default();
        let mut open: Vec<Frame<'a>> = Vec::new();
        loop {
            match self.next_item() {
                WalItem::Frame(frame) => {
                    let commit = frame.pages_after;
                    open.push(frame);
                    if commit > 0 {
                        committed.pages = Some(commit);
                        committed.frames += open.len();
                        committed.content.extend(open.drain(..).map(|frame| (frame.page, frame.content)));
                    }
                }
                WalItem::Damaged => {
                    losses
                        .push(loss("the log beside the database is cut or damaged; what was committed before is read"));
                    return committed;
                }
                WalItem::Stale | WalItem::End => break,
            }
        }
        if !open.is_empty() {
            losses.push(loss("the last transaction in the log beside the database was never finished and is left out"));
        }
        committed
    }

    fn next_item(&mut self) -> WalItem<'a> {
        if self.frames.is_empty() {
            return WalItem::End;
        }
        let Some((header, rest)) = self.frames.split_at_checked(FRAME_HEADER) else { return WalItem::Damaged };
        if header.get(8..16) != Some(self.salt) {
            return WalItem::Stale;
        }
        let Some((content, rest)) = rest.split_at_checked(self.page_size) else { return WalItem::Damaged };
        let sum = checksum(header.get(..8).unwrap_or_default(), self.sum, self.big_endian);
        let sum = checksum(content, sum, self.big_endian);
        let field = |at| number(header, at).unwrap_or_default();
        if sum != (field(16), field(20)) || field(0) == 0 {
            return WalItem::Damaged;
        }
        self.sum = sum;
        self.frames = rest;
        WalItem::Frame(Frame { page: field(0), pages_after: field(4), content })
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

/// SQLite's running sum over pairs of words.
fn checksum(bytes: &[u8], start: (u32, u32), big_endian: bool) -> (u32, u32) {
    let word = |bytes: &[u8]| {
        let bytes = bytes.try_into().unwrap_or_default();
        if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    bytes.chunks_exact(8).fold(start, |(a, b), pair| {
        let (first, second) = pair.split_at(4);
        let a = a.wrapping_add(word(first)).wrapping_add(b);
        (a, b.wrapping_add(word(second)).wrapping_add(a))
    })
}
