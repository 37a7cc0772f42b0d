//! Input that means harm, or is merely broken: a clear error, never a panic, and no half-written file.

use std::fs;

use crate::place::{Place, Ran, SESSION};

/// Converts onto an existing file, which has to survive byte for byte, and checks the other commands too.
#[track_caller]
fn refused(content: impl AsRef<[u8]>, code: i32, error: &str) {
    let place = Place::new().with("bad", content).with("out.json", "precious");

    place.run("convert bad --to turnkeep -o out.json").ends(code).says(error);

    assert_eq!(place.text("out.json"), "precious");
    assert_eq!(place.files("."), ["bad", "out.json", "s.json"]);
    place.run("show bad").ends(code).says(error);
    place.run("diff s.json bad").ends(code).says(error);
}

#[test]
fn json_100_000_levels_deep() {
    refused("[".repeat(100_000), 6, "bad:1:321: nested deeper than 320 levels");
    refused("{\"a\":".repeat(100_000), 6, "bad:1:");
}

#[test]
fn yaml_100_000_levels_deep() {
    let flow = format!("a: {}", "[".repeat(100_000));
    let indented: String = (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let dashes = format!("{}x", "- ".repeat(100_000));

    refused(flow, 6, "bad:1:");
    refused(indented, 6, "bad:321: nested deeper than 320 levels");
    refused(dashes, 6, "bad:1:");
}

#[test]
fn a_file_over_the_limit() {
    let place = Place::new().with("out.json", "precious");

    for words in ["convert s.json --to turnkeep -o out.json", "show s.json", "sniff s.json", "diff s.json s.json"] {
        let ran = place.run(&format!("{words} --max-bytes 100")).ends(6);
        assert!(
            ran.err.contains("and the limit is 100 bytes\n  help: raise the limit with --max-bytes"),
            "{}",
            ran.err
        );
    }

    assert_eq!(place.text("out.json"), "precious");
}

#[test]
fn standard_input_over_the_limit() {
    let ran = Place::new().run_with("convert - --to turnkeep --max-bytes 100", SESSION).ends(6);

    ran.says("<stdin>: has more, and the limit is 100 bytes");
}

#[test]
fn a_yaml_alias_bomb() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let alias = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 9].join(", "));
    }

    refused(bomb, 6, "bad:");
}

#[test]
fn duplicate_yaml_keys() {
    refused("turnkeep: 1\nsessions: []\nsessions: []\n", 6, "bad:3");
}

#[test]
fn duplicate_json_keys_are_accepted_and_reported() {
    let place = Place::new().with("twice.json", SESSION.replace("{\"id\":\"s1\"", "{\"id\":\"s0\",\"id\":\"s1\""));

    let ran = place.run("convert twice.json --to turnkeep").ends(0);

    assert!(ran.out.contains("\"id\":\"s1\"") && !ran.out.contains("\"s0\""), "{}", ran.out);
    assert!(ran.err.starts_with("1 loss"), "{}", ran.err);
}

#[test]
fn invalid_utf_8() {
    refused(b"{\"turnkeep\":\n\xff\xfe}", 6, "bad:2: byte 13 is not UTF-8");
}

#[test]
fn utf_16_is_named() {
    let bytes: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let place = Place::new().with("wide", bytes);

    let ran = place.run("show wide").ends(6);

    assert!(ran.err.contains("help: it looks like UTF-16; convert it to UTF-8"), "{}", ran.err);
}

#[test]
fn an_empty_file() {
    refused("", 6, "bad: the file is empty");
    refused(" \n\t\n", 6, "bad: the file holds nothing but white space");
}

#[test]
fn a_file_that_is_no_text() {
    refused("\0\0\0", 6, "bad: the file is binary, and no known format looks like this");
    refused("BZh91AY", 6, "bad: the file is compressed");
}

#[test]
fn wrong_types_are_told_with_their_place() {
    refused("{\"turnkeep\":1,\n\"sessions\":[{\"turns\":\n7}]}", 6, "bad:3:1: sessions[0].turns: ");
}

#[test]
fn a_byte_order_mark_and_crlf_are_accepted() {
    let yaml = Place::new().run("convert s.json --to turnkeep.yaml").ends(0).out;
    let place = Place::new()
        .with("bom.json", format!("\u{feff}{SESSION}"))
        .with("crlf.json", SESSION.replace('\n', "\r\n"))
        .with("both.yaml", format!("\u{feff}{}", yaml.replace('\n', "\r\n")));

    for file in ["bom.json", "crlf.json", "both.yaml"] {
        place.run(&format!("diff s.json {file}")).ends(0);
    }
}

#[test]
fn a_file_cut_at_any_byte_is_an_error() {
    let whole = Place::new().run("convert s.json --to turnkeep").ends(0).out;
    // Every byte is tried on the decoder itself; here some are, through the whole command.
    for cut in (1..whole.trim_end().len()).step_by(97) {
        let Ran { code, err, .. } = Place::new().with("cut.json", &whole[..cut]).run("show cut.json");
        assert_eq!(code, 6, "cut at {cut}: {err}");
    }
}

#[test]
fn a_directory_where_a_file_is_meant() {
    let place = Place::new().with("dir/x", "");

    place.run("show dir").ends(1).says("dir: is a directory, and a file is meant");
    place.run("convert s.json --to turnkeep -o dir").ends(1).says("dir: is a directory, and a file is meant");
}

#[test]
fn a_missing_file() {
    for words in ["show no.json", "sniff no.json", "convert no.json --to turnkeep", "diff s.json no.json"] {
        Place::new().run(words).ends(4).says("no.json: is not there");
    }
}

#[cfg(unix)]
#[test]
fn an_unreadable_file() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::new();
    fs::set_permissions(place.path("s.json"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(place.path("s.json")).is_ok() {
        eprintln!("skipped an_unreadable_file: this user (root?) may read every file");
        return;
    }

    place.run("show s.json").ends(1).says("s.json: may not be opened");
}
