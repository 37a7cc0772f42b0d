//! Files: limits, atomic saving, walks, opening.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use turnkeep_file::{Limits, OpenOptions, read, read_from, save, save_session, walk};
use turnkeep_model::{Author, Block, ErrorKind, Session, Turn};

fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn session() -> Session {
    let blocks = vec![Block::text(Author::User, "Say hi.").in_message(0)];
    Session { turns: vec![Turn { blocks, ..Turn::default() }], ..Session::default() }
}

fn files_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_missing_file_is_not_found_and_named() {
    let error = read(Path::new("no/such/file"), &Limits::default()).unwrap_err();

    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().starts_with("no/such/file: is not there"), "{error}");
    assert!(error.remedy().is_some());
}

#[test]
fn a_directory_is_not_a_file() {
    let directory = directory();

    let error = read(directory.path(), &Limits::default()).unwrap_err();

    assert!(error.to_string().ends_with("is a directory, and a file is meant"), "{error}");
}

#[test]
fn the_limit_is_exact_for_files_and_readers() {
    let directory = directory();
    let path = directory.path().join("f");
    fs::write(&path, b"12345").unwrap();

    assert_eq!(read(&path, &Limits { max_bytes: 5 }).unwrap(), b"12345");
    assert_eq!(read_from(Cursor::new(b"12345"), "x", &Limits { max_bytes: 5 }).unwrap(), b"12345");
    for error in [
        read(&path, &Limits { max_bytes: 4 }).unwrap_err(),
        read_from(Cursor::new(b"12345"), "x", &Limits { max_bytes: 4 }).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.to_string().contains("the limit is 4 bytes"), "{error}");
        assert_eq!(error.remedy(), Some("raise the limit with --max-bytes"));
    }
}

#[test]
fn saving_replaces_and_leaves_nothing_beside() {
    let directory = directory();
    let path = directory.path().join("f");

    save(&path, b"old").unwrap();
    save(&path, b"new").unwrap();

    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(files_in(directory.path()), ["f"]);
}

#[test]
fn saving_into_a_missing_directory_says_how_to_make_it() {
    let directory = directory();

    let error = save(&directory.path().join("a/b/f"), b"x").unwrap_err();

    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.remedy().unwrap().starts_with("make it with: mkdir -p "), "{error}");
}

#[test]
fn saving_over_a_directory_is_refused() {
    let directory = directory();

    let error = save(directory.path(), b"x").unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Io);
}

#[test]
fn walking_is_recursive_sorted_and_skips_hidden_ones() {
    let directory = directory();
    for name in ["b/c.json", "a.yaml", ".hidden", ".git/x", "b/.y"] {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    assert_eq!(walk(directory.path()).unwrap(), [PathBuf::from("a.yaml"), PathBuf::from("b/c.json")]);
}

#[test]
fn a_session_saved_in_every_native_format_opens_equal() {
    let directory = directory();
    for format in ["turnkeep", "turnkeep:pretty", "turnkeep.yaml", "turnkeep.jsonl"] {
        let path = directory.path().join("session");

        let losses = save_session(&session(), &path, format).unwrap();
        let opened = turnkeep_file::open(&path).unwrap();

        assert_eq!(losses, []);
        assert_eq!(opened.session(), Some(&session()));
        assert_eq!(opened.format, format.split(':').next().unwrap());
        assert!(opened.guess.is_some_and(|guess| !guess.why.is_empty()));
    }
}

#[test]
fn bytes_readers_and_writers_work_without_a_file() {
    let mut bytes = Vec::new();

    turnkeep_file::encode_to(&session(), &mut bytes, "turnkeep.yaml").unwrap();

    assert_eq!(turnkeep_file::decode(&bytes).unwrap().session(), Some(&session()));
    assert_eq!(turnkeep_file::decode_from(Cursor::new(bytes)).unwrap().session(), Some(&session()));
}

#[test]
fn errors_of_decoding_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    fs::write(&path, "{\n  oops").unwrap();

    let error = OpenOptions::default().open(&path).unwrap_err();

    assert!(error.to_string().starts_with(&format!("{}:2:3: ", path.display())), "{error}");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn permissions_of_an_existing_file_stay() {
        let directory = directory();
        let path = directory.path().join("f");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o646)).unwrap();

        save(&path, b"new").unwrap();

        assert_eq!(mode(&path), 0o646);
    }

    #[test]
    fn a_new_file_gets_the_permissions_that_any_new_file_gets() {
        let directory = directory();
        let (ours, plain) = (directory.path().join("ours"), directory.path().join("plain"));
        fs::write(&plain, "").unwrap();

        save(&ours, b"new").unwrap();

        assert_eq!(mode(&ours), mode(&plain));
    }

    #[test]
    fn a_symbolic_link_stays_and_its_target_changes() {
        let directory = directory();
        let (link, target) = (directory.path().join("link"), directory.path().join("target"));
        symlink("target", &link).unwrap();

        save(&link, b"first").unwrap();
        save(&link, b"second").unwrap();

        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"second");
    }

    #[test]
    fn links_in_a_circle_are_an_error() {
        let directory = directory();
        symlink("b", directory.path().join("a")).unwrap();
        symlink("a", directory.path().join("b")).unwrap();

        assert_eq!(save(&directory.path().join("a"), b"x").unwrap_err().kind(), ErrorKind::Io);
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        save(Path::new("/dev/null"), b"x").unwrap();

        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_read_only_file_is_left_alone() {
        let directory = directory();
        let path = directory.path().join("f");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();

        assert!(save(&path, b"new").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
}

#[test]
fn a_bundle_is_one_source_with_its_files_and_one_limit() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("logs")).unwrap();
    fs::write(folder.path().join("manifest.json"), "{}").unwrap();
    fs::write(folder.path().join("logs/app.jsonl"), "1234").unwrap();

    let source = turnkeep_file::Source::read(folder.path(), &Limits::default()).unwrap();
    let refused = turnkeep_file::Source::read(folder.path(), &Limits { max_bytes: 5 }).unwrap_err();

    assert_eq!(source.input().bytes(), b"{}");
    assert_eq!(source.input().file("logs/app.jsonl"), Some(b"1234".as_slice()));
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
}

#[test]
fn a_turn_is_saved_and_loaded_by_path() {
    use turnkeep_codec::format::geppetto::{self, Options, from_yaml, to_yaml};
    use turnkeep_file::{load_turn_json, load_turn_yaml, save_turn_json, save_turn_yaml};
    let directory = directory();
    let (yaml, json) = (directory.path().join("turn.yaml"), directory.path().join("turn.json"));
    let turn = from_yaml(b"id: t1\nblocks:\n  - {kind: llm_text, payload: {text: Hi.}}\n").unwrap();

    save_turn_yaml(&yaml, &turn, Options::default()).unwrap();
    save_turn_json(&json, &turn, Options::default()).unwrap();

    // Where a block stands in its file is not part of what it says.
    let text = |turn: &geppetto::Turn| to_yaml(turn, Options::default());
    assert_eq!(text(&load_turn_yaml(&yaml).unwrap()), text(&turn));
    assert_eq!(text(&load_turn_json(&json).unwrap()), text(&turn));
    let error = load_turn_yaml(directory.path().join("none.yaml")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    fs::write(&yaml, "blocks: 7\n").unwrap();
    assert!(load_turn_yaml(&yaml).unwrap_err().to_string().contains("turn.yaml:1"));
}
