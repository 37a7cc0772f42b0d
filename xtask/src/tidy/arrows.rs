//! Which crate may depend on which.

use super::Fault;
use crate::workspace::{Dependency, Member, Workspace};

/// Every crate with the siblings it may use. Arrows point down; a new crate takes its place here.
const ARROWS: &[(&str, &[&str])] = &[
    ("turnkeep-model", &[]),
    ("turnkeep-codec", &["turnkeep-model"]),
    ("turnkeep-file", &["turnkeep-codec", "turnkeep-model"]),
    ("turnkeep-store", &["turnkeep-model"]),
    ("turnkeep-runtime", &["turnkeep-store", "turnkeep-model"]),
    ("turnkeep-provider", &["turnkeep-runtime", "turnkeep-store", "turnkeep-codec", "turnkeep-model"]),
    (
        "turnkeep-runner",
        &["turnkeep-provider", "turnkeep-runtime", "turnkeep-store", "turnkeep-codec", "turnkeep-model"],
    ),
    (
        "turnkeep",
        &[
            "turnkeep-provider",
            "turnkeep-runtime",
            "turnkeep-file",
            "turnkeep-store",
            "turnkeep-codec",
            "turnkeep-model",
        ],
    ),
    (
        "turnkeep-cli",
        &[
            "turnkeep",
            "turnkeep-runner",
            "turnkeep-provider",
            "turnkeep-runtime",
            "turnkeep-file",
            "turnkeep-store",
            "turnkeep-codec",
            "turnkeep-model",
        ],
    ),
    (TESTKIT, &["turnkeep-file", "turnkeep-store", "turnkeep-codec", "turnkeep-model"]),
    (BENCH, &[TESTKIT, "turnkeep-provider", "turnkeep-runtime", "turnkeep-store", "turnkeep-codec", "turnkeep-model"]),
    ("xtask", &["turnkeep-codec", "turnkeep-model"]),
];

/// Proof is for tests only, and for counting what is measured.
const TESTKIT: &str = "turnkeep-testkit";
const BENCH: &str = "turnkeep-bench";

/// Crates that are plain functions over values.
const PURE: &[&str] = &["turnkeep-model", "turnkeep-codec"];

/// What a pure crate has no use for: async, sockets, clocks of the machine, randomness, and serde's JSON, which changes
/// numbers and drops duplicate keys.
const IMPURE: &[&str] = &[
    "async-std",
    "chrono",
    "fastrand",
    "futures",
    "getrandom",
    "hyper",
    "rand",
    "reqwest",
    "rusqlite",
    "serde_json",
    "serde_yaml",
    "simd-json",
    "smol",
    "tempfile",
    "tokio",
    "ureq",
    "uuid",
];

/// Impure crates that a pure one uses purely: the codec reads databases from bytes, in memory.
const EXCUSED: &[(&str, &str)] = &[("turnkeep-codec", "rusqlite")];

/// Finds arrows that point up, and impure dependencies of pure crates.
pub(super) fn check(workspace: &Workspace) -> Vec<Fault> {
    workspace.crates.iter().flat_map(check_member).collect()
}

fn check_member(member: &Member) -> Vec<Fault> {
    let Some((name, allowed)) = ARROWS.iter().find(|(name, _)| *name == member.name) else {
        return vec![format!("{}: the crate has no place among the arrows (xtask/src/tidy/arrows.rs)", member.name)];
    };
    let used = member.dependencies.iter().filter(|dependency| !dependency.development);
    used.filter_map(|dependency| fault(name, allowed, dependency)).collect()
}

fn fault(name: &str, allowed: &[&str], dependency: &Dependency) -> Option<Fault> {
    let other = dependency.name.as_str();
    if dependency.sibling && other == TESTKIT && name != BENCH {
        return Some(format!("{name}: {TESTKIT} may only be a dev-dependency"));
    }
    if dependency.sibling && !allowed.contains(&other) {
        return Some(format!("{name}: may not depend on {other}"));
    }
    let impure = IMPURE.contains(&other) && !EXCUSED.contains(&(name, other));
    (PURE.contains(&name) && impure).then(|| format!("{name}: is pure and may not depend on {other}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, dependencies: &[(&str, bool, bool)]) -> Member {
        let dependencies = dependencies.iter().map(|&(name, development, sibling)| Dependency {
            name: name.to_owned(),
            development,
            sibling,
        });
        Member { name: name.to_owned(), dependencies: dependencies.collect(), ..Member::default() }
    }

    #[test]
    fn arrows_point_down() {
        let up = member("turnkeep-model", &[("turnkeep-codec", false, true)]);
        let down = member("turnkeep-codec", &[("turnkeep-model", false, true), ("jiff", false, false)]);

        assert_eq!(check_member(&up), ["turnkeep-model: may not depend on turnkeep-codec"]);
        assert_eq!(check_member(&down), Vec::<Fault>::new());
    }

    #[test]
    fn the_testkit_is_for_tests() {
        let test = member("turnkeep-codec", &[(TESTKIT, true, true)]);
        let build = member("turnkeep-cli", &[(TESTKIT, false, true)]);

        assert_eq!(check_member(&test), Vec::<Fault>::new());
        assert_eq!(check_member(&build), ["turnkeep-cli: turnkeep-testkit may only be a dev-dependency"]);
    }

    #[test]
    fn pure_crates_have_pure_dependencies() {
        let model = member("turnkeep-model", &[("tokio", false, false), ("serde_json", true, false)]);
        let codec = member("turnkeep-codec", &[("rusqlite", false, false), ("tokio", false, false)]);

        assert_eq!(check_member(&model), ["turnkeep-model: is pure and may not depend on tokio"]);
        assert_eq!(check_member(&codec), ["turnkeep-codec: is pure and may not depend on tokio"]);
    }

    #[test]
    fn a_new_crate_needs_a_place() {
        assert_eq!(check_member(&member("turnkeep-moon", &[])).len(), 1);
    }
}
