//! The public items of every published crate, as golden files: `docs/api/CRATE.txt`.
//!
//! They are read from the pages that rustdoc writes: every item that the crate lists, its declaration, its methods and
//! the traits it implements. A change that breaks users shows up as a changed line, which is reviewed like code;
//! `UPDATE_GOLDEN=1` writes the files anew. Pages look different from one version of rustdoc to the next, so the files
//! name theirs, and are compared with no other.

use std::fs;
use std::path::Path;

use crate::Outcome;
use crate::cargo::Cargo;
use crate::workspace::{Member, Workspace};

const FOLDER: &str = "docs/api";

/// Makes the documentation, whose links must work, and compares the public items with those agreed on.
pub(crate) fn check(workspace: &Workspace) -> Outcome<()> {
    let version = Cargo::companion(workspace, "rustdoc", &["--version"]).output()?;
    let version = version.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let doc = ["doc", "--quiet", "--workspace", "--no-deps", "--all-features"];
    Cargo::new(workspace, &doc).env("RUSTDOCFLAGS", "-D warnings").run()?;
    let libraries = workspace.crates.iter().filter(|member| member.publish && member.is_library);
    let outcomes: Vec<Option<String>> =
        libraries.map(|member| compare(workspace, member, &version)).collect::<Outcome<_>>()?;
    let faults: Vec<String> = outcomes.into_iter().flatten().collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

/// What differs in the items of a crate, if something does.
fn compare(workspace: &Workspace, member: &Member, version: &str) -> Outcome<Option<String>> {
    let pages = workspace.target.join("doc").join(member.name.replace('-', "_"));
    let head = format!("# Public items of {}, from the pages of {version}.", member.name);
    let now = format!("{head}\n{}", items(&pages)?);
    let file = Path::new(FOLDER).join(format!("{}.txt", member.name));
    let agreed = workspace.text(&file).unwrap_or_default();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(workspace.root.join(FOLDER))?;
        fs::write(workspace.root.join(&file), now)?;
        return Ok(None);
    }
    if !agreed.is_empty() && agreed.lines().next() != Some(&head) {
        println!("skipped: public items of {} ({} is of another rustdoc than {version})", member.name, file.display());
        return Ok(None);
    }
    Ok((agreed != now).then(|| fault(&file, &agreed, &now)))
}

fn fault(file: &Path, agreed: &str, now: &str) -> String {
    let gone = agreed.lines().filter(|line| !now.lines().any(|other| other == *line)).map(|line| format!("  - {line}"));
    let new = now.lines().filter(|line| !agreed.lines().any(|other| other == *line)).map(|line| format!("  + {line}"));
    let lines: Vec<String> = gone.chain(new).take(20).collect();
    format!(
        "{}: the public items changed; `UPDATE_GOLDEN=1 cargo xtask api` agrees\n{}",
        file.display(),
        lines.join("\n")
    )
}

/// Every item that a crate's list names, in the order of the list.
fn items(pages: &Path) -> Outcome<String> {
    let list = fs::read_to_string(pages.join("all.html"))?;
    let mut text = String::new();
    // The list links to its own headings, too.
    for page in all_between(&list, "<li><a href=\"", "\"").filter(|page| !page.starts_with('#')) {
        text.push_str(&item(&fs::read_to_string(pages.join(page))?, page));
    }
    Ok(text)
}

/// An item: its declaration, its methods, and the traits it implements itself.
fn item(html: &str, page: &str) -> String {
    let path = page.trim_end_matches(".html").replace('/', "::");
    let declaration = all_between(html, "<pre class=\"rust item-decl\"><code>", "</code></pre>").next().map(plain);
    // The value of a constant is not part of what a user can rely on, and may be a whole file.
    let declaration = declaration.map(|text| match page.contains("constant.") {
        true => text.split(" = ").next().unwrap_or_default().to_owned(),
        false => text,
    });
    let own = section(html, "implementations");
    let methods = all_between(own, "<h4 class=\"code-header\">", "</h4>").map(plain);
    let traits = section(html, "trait-implementations");
    let traits = all_between(traits, "<h3 class=\"code-header\">", "</h3>").map(plain);
    let mut lines: Vec<String> = methods.chain(traits).map(|line| format!("    {line}\n")).collect();
    lines.sort_unstable();
    format!("{path}: {}\n{}", declaration.unwrap_or_default(), lines.concat())
}

/// The part of a page below a heading of the second level.
fn section<'a>(html: &'a str, id: &str) -> &'a str {
    let Some((_, rest)) = html.split_once(&format!("<h2 id=\"{id}\"")) else { return "" };
    rest.split_once("<h2 id=\"").map_or(rest, |(section, _)| section)
}

/// The pieces of a text between two marks.
fn all_between<'a>(text: &'a str, before: &'a str, after: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(move |rest| rest.split_once(after)).map(|(piece, _)| piece)
}

/// HTML as one line of text, without attributes that only rustdoc shows.
fn plain(html: &str) -> String {
    let mut pieces = html.split('<');
    let first = pieces.next().unwrap_or_default().to_owned();
    let text = pieces.fold(first, |text, piece| text + piece.split_once('>').map_or("", |(_, text)| text));
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];
    let text = marks.iter().fold(text, |text, (mark, sign)| text.replace(mark, sign));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_a_line() {
        let html = "pub fn <a href=\"#x\">get</a>&lt;T&gt;(\n    &amp;self,\n) -&gt; <b>T</b>";

        assert_eq!(plain(html), "pub fn get<T>( &self, ) -> T");
    }

    #[test]
    fn an_item_has_its_declaration_methods_and_traits_but_no_blanket_ones() {
        let html = r#"<pre class="rust item-decl"><code>pub struct A;</code></pre>
            <h2 id="implementations">x</h2><h4 class="code-header">pub fn b(&amp;self)</h4>
            <h2 id="trait-implementations">x</h2><h3 class="code-header">impl Clone for A</h3>
            <h2 id="blanket-implementations">x</h2><h3 class="code-header">impl&lt;T&gt; Any for T</h3>"#;

        let text = item(html, "m/struct.A.html");

        assert_eq!(text, "m::struct.A: pub struct A;\n    impl Clone for A\n    pub fn b(&self)\n");
    }

    #[test]
    fn what_changed_is_told() {
        let told = fault(Path::new("a.txt"), "x\ny\n", "x\nz\n");

        assert!(told.contains("  - y\n  + z"), "{told}");
    }
}
