//! Ten times as many sessions are at most twelve times as much work, counted in what a store asks of its disk and what
//! others ask of a store.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pollster::block_on;
use turnkeep_model::{Batch, Seq, SessionId};
use turnkeep_store::disk::{Disk, Stat};
use turnkeep_store::{
    Accounting, Batches, BoxFuture, Copying, Deleted, FileStore, Maintenance, MemoryStore, Options, Page, Query,
    Repair, Result, Retention, Store, StoreExt,
};
use turnkeep_testkit::disk::SimDisk;
use turnkeep_testkit::laws::store::{id, said};

const FEW: usize = 30;

/// A disk that counts what it is asked.
#[derive(Default)]
struct CountingDisk {
    disk: SimDisk,
    asked: AtomicUsize,
}

impl CountingDisk {
    fn asked(&self) -> &SimDisk {
        self.asked.fetch_add(1, Ordering::Relaxed);
        &self.disk
    }
}

impl Disk for CountingDisk {
    fn stat(&self, file: &Path) -> io::Result<Option<Stat>> {
        self.asked().stat(file)
    }

    fn read(&self, file: &Path, from: u64, length: u64) -> io::Result<Vec<u8>> {
        self.asked().read(file, from, length)
    }

    fn append(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        self.asked().append(file, bytes)
    }

    fn truncate(&self, file: &Path, length: u64) -> io::Result<()> {
        self.asked().truncate(file, length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.asked().rename(from, to)
    }

    fn sync(&self, file: &Path) -> io::Result<()> {
        self.asked().sync(file)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.asked().sync_folder(folder)
    }

    fn remove(&self, file: &Path) -> io::Result<()> {
        self.asked().remove(file)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.asked().list(folder)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        self.asked().make_folder(folder)
    }

    fn lock(&self, file: &Path) -> io::Result<Box<dyn Send>> {
        self.asked().lock(file)
    }
}

/// A store of so many sessions, each with a fork, and its disk.
fn filled(sessions: usize) -> (FileStore, Arc<CountingDisk>) {
    let disk = Arc::new(CountingDisk::default());
    let store = FileStore::on(disk.clone(), Path::new("/store"), Options::default()).unwrap();
    for n in 0..sessions {
        let name = id(&format!("s{n}"));
        block_on(store.append(&name, Seq::START, &said(Seq::START, "a"))).unwrap();
        block_on(store.fork(&name, Seq(1), &id(&format!("f{n}")))).unwrap();
    }
    (store, disk)
}

/// How often the disk is asked by this work.
fn asked(sessions: usize, work: impl Fn(&FileStore)) -> usize {
    let (store, disk) = filled(sessions);
    let before = disk.asked.load(Ordering::Relaxed);
    work(&store);
    disk.asked.load(Ordering::Relaxed) - before
}

fn grows_linearly(work: impl Fn(&FileStore)) {
    let (few, many) = (asked(FEW, &work), asked(10 * FEW, &work));
    assert!(many <= 12 * few, "{few} for {FEW} sessions, {many} for ten times as many");
}

#[test]
fn a_listing_grows_linearly() {
    grows_linearly(|store| drop(block_on(store.list(&Query { limit: usize::MAX, ..Query::default() })).unwrap()));
}

#[test]
fn listing_by_metadata_grows_linearly() {
    let query = Query { limit: usize::MAX, ..Query::default() };
    grows_linearly(|store| drop(block_on(store.list_by_metadata(&query, &|_| true)).unwrap()));
}

#[test]
fn an_account_grows_linearly() {
    grows_linearly(|store| drop(block_on(store.usage()).unwrap()));
}

#[test]
fn verifying_everything_grows_linearly() {
    grows_linearly(|store| {
        for summary in block_on(Copying::all(store)).unwrap().sessions() {
            assert_eq!(block_on(store.verify(&summary.id)).unwrap().findings, []);
        }
        assert_eq!(block_on(store.check(None)).unwrap(), []);
    });
}

#[test]
fn collecting_grows_linearly() {
    grows_linearly(|store| {
        let retention = Retention { count: Some(0), ..Retention::default() };
        let freed = block_on(store.gc(&retention)).unwrap();
        assert_eq!(block_on(store.list(&Query::default())).unwrap().sessions, []);
        assert_eq!(freed.sessions.len() % FEW, 0);
    });
}

/// A store that counts how often it is listed.
#[derive(Default)]
struct CountingStore {
    store: MemoryStore,
    listed: AtomicUsize,
}

impl Store for CountingStore {
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>> {
        self.store.append(session, at, batch)
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        self.store.read(session, after)
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Page>> {
        self.listed.fetch_add(1, Ordering::Relaxed);
        self.store.list(query)
    }

    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>> {
        self.store.fork(session, at, child)
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>> {
        self.store.delete(session)
    }
}

fn many() -> CountingStore {
    let store = CountingStore::default();
    for n in 0..2_000 {
        block_on(store.append(&id(&format!("s{n}")), Seq::START, &said(Seq::START, "a"))).unwrap();
    }
    store
}

#[test]
fn all_sessions_are_listed_at_once() {
    let store = many();

    let copying = block_on(Copying::all(&store)).unwrap();

    assert_eq!((copying.sessions().len(), store.listed.into_inner()), (2_000, 1));
}

#[test]
fn two_pages_of_candidates_are_listed_for_metadata_at_most() {
    let store = many();

    let page = block_on(store.list_by_metadata(&Query { limit: 50, ..Query::default() }, &|_| false)).unwrap();

    assert_eq!((page, store.listed.into_inner()), (Page::default(), 2));
}

#[test]
fn parents_come_before_their_forks_however_long_the_line_is() {
    let store = MemoryStore::default();
    let name = |n: usize| id(&format!("{:05}", 3_000 - n));
    block_on(store.append(&name(0), Seq::START, &said(Seq::START, "a"))).unwrap();
    for n in 1..3_000 {
        block_on(store.fork(&name(n - 1), Seq(1), &name(n))).unwrap();
    }

    let copying = block_on(Copying::all(&store)).unwrap();

    let listed: Vec<&SessionId> = copying.sessions().iter().map(|summary| &summary.id).collect();
    let wanted: Vec<SessionId> = (0..3_000).map(name).collect();
    assert_eq!(listed, wanted.iter().collect::<Vec<_>>());
}
