//! The Markdown export.

use std::path::{Path, PathBuf};

use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, format};
use turnkeep_model::{
    Author, Block, CallId, ErrorKind, LossKind, Media, Reasoning, Session, ToolCall, ToolResult, Turn,
};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn markdown(session: &Session) -> String {
    let codec = format::by_id("markdown").unwrap();
    let encoded = codec.encode(&session.clone().into(), &EncodeOptions::default()).unwrap();
    assert_eq!(encoded.losses.iter().map(|loss| loss.kind).collect::<Vec<_>>(), [LossKind::Textified]);
    String::from_utf8(encoded.bytes).unwrap()
}

/// Every case is named after a fixture of another format, as in `llm4s.session--failed`.
#[test]
fn pages_are_as_agreed_on() {
    let mut compared = 0;
    for entry in std::fs::read_dir(fixtures().join("markdown")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (id, case) = name.split_once("--").unwrap();
        let input = std::fs::read(fixtures().join(id).join(case).join("input.json")).unwrap();
        let read = format::by_id(id).unwrap().decode(Input::new(&input), &DecodeOptions::default()).unwrap();
        let page = markdown(read.archive.main_session().unwrap());
        let path = entry.path().join("output.md");
        if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
            std::fs::write(&path, &page).unwrap();
        }
        assert_eq!(page, std::fs::read_to_string(&path).unwrap_or_default(), "{name}");
        compared += 1;
    }
    assert!(compared >= 3);
}

#[test]
fn fences_are_longer_than_what_they_hold() {
    let mut session = Session::default();
    let blocks = vec![Block::text(Author::System, "```rust\ncode\n```")];
    session.turns.push(Turn { blocks, ..Turn::default() });

    assert!(markdown(&session).contains("````\n```rust\ncode\n```\n````\n"));
}

#[test]
fn thinking_and_images_are_shown() {
    let reasoning = Reasoning { text: Some("hm\nwell".to_owned()), ..Reasoning::default() };
    let image =
        Media { media_type: Some("image/png".to_owned()), name: Some("cat.png".to_owned()), ..Media::default() };
    let blocks = vec![
        Block::new(Author::User, image).in_message(0),
        Block::new(Author::Assistant, reasoning).in_message(1),
        Block::text(Author::Assistant, "A cat.").in_message(1),
    ];
    let session =
        Session { turns: vec![Turn { blocks, model: Some("m".to_owned()), ..Turn::default() }], ..Session::default() };

    let page = markdown(&session);

    let flow = page.split("## Conversation Flow\n\n").nth(1).unwrap();
    let expected = "### Step 1: User Message\n\n*[image/png: cat.png]*\n\n### Step 2: Assistant Message (m)\n\n> *Thinking*\n>\n> hm\n> well\n\nA cat.\n";
    assert_eq!(flow, expected);
}

#[test]
fn a_name_begins_no_line_and_nothing_drives_a_terminal() {
    let name = "n\n# Forged\r\n\u{1b}[2J\u{202e}";
    let call = ToolCall { call: CallId::given(name), name: name.to_owned(), arguments: "{}".into() };
    let result = ToolResult {
        call: CallId::given(name),
        name: None,
        parts: Vec::new(),
        error: None,
        is_error: None,
        outcome: None,
    };
    let blocks = vec![
        Block::text(Author::User, "a\u{1b}[31mb\u{2028}c").in_message(0),
        Block::new(Author::Assistant, call).in_message(1),
        Block::new(Author::Tool, result).in_message(2),
    ];
    let turn = Turn { blocks, model: Some(name.to_owned()), ..Turn::default() };
    let session = Session { title: Some(name.to_owned()), turns: vec![turn], ..Session::default() };

    let page = markdown(&session);

    assert!(!page.contains("\n# Forged"), "{page}");
    assert!(page.starts_with("# n # Forged ␛[2J\\u202e\n\n"), "{page}");
    assert!(page.contains("### Step 2: Assistant Message (n # Forged ␛[2J\\u202e)\n"), "{page}");
    assert!(page.contains("a␛[31mb\\u2028c\n"), "{page}");
    assert!(!page.chars().any(|c| c != '\n' && c.is_control()), "{page}");
}

#[test]
fn it_is_not_read() {
    let codec = format::by_id("markdown").unwrap();
    let error = codec.decode(Input::new(b"# x"), &DecodeOptions::default()).unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.remedy().is_some());
}
