//! The `turnkeep` command: parse, call, print.

mod args;
mod command;
mod exit;
mod page;
mod policy_args;
mod progress;
mod reduce_args;
mod report;
mod run_args;
mod store_args;
mod talk_args;
mod tally;
mod terminal;
mod visible;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match command::run(args.command) {
        Ok(exit) => store_args::unless_lost(exit).into(),
        Err(stop) => {
            terminal::complain(&stop);
            stop.exit().into()
        }
    }
}
