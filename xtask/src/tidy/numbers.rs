//! `cargo xtask tidy --numbers`: how large and how repetitive the crates are. For reading; nothing is judged by them.

use std::collections::HashMap;
use std::path::Path;

use super::text::is_test;
use crate::workspace::Workspace;

/// Files above this many lines are listed.
const LONG: usize = 400;

/// How many lines make a repetition.
const WINDOW: usize = 6;

/// One table row a crate, and the long files.
pub(crate) fn print(workspace: &Workspace) {
    let crates: Vec<(String, Vec<Source>)> = workspace.crates.iter().map(|member| of(workspace, member)).collect();
    let repeated = repeated(crates.iter().flat_map(|(_, files)| files));
    println!("{:<12} {:>6} {:>6} {:>7} {:>9} {:>9}", "crate", "lines", "files", "public", "comments", "repeated");
    let mut total = Numbers::default();
    for (name, files) in &crates {
        let numbers = files.iter().fold(Numbers::default(), |sum, file| sum.with(&file.numbers(&repeated)));
        println!("{}", numbers.row(name));
        total = total.with(&numbers);
    }
    println!("{}", total.row("all"));
    let files = || crates.iter().flat_map(|(_, files)| files);
    let long =
        files().filter(|file| file.lines.len() > LONG).map(|file| format!("{:>6} {}", file.lines.len(), file.name));
    let mut long: Vec<String> = long.collect();
    long.sort_unstable_by(|one, other| other.cmp(one));
    println!("\nfiles in src above {LONG} lines: {}", long.len());
    long.iter().for_each(|line| println!("{line}"));
    println!(
        "\ncomments: lines that say why (`//`), in a hundred lines of code; repeated: lines that stand, {WINDOW} or more in a row, \
         elsewhere as well"
    );
}

/// The text of a file in `src`, but for tests.
struct Source {
    name: String,
    lines: Vec<String>,
}

fn of(workspace: &Workspace, member: &crate::workspace::Member) -> (String, Vec<Source>) {
    let folder = member.manifest.parent().unwrap_or(Path::new(""));
    let folder = folder.strip_prefix(&workspace.root).unwrap_or(folder).join("src");
    let files = workspace.files.iter().filter(|file| file.starts_with(&folder) && !is_test(file));
    let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    let source = |file: &std::path::PathBuf| {
        let lines = workspace.text(file)?.lines().map(|line| line.trim().to_owned()).collect();
        Some(Source { name: file.display().to_string(), lines })
    };
    let name = member.name.strip_prefix("turnkeep-").unwrap_or(&member.name);
    (name.to_owned(), files.filter_map(source).collect())
}

impl Source {
    fn numbers(&self, repeated: &HashMap<Vec<&str>, usize>) -> Numbers {
        let count = |is: fn(&str) -> bool| self.lines.iter().filter(|line| is(line)).count();
        Numbers {
            lines: self.lines.len(),
            files: 1,
            public: count(is_public),
            comments: count(is_comment),
            code: count(is_code),
            repeated: self.repeated(repeated),
        }
    }

    /// How many of its lines of code are in a window that stands elsewhere, too.
    fn repeated(&self, seen: &HashMap<Vec<&str>, usize>) -> usize {
        let windows = self.windows();
        let is_repeated = |at: usize| windows.get(at).is_some_and(|window| seen.get(window).is_some_and(|n| *n > 1));
        let lines = windows.len() + WINDOW - 1;
        (0..lines).filter(|line| (line.saturating_sub(WINDOW - 1)..=*line).any(is_repeated)).count()
    }

    fn windows(&self) -> Vec<Vec<&str>> {
        let code: Vec<&str> = self.lines.iter().map(String::as_str).filter(|line| is_telling(line)).collect();
        code.windows(WINDOW).map(<[&str]>::to_vec).collect()
    }
}

/// How often each window of lines stands in all files.
fn repeated<'a>(files: impl Iterator<Item = &'a Source>) -> HashMap<Vec<&'a str>, usize> {
    let mut seen = HashMap::new();
    for window in files.flat_map(Source::windows) {
        *seen.entry(window).or_insert(0) += 1;
    }
    seen
}

fn is_comment(line: &str) -> bool {
    line.starts_with("//") && !line.starts_with("///") && !line.starts_with("//!")
}

fn is_code(line: &str) -> bool {
    !line.is_empty() && !line.starts_with("//")
}

/// Brackets alone and imports are alike everywhere.
fn is_telling(line: &str) -> bool {
    is_code(line) && line.chars().any(char::is_alphanumeric) && !line.starts_with("use ")
}

fn is_public(line: &str) -> bool {
    let items = ["fn ", "async fn ", "const fn ", "struct ", "enum ", "trait ", "type ", "const ", "static ", "mod "];
    line.strip_prefix("pub ").is_some_and(|rest| items.iter().any(|item| rest.starts_with(item)))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Numbers {
    lines: usize,
    files: usize,
    public: usize,
    comments: usize,
    code: usize,
    repeated: usize,
}

impl Numbers {
    fn with(&self, other: &Numbers) -> Numbers {
        Numbers {
            lines: self.lines + other.lines,
            files: self.files + other.files,
            public: self.public + other.public,
            comments: self.comments + other.comments,
            code: self.code + other.code,
            repeated: self.repeated + other.repeated,
        }
    }

    fn row(&self, name: &str) -> String {
        let share = 100.0 * self.comments as f64 / self.code.max(1) as f64;
        let Numbers { lines, files, public, repeated, .. } = self;
        format!("{name:<12} {lines:>6} {files:>6} {public:>7} {share:>8.1}% {repeated:>9}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { name: "a.rs".to_owned(), lines: text.lines().map(str::to_owned).collect() }
    }

    #[test]
    fn a_file_is_counted() {
        let file =
            source("//! About.\n\n/// A value.\npub struct A;\n// Because.\npub(crate) fn b() {\n}\npub fn c() {}");

        let numbers = Numbers { lines: 8, files: 1, public: 2, comments: 1, code: 4, repeated: 0 };
        assert_eq!(file.numbers(&HashMap::new()), numbers);
    }

    #[test]
    fn lines_that_stand_twice_are_counted_in_both_places() {
        let same = "a1\na2\na3\na4\n}\na5\na6\na7\n";
        let (one, other) = (source(&format!("x\n{same}")), source(&format!("{same}y")));
        let unlike = source("b1\nb2\nb3\nb4\nb5\nb6");

        let files = [one, other, unlike];
        let seen = repeated(files.iter());

        assert_eq!(files.each_ref().map(|file| file.repeated(&seen)), [7, 7, 0]);
    }
}
