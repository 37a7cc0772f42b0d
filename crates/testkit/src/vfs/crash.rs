//! Files as a loss of power leaves them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::{FileChange, FileOp};

/// What becomes of changes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// None of them came to the disk.
    All,
    /// All of them did.
    Nothing,
    /// Some did, in no order, and some of those only in part; which ones follows from the number.
    Some(u64),
}

#[derive(Default)]
struct Disk {
    synced: Option<Vec<u8>>,
    waiting: Vec<FileOp>,
}

/// Writes the files into `folder` as they are if the power goes after these changes.
///
/// # Errors
/// Where a file cannot be written.
pub fn restore(changes: &[FileChange], lost: Lost, folder: &Path) -> io::Result<()> {
    let mut disks: BTreeMap<&str, Disk> = BTreeMap::new();
    for FileChange { file, op } in changes {
        disks.entry(file).or_default().take(op);
    }
    for (name, disk) in disks {
        if let Some(bytes) = disk.left(lost) {
            fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}

impl Disk {
    fn take(&mut self, op: &FileOp) {
        match op {
            FileOp::Sync => {
                let mut bytes = self.synced.take().unwrap_or_default();
                self.waiting.drain(..).for_each(|op| apply(&mut bytes, &op));
                self.synced = Some(bytes);
            }
            // SQLite removes a log when all of it is elsewhere; either order of that and a loss of power is the same.
            FileOp::Remove => *self = Disk::default(),
            FileOp::Write(..) | FileOp::Cut(_) => self.waiting.push(op.clone()),
        }
    }

    /// What is there after the loss.
    fn left(self, lost: Lost) -> Option<Vec<u8>> {
        let Disk { synced, waiting } = self;
        let kept: Vec<FileOp> = match lost {
            Lost::All => Vec::new(),
            Lost::Nothing => waiting,
            Lost::Some(seed) => waiting.into_iter().zip(0..).filter_map(|(op, n)| some(op, mix(seed, n))).collect(),
        };
        if kept.is_empty() {
            return synced;
        }
        let mut bytes = synced.unwrap_or_default();
        kept.iter().for_each(|op| apply(&mut bytes, op));
        Some(bytes)
    }
}

/// An operation that came to the disk, came in part, or did not come.
fn some(op: FileOp, random: u64) -> Option<FileOp> {
    match (random % 3, op) {
        (0, _) => None,
        (1, FileOp::Write(at, mut bytes)) => {
            // A disk writes whole sectors.
            let sectors = bytes.len() / 512;
            bytes.truncate(512 * usize::try_from(random >> 8).unwrap_or_default().checked_rem(sectors).unwrap_or(0));
            Some(FileOp::Write(at, bytes))
        }
        (_, op) => Some(op),
    }
}

fn mix(seed: u64, n: u64) -> u64 {
    let mut random = (seed ^ n.rotate_left(32)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    random = (random ^ (random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    random = (random ^ (random >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    random ^ (random >> 31)
}

fn apply(bytes: &mut Vec<u8>, op: &FileOp) {
    match op {
        FileOp::Write(at, written) => {
            let at = usize::try_from(*at).unwrap_or(usize::MAX);
            let end = at.saturating_add(written.len());
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            if let Some(place) = bytes.get_mut(at..end) {
                place.copy_from_slice(written);
            }
        }
        FileOp::Cut(length) => bytes.resize(usize::try_from(*length).unwrap_or(usize::MAX), 0),
        FileOp::Sync | FileOp::Remove => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_synced_stays_and_the_rest_may_go() {
        let change = |op| FileChange { file: "f".to_owned(), op };
        let changes = [
            change(FileOp::Write(0, b"abcd".to_vec())),
            change(FileOp::Sync),
            change(FileOp::Write(2, b"XYZ".to_vec())),
            change(FileOp::Cut(4)),
        ];
        let after = |lost| {
            let folder = tempfile::tempdir().unwrap();
            restore(&changes, lost, folder.path()).unwrap();
            fs::read(folder.path().join("f")).unwrap()
        };

        assert_eq!(after(Lost::All), b"abcd");
        assert_eq!(after(Lost::Nothing), b"abXY");
    }
}
