//! One module a command.

mod batch;
mod condense;
mod conversation;
mod convert;
mod demo;
mod diff;
mod fixture;
mod formats;
mod journal;
mod lint;
mod manual;
mod redact;
mod reduced;
mod repair;
#[cfg(feature = "server")]
mod server;
mod show;
mod slim;
mod sniff;
mod store;
mod tokens;

use store::journal;
pub(crate) use store::load;

use crate::args::Command;
use crate::exit::{CliError, Exit};

/// How a command ends.
type CommandResult = Result<Exit, CliError>;

/// Runs a command.
pub(crate) fn run(command: Command) -> CommandResult {
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Formats(args) => formats::run(&args),
        Command::Sniff(args) => sniff::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Repair(args) => repair::run(&args),
        Command::Redact(args) => redact::run(&args),
        Command::Tokens(args) => tokens::run(&args),
        Command::Slim(args) => slim::run(&args),
        Command::Condense(args) => condense::run(&args),
        Command::Ls(args) => store::ls(&args),
        Command::Search(args) => store::search(&args),
        Command::Fork(args) => store::fork(&args),
        Command::Rm(args) => store::rm(&args),
        Command::Tag(args) => store::tag(&args),
        Command::Erase(args) => store::erase(&args),
        Command::Verify(args) => store::verify(&args),
        Command::Du(args) => store::du(&args),
        Command::Gc(args) => store::gc(&args),
        Command::Import(args) => store::import(&args),
        Command::Export(args) => store::export(&args),
        Command::Copy(args) => store::copy(&args),
        Command::Run(args) => fixture::run(&args),
        Command::Events(args) => journal::events(&args),
        Command::Ask(args) => conversation::ask(&args),
        Command::Chat(args) => conversation::chat(&args),
        Command::Endpoints(args) => conversation::endpoints(&args),
        Command::Resume(args) => conversation::resume(&args),
        Command::Approve(args) => conversation::approve(&args),
        Command::Deny(args) => conversation::deny(&args),
        Command::Resolve(args) => conversation::resolve(&args),
        Command::Tail(args) => journal::tail(&args),
        #[cfg(feature = "server")]
        Command::Serve(args) => server::serve(&args),
        #[cfg(feature = "server")]
        Command::Token(args) => server::token(&args),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command } => manual::page(command.as_deref()),
    }
}
