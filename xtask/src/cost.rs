//! `cargo xtask cost`: what a program pays that depends on the library.
//!
//! A small package outside the workspace stands for such a program. How many crates it builds is bounded, and checked
//! by `cargo xtask lint`; how long that takes and how large the program is are printed, because they depend on the
//! machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::cargo::Cargo;
use crate::workspace::Workspace;

/// A program that depends on the library.
struct Dependent {
    name: &'static str,
    /// What its manifest says of the library.
    features: &'static str,
    /// How many crates it may build, itself included.
    most: usize,
    /// Crates that it must not build.
    without: &'static [&'static str],
}

const DEPENDENTS: &[Dependent] = &[
    Dependent {
        name: "no features",
        features: ", default-features = false",
        most: 50,
        without: &["libsqlite3-sys", "ring", "rusqlite", "rustls", "tokio", "zip", "zstd-sys"],
    },
    Dependent { name: "default features", features: "", most: 150, without: &["tokio-postgres"] },
];

const MAIN: &str = r#"use turnkeep::prelude::*;

fn main() -> turnkeep::Result<()> {
    let model = Script::new("scripted", vec![Answer::text("Hello!")]);
    println!("{:?}", Agent::builder().model(model).store("memory:").build()?);
    Ok(())
}
"#;

/// Checks how many crates each dependent builds.
pub(crate) fn check(workspace: &Workspace) -> Outcome<()> {
    for dependent in DEPENDENTS {
        let crates = dependent.crates(&dependent.write(workspace)?, workspace)?;
        println!("{}: {} crates (at most {})", dependent.name, crates.len(), dependent.most);
        dependent.verdict(&crates)?;
    }
    Ok(())
}

/// Prints the crates, the time of a first build and the size of the program for each dependent.
pub(crate) fn print(workspace: &Workspace) -> Outcome<()> {
    println!("{:<18} {:>6} {:>8} {:>12} {:>12}", "a dependent with", "crates", "at most", "CPU seconds", "binary, MB");
    let mut verdict = Ok(());
    for dependent in DEPENDENTS {
        let folder = dependent.write(workspace)?;
        let crates = dependent.crates(&folder, workspace)?;
        let (seconds, bytes) = first_build(&folder, workspace)?;
        let megabytes = bytes as f64 / 1e6;
        println!("{:<18} {:>6} {:>8} {seconds:>12.0} {megabytes:>12.1}", dependent.name, crates.len(), dependent.most);
        verdict = verdict.and(dependent.verdict(&crates));
    }
    verdict
}

impl Dependent {
    /// Writes the package, with the versions that the workspace is tested with.
    fn write(&self, workspace: &Workspace) -> Outcome<PathBuf> {
        let folder = workspace.target.join("cost").join(self.name.replace(' ', "-"));
        fs::create_dir_all(folder.join("src"))?;
        let library = workspace.root.join("crates/turnkeep");
        let manifest = format!(
            "[package]\nname = \"dependent\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nturnkeep = {{ path = {:?}{} \
             }}\n\n[workspace]\n",
            library.to_string_lossy(),
            self.features
        );
        fs::write(folder.join("Cargo.toml"), manifest)?;
        fs::write(folder.join("src/main.rs"), MAIN)?;
        fs::copy(workspace.root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        Ok(folder)
    }

    /// The crates that it builds, with their versions.
    fn crates(&self, folder: &Path, workspace: &Workspace) -> Outcome<BTreeSet<String>> {
        let manifest = folder.join("Cargo.toml");
        let tree = ["tree", "--quiet", "--edges", "normal", "--prefix", "none", "--manifest-path"];
        let tree = Cargo::new(workspace, &[&tree[..], &[&manifest.to_string_lossy()]].concat()).output()?;
        Ok(crates(&tree))
    }

    fn verdict(&self, crates: &BTreeSet<String>) -> Outcome<()> {
        let has = |name: &&&str| crates.iter().any(|one| one.split(' ').next() == Some(name));
        if let Some(unwanted) = self.without.iter().find(has) {
            return Err(format!("a dependent with {} builds `{unwanted}`", self.name).into());
        }
        if crates.len() > self.most {
            return Err(format!(
                "a dependent with {} builds {} crates, more than {}",
                self.name,
                crates.len(),
                self.most
            )
            .into());
        }
        Ok(())
    }
}

/// The crates of a tree: a name and a version each. What stands behind them marks a repetition, a path or a macro.
fn crates(tree: &str) -> BTreeSet<String> {
    let crates = tree.lines().filter(|line| !line.trim().is_empty());
    crates.map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

/// Builds the program for the first time: the seconds of all processors, and its bytes.
fn first_build(folder: &Path, workspace: &Workspace) -> Outcome<(f64, u64)> {
    let target = folder.join("target");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    // The shell knows what its children took.
    let script = r#""$@" >&2 && times"#;
    let cargo = Cargo::program_name().to_string_lossy().into_owned();
    let manifest = folder.join("Cargo.toml").to_string_lossy().into_owned();
    let arguments = ["-c", script, "sh", &cargo, "build", "--quiet", "--release", "--manifest-path", &manifest];
    let shell = Cargo::companion(workspace, "sh", &arguments).env("CARGO_TARGET_DIR", &target.to_string_lossy());
    let seconds = children_seconds(&shell.output()?).ok_or("the shell did not say how long the build took")?;
    let program = target.join("release").join(format!("dependent{}", std::env::consts::EXE_SUFFIX));
    Ok((seconds, fs::metadata(program)?.len()))
}

/// Reads what `times` prints: a line of the shell's own times, and one of its children's.
fn children_seconds(times: &str) -> Option<f64> {
    times.lines().nth(1)?.split_whitespace().map(seconds).sum()
}

/// Reads a time such as `1m23.450s`.
fn seconds(time: &str) -> Option<f64> {
    let (minutes, seconds) = time.strip_suffix('s')?.split_once('m')?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.replace(',', ".").parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_counts_once_whatever_stands_behind_it() {
        let tree =
            "dependent v0.0.0 (/x)\nserde v1.0.0\nserde v1.0.0 (*)\n\nserde_derive v1.0.0 (proc-macro)\nserde v2.0.0\n";

        let crates: Vec<String> = crates(tree).into_iter().collect();

        assert_eq!(crates, ["dependent v0.0.0", "serde v1.0.0", "serde v2.0.0", "serde_derive v1.0.0"]);
    }

    #[test]
    fn times_of_children_are_added() {
        assert_eq!(children_seconds("0m0.001s 0m0.002s\n1m2.500s 0m1.500s\n"), Some(64.0));
        assert_eq!(children_seconds("nothing"), None);
    }

    #[test]
    fn too_many_crates_and_unwanted_ones_are_told() {
        let dependent = Dependent { name: "no features", features: "", most: 2, without: &["ring"] };
        let of = |names: &[&str]| dependent.verdict(&names.iter().map(|name| (*name).to_owned()).collect());

        assert!(of(&["a v1", "b v1"]).is_ok());
        assert!(of(&["a v1", "b v1", "c v1"]).unwrap_err().to_string().contains("3 crates"));
        assert!(of(&["ring v0.17"]).unwrap_err().to_string().contains("`ring`"));
        assert!(of(&["ring-like v1"]).is_ok());
    }
}
