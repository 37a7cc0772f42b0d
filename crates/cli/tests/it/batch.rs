//! `turnkeep convert` of a directory.

use crate::place::{Place, SECRET, SESSION};

fn place() -> Place {
    let place = Place::new().with("in/a.turnkeep.json", SESSION).with("in/deep/b.json", SESSION);
    place.with("in/.hidden.json", "{").with("in/deep/.x/y.json", "{")
}

#[test]
fn every_file_gets_the_ending_of_the_target() {
    let place = place();

    let ran = place.run("convert in --to turnkeep.yaml -o out").ends(0);

    assert_eq!(place.files("out"), ["a.turnkeep.yaml", "deep"]);
    assert_eq!(place.files("out/deep"), ["b.turnkeep.yaml"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", "2 files written, 0 failed\n"));
    place.run("diff s.json out/deep/b.turnkeep.yaml").ends(0);
}

#[test]
fn a_bad_file_is_reported_and_the_rest_is_done() {
    let place = place().with("in/bad.json", "{\"turnkeep\": 1, \"sessions\": [").with("in/other.txt", "hello");

    let ran = place.run("convert in --to turnkeep.yaml -o out --report r.json").ends(6);

    assert!(ran.err.starts_with("error: in/bad.json:1:"), "{}", ran.err);
    assert!(ran.err.contains("\nerror: in/other.txt: no known format"), "{}", ran.err);
    assert!(ran.err.ends_with("2 files written, 2 failed\n"), "{}", ran.err);
    assert_eq!(place.files("out"), ["a.turnkeep.yaml", "deep"]);
    let report = place.text("r.json");
    assert!(report.contains("\"in\": \"in/bad.json\",\n      \"error\": "), "{report}");
    assert!(report.contains("\"out\": \"out/deep/b.turnkeep.yaml\",\n      \"from\": \"turnkeep\""), "{report}");
}

#[test]
fn two_files_never_become_one() {
    let place = Place::new().with("in/a.json", SESSION).with("in/a.txt", SESSION);

    let ran = place.run("convert in --to turnkeep.yaml -o out").ends(6);

    assert!(ran.err.contains("in/a.txt: another file is already written as out/a.turnkeep.yaml"), "{}", ran.err);
    assert_eq!(place.files("out"), ["a.turnkeep.yaml"]);
}

#[test]
fn strict_leaves_out_only_files_with_losses() {
    let place = Place::new().with("in/secret.json", SESSION).with("in/plain.json", SESSION.replace(SECRET, ""));

    let ran = place.run("convert in --to turnkeep -o out --redact encrypted_content --strict").ends(3);

    assert_eq!(place.files("out"), ["plain.turnkeep.json"]);
    assert!(ran.err.ends_with("1 file written, 0 failed, 1 not written because of --strict\n"), "{}", ran.err);
}

#[test]
fn a_directory_needs_a_directory_to_go_to() {
    place().run("convert in --to turnkeep").ends(2).says("in is a directory, and there is no directory to write to");
}

#[test]
fn a_directory_is_not_written_into_itself() {
    place().run("convert in --to turnkeep -o in/deep/..").ends(2).says("in would be written into itself");
}

#[test]
fn output_below_the_input_is_not_converted_again() {
    let place = place();
    place.run("convert in --to turnkeep.yaml -o in/out").ends(0);

    let again = place.run("convert in --to turnkeep.yaml -o in/out").ends(0);

    assert_eq!(again.err, "2 files written, 0 failed\n");
    assert_eq!(place.files("in/out"), ["a.turnkeep.yaml", "deep"]);
}

#[test]
fn a_bundle_is_no_batch() {
    let place = place().with("in/manifest.json", "{}");

    let ran = place.run("convert in --to turnkeep -o out").ends(6);

    assert!(ran.err.starts_with("error: in: no known format looks like this"), "{}", ran.err);
}

#[test]
fn many_files_all_arrive() {
    let place = (0..60).fold(Place::new(), |place, index| place.with(&format!("in/{index}.json"), SESSION));

    place.run("convert in --to turnkeep.jsonl -o out").ends(0);

    assert_eq!(place.files("out").len(), 60);
}

/// The command may have less memory than the files together have bytes.
#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_number_of_files() {
    use std::fs;
    use std::process::{Command, Stdio};

    let turn = format!(r#"{{"blocks":[{{"author":"user","type":"text","text":"{}"}}]}}"#, "a word or two ".repeat(70));
    let text = format!(r#"{{"turnkeep":1,"sessions":[{{"id":"x","turns":[{}]}}]}}"#, vec![turn; 2_000].join(","));
    let place = Place::new().with("in/0.json", &text);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kilobytes = 120_000 + cores * 30_000;
    let files = kilobytes * 2_000 / text.len();
    for index in 1..files {
        fs::hard_link(place.path("in/0.json"), place.path(&format!("in/{index}.json"))).unwrap();
    }

    // Nothing is written, so that only what is held counts.
    let words = "convert in --to lucee.session --strict -o out";
    let limited = format!("ulimit -v {kilobytes}; exec \"$0\" {words}");
    let mut command = Command::new("sh");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_turnkeep")]).current_dir(place.path("."));
    let ran = command.env("MALLOC_ARENA_MAX", "1").stdin(Stdio::null()).output().unwrap();

    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(3), "{said}");
    assert!(said.ends_with(&format!("0 files written, 0 failed, {files} not written because of --strict\n")), "{said}");
}
