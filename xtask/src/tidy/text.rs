//! Rules for the text of files: length, words, names.

use std::path::Path;

use super::Fault;
use crate::workspace::Workspace;

const LONGEST: usize = 600;

/// Words that mark something unfinished. They are put together here, so that this file may hold them.
const UNFINISHED: &[&str] =
    &[concat!("to", "do!("), concat!("unimple", "mented!("), concat!("FIX", "ME"), concat!("X", "XX")];

/// A place that only the continuous build may know.
const OUTSIDE: &str = concat!("../", "shared");

/// Names that say nothing of what a module holds.
const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "misc"];

/// What a pure crate must not touch.
const IMPURE: &[&str] =
    &["std::fs", "std::net", "std::env", "std::process", "std::thread", "SystemTime", "Instant::now", "async fn"];

/// Checks every file; fixtures are others' text and only have to be there.
pub(super) fn check(workspace: &Workspace) -> Vec<Fault> {
    let own = workspace.files.iter().filter(|file| !file.starts_with("fixtures"));
    own.flat_map(|file| workspace.text(file).map(|text| check_file(file, &text)).unwrap_or_default()).collect()
}

fn check_file(file: &Path, text: &str) -> Vec<Fault> {
    let faults = [check_name(file), check_length(file, text)].into_iter().flatten();
    faults.chain(check_words(file, text)).map(|what| format!("{}{what}", file.display())).collect()
}

fn check_name(file: &Path) -> Option<String> {
    let rust = file.extension().is_some_and(|ending| ending == "rs");
    let stem = file.with_extension("");
    let empty = stem.iter().filter_map(|part| part.to_str()).find(|part| EMPTY_NAMES.contains(part))?;
    rust.then(|| format!(": `{empty}` says nothing of what stands there"))
}

fn check_length(file: &Path, text: &str) -> Option<String> {
    let lines = text.lines().count();
    let counted = file.extension().is_some_and(|ending| ending == "rs") && !is_test(file);
    (counted && lines > LONGEST).then(|| format!(": has {lines} lines, more than {LONGEST}"))
}

pub(super) fn is_test(file: &Path) -> bool {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    file.iter().any(|part| part == "tests") || name == "tests" || name.ends_with("_tests")
}

fn check_words(file: &Path, text: &str) -> Vec<String> {
    let outside = if file.starts_with(".ci") { None } else { Some(OUTSIDE) };
    let impure = if is_pure(file) { IMPURE } else { &[] };
    let banned: Vec<&str> = UNFINISHED.iter().copied().chain(outside).chain(impure.iter().copied()).collect();
    let lines = text.lines().enumerate();
    lines
        .flat_map(|(index, line)| {
            let found = banned.iter().filter(|word| has_word(line, word));
            found.map(move |word| format!(":{}: `{word}` has no place here", index + 1))
        })
        .collect()
}

fn is_pure(file: &Path) -> bool {
    let rooms = ["crates/model/src", "crates/codec/src"];
    rooms.iter().any(|room| file.starts_with(room)) && !is_test(file)
}

/// Whether `word` stands in `line` on its own, not inside a longer word.
fn has_word(line: &str, word: &str) -> bool {
    let joined = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, rest) = line.split_at(at);
        let after = rest.strip_prefix(word).unwrap_or_default();
        let open_end = word.ends_with(joined) && after.starts_with(joined);
        let open_start = word.starts_with(joined) && before.ends_with(joined);
        !open_start && !open_end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, text: &str) -> usize {
        check_file(Path::new(file), text).len()
    }

    #[test]
    fn long_files_are_found_except_tests() {
        let long = "x\n".repeat(LONGEST + 1);

        assert_eq!(check("crates/a/src/b.rs", &long), 1);
        assert_eq!(check("crates/a/tests/it/b.rs", &long), 0);
        assert_eq!(check("crates/a/src/b_tests.rs", &long), 0);
        assert_eq!(check("docs/b.md", &long), 0);
        assert_eq!(check("crates/a/src/b.rs", &"x\n".repeat(LONGEST)), 0);
    }

    #[test]
    fn unfinished_work_is_found_by_its_words() {
        for word in UNFINISHED {
            assert_eq!(check("README.md", &format!("a {word} b")), 1, "{word}");
        }
        assert_eq!(check("docs/a.md", &format!("a{}b", concat!("X", "XX"))), 0);
    }

    #[test]
    fn only_the_continuous_build_knows_the_outside() {
        let text = format!("cd {OUTSIDE}/fixtures");

        assert_eq!(check("crates/a/src/b.rs", &text), 1);
        assert_eq!(check(".ci/run", &text), 0);
    }

    #[test]
    fn modules_have_names_that_say_something() {
        assert_eq!(check("crates/a/src/util.rs", ""), 1);
        assert_eq!(check("crates/a/src/common/mod.rs", ""), 1);
        assert_eq!(check("docs/common.md", ""), 0);
    }

    #[test]
    fn pure_crates_touch_nothing() {
        assert_eq!(check("crates/model/src/a.rs", "use std::fs;"), 1);
        assert_eq!(check("crates/file/src/a.rs", "use std::fs;"), 0);
        assert_eq!(check("crates/codec/src/a.rs", "let instant = self.instant();"), 0);
    }
}
