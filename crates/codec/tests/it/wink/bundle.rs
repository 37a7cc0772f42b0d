//! Debug bundles: folders and zip files, good and hostile.

use std::fs;
use std::path::Path;

use turnkeep_codec::{Confidence, DecodeOptions, Decoded, EncodeOptions, Input, format, sniff};
use turnkeep_model::{Error, ErrorKind, Status};

use super::fixtures;

type Files = Vec<(String, Vec<u8>)>;

fn folder(case: &str) -> Files {
    let root = fixtures().join("wink.bundle").join(case).join("debug_bundle");
    let mut files = Files::new();
    walk(&root, &root, &mut files);
    files
}

fn walk(root: &Path, at: &Path, files: &mut Files) {
    for entry in fs::read_dir(at).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            files.push((name, fs::read(&path).unwrap()));
        }
    }
}

fn open(files: &Files, options: &DecodeOptions) -> Result<Decoded, Error> {
    let manifest = files.iter().find(|(name, _)| name == "manifest.json").map_or(&b"{}"[..], |(_, bytes)| bytes);
    format::by_id("wink.bundle")?.decode(Input::new(manifest).with_files(files), options)
}

#[cfg(feature = "zip")]
fn unzip(bytes: &[u8]) -> Result<Decoded, Error> {
    format::by_id("wink.bundle")?.decode(Input::new(bytes).named("b.zip"), &DecodeOptions::default())
}

/// A zip file of stored files.
#[cfg(feature = "zip")]
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let offset = out.len() as u32;
        let mut head = Vec::new();
        head.extend([20, 0, 0, 0, 0, 0, 0, 0, 33, 0]);
        head.extend(crc(content).to_le_bytes());
        head.extend((content.len() as u32).to_le_bytes());
        head.extend((content.len() as u32).to_le_bytes());
        head.extend((name.len() as u16).to_le_bytes());
        head.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&head);
        out.extend(name.as_bytes());
        out.extend(*content);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&head);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\x00\x00\x00\x00");
    out.extend((files.len() as u16).to_le_bytes());
    out.extend((files.len() as u16).to_le_bytes());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

#[cfg(feature = "zip")]
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[test]
fn a_folder_is_a_session_with_its_state_and_what_was_said() {
    let decoded = open(&folder("ok"), &DecodeOptions::default()).unwrap();
    let session = decoded.archive.main_session().unwrap();
    assert_eq!(session.id.as_ref().unwrap().as_str(), "d4387c8e-fee4-4408-92c7-c2c540619ce8");
    assert_eq!(session.slices.len(), 7);
    assert!(session.blocks().count() >= 3, "{:?}", session.turns);
    assert!(matches!(session.status, Some(Status::Completed(_))));
    assert_eq!((session.usage.input, session.usage.total, session.usage.requests), (Some(5), Some(7), Some(1)));
    let prompt = session.prompt.as_ref().unwrap();
    assert_eq!((prompt.ns.as_str(), prompt.key.as_str()), ("demo", "chat"));
    assert_eq!(decoded.archive.sessions.len(), 2);
    // The fixture was stripped of its readme and of what it says about the machine.
    assert!(decoded.losses.iter().any(|loss| loss.what.contains("README.txt")));
    assert!(decoded.losses.iter().all(|loss| loss.what.contains("not there")));
}

#[test]
fn a_failed_run_says_why() {
    let decoded = open(&folder("fail"), &DecodeOptions::default()).unwrap();
    let session = decoded.archive.main_session().unwrap();
    let Some(Status::Failed(failed)) = &session.status else { panic!() };
    assert_eq!(failed.error, "provider exploded");
    assert_eq!(session.slices.len(), 2);
    assert_eq!(session.runs.len(), 1);
}

#[cfg(feature = "zip")]
#[test]
fn a_zip_file_holds_the_same() {
    let bytes = fs::read(fixtures().join("wink.bundle/ok_zip/input.zip")).unwrap();
    let folder = open(&folder("ok"), &DecodeOptions::default()).unwrap();
    assert_eq!(unzip(&bytes).unwrap().archive, folder.archive);
    assert_eq!(sniff(&Input::new(&bytes)).unwrap().codec.spec().id, "wink.bundle");
}

#[test]
fn a_folder_is_recognised_by_its_manifest() {
    let files = folder("ok");
    let manifest = &files.iter().find(|(name, _)| name == "manifest.json").unwrap().1;
    let input = Input::new(manifest).with_files(&files);
    let certain: Vec<_> = format::ALL
        .iter()
        .filter(|codec| codec.sniff(&input).confidence == Confidence::Certain)
        .map(|codec| codec.spec().id)
        .collect();
    assert_eq!(certain, ["wink.bundle"]);
}

#[test]
fn a_changed_file_is_found_by_its_sum_and_the_original_does_not_look() {
    let mut files = folder("ok");
    let config = files.iter_mut().find(|(name, _)| name == "config.json").unwrap();
    config.1.push(b' ');
    let error = open(&files, &DecodeOptions::default()).unwrap_err();
    assert_eq!((error.kind(), error.at_path()), (ErrorKind::Corrupt, "config.json"));
    assert!(open(&files, &DecodeOptions::compat()).is_ok());
}

#[test]
fn refusals_have_the_originals_words() {
    let mut files = folder("ok");
    files.retain(|(name, _)| name != "manifest.json");
    assert_eq!(open(&files, &DecodeOptions::compat()).unwrap_err().to_string(), "Bundle missing manifest.json");
    let codec = format::by_id("wink.bundle").unwrap();
    let error = codec.decode(Input::new(b"nope").named("b.zip"), &DecodeOptions::compat()).unwrap_err();
    assert_eq!(error.to_string(), "Not a valid zip file: b.zip");
}

#[cfg(feature = "zip")]
#[test]
fn refusals_of_zip_files_have_the_originals_words() {
    let codec = format::by_id("wink.bundle").unwrap();
    let error = codec.decode(Input::new(b"PK\x03\x04nope").named("b.zip"), &DecodeOptions::compat()).unwrap_err();
    assert_eq!(error.to_string(), "Not a valid zip file: b.zip");
    let empty = zip(&[("debug_bundle/x.txt", b"x")]);
    assert_eq!(unzip(&empty).unwrap_err().what(), "Bundle missing manifest.json");
}

#[cfg(feature = "zip")]
#[test]
fn paths_that_lead_out_of_the_bundle_are_refused() {
    for name in ["../evil", "debug_bundle/../../evil", "/etc/passwd", "c:\\evil", "debug_bundle\\..\\evil"] {
        let bytes = zip(&[("debug_bundle/manifest.json", b"{}"), (name, b"x")]);
        assert_eq!(unzip(&bytes).unwrap_err().kind(), ErrorKind::Corrupt, "{name}");
    }
    let files: Files = vec![("manifest.json".into(), b"{}".to_vec()), ("../evil".into(), b"x".to_vec())];
    assert_eq!(open(&files, &DecodeOptions::default()).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[cfg(feature = "zip")]
#[test]
fn a_zip_bomb_is_refused() {
    let bytes = fs::read(fixtures().join("wink.bundle/bomb/hostile.zip")).unwrap();
    assert!(bytes.len() < 200_000);
    assert_eq!(unzip(&bytes).unwrap_err().kind(), ErrorKind::TooLarge);
}

#[cfg(feature = "zip")]
#[test]
fn a_zip_file_cut_anywhere_is_an_error_and_no_panic() {
    let bytes = fs::read(fixtures().join("wink.bundle/ok_zip/input.zip")).unwrap();
    for end in (0..bytes.len()).step_by(97) {
        assert!(unzip(&bytes[..end]).is_err(), "{end}");
    }
}

#[test]
fn bundles_are_not_written() {
    let codec = format::by_id("wink.bundle").unwrap();
    let error = codec.encode(&Default::default(), &EncodeOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}
