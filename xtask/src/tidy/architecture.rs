//! ARCHITECTURE.md tells the truth: its rooms and arrows are the crates and their dependencies, in both directions, and
//! what it names exists.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::Fault;
use crate::workspace::{Member, Workspace};

const PAGE: &str = "ARCHITECTURE.md";

/// Checks the page against the workspace.
pub(super) fn check(workspace: &Workspace) -> Vec<Fault> {
    let page = workspace.text(Path::new(PAGE)).unwrap_or_default();
    let crates: Vec<Room> = workspace.crates.iter().map(|member| Room::of(workspace, member)).collect();
    let faults = check_rooms(&page, &crates).into_iter().chain(check_arrows(&page, &crates));
    let faults = faults.chain(check_names(&page, &workspace.files, &words(workspace)));
    faults.map(|fault| format!("{PAGE}: {fault}")).collect()
}

/// A crate as the page names it: its folder, and its name among the arrows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Room {
    folder: String,
    name: String,
    arrows: BTreeSet<String>,
}

impl Room {
    fn of(workspace: &Workspace, member: &Member) -> Room {
        let folder = folder(workspace, member);
        let used = member.dependencies.iter().filter(|dependency| dependency.sibling && !dependency.development);
        let siblings = used.filter_map(|used| workspace.crates.iter().find(|sibling| sibling.name == used.name));
        let arrows = siblings.map(|sibling| short(&self::folder(workspace, sibling))).collect();
        Room { name: short(&folder), folder, arrows }
    }
}

fn folder(workspace: &Workspace, member: &Member) -> String {
    let folder = member.manifest.parent().and_then(|folder| folder.strip_prefix(&workspace.root).ok());
    folder.unwrap_or(Path::new("")).to_string_lossy().replace('\\', "/")
}

fn short(folder: &str) -> String {
    folder.strip_prefix("crates/").unwrap_or(folder).to_owned()
}

/// Every crate has a row in the table of rooms, and every row is a crate.
fn check_rooms(page: &str, crates: &[Room]) -> Vec<Fault> {
    let section = section(page, "Rooms");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(folder, _)| folder);
    let rows: BTreeSet<&str> = rows.collect();
    let folders: BTreeSet<&str> = crates.iter().map(|room| room.folder.as_str()).collect();
    let missing = folders.difference(&rows).map(|folder| format!("the table of rooms has no row for `{folder}`"));
    let gone = rows.difference(&folders).map(|folder| format!("the table of rooms has `{folder}`, which is no crate"));
    missing.chain(gone).collect()
}

/// Every dependency is an arrow on the page, every arrow a dependency, and arrows point to rooms further up in the list.
fn check_arrows(page: &str, crates: &[Room]) -> Vec<Fault> {
    let arrows = arrows(page);
    let mut faults = Vec::new();
    for room in crates {
        let Some((_, told)) = arrows.iter().find(|(name, _)| *name == room.name) else {
            faults.push(format!("`{}` has no line of arrows", room.name));
            continue;
        };
        let told: BTreeSet<String> = told.iter().map(|name| (*name).to_owned()).collect();
        faults.extend(room.arrows.difference(&told).map(|to| format!("the arrow `{} -> {to}` is missing", room.name)));
        faults.extend(told.difference(&room.arrows).map(|to| format!("the arrow `{} -> {to}` is none", room.name)));
    }
    let mut above: HashSet<&str> = HashSet::new();
    for (name, told) in &arrows {
        let up = told.iter().filter(|to| !above.contains(**to));
        faults.extend(up.map(|to| format!("the arrow `{name} -> {to}` does not point to a line above it")));
        above.insert(name);
    }
    faults
}

/// The lines `room -> room, room` of the page, in their order.
fn arrows(page: &str) -> Vec<(&str, Vec<&str>)> {
    let lines = section(page, "Rooms").lines().filter_map(|line| line.split_once("->"));
    let lines = lines.filter(|(name, _)| name.trim_end().chars().all(|c| c.is_alphanumeric() || "_-/".contains(c)));
    let list = |told| str::split(told, ',').map(str::trim).filter(|name| !name.is_empty()).collect();
    lines.map(|(name, told)| (name.trim(), list(told))).collect()
}

/// The text below a heading of the second level.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let start = page.split_once(&format!("\n## {heading}\n")).map_or("", |(_, rest)| rest);
    start.split_once("\n## ").map_or(start, |(section, _)| section)
}

/// Every file, folder and identifier in backticks exists.
fn check_names(page: &str, files: &[PathBuf], words: &HashSet<String>) -> Vec<Fault> {
    let files: Vec<String> = files.iter().map(|file| file.to_string_lossy().replace('\\', "/")).collect();
    let (mut room, mut folder, mut faults) = (String::new(), String::new(), Vec::new());
    for (index, line) in page.lines().enumerate() {
        if let Some(heading) = line.strip_prefix("## ") {
            room = quoted(heading).next().unwrap_or_default().to_owned();
        }
        if let Some(item) = line.strip_prefix("- ") {
            folder = quoted(item).next().filter(|name| name.ends_with('/')).unwrap_or_default().to_owned();
        }
        for name in quoted(line) {
            let exists = if is_path(name) { stands(name, &room, &folder, &files) } else { is_word(name, words) };
            if !exists {
                faults.push(format!("{}: there is no `{name}`", index + 1));
            }
        }
    }
    faults
}

fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn is_path(name: &str) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    plain && (name.ends_with(".rs") || name.ends_with('/') || name.contains('/'))
}

/// Whether a file or folder is there: from the root, in the folder that its item is about, in the sources of a crate that it
/// begins with, or anywhere in those of the section's crate (in a section about no crate, anywhere).
fn stands(name: &str, room: &str, folder: &str, files: &[String]) -> bool {
    let other = name.split_once('/').map(|(room, rest)| format!("crates/{room}/src/{rest}"));
    let places = [Some(name.to_owned()), Some(format!("{room}/src/{folder}{name}")), other];
    let is_there = |place: &String| files.iter().any(|file| is_or_holds(file, place));
    let ending = format!("/{name}");
    let below = |file: &String| {
        file.starts_with(room)
            && (file.ends_with(&ending) || file.contains(&format!("{}/", ending.trim_end_matches('/'))))
    };
    places.iter().flatten().any(is_there) || files.iter().any(below)
}

fn is_or_holds(file: &str, place: &str) -> bool {
    let place = place.trim_end_matches('/');
    file.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Identifiers stand somewhere in the sources; what is none, such as a command or a number, is not checked.
fn is_word(name: &str, words: &HashSet<String>) -> bool {
    let parts: Vec<&str> = name.trim_start_matches("trait ").trim_end_matches('!').split("::").collect();
    let identifier = |part: &&str| {
        let plain = part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        plain && part.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    !parts.iter().all(identifier) || parts.iter().all(|part| words.contains(*part))
}

/// Every word of the sources.
fn words(workspace: &Workspace) -> HashSet<String> {
    let sources = workspace.files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    let texts = sources.filter_map(|file| workspace.text(file));
    let words = texts.flat_map(|text| {
        let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        parts.map(str::to_owned).collect::<HashSet<_>>()
    });
    // What stands in the workspace is a word too: rooms are named by their folders.
    let stems = workspace.files.iter().flat_map(|file| file.iter()).filter_map(|part| part.to_str());
    words.chain(stems.map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(name: &str, arrows: &[&str]) -> Room {
        let arrows = arrows.iter().map(|name| (*name).to_owned()).collect();
        Room { folder: format!("crates/{name}"), name: name.to_owned(), arrows }
    }

    fn page(rows: &str, arrows: &str) -> String {
        format!("# A\n\n## Rooms\n\n{rows}\n```text\n{arrows}```\n\n## The values (`crates/model`)\n\nx -> y\n")
    }

    #[test]
    fn every_crate_is_a_row_and_every_row_a_crate() {
        let page = page("| `crates/model` | V |\n| `crates/moon` | M |\n", "");

        let faults = check_rooms(&page, &[room("model", &[]), room("codec", &[])]);

        let wanted = [
            "the table of rooms has no row for `crates/codec`",
            "the table of rooms has `crates/moon`, which is no crate",
        ];
        assert_eq!(faults, wanted);
    }

    #[test]
    fn arrows_are_the_dependencies_and_point_up_the_list() {
        let rooms = [room("model", &[]), room("codec", &["model"]), room("file", &["codec", "model"])];

        let right = page("", "model ->\ncodec -> model\nfile -> codec, model\n");
        let wrong = page("", "model ->\nfile -> codec\ncodec -> model, file\n");

        assert_eq!(check_arrows(&right, &rooms), Vec::<Fault>::new());
        let faults = [
            "the arrow `codec -> file` is none",
            "the arrow `file -> model` is missing",
            "the arrow `file -> codec` does not point to a line above it",
        ];
        assert_eq!(check_arrows(&wrong, &rooms), faults);
        assert_eq!(check_arrows(&right, &[room("moon", &[])]), ["`moon` has no line of arrows"]);
    }

    #[test]
    fn what_is_named_exists() {
        let files = ["crates/model/src/json/mod.rs", "crates/model/src/policy/edit.rs", "crates/cli/src/style.rs"];
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let words: HashSet<String> = ["Json", "Turn", "kept"].map(str::to_owned).into();
        let page = "## The values (`crates/model`)\n\n- `json/`: `Json`, `1.0`.\n- `policy/`: `edit.rs`, `Turn::kept`, `cli/style.rs`\n\
                    - `moon/`, `moon.rs`, `Turn::gone`, `Gone`\n";

        let faults = check_names(page, &files, &words);

        let gone = ["moon/", "moon.rs", "Turn::gone", "Gone"];
        assert_eq!(faults, gone.map(|name| format!("5: there is no `{name}`")));
    }
}
