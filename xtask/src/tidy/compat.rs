//! Every test that a compatibility page names as a proof exists.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Fault;
use crate::workspace::Workspace;

/// Finds names in the last column of a table in `docs/compat/` that are neither in a test nor a fixture.
pub(super) fn check(workspace: &Workspace) -> Vec<Fault> {
    let known = known(workspace);
    let pages = workspace.files.iter().filter(|file| file.starts_with("docs/compat"));
    let faults = pages.flat_map(|page| {
        let text = workspace.text(page).unwrap_or_default();
        let unknown = proofs(&text).filter(|(_, name)| !known.contains(*name));
        unknown.map(|(line, name)| format!("{}:{line}: there is no test `{name}`", page.display())).collect::<Vec<_>>()
    });
    faults.collect()
}

/// Every word of the tests, and the names of the fixtures.
fn known(workspace: &Workspace) -> HashSet<String> {
    let is_rust = |file: &&PathBuf| file.starts_with("crates") && file.extension() == Some(OsStr::new("rs"));
    let sources = workspace.files.iter().filter(is_rust).filter_map(|file| workspace.text(file));
    let mut known: HashSet<String> = sources.flat_map(|text| words(&text)).collect();
    let fixtures = workspace.files.iter().filter(|file| file.starts_with("fixtures"));
    let cases = fixtures.filter_map(|file| file.parent().and_then(Path::file_name)?.to_str().map(str::to_owned));
    known.extend(cases);
    known
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    parts.filter(|word| word.contains('_')).map(str::to_owned).collect()
}

/// The names in backticks in the last column of each row, without the modules they are in, and their lines.
fn proofs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let rows = text.lines().enumerate().filter(|(_, line)| line.starts_with("| ") && line.matches(" | ").count() >= 3);
    rows.flat_map(|(index, line)| {
        let cell = line.trim_end().trim_end_matches('|').rsplit(" | ").next().unwrap_or_default();
        let quoted = cell.split('`').skip(1).step_by(2);
        let names = quoted.filter_map(|name| name.rsplit("::").next()).filter(|name| is_test_name(name));
        names.map(move |name| (index + 1, name))
    })
}

/// Tests have several words; what has a star names many.
fn is_test_name(name: &str) -> bool {
    name.contains('_') && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_tests_in_the_last_column_count() {
        let page = "| item | what | status | proof |\n|---|---|---|---|\n\
                    | A1 | `not_this` | done | `files::a_test_of_it`, `Json`, `laws::all::x_*` |\n`nor_this`\n";

        assert_eq!(proofs(page).collect::<Vec<_>>(), [(3, "a_test_of_it")]);
    }

    #[test]
    fn words_are_those_with_an_underscore() {
        assert_eq!(words("fn a_test() { check(\"b_c\"); }"), ["a_test", "b_c"]);
    }
}
