//! The fold in the browser and the fold of the library give the same session for the same journal.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use turnkeep_model::json::Layout;
use turnkeep_model::{Archive, Journal, fold};
use turnkeep_testkit::{cases as case_count, for_all, generate};

const CASES: u32 = 400;

/// Where `cargo xtask test` puts a copy of the page with its packages.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/external/viewer")
}

/// The journal and the session it folds to, as one line for the script that compares them.
fn case(journal: &Journal) -> String {
    let archive = Archive { sessions: vec![fold(journal).unwrap()], ..Archive::default() };
    let lines = journal.batches.iter().map(turnkeep_model::Batch::to_line);
    let count = journal.batches.len().to_string();
    let all: Vec<String> = [count].into_iter().chain(lines).chain([archive.to_json(Layout::Compact)]).collect();
    all.join("\n")
}

fn cases() -> Vec<String> {
    let cases = std::cell::RefCell::new(Vec::new());
    for_all(CASES, &generate::journal(), |journal| {
        cases.borrow_mut().push(case(&journal));
        Ok(())
    });
    cases.into_inner()
}

#[test]
fn the_page_folds_a_journal_as_the_library_does() {
    if !folder().join("node_modules/esbuild").is_dir() {
        eprintln!("skipped: the fold of the viewer (`cargo xtask test` installs its packages where there is npm)");
        return;
    }
    let script = folder().join("test/compare-folds.mjs");

    let mut node = node(&script);
    let mut input = node.stdin.take().unwrap();
    let lines = cases().join("\n");
    std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let ran = node.wait_with_output().unwrap();

    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(said.trim(), format!("{} journals", case_count(CASES)));
}

fn node(script: &Path) -> std::process::Child {
    let mut command = Command::new("node");
    command.arg(script).current_dir(folder());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}
