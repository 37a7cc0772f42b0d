//! What stands in the workspace: its crates, from cargo's metadata, and its files.

use std::fs;
use std::path::{Path, PathBuf};

use turnkeep_model::Json;
use turnkeep_model::json;

use crate::Outcome;
use crate::cargo::Cargo;

/// The workspace.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) crates: Vec<Member>,
    /// Every file that is not built or ignored, relative to the root, in order.
    pub(crate) files: Vec<PathBuf>,
}

/// A crate of the workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) manifest: PathBuf,
    pub(crate) has_features: bool,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency of a crate.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) development: bool,
    pub(crate) sibling: bool,
}

impl Workspace {
    /// The workspace that this program was built in.
    pub(crate) fn find() -> Outcome<Workspace> {
        let own = std::env::var_os("CARGO_MANIFEST_DIR").ok_or("run this as `cargo xtask`")?;
        let root = Path::new(&own).parent().ok_or("xtask stands in no workspace")?.to_owned();
        let mut workspace = Workspace { root, ..Workspace::default() };
        let metadata = Cargo::new(&workspace, &["metadata", "--format-version=1", "--no-deps"]).output()?;
        workspace.crates = members(&json::parse(&metadata)?.into_json());
        workspace.files = files(&workspace.root)?;
        Ok(workspace)
    }

    /// The text of a file, if it is one that holds text.
    pub(crate) fn text(&self, file: &Path) -> Option<String> {
        fs::read_to_string(self.root.join(file)).ok()
    }
}

fn members(metadata: &Json) -> Vec<Member> {
    list(metadata, "packages").iter().map(member).collect()
}

fn member(package: &Json) -> Member {
    let features = package.as_object().and_then(|package| package.get("features")?.as_object());
    Member {
        name: text(package, "name"),
        description: text(package, "description"),
        manifest: text(package, "manifest_path").into(),
        has_features: features.is_some_and(|features| !features.is_empty()),
        dependencies: list(package, "dependencies").iter().map(dependency).collect(),
    }
}

fn dependency(entry: &Json) -> Dependency {
    Dependency {
        name: text(entry, "name"),
        development: text(entry, "kind") == "dev",
        sibling: !text(entry, "path").is_empty(),
    }
}

fn text(object: &Json, key: &str) -> String {
    object.as_object().and_then(|object| object.get_str(key)).unwrap_or_default().into_owned()
}

fn list<'a>(object: &'a Json, key: &str) -> &'a [Json] {
    object.as_object().and_then(|object| object.get(key)?.as_array()).unwrap_or_default()
}

/// The files below `root`. It walks rather than asks git: a source archive is to be checked too.
fn files(root: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if !is_foreign_folder(&name) {
                    open.push(path);
                }
            } else if !name.ends_with(".tmp") && name != ".git" {
                found.extend(path.strip_prefix(root).ok().map(Path::to_owned));
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn is_foreign_folder(name: &str) -> bool {
    matches!(name, ".git" | "target" | "out" | "node_modules")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_from_metadata() {
        let text = r#"{"packages":[{"name":"a","description":null,"manifest_path":"/w/a/Cargo.toml","features":{"x":[]},
            "dependencies":[{"name":"b","kind":null,"path":"/w/b"},{"name":"c","kind":"dev"}]}]}"#;

        let members = members(&json::parse(text).unwrap().into_json());

        let [member] = members.as_slice() else { panic!("one member: {members:?}") };
        assert_eq!((member.name.as_str(), member.description.as_str(), member.has_features), ("a", "", true));
        let kinds: Vec<_> = member.dependencies.iter().map(|d| (d.name.as_str(), d.development, d.sibling)).collect();
        assert_eq!(kinds, [("b", false, true), ("c", true, false)]);
    }
}
