//! What every crate says of itself, and what the documents say of its dependencies.

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

fn has_common_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    lines.find(|line| !line.is_empty()) == Some("workspace = true")
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
    fn a_dependency_has_a_reason() {
        let dependency = |name: &str| Dependency { name: name.to_owned(), development: false, sibling: false };
        let member = Member { dependencies: vec![dependency("jiff"), dependency("blake3")], ..Member::default() };

        assert_eq!(unexplained(&[member], "- `jiff`: time"), ["docs/dependencies.md: gives no reason for `blake3`"]);
    }
}
