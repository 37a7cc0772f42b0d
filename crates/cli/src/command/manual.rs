//! `turnkeep completions` and `turnkeep man`.

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use super::CommandResult;
use crate::args::Args;
use crate::exit::{CliError, Exit};
use crate::terminal::print_bytes;

pub(super) fn completions(shell: Shell) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "turnkeep", &mut script);
    print_bytes(&script)?;
    Ok(Exit::Ok)
}

pub(super) fn page(command: Option<&str>) -> CommandResult {
    let mut whole = Args::command();
    whole.build();
    let chosen = match command {
        None => whole,
        Some(name) => whole.find_subcommand(name).cloned().ok_or_else(|| unknown(name))?,
    };
    let mut page = Vec::new();
    Man::new(chosen).render(&mut page)?;
    print_bytes(&page)?;
    Ok(Exit::Ok)
}

fn unknown(name: &str) -> CliError {
    CliError::Usage(format!("there is no command `{name}`"), "`turnkeep help` lists them".to_owned())
}
