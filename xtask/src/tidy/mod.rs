//! The rules that no compiler knows.

mod architecture;
mod compat;
mod manifests;
mod modules;
pub(crate) mod numbers;
mod purity;
mod text;

use crate::Outcome;
use crate::workspace::Workspace;

/// What breaks a rule: the place, and what is wrong there.
type Fault = String;

/// Checks every rule; the error lists all faults.
pub(crate) fn check(workspace: &Workspace) -> Outcome<()> {
    let checks = [architecture::check, purity::check, manifests::check, modules::check, text::check, compat::check];
    let faults: Vec<Fault> = checks.iter().flat_map(|check| check(workspace)).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("{} faults\n  {}", faults.len(), faults.join("\n  ")).into())
}

#[cfg(test)]
mod tests {
    use crate::workspace::{Dependency, Member};

    /// A crate with dependencies: name, whether for development, whether a sibling.
    pub(super) fn member(name: &str, dependencies: &[(&str, bool, bool)]) -> Member {
        let dependencies = dependencies.iter().map(|&(name, development, sibling)| Dependency {
            name: name.to_owned(),
            development,
            sibling,
        });
        Member { name: name.to_owned(), dependencies: dependencies.collect(), ..Member::default() }
    }
}
