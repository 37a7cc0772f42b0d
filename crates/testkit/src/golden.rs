//! Golden files: what the fixtures of a format give.
//!
//! A case is a folder `fixtures/<format id>/<case>` with `input.*`. Beside it stand the session it decodes to
//! (`session.json`, native and pretty), what was lost (`losses.json`), and what is written back in the same format
//! (`output.*`); or `error.txt`, where it must be refused. `UPDATE_GOLDEN=1` writes them, except where `CI` is set.

use std::path::{Path, PathBuf};

use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Input};
use turnkeep_model::json::{JsonSink, Layout, Sink};
use turnkeep_model::shape::FlatShape;
use turnkeep_model::{Loss, Result};

/// A folder of the repository.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// One fixture of a format.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The name of its input file.
    pub input_name: String,
    /// The bytes of its input.
    pub input: Vec<u8>,
    folder: PathBuf,
}

impl Case {
    /// Every fixture of a format, by name.
    pub fn all(format: &str) -> Vec<Case> {
        let entries = std::fs::read_dir(folder("fixtures").join(format)).into_iter().flatten().flatten();
        let mut cases: Vec<Case> = entries.filter_map(|entry| Case::open(entry.path())).collect();
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        cases
    }

    fn open(folder: PathBuf) -> Option<Case> {
        let entries = std::fs::read_dir(&folder).ok()?.flatten();
        let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let input_name = names.find(|name| name.starts_with("input."))?;
        let name = folder.file_name()?.to_string_lossy().into_owned();
        let input = std::fs::read(folder.join(&input_name)).ok()?;
        Some(Case { name, input_name, input, folder })
    }

    /// The name that its file has with the program that wrote it: that of the case, with the input's ending.
    pub fn file_name(&self) -> String {
        let ending = self.input_name.rsplit_once('.').map_or("", |(_, ending)| ending);
        format!("{}.{ending}", self.name)
    }

    /// Whether the input must be refused.
    pub fn fails(&self) -> bool {
        self.folder.join("error.txt").exists()
    }

    /// Checks what the input gives.
    ///
    /// # Panics
    /// Where it is not what the golden files say, and they are not to be updated.
    pub fn check(&self, codec: &dyn Codec) {
        match self.outcome(codec) {
            Ok(files) => files.into_iter().for_each(|(name, content)| self.compare(&name, &content)),
            Err(error) => self.compare("error.txt", format!("{error:?}\n").as_bytes()),
        }
    }

    fn outcome(&self, codec: &dyn Codec) -> Result<Vec<(String, Vec<u8>)>> {
        let decoded = codec.decode(Input::new(&self.input), &DecodeOptions::default())?;
        let session = decoded.archive.to_json(Layout::Pretty) + "\n";
        let mut files = vec![("session.json".to_owned(), session.into_bytes())];
        let mut losses = decoded.losses;
        if codec.spec().writes {
            let encoded = codec.encode(&decoded.archive, &self.writing(codec))?;
            files.push((self.input_name.replacen("input", "output", 1), encoded.bytes));
            losses.extend(encoded.losses);
        }
        files.push(("losses.json".to_owned(), losses_json(&losses).into_bytes()));
        Ok(files)
    }

    /// The variant that the input is named after, as in `input.pretty.json`, or the default.
    fn writing(&self, codec: &dyn Codec) -> EncodeOptions {
        let named = self.input_name.split('.').find(|word| codec.spec().variants.contains(word));
        named.map_or_else(EncodeOptions::default, |variant| EncodeOptions::default().with_variant(variant))
    }

    #[expect(clippy::expect_used, reason = "a golden file that cannot be written is a failed test")]
    fn compare(&self, name: &str, content: &[u8]) {
        let path = self.folder.join(name);
        if updating() {
            return std::fs::write(&path, content).expect("the golden file can be written");
        }
        let wanted = std::fs::read(&path).unwrap_or_default();
        assert!(
            wanted == content,
            "{} is not what was agreed on; if it should be, run with UPDATE_GOLDEN=1\n--- agreed\n{}\n--- now\n{}",
            path.display(),
            String::from_utf8_lossy(&wanted),
            String::from_utf8_lossy(content),
        );
    }
}

/// Checks a section of a page that a test makes from what happened: the lines between `<!-- begin NAME -->` and
/// `<!-- end NAME -->`.
///
/// # Panics
/// Where the page says something else and is not to be updated, or has no such section.
#[expect(clippy::expect_used, reason = "a page that cannot be read or written is a failed test")]
pub fn golden_section(file: &str, name: &str, content: &str) {
    let path = folder(file);
    let page = std::fs::read_to_string(&path).expect("the page can be read");
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
    let (before, rest) = page.split_once(&begin).expect("the page has the section");
    let (agreed, after) = rest.split_once(&end).expect("the section ends");
    let content = format!("\n{}\n\n", content.trim());
    if updating() {
        let page = format!("{before}{begin}{content}{end}{after}");
        return std::fs::write(&path, page).expect("the page can be written");
    }
    assert!(
        agreed == content,
        "{file}: the section `{name}` is not what happened; if it should be, run with UPDATE_GOLDEN=1\n\
         --- agreed\n{agreed}\n--- now\n{content}"
    );
}

fn updating() -> bool {
    let wanted = std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1");
    assert!(!wanted || std::env::var_os("CI").is_none(), "golden files are not updated where CI is set");
    wanted
}

fn losses_json(losses: &[Loss]) -> String {
    let mut sink = JsonSink::new(Layout::Pretty);
    sink.begin_array();
    for loss in losses {
        sink.begin_object();
        loss.write_fields(&mut sink);
        sink.end_object();
    }
    sink.end_array();
    sink.into_text() + "\n"
}
