//! The `turnkeep` command: parse, call, print.

mod args;
mod command;
mod conversation_args;
mod envelope_args;
mod exit;
mod facts;
mod input_args;
mod page;
mod parallel;
mod policy_args;
mod progress;
mod reduce_args;
mod report;
#[cfg(feature = "server")]
mod server_args;
mod session_args;
mod store;
mod store_args;
mod style;
mod tally;
mod terminal;
mod visible;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::Args;
use crate::visible::visible_line;

fn main() -> ExitCode {
    let args = Args::try_parse().unwrap_or_else(|error| presentable(&error).exit());
    match command::run(args.command) {
        Ok(exit) => store::unless_lost(exit).into(),
        Err(error) => {
            terminal::print_error(&error);
            error.exit().into()
        }
    }
}

/// The same error of arguments that cannot drive a terminal: the parser repeats what is wrong with them.
fn presentable(error: &clap::Error) -> clap::Error {
    let arguments = std::env::args_os().map(|argument| visible_line(&argument.to_string_lossy()));
    let again = Args::try_parse_from(arguments).err();
    again.unwrap_or_else(|| clap::Error::new(error.kind()).with_cmd(&Args::command()))
}
