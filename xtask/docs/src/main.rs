//! Writes the documents that are generated from the tables of formats, models and rules (`cargo xtask docs`).
//!
//! This is a program of its own, because `xtask` must start without waiting for the codecs to be built. Its tests, which
//! run with all others, find documents that are stale and formats without fixtures.

#![expect(clippy::print_stdout, reason = "a program that reports to its terminal")]

mod models;
mod providers;

use std::fs;
use std::path::{Path, PathBuf};

use turnkeep_codec::{Keeps, Spec, format};

fn main() -> std::io::Result<()> {
    let root = root();
    for (file, text) in all(&root) {
        let path = root.join(&file);
        fs::create_dir_all(path.parent().unwrap_or(&root))?;
        fs::write(path, text)?;
        println!("wrote {}", file.display());
    }
    Ok(())
}

/// The workspace that this program was built in.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_owned()
}

/// Every generated document with its text. Of the vendors' pages only the list of rules is generated.
fn all(root: &Path) -> Vec<(PathBuf, String)> {
    let specs: Vec<&Spec> = format::ALL.iter().map(|codec| codec.spec()).collect();
    let mut documents = vec![
        ("docs/formats.md".into(), formats(&specs)),
        ("docs/models.md".into(), models::page()),
        ("docs/providers.md".into(), providers::index()),
    ];
    documents.extend(providers::pages(root));
    documents
}

const INTRODUCTION: &str = "\
# Formats

Generated from the format table by `cargo xtask docs`; do not edit.

| id | what it is | read | write | variants | endings |
|---|---|---|---|---|---|
";

const MATRIX: &str = "
## What each format holds

What of a session survives in a file of the format: **all** of it, **some** (the loss report says what is gone), or
nothing (–). A conversion loses at most what the table says, and reports each loss where it happens.

";

fn formats(specs: &[&Spec]) -> String {
    let mut text = String::from(INTRODUCTION);
    specs.iter().for_each(|spec| text.push_str(&summary(spec)));
    text.push_str(MATRIX);
    text.push_str(&matrix(specs));
    text
}

fn summary(spec: &Spec) -> String {
    let yes = |holds: bool| if holds { "yes" } else { "no" };
    let (variants, endings) = (codes(spec.variants), codes(spec.extensions));
    let (reads, writes) = (yes(spec.reads), yes(spec.writes));
    format!("| `{}` | {} | {reads} | {writes} | {variants} | {endings} |\n", spec.id, spec.title)
}

fn codes(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// One row a feature, one column a format.
fn matrix(specs: &[&Spec]) -> String {
    let ids: Vec<String> = specs.iter().map(|spec| format!("`{}`", spec.id)).collect();
    let mut text = format!("| | {} |\n|---|{}\n", ids.join(" | "), "---|".repeat(ids.len()));
    let columns: Vec<_> = specs.iter().map(|spec| spec.fidelity.features()).collect();
    let names = columns.first().into_iter().flatten().map(|(name, _)| *name);
    for (row, name) in names.enumerate() {
        let cells: Vec<_> =
            columns.iter().filter_map(|column| column.get(row)).map(|(_, keeps)| cell(*keeps)).collect();
        text.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
    }
    text
}

fn cell(keeps: Keeps) -> &'static str {
    match keeps {
        Keeps::All => "all",
        Keeps::Some => "some",
        Keeps::Nothing => "–",
    }
}

#[cfg(test)]
mod tests {
    use turnkeep_codec::Fidelity;

    use super::*;

    #[test]
    fn a_format_is_a_row_and_a_column() {
        let spec = Spec {
            id: "x.y",
            title: "An example",
            variants: &["a", "b"],
            extensions: &[".x"],
            reads: true,
            writes: false,
            fidelity: Fidelity { media: Keeps::Some, ..Fidelity::NOTHING },
        };

        let text = formats(&[&spec]);

        assert!(text.contains("| `x.y` | An example | yes | no | `a`, `b` | `.x` |\n"), "{text}");
        assert!(text.contains("| | `x.y` |\n|---|---|\n| system text | – |\n"), "{text}");
        assert!(text.contains("\n| media | some |\n"), "{text}");
    }

    #[test]
    fn every_format_has_fixtures() {
        // A page is the viewer's script around a journal: the tests of the viewer and of journals cover both.
        let bare = |spec: &&Spec| spec.id != "html" && !root().join("fixtures").join(spec.id).is_dir();
        let bare: Vec<&str> = format::ALL.iter().map(|codec| codec.spec()).filter(bare).map(|spec| spec.id).collect();

        assert_eq!(bare, Vec::<&str>::new(), "add `fixtures/<format id>/<case>/input.*`");
    }

    #[test]
    fn generated_documents_are_current() {
        let root = root();
        let stale = |(file, text): &(PathBuf, String)| fs::read_to_string(root.join(file)).as_ref().ok() != Some(text);
        let stale: Vec<PathBuf> = all(&root).into_iter().filter(stale).map(|(file, _)| file).collect();

        assert_eq!(stale, Vec::<PathBuf>::new(), "run `cargo xtask docs`");
    }
}
