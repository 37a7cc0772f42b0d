//! `cargo xtask new format ID`: everything that a new format consists of, small and working.
//!
//! What is written compiles and obeys the laws, so that its author changes a codec that works instead of starting one that
//! does not. Two things are left open on purpose: the golden files, which a person agrees on, and the rows of the
//! compatibility page.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::cargo::Cargo;
use crate::workspace::Workspace;

const CODEC: &str = include_str!("../templates/format.rs.txt");
const TESTS: &str = include_str!("../templates/format_tests.rs.txt");
const PAGE: &str = include_str!("../templates/format.md");

/// Files that are made, with their texts.
const FILES: &[(&str, &str)] = &[
    ("crates/codec/src/format/@module@.rs", CODEC),
    ("crates/codec/tests/it/@module@.rs", TESTS),
    ("docs/compat/@module@.md", PAGE),
    ("fixtures/@id@/hello/input.json", "{\"@id@\":1,\"messages\":[{\"role\":\"user\",\"text\":\"Hello\"}]}\n"),
    (
        "fixtures/@id@/unknown-fields/input.json",
        "{\"@id@\":1,\"messages\":[{\"role\":\"assistant\",\"text\":\"Hi\",\"mood\":\"good\"},{\"no\":\"text\"}],\"lang\":\"en\"}\n",
    ),
    (
        "fuzz/fuzz_targets/@module@.rs",
        "//! Any bytes are read as `@id@` or refused.\n#![no_main]\n\n\
         libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz(\"@id@\", bytes));\n",
    ),
];

/// Where a line goes into a file that is there.
enum Spot {
    /// Among the lines that declare modules, by name.
    Modules,
    /// Before this line.
    Before(&'static str),
    /// Before the first line with the second text after the first one.
    EndOf(&'static str, &'static str),
    End,
}

const LINES: &[(&str, Spot, &str)] = &[
    ("crates/codec/src/format/mod.rs", Spot::Modules, "mod @module@;\n"),
    ("crates/codec/src/format/mod.rs", Spot::Before("    &markdown::MarkdownCodec,"), "    &@module@::@codec@,\n"),
    (
        "crates/codec/src/sniff/outline.rs",
        Spot::EndOf("const OUTLINES", "];"),
        "    (\"@id@\", &[document(\"a document\", &[\"@id@\", \"messages[]\"])]),\n",
    ),
    ("crates/codec/tests/it/laws.rs", Spot::EndOf("codec_laws! {", "    }"), "        @module@ = \"@id@\",\n"),
    ("crates/codec/tests/it/main.rs", Spot::Modules, "mod @module@;\n"),
    (
        "fuzz/Cargo.toml",
        Spot::End,
        "\n[[bin]]\nname = \"@module@\"\npath = \"fuzz_targets/@module@.rs\"\ntest = false\ndoc = false\nbench = false\n",
    ),
    ("fixtures/README.md", Spot::End, "| `@id@` | made by hand; say which program and version wrote the real ones |\n"),
];

const NEXT: &str = "\
Now, in this order:
  1. crates/codec/src/format/@module@.rs: the keys, the title and the fidelity of the real format
  2. fixtures/@id@/: at least two real files, and where they are from in fixtures/README.md
  3. cargo xtask golden, and read the difference as you would read code
  4. docs/compat/@module@.md: what maps to what, with a test for every promise
  5. cargo xtask docs && cargo xtask test && cargo xtask lint";

/// Writes a format with this id.
pub(crate) fn new_format(workspace: &Workspace, id: &str) -> Outcome<()> {
    let names = Names::of(id)?;
    for file in write(&workspace.root, &names)? {
        println!("wrote {file}");
    }
    println!("{}", names.fill(NEXT));
    Ok(())
}

/// What a format is called in the places that name it.
struct Names {
    id: String,
    module: String,
}

impl Names {
    fn of(id: &str) -> Outcome<Names> {
        let word = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_lowercase())
                && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        let parts: Vec<&str> = id.split('.').collect();
        if parts.len() != 2 || !parts.iter().all(|part| word(part)) {
            return Err(format!("`{id}` is no id of a format: FAMILY.KIND in lower case, as in `acme.session`").into());
        }
        Ok(Names { id: id.to_owned(), module: id.replace('.', "_") })
    }

    fn fill(&self, text: &str) -> String {
        let family = self.id.split('.').next().unwrap_or_default();
        let title = self.id.replace('.', " ");
        let names = [("@id@", self.id.as_str()), ("@module@", &self.module), ("@family@", family), ("@title@", &title)];
        let text = names.iter().fold(text.to_owned(), |text, (mark, name)| text.replace(mark, name));
        text.replace("@codec@", &format!("{}Codec", camel(&self.module)))
    }
}

fn camel(module: &str) -> String {
    let capital = |word: &str| word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect();
    module.split('_').map(capital).collect::<Vec<String>>().concat()
}

/// Writes files and lines below a root; the names of what was written come back. Nothing that is there is overwritten.
fn write(root: &Path, names: &Names) -> Outcome<Vec<String>> {
    let files: Vec<(String, String)> = FILES.iter().map(|(file, text)| (names.fill(file), names.fill(text))).collect();
    if let Some((file, _)) = files.iter().find(|(file, _)| root.join(file).exists()) {
        return Err(format!("{file} is there already").into());
    }
    let mut changed: Vec<(String, String)> = Vec::new();
    for (file, spot, line) in LINES {
        let earlier = changed.iter().position(|(name, _)| name == file).map(|at| changed.remove(at).1);
        let text = earlier.map_or_else(|| fs::read_to_string(root.join(file)), Ok);
        let text = text.map_err(|error| format!("{file}: {error}"))?;
        let more = insert(&text, spot, &names.fill(line));
        changed.push(((*file).to_owned(), more.ok_or_else(|| format!("{file}: the place for a new line is gone"))?));
    }
    let all: Vec<(String, String)> = files.into_iter().chain(changed).collect();
    for (file, text) in &all {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, text)?;
    }
    Ok(all.into_iter().map(|(file, _)| file).collect())
}

fn insert(text: &str, spot: &Spot, line: &str) -> Option<String> {
    let at = match spot {
        Spot::Modules => before_module(text, line)?,
        Spot::Before(anchor) => text.find(anchor)?,
        Spot::EndOf(start, end) => {
            let from = text.find(start)?;
            from + text.get(from..)?.find(&format!("\n{end}"))? + 1
        }
        Spot::End => text.len(),
    };
    Some(format!("{}{line}{}", text.get(..at)?, text.get(at..)?))
}

/// Where the declaration of a module goes: before the first one whose name comes later, else after the last.
fn before_module(text: &str, line: &str) -> Option<usize> {
    let name = |line: &str| Some(line.rsplit_once("mod ")?.1.strip_suffix(';')?.to_owned());
    let own = name(line.trim_end())?;
    let (mut at, mut start, mut after) = (0, None, None);
    for other in text.split_inclusive('\n') {
        let declared =
            other.split_once("mod ").is_some_and(|(before, _)| before.is_empty() || before.starts_with("pub"));
        if other.starts_with("#[") {
            start = start.or(Some(at));
        } else if let Some(found) = name(other.trim_end()).filter(|_| declared) {
            if found > own {
                return Some(start.unwrap_or(at));
            }
            (start, after) = (None, Some(at + other.len()));
        } else {
            start = None;
        }
        at += other.len();
    }
    after
}

/// Puts a format into a copy of the workspace, and runs its laws there.
pub(crate) fn trial(workspace: &Workspace) -> Outcome<()> {
    let copy = workspace.target.join("scaffold");
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    for file in &workspace.files {
        let to = copy.join(file);
        fs::create_dir_all(to.parent().unwrap_or(&copy))?;
        fs::copy(workspace.root.join(file), to)?;
    }
    let names = Names::of("scaffold.trial")?;
    write(&copy, &names)?;
    // The golden files are the author's to agree on; here there is no author.
    laws(workspace, &copy, "scaffold_trial::golden", true)?;
    laws(workspace, &copy, "scaffold_trial", false)
}

fn laws(workspace: &Workspace, copy: &Path, filter: &str, golden: bool) -> Outcome<()> {
    let mut command = Command::new(Cargo::program_name());
    command.args(["test", "--quiet", "--package", "turnkeep-codec", "--all-features", "--test", "it", "--", filter]);
    command.current_dir(copy).env("CARGO_TARGET_DIR", &workspace.target);
    if golden {
        command.env("UPDATE_GOLDEN", "1").env_remove("CI");
    }
    let fits = command.status().is_ok_and(|status| status.success());
    if fits { Ok(()) } else { Err(format!("the new format in {} fails `{filter}`", copy.display()).into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the files that lines go into.
    fn copy() -> tempfile::TempDir {
        let (own, copy) = (Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), tempfile::tempdir().unwrap());
        for (file, _, _) in LINES {
            fs::create_dir_all(copy.path().join(file).parent().unwrap()).unwrap();
            fs::copy(own.join(file), copy.path().join(file)).unwrap();
        }
        copy
    }

    #[test]
    fn a_format_stands_in_every_place_that_names_formats() {
        let copy = copy();
        let names = Names::of("acme.chat_log").unwrap();

        write(copy.path(), &names).unwrap();

        let read = |file: &str| fs::read_to_string(copy.path().join(file)).unwrap();
        for (file, _, line) in LINES {
            assert!(read(file).contains(&names.fill(line)), "{file}");
        }
        for (file, _) in FILES {
            assert!(!read(&names.fill(file)).contains('@'), "{file}");
        }
        assert!(read("crates/codec/src/format/acme_chat_log.rs").contains("struct AcmeChatLogCodec;"));
    }

    #[test]
    fn nothing_is_overwritten() {
        let copy = copy();
        let names = Names::of("acme.log").unwrap();
        write(copy.path(), &names).unwrap();

        let again = write(copy.path(), &names).unwrap_err().to_string();

        assert_eq!(again, "crates/codec/src/format/acme_log.rs is there already");
    }

    #[test]
    fn an_id_has_a_family_and_a_kind() {
        for id in ["acme", "acme.", "Acme.log", "acme.log.old", "a-b.c", "1a.b"] {
            assert!(Names::of(id).is_err(), "{id}");
        }
        assert!(Names::of("acme2.chat_log").is_ok());
    }

    #[test]
    fn modules_stay_in_order_with_their_attributes() {
        let text = "//! A.\n\nmod a;\n#[cfg(x)]\nmod c;\npub mod e;\n\nfn f() {}\n";
        let with = |name: &str| insert(text, &Spot::Modules, &format!("mod {name};\n")).unwrap();

        assert!(with("b").contains("mod a;\nmod b;\n#[cfg(x)]\nmod c;\n"), "{}", with("b"));
        assert!(with("d").contains("mod c;\nmod d;\npub mod e;\n"), "{}", with("d"));
        assert!(with("z").contains("pub mod e;\nmod z;\n\n"), "{}", with("z"));
    }
}
