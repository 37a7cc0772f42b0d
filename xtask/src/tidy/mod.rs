//! The rules that no compiler knows.

mod arrows;
mod compat;
mod formats;
mod manifests;
mod text;

use crate::Outcome;
use crate::workspace::Workspace;

/// What breaks a rule: the place, and what is wrong there.
type Fault = String;

/// Checks every rule; the error lists all faults.
pub(crate) fn check(workspace: &Workspace) -> Outcome<()> {
    let checks = [arrows::check, manifests::check, text::check, formats::check, compat::check];
    let faults: Vec<Fault> = checks.iter().flat_map(|check| check(workspace)).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("{} faults\n  {}", faults.len(), faults.join("\n  ")).into())
}
