//! What the pure crates may not depend on, and who may depend on the test kit.

use super::Fault;
use crate::workspace::{Dependency, Member, Workspace};

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

/// Impure crates that a pure one uses purely: the codec reads databases from bytes, in memory; the model converts its values
/// for users of serde, behind a feature, and reads nothing of its own with it.
const EXCUSED: &[(&str, &str)] = &[("turnkeep-codec", "rusqlite"), ("turnkeep-model", "serde_json")];

/// Finds impure dependencies of pure crates, and the test kit where users would build it.
pub(super) fn check(workspace: &Workspace) -> Vec<Fault> {
    workspace.crates.iter().flat_map(check_member).collect()
}

fn check_member(member: &Member) -> Vec<Fault> {
    let used = member.dependencies.iter().filter(|dependency| !dependency.development);
    used.filter_map(|dependency| fault(&member.name, dependency)).collect()
}

fn fault(name: &str, dependency: &Dependency) -> Option<Fault> {
    let other = dependency.name.as_str();
    if other == TESTKIT && name != BENCH {
        return Some(format!("{name}: {TESTKIT} may only be a dev-dependency"));
    }
    let impure = IMPURE.contains(&other) && !EXCUSED.contains(&(name, other));
    (PURE.contains(&name) && impure).then(|| format!("{name}: is pure and may not depend on {other}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::member;

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
}
