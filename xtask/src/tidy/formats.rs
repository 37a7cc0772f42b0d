//! Every format has fixtures, and the generated documents and the changelog are kept.

use std::path::Path;

use turnkeep_codec::format;

use super::Fault;
use crate::docs;
use crate::workspace::Workspace;

/// Finds formats without fixtures, stale documents and a missing changelog.
pub(super) fn check(workspace: &Workspace) -> Vec<Fault> {
    let ids = format::ALL.iter().map(|codec| codec.spec().id);
    let bare = ids.filter(|id| !has_fixtures(workspace, id));
    let mut faults: Vec<Fault> = bare.map(|id| format!("fixtures/{id}: the format has no fixtures")).collect();
    let kept = docs::all(workspace).into_iter();
    let stale = kept.filter(|(file, text)| workspace.text(file).as_ref() != Some(text));
    faults.extend(stale.map(|(file, _)| format!("{}: is stale; run `cargo xtask docs`", file.display())));
    let changes = workspace.text(Path::new("CHANGELOG.md")).unwrap_or_default();
    if !has_unreleased(&changes) {
        faults.push("CHANGELOG.md: has no section `## [Unreleased]`".to_owned());
    }
    faults
}

fn has_fixtures(workspace: &Workspace, id: &str) -> bool {
    let folder = Path::new("fixtures").join(id);
    workspace.files.iter().any(|file| file.starts_with(&folder))
}

fn has_unreleased(changes: &str) -> bool {
    changes.lines().any(|line| line.trim_end() == "## [Unreleased]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixtures_stand_in_the_folder_of_their_format() {
        let files = vec!["fixtures/geppetto.turn/a.yaml".into(), "fixtures/turnkeep.jsonl/a.jsonl".into()];
        let workspace = Workspace { files, ..Workspace::default() };

        assert!(has_fixtures(&workspace, "turnkeep.jsonl"));
        assert!(!has_fixtures(&workspace, "turnkeep"));
    }

    #[test]
    fn the_changelog_tells_what_is_not_released() {
        assert!(has_unreleased("# Changelog\n\n## [Unreleased]\n"));
        assert!(!has_unreleased("# Changelog\n\n## [0.1.0]\n"));
    }
}
