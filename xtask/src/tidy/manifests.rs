//! What every crate says of itself, and what the documents say of its dependencies and of changes.

use std::collections::BTreeSet;
use std::path::Path;

use super::Fault;
use crate::workspace::{Member, Workspace};

const REASONS: &str = "docs/dependencies.md";

/// Has the lints of the workspace spelled out, because one of its modules needs `unsafe`.
const WATCHES_SQLITE: &str = "turnkeep-testkit";

/// Finds crates without a description or the common lints, and dependencies without a reason.
pub(super) fn check(workspace: &Workspace) -> Vec<Fault> {
    let reasons = workspace.text(Path::new(REASONS)).unwrap_or_default();
    let crates = workspace.crates.iter();
    let mut faults: Vec<Fault> =
        crates.flat_map(|member| check_member(member, &workspace.text(&member.manifest).unwrap_or_default())).collect();
    faults.extend(unexplained(&workspace.crates, &reasons));
    faults.extend(
        workspace.crates.iter().filter(|member| member.publish).flat_map(|member| check_published(workspace, member)),
    );
    faults.extend(check_rust_version(workspace));
    if !has_unreleased(&workspace.text(Path::new("CHANGELOG.md")).unwrap_or_default()) {
        faults.push("CHANGELOG.md: has no section `## [Unreleased]`".to_owned());
    }
    faults
}

fn check_member(member: &Member, manifest: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    // One letter is a placeholder, not a description.
    if member.description.len() < 2 {
        faults.push(format!("{}: has no description", member.name));
    }
    if member.name != WATCHES_SQLITE && !has_common_lints(manifest) {
        faults.push(format!("{}: does not take the lints of the workspace", member.name));
    }
    faults
}

/// What a page of a registry lacks, and features that the first page of a crate does not name.
fn check_published(workspace: &Workspace, member: &Member) -> Vec<Fault> {
    let folder = member.manifest.parent().unwrap_or(Path::new(""));
    let pages: String =
        ["README.md", "src/lib.rs"].iter().filter_map(|page| workspace.text(&folder.join(page))).collect();
    check_page(member, &pages)
}

fn check_page(member: &Member, pages: &str) -> Vec<Fault> {
    let name = &member.name;
    let mut faults: Vec<Fault> = member
        .features
        .iter()
        .filter(|feature| !pages.contains(&format!("`{feature}`")))
        .map(|feature| format!("{name}: its first page does not name the feature `{feature}`"))
        .collect();
    if member.keywords == 0 || member.categories == 0 {
        faults.push(format!("{name}: has no keywords or no categories"));
    }
    faults
}

/// README.md names the oldest Rust that the manifests do.
fn check_rust_version(workspace: &Workspace) -> Option<Fault> {
    let manifest = workspace.text(Path::new("Cargo.toml"))?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "))?.trim_matches('"');
    let told = format!("minimum supported Rust version is {version};");
    let readme = workspace.text(Path::new("README.md")).unwrap_or_default();
    (!readme.contains(&told)).then(|| format!("README.md: does not say that the {told}"))
}

fn has_common_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    lines.find(|line| !line.is_empty()) == Some("workspace = true")
}

fn has_unreleased(changes: &str) -> bool {
    changes.lines().any(|line| line.trim_end() == "## [Unreleased]")
}

/// Dependencies that the document of reasons does not name.
fn unexplained(crates: &[Member], reasons: &str) -> Vec<Fault> {
    let used = crates.iter().flat_map(|member| &member.dependencies).filter(|dependency| !dependency.sibling);
    let names: BTreeSet<&str> = used.map(|dependency| dependency.name.as_str()).collect();
    let unexplained = names.into_iter().filter(|name| !reasons.contains(&format!("`{name}`")));
    unexplained.map(|name| format!("{REASONS}: gives no reason for `{name}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    #[test]
    fn a_crate_has_a_description_and_the_lints() {
        let bare = Member { name: "a".to_owned(), description: "x".to_owned(), ..Member::default() };
        let told = Member { description: "Values".to_owned(), ..bare.clone() };

        assert_eq!(check_member(&bare, "[package]\n").len(), 2);
        assert_eq!(check_member(&told, "[package]\n\n[lints]\nworkspace = true\n"), Vec::<Fault>::new());
        assert_eq!(check_member(&told, "[lints.rust]\nworkspace = true\n").len(), 1);
    }

    #[test]
    fn a_published_crate_names_its_features() {
        let member = Member {
            name: "a".to_owned(),
            features: vec!["http".to_owned(), "zip".to_owned()],
            keywords: 1,
            categories: 1,
            ..Member::default()
        };

        assert_eq!(check_page(&member, "| `http` | x |"), ["a: its first page does not name the feature `zip`"]);
        assert_eq!(check_page(&Member { keywords: 0, ..member }, "`http` `zip`").len(), 1);
    }

    #[test]
    fn the_changelog_tells_what_is_not_released() {
        assert!(has_unreleased("# Changelog\n\n## [Unreleased]\n"));
        assert!(!has_unreleased("# Changelog\n\n## [0.1.0]\n"));
    }

    #[test]
    fn a_dependency_has_a_reason() {
        let dependency = |name: &str| Dependency { name: name.to_owned(), development: false, sibling: false };
        let member = Member { dependencies: vec![dependency("jiff"), dependency("blake3")], ..Member::default() };

        assert_eq!(unexplained(&[member], "- `jiff`: time"), ["docs/dependencies.md: gives no reason for `blake3`"]);
    }
}
