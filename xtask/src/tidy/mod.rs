//! The rules that no compiler knows.

mod arrows;
mod formats;
mod manifests;
mod text;

use crate::Outcome;
use crate::workspace::Workspace;

/// What breaks a rule: the place, and what is wrong there.
type Fault = String;

/// Checks every rule; the error lists all faults.
pub(crate) fn check(workspace: &Workspace) -> Outcome<()> {
    let faults: Vec<Fault> =
        [arrows::check(workspace), manifests::check(workspace), text::check(workspace), formats::check(workspace)]
            .concat();
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("{} faults\n  {}", faults.len(), faults.join("\n  ")).into())
}
