//! What policies would take away.

use turnkeep_model::Loss;

use crate::exit::CliError;
use crate::tally::line;

/// Prints every loss on a line of its own.
pub(super) fn print(losses: &[Loss]) -> Result<(), CliError> {
    let mut text: String = losses.iter().map(|loss| format!("{}\n", line(loss))).collect();
    if losses.is_empty() {
        text.push_str("nothing would go\n");
    }
    crate::terminal::print(&text)?;
    Ok(())
}
