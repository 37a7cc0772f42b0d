//! Every source file is a module that someone declares: a file that is not is never compiled, and rots.

use std::path::{Path, PathBuf};

use super::Fault;
use crate::workspace::Workspace;

/// Files that cargo finds by their names.
const ROOTS: &[&str] = &["lib", "main", "mod", "build"];

/// Checks every file below a `src` folder or a `tests/it` one.
pub(super) fn check(workspace: &Workspace) -> Vec<Fault> {
    let files = workspace.files.iter().filter(|file| is_module(file));
    let undeclared = files.filter(|file| {
        let parents = parents(file);
        !parents.iter().filter_map(|parent| workspace.text(parent)).any(|text| declares(&text, &name(file)))
    });
    undeclared.map(|file| format!("{}: no module declares it, so it is never compiled", file.display())).collect()
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_module(file: &Path) -> bool {
    let is_rust = file.extension().is_some_and(|ending| ending == "rs");
    let parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
    let inside = parts.contains(&"src") || parts.windows(2).any(|pair| pair == ["tests", "it"]);
    is_rust && inside && !parts.contains(&"bin") && !ROOTS.contains(&&*name(file))
}

/// The files that may declare the module of a file.
fn parents(file: &Path) -> Vec<PathBuf> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let roots = ROOTS.iter().map(|root| folder.join(format!("{root}.rs")));
    // Tests of a long module may stand beside it, in a file that it names by its path.
    let tested = name(file).strip_suffix("_tests").map(|module| folder.join(format!("{module}.rs")));
    roots.chain(tested).chain([folder.with_extension("rs")]).collect()
}

/// Whether a text declares a module, whatever its visibility and attributes.
fn declares(text: &str, name: &str) -> bool {
    let declaration = [format!("mod {name};"), format!("mod r#{name};")];
    text.lines().any(|line| declaration.iter().any(|own| line.trim().ends_with(own.as_str())))
        || text.contains(&format!("#[path = \"{name}.rs\"]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_declared_by_the_file_above_it() {
        assert!(declares("//! A.\n#[cfg(unix)]\npub(crate) mod lines;\n", "lines"));
        assert!(!declares("mod outlines;\nmod lines_of;\n// mod x;", "lines"));
        assert_eq!(parents(Path::new("crates/a/src/b/c.rs")).last(), Some(&PathBuf::from("crates/a/src/b.rs")));
    }

    #[test]
    fn only_modules_are_looked_at() {
        assert!(is_module(Path::new("crates/a/src/b/c.rs")));
        assert!(is_module(Path::new("crates/a/tests/it/c.rs")));
        for other in ["crates/a/src/lib.rs", "crates/a/src/bin/c.rs", "crates/a/examples/c.rs", "crates/a/src/c.sql"] {
            assert!(!is_module(Path::new(other)), "{other}");
        }
    }
}
