//! `cargo xtask package`: the crates as they are published, and a package outside the workspace that uses them.
//!
//! What a crate includes by a path that its package lacks, and what only works because the workspace is around it,
//! breaks here and nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::cargo::Cargo;
use crate::workspace::{Member, Workspace};

/// The package of examples.
const EXTERNAL: &str = "examples/external";

/// Dependencies are built as the workspace builds them, so that they are not built again.
const PROFILE: &[&str] = &[
    "--config",
    "profile.dev.debug='line-tables-only'",
    "--config",
    "profile.dev.opt-level=1",
    "--config",
    "profile.dev.package.'*'.debug=false",
    "--config",
    "profile.dev.package.'*'.opt-level=1",
];

/// Makes the packages, and runs the tests of the examples against them.
pub(crate) fn check(workspace: &Workspace) -> Outcome<()> {
    let folder = workspace.target.join("packaged");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    make(workspace)?;
    let crates: Vec<(&str, PathBuf)> = published(workspace)
        .map(|member| unpack(workspace, member, &folder).map(|path| (member.name.as_str(), path)))
        .collect::<Outcome<_>>()?;
    let external = stage(workspace, &folder)?;
    let manifest = external.join("Cargo.toml").to_string_lossy().into_owned();
    let mut arguments = vec!["test", "--quiet", "--manifest-path", &manifest];
    arguments.extend(PROFILE);
    let patches: Vec<String> = crates.iter().map(|(name, path)| patch(name, path)).collect();
    arguments.extend(patches.iter().flat_map(|patch| ["--config", patch.as_str()]));
    let target = workspace.target.to_string_lossy().into_owned();
    Cargo::new(workspace, &arguments).env("CARGO_TARGET_DIR", &target).run()
}

/// The crates that are published.
fn published(workspace: &Workspace) -> impl Iterator<Item = &Member> {
    workspace.crates.iter().filter(|member| member.publish)
}

/// Makes a package of each. They are not built one by one: the examples build what users depend on.
fn make(workspace: &Workspace) -> Outcome<()> {
    let mut arguments = vec!["package", "--quiet", "--no-verify", "--allow-dirty"];
    arguments.extend(published(workspace).flat_map(|member| ["--package", member.name.as_str()]));
    Cargo::new(workspace, &arguments).run()
}

/// Unpacks a package, and says where it is.
fn unpack(workspace: &Workspace, member: &Member, folder: &Path) -> Outcome<PathBuf> {
    let name = format!("{}-{}", member.name, member.version);
    let file = workspace.target.join("package").join(format!("{name}.crate"));
    let (file, into) = (file.to_string_lossy(), folder.to_string_lossy());
    Cargo::companion(workspace, "tar", &["-xzf", &file, "-C", &into]).run()?;
    let path = folder.join(name);
    if path.join("README.md").exists() { Ok(path) } else { Err(format!("{file} holds no README.md").into()) }
}

fn patch(name: &str, path: &Path) -> String {
    format!("patch.crates-io.{name}.path='{}'", path.display())
}

/// Copies the examples out of the workspace, beside the versions that it is tested with.
fn stage(workspace: &Workspace, folder: &Path) -> Outcome<PathBuf> {
    let external = folder.join("external");
    let files = workspace.files.iter().filter_map(|file| Some((file, file.strip_prefix(EXTERNAL).ok()?)));
    for (file, inside) in files.filter(|(_, inside)| !inside.starts_with(".cargo")) {
        let copy = external.join(inside);
        fs::create_dir_all(copy.parent().unwrap_or(&external))?;
        fs::copy(workspace.root.join(file), copy)?;
    }
    fs::copy(workspace.root.join("Cargo.lock"), external.join("Cargo.lock"))?;
    Ok(external)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_are_staged_with_the_versions_of_the_workspace_and_without_its_paths() {
        let root = tempfile::tempdir().unwrap();
        let files = ["examples/external/Cargo.toml", "examples/external/.cargo/config.toml", "Cargo.lock", "README.md"];
        for file in files {
            fs::create_dir_all(root.path().join(file).parent().unwrap()).unwrap();
            fs::write(root.path().join(file), file).unwrap();
        }
        let files = files.map(PathBuf::from).to_vec();
        let workspace = Workspace { root: root.path().to_owned(), files, ..Workspace::default() };

        let external = stage(&workspace, &root.path().join("out")).unwrap();

        let mut staged: Vec<_> = fs::read_dir(external).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        staged.sort();
        assert_eq!(staged, ["Cargo.lock", "Cargo.toml"]);
    }

    #[test]
    fn a_package_takes_the_place_of_a_release() {
        assert_eq!(patch("a-b", Path::new("/x/a-b-0.1.0")), "patch.crates-io.a-b.path='/x/a-b-0.1.0'");
    }
}
