//! Disks that are full, and what is done on them.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use pollster::block_on;
use turnkeep_model::Seq;
use turnkeep_store::{ErrorKind, Retention, StoreExt, open};
use turnkeep_testkit::laws::store::{id, said};

/// A small disk of its own. Only root can make one.
pub(crate) struct Disk(tempfile::TempDir);

impl Disk {
    /// A disk of this many bytes, unless none can be made here.
    pub(crate) fn of(bytes: u64) -> Option<Disk> {
        let folder = tempfile::TempDir::new().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"])
            .arg(folder.path())
            .output()
            .is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("skipped: no disk can be mounted here");
        }
        mounted.then_some(Disk(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes until there is no room, but for `spare` bytes.
    pub(crate) fn fill(&self, spare: u64) {
        let mut file = fs::File::create(self.path().join("filler")).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
        file.set_len(file.metadata().unwrap().len().saturating_sub(spare)).unwrap();
    }

    fn make_room(&self) {
        fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

/// A text that does not become smaller.
fn noise(seed: u64, length: usize) -> String {
    let mut random = seed | 1;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:08x}", random >> 32)
    };
    (0..length / 8).map(|_| next()).collect()
}

/// Cleans a store on a full disk: it ends with the truth, and goes on when there is room.
fn gc_on_a_full_disk(scheme: &str) {
    for spare in [0, 64 << 10, 256 << 10, 1 << 20] {
        gc_with_little_room(scheme, spare);
    }
}

fn gc_with_little_room(scheme: &str, spare: u64) {
    let Some(disk) = Disk::of(8 << 20) else { return };
    let url = format!("{scheme}:{}", disk.path().join("store").display());
    let store = open(&url).unwrap();
    for n in 0..8u64 {
        let session = id(&format!("s{n}"));
        block_on(store.append(&session, Seq::START, &said(Seq(0), &noise(n, 200_000)))).unwrap();
    }
    drop(store);
    let store = open(&url).unwrap();
    disk.fill(spare);
    let one = Retention { count: Some(1), ..Retention::default() };

    let cleaned = block_on(store.maintenance().unwrap().gc(&one));

    let left = (0..8).filter(|n| block_on(store.last(&id(&format!("s{n}")))).is_ok()).count();
    match &cleaned {
        Ok(freed) => assert_eq!((freed.sessions.len(), left), (7, 1)),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Io, "{error}");
            assert!(error.remedy().unwrap().contains("make room"), "{:?}", error.remedy());
            let told = match 8 - left {
                0 => "the store's database failed".to_owned(),
                1 => "1 session was removed".to_owned(),
                removed => format!("{removed} sessions were removed"),
            };
            assert!(error.to_string().contains(&told), "{left} are left: {error}");
        }
    }
    eprintln!("{scheme} with {spare} bytes: {:?}", cleaned.map(|freed| freed.sessions.len()));
    assert_eq!(block_on(store.repair().unwrap().check(None)).unwrap(), []);
    disk.make_room();
    block_on(store.maintenance().unwrap().gc(&one)).unwrap();
    let left: Vec<_> = block_on(store.list(&Default::default())).unwrap().sessions;
    let [kept] = left.as_slice() else { panic!("{} sessions are left", left.len()) };
    block_on(store.append(&kept.id, kept.last, &said(kept.last, "on"))).unwrap();
    assert_eq!(block_on(store.verify(&kept.id)).unwrap().findings, []);
}

/// Opens a store on a full disk and reads it, or is told to make room.
fn open_on_a_full_disk(scheme: &str) {
    let Some(disk) = Disk::of(8 << 20) else { return };
    let url = format!("{scheme}:{}", disk.path().join("store").display());
    block_on(open(&url).unwrap().append(&id("s"), Seq::START, &said(Seq(0), "kept"))).unwrap();
    disk.fill(0);

    let read = open(&url).and_then(|store| block_on(store.last(&id("s"))));

    match read {
        Ok(last) => assert_eq!(last, Seq(1)),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Io, "{error}");
            assert!(error.remedy().unwrap().contains("make room"), "{error}: {:?}", error.remedy());
        }
    }
    disk.make_room();
    assert_eq!(block_on(open(&url).unwrap().last(&id("s"))).unwrap(), Seq(1));
}

#[test]
fn file_is_opened_on_a_full_disk() {
    open_on_a_full_disk("file");
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_is_opened_on_a_full_disk() {
    open_on_a_full_disk("sqlite");
}

#[test]
fn file_is_cleaned_on_a_full_disk() {
    gc_on_a_full_disk("file");
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_is_cleaned_on_a_full_disk() {
    gc_on_a_full_disk("sqlite");
}
