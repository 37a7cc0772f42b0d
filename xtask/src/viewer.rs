//! The viewer: its types, its tests, and that the committed page is what its sources build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::workspace::Workspace;

/// What is built from.
const SOURCES: &[&str] = &["build.mjs", "package.json", "package-lock.json", "tsconfig.json", "src", "test"];

/// The files of the page.
const BUILT: &[&str] = &["index.html", "viewer.css", "viewer.js"];

/// A copy of the viewer with its packages; `None` where Node or npm is missing. It is a copy so that packages of others never
/// stand among our sources.
pub(crate) fn install(workspace: &Workspace) -> Option<PathBuf> {
    let folder = workspace.target.join("external/viewer");
    for source in SOURCES {
        copy(&workspace.root.join("viewer").join(source), &folder.join(source)).ok()?;
    }
    let (done, wanted) = (folder.join("installed.txt"), fs::read_to_string(folder.join("package-lock.json")).ok()?);
    if !fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        run(&folder, "node", &["--version"]).ok()?;
        run(&folder, "npm", &["ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]).ok()?;
        fs::write(done, wanted).ok()?;
    }
    Some(folder)
}

/// Checks a copy that [`install`] made.
pub(crate) fn check(workspace: &Workspace, folder: &Path) -> Outcome<()> {
    run(folder, "node", &["node_modules/typescript/bin/tsc", "--noEmit"])?;
    run(folder, "node", &["--test", "test/story.test.mjs"])?;
    run(folder, "node", &["build.mjs"])?;
    for file in BUILT {
        let committed = fs::read(workspace.root.join("viewer/dist").join(file));
        if committed.ok() != fs::read(folder.join("dist").join(file)).ok() {
            return Err(
                format!("viewer/dist/{file} is not what its sources build: run `npm run build` in viewer/").into()
            );
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        to.parent().map(fs::create_dir_all).transpose()?;
        return fs::copy(from, to).map(drop);
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Outcome<()> {
    let ran = Command::new(program).args(arguments).current_dir(folder).output();
    let ran = ran.map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    if ran.status.success() {
        return Ok(());
    }
    let said = [ran.stdout, ran.stderr].concat();
    Err(format!("`{program} {}` failed:\n{}", arguments.join(" "), String::from_utf8_lossy(&said)).into())
}
