//! What holds for folders of journals beyond the laws.

use std::fs;
use std::path::{Path, PathBuf};

use pollster::block_on;
use turnkeep_model::Seq;
use turnkeep_store::{ErrorKind, StoreExt};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{id, said, talk};

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_files_and_look_into_the_folder() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new("file");
    let store = home.open();
    let last = block_on(talk(&*store, &id("s"), 2));
    block_on(store.fork(&id("s"), last, &id("fork"))).unwrap();
    block_on(store.maintenance().unwrap().erase(&id("s"), None, "question")).unwrap();
    block_on(store.delete(&id("s"))).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;

    let files: Vec<PathBuf> = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path()).collect();

    assert_eq!(mode(&home.path()), 0o700);
    assert_eq!(files.len(), 4, "two journals, a mark and a lock: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

/// Every version of the folder that was released.
const VERSIONS: [u32; 1] = [1];

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/store/file-v{version}"))
}

/// A home with the files of a frozen folder.
fn thawed(version: u32) -> Home {
    let home = Home::new("file");
    fs::create_dir(home.path()).unwrap();
    for entry in fs::read_dir(fixture(version)).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, home.path().join(file.file_name().unwrap())).unwrap();
    }
    home
}

#[test]
fn folders_of_every_version_open() {
    for version in VERSIONS {
        let home = thawed(version);
        let store = home.open();

        assert_eq!(block_on(store.load(&id("kept"))).unwrap().session.turns.len(), 3);
        assert_eq!(block_on(store.load(&id("fork"))).unwrap().session.logs, ["on"]);
        assert_eq!(block_on(store.load(&id("orphan"))).unwrap().session.turns.len(), 1);
        assert!(block_on(store.load(&id("gone"))).is_err());
        for name in ["kept", "fork", "orphan"] {
            assert_eq!(block_on(store.verify(&id(name))).unwrap().findings, []);
        }
        assert_eq!(block_on(store.append(&id("kept"), Seq(19), &said(Seq(19), "on"))).unwrap(), Seq(20));
    }
}

#[test]
fn journals_of_a_newer_version_are_refused_unchanged() {
    let home = thawed(1);
    let file = home.path().join("kept.turnkeep.jsonl");
    let newer = fs::read_to_string(&file).unwrap().replacen("{\"turnkeep\":1,", "{\"turnkeep\":99,", 1);
    fs::write(&file, &newer).unwrap();
    let store = home.open();

    let read = block_on(store.journal(&id("kept"))).unwrap_err();
    let appended = block_on(store.append(&id("kept"), Seq(19), &said(Seq(19), "on"))).unwrap_err();

    assert_eq!((read.kind(), appended.kind()), (ErrorKind::Unsupported, ErrorKind::Unsupported));
    assert!(read.to_string().contains("version 99"), "{read}");
    assert_eq!(fs::read_to_string(&file).unwrap(), newer);
}

#[test]
#[ignore = "run once for every version of the folder that is released; frozen files are never written again"]
fn freezes_a_folder_of_this_version() {
    let home = Home::new("file");
    let store = home.open();
    for name in ["kept", "gone"] {
        block_on(talk(&*store, &id(name), 3));
    }
    block_on(store.fork(&id("kept"), Seq(7), &id("fork"))).unwrap();
    block_on(store.append(&id("fork"), Seq(7), &said(Seq(7), "on"))).unwrap();
    block_on(store.fork(&id("gone"), Seq(7), &id("orphan"))).unwrap();
    block_on(store.delete(&id("gone"))).unwrap();
    let frozen = fixture(VERSIONS[VERSIONS.len() - 1]);
    assert!(!frozen.exists(), "{} is frozen already", frozen.display());
    fs::create_dir(&frozen).unwrap();
    for entry in fs::read_dir(home.path()).unwrap() {
        let file = entry.unwrap().path();
        if !file.ends_with(".lock") {
            fs::copy(&file, frozen.join(file.file_name().unwrap())).unwrap();
        }
    }
}
