//! `turnkeep completions` and `turnkeep man`.

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use super::Ending;
use crate::args::Args;
use crate::exit::{Exit, Stop};
use crate::terminal::print_bytes;

pub(super) fn completions(shell: Shell) -> Ending {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "turnkeep", &mut script);
    print_bytes(&script)?;
    Ok(Exit::Ok)
}

pub(super) fn page(command: Option<&str>) -> Ending {
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

fn unknown(name: &str) -> Stop {
    Stop::Usage(format!("there is no command `{name}`"), "`turnkeep help` lists them".to_owned())
}
