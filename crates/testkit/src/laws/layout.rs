//! A format is known however its files are laid out.

use turnkeep_codec::{Codec, Input, sniff};
use turnkeep_model::json::{Json, JsonSink, Layout, Sink};

use crate::golden::Case;
use crate::keys::{documents, reversed, sorted};

/// The same file in another layout, and what was done to it.
type Laid = (&'static str, Vec<u8>);

/// Whitespace, line ends, a byte order mark and the order of keys change nothing in what a file is recognised as.
pub fn recognised_in_any_layout(codec: &dyn Codec) {
    for case in Case::all(codec.spec().id).iter().filter(|case| !case.fails()) {
        let name = case.file_name();
        let Some(original) = recognised(&case.input, &name) else { continue };
        for (layout, bytes) in layouts(case) {
            let found = recognised(&bytes, &name);
            assert_eq!(found.as_ref(), Some(&original), "fixture {} {layout}", case.name);
        }
    }
}

/// What a file is recognised as, and what it may be just as well.
fn recognised(bytes: &[u8], name: &str) -> Option<(&'static str, Vec<&'static str>)> {
    let found = sniff(&Input::new(bytes).named(name)).ok()?;
    Some((found.codec.spec().id, found.others))
}

/// The layouts that a file can have without saying anything else.
fn layouts(case: &Case) -> Vec<Laid> {
    let Ok(text) = std::str::from_utf8(&case.input) else { return Vec::new() };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut laid = line_layouts(text);
    if let Some(documents) = documents(text.as_bytes()) {
        let is_lines = case.input_name.ends_with(".jsonl") || documents.len() > 1;
        laid.extend(key_layouts(&documents, is_lines));
    }
    laid
}

/// Layouts of any text.
fn line_layouts(text: &str) -> Vec<Laid> {
    let unix = text.replace("\r\n", "\n");
    vec![
        ("with a byte order mark", format!("\u{feff}{text}").into_bytes()),
        ("with CRLF", unix.replace('\n', "\r\n").into_bytes()),
        ("with a final newline", format!("{}\n", text.trim_end()).into_bytes()),
        ("without a final newline", text.trim_end().as_bytes().to_vec()),
    ]
}

/// Layouts of JSON: one document, or lines of them.
fn key_layouts(documents: &[Json], is_lines: bool) -> Vec<Laid> {
    let written = |change: fn(&Json) -> Json, layout: Layout| {
        let texts: Vec<String> = documents.iter().map(|document| text_of(&change(document), layout)).collect();
        (texts.join("\n") + "\n").into_bytes()
    };
    let mut laid = vec![
        ("compact", written(Json::clone, Layout::Compact)),
        ("with sorted keys", written(sorted, Layout::Compact)),
        ("with reversed keys", written(reversed, Layout::Compact)),
    ];
    if !is_lines {
        laid.push(("pretty", written(Json::clone, Layout::Pretty)));
        laid.push(("pretty with reversed keys", written(reversed, Layout::Pretty)));
    }
    laid
}

fn text_of(json: &Json, layout: Layout) -> String {
    let mut sink = JsonSink::new(layout);
    sink.json(json);
    sink.into_text()
}
