//! What stands in the workspace: its crates, from cargo's metadata, and its files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Outcome;
use crate::cargo::Cargo;

/// The workspace.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Where cargo builds.
    pub(crate) target: PathBuf,
    pub(crate) crates: Vec<Member>,
    /// Every file that is not built or ignored, relative to the root, in order.
    pub(crate) files: Vec<PathBuf>,
}

/// A crate of the workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Whether it is published.
    pub(crate) publish: bool,
    pub(crate) is_library: bool,
    /// Its features, but for the default set.
    pub(crate) features: Vec<String>,
    pub(crate) keywords: usize,
    pub(crate) categories: usize,
    pub(crate) description: String,
    pub(crate) manifest: PathBuf,
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
        let metadata: Value = serde_json::from_str(&metadata)?;
        workspace.crates = members(&metadata);
        workspace.target = text(&metadata, "target_directory").into();
        workspace.files = files(&workspace.root)?;
        Ok(workspace)
    }

    /// The text of a file, if it is one that holds text.
    pub(crate) fn text(&self, file: &Path) -> Option<String> {
        fs::read_to_string(self.root.join(file)).ok()
    }
}

fn members(metadata: &Value) -> Vec<Member> {
    list(metadata, "packages").iter().map(member).collect()
}

fn member(package: &Value) -> Member {
    Member {
        name: text(package, "name"),
        version: text(package, "version"),
        // An empty list of registries is `publish = false`.
        publish: package.get("publish").and_then(Value::as_array).is_none_or(|registries| !registries.is_empty()),
        is_library: list(package, "targets").iter().any(|target| list(target, "kind").contains(&"lib".into())),
        features: features(package),
        keywords: list(package, "keywords").len(),
        categories: list(package, "categories").len(),
        description: text(package, "description"),
        manifest: text(package, "manifest_path").into(),
        dependencies: list(package, "dependencies").iter().map(dependency).collect(),
    }
}

/// The features that a user can name. One that is only an optional dependency is none.
fn features(package: &Value) -> Vec<String> {
    let declared = package.get("features").and_then(Value::as_object).into_iter().flat_map(|features| features.keys());
    declared.filter(|name| *name != "default").cloned().collect()
}

fn dependency(entry: &Value) -> Dependency {
    Dependency {
        name: text(entry, "name"),
        development: text(entry, "kind") == "dev",
        sibling: !text(entry, "path").is_empty(),
    }
}

fn text(object: &Value, key: &str) -> String {
    object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
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

        let members = members(&serde_json::from_str(text).unwrap());

        let [member] = members.as_slice() else { panic!("one member: {members:?}") };
        assert_eq!((member.name.as_str(), member.description.as_str()), ("a", ""));
        let kinds: Vec<_> = member.dependencies.iter().map(|d| (d.name.as_str(), d.development, d.sibling)).collect();
        assert_eq!(kinds, [("b", false, true), ("c", true, false)]);
    }
}
