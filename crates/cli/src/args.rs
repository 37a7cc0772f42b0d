//! The command line: the commands, and the arguments of those that work on files.

use std::path::PathBuf;

use clap::{Args as Group, Parser, Subcommand};
use clap_complete::Shell;
use turnkeep_codec::Target;
use turnkeep_file::DEFAULT_MAX_BYTES;
use turnkeep_model::{Error, Result};

use crate::conversation_args::{Ask, Chat, Endpoints, Run};
use crate::envelope_args::Events;
use crate::input_args::InputArgs;
use crate::policy_args::{PolicyArgs, RedactFile, Tokens};
use crate::reduce_args::{CompressArgs, Condense, CondenseArgs, Slim};
use crate::session_args::{Approve, Deny, Resolve, Resume, Tail};
use crate::store::StoreArgs;
use crate::store_args::{Copy, Du, Erase, Export, Find, Fork, Gc, Import, Ls, Rm, Tag, Verify};

/// Durable, portable sessions for LLM agents: show, convert, compare and check session files.
#[derive(Parser)]
#[command(name = "turnkeep", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Watch an agent be killed in the middle of a tool call, and go on
    Demo(Demo),
    /// List the formats
    Formats(Formats),
    /// Say which format a file is, and why
    Sniff(Sniff),
    /// Print a session so that a person can read it
    Show(Box<Show>),
    /// Convert a file, or every file of a directory, to another format
    Convert(Box<Convert>),
    /// Compare two sessions, whatever their formats; exit 1 where they differ
    Diff(Diff),
    /// Check a file against the rules of a target; exit 7 where it breaks one
    Lint(Lint),
    /// Make the history of a session valid for a vendor, and say what that took
    Repair(Repair),
    /// Hide secrets, or what tools were given and answered, and say what was hidden
    Redact(Box<RedactFile>),
    /// Count the tokens of a session, turn by turn
    Tokens(Tokens),
    /// Write a slim view of a session, or restore what one can
    Slim(Box<Slim>),
    /// Put a summary in the place of older exchanges; a stored session keeps the originals
    Condense(Box<Condense>),
    /// List stored sessions
    Ls(Ls),
    /// Search what was said in stored sessions
    Search(Find),
    /// Make a session that shares the past of another
    Fork(Fork),
    /// Remove stored sessions
    Rm(Rm),
    /// Label a stored session, or list its labels
    Tag(Tag),
    /// Take a secret out of a stored session: journal, bodies, index and caches
    Erase(Erase),
    /// Check every sum of stored sessions; exit 6 where one is wrong
    Verify(Verify),
    /// Say what takes how much space in the store
    Du(Du),
    /// Remove what is no longer kept, and give space back
    Gc(Gc),
    /// Store the sessions of files; the same file twice is one session
    Import(Import),
    /// Write a stored session as a file
    Export(Export),
    /// Copy sessions to another store, and compare them there
    Copy(Copy),
    /// Run a fixture, or every fixture of a directory, and write what came of it
    Run(Box<Run>),
    /// Ask a stored session, or a new one
    Ask(Box<Ask>),
    /// Talk with a model; every word is kept
    Chat(Chat),
    /// List the configured models, and say whether each can be used
    Endpoints(Endpoints),
    /// Say what a session needs next, or go on with it; exit 8 where a person is needed
    Resume(Resume),
    /// Let a call that waits for consent be made
    Approve(Approve),
    /// Refuse a call that waits for consent
    Deny(Deny),
    /// Say what became of a call that was cut off
    Resolve(Resolve),
    /// Print what happens to a session, as lines of JSON
    Tail(Tail),
    /// Make envelopes of the events of instructor-php, a line each
    Events(Events),
    /// Serve sessions over HTTP
    #[cfg(feature = "server")]
    Serve(crate::server_args::Serve),
    /// Make, list and remove the tokens of a server
    #[cfg(feature = "server")]
    Token(crate::server_args::Token),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, of the whole or of one command
    Man {
        /// The command
        command: Option<String>,
    },
}

#[derive(Group)]
pub(crate) struct Demo {
    /// Show instead how a session goes from format to format
    #[arg(long)]
    pub(crate) formats: bool,
    /// And save that session, to try the other commands on
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Be one process of the demo, with its files here
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) play: Option<PathBuf>,
}

#[derive(Group)]
pub(crate) struct Formats {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Group)]
pub(crate) struct Sniff {
    /// The file; `-` is standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The most bytes that the file may have
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_BYTES)]
    pub(crate) max_bytes: u64,
}

#[derive(Group)]
pub(crate) struct Show {
    /// The file, or the id of a stored session; `-` is standard input
    #[arg(value_name = "FILE|ID")]
    pub(crate) input: PathBuf,
    /// Print the session as a native JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what is known of the tool calls of a stored session
    #[arg(long)]
    pub(crate) ledger: bool,
    /// Print the turns that a summary stands for, where the journal is there
    #[arg(long)]
    pub(crate) expand: bool,
    /// Print all of what tools answered, not only its first lines
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) reducing: PolicyArgs,
    /// Print what the reductions would take away instead
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

impl Show {
    /// Whether the session is shown as a page and as it is.
    pub(crate) fn changes_nothing(&self) -> bool {
        self.reducing.is_empty() && !self.dry_run && !self.json
    }
}

#[derive(Group)]
pub(crate) struct Convert {
    /// The file, or a directory of files; `-` is standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Where to write; `-` is standard output; a directory where IN is one
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    /// The format to write, optionally with a variant, as in `turnkeep:pretty`
    #[arg(long, value_name = "FORMAT[:VARIANT]", value_parser = target)]
    pub(crate) to: Target,
    /// Leave out data that the application passes along
    #[arg(long)]
    pub(crate) omit_data: bool,

    /// Write the next request, also of a session that came from the same wire
    #[arg(long = "as", value_name = "KIND", value_parser = ["request"])]
    pub(crate) written_as: Option<String>,

    /// The model that a wire's request is for
    #[arg(long, value_name = "M")]
    pub(crate) model: Option<String>,
    /// The model behind the name, as in `gpt-5`: a deployment or an inference profile does not tell
    #[arg(long, value_name = "M", value_parser = family)]
    pub(crate) family: Option<String>,
    #[command(flatten)]
    pub(crate) reducing: PolicyArgs,
    #[command(flatten)]
    pub(crate) condensing: CondenseArgs,
    #[command(flatten)]
    pub(crate) packing: CompressArgs,
    /// Write nothing, and print what would be lost
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write what did not survive to a file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write nothing where content or settings would be lost, and exit 3
    #[arg(long)]
    pub(crate) strict: bool,
    /// Read and write as the format's original program does
    #[arg(long)]
    pub(crate) compat: bool,
}

#[derive(Group)]
pub(crate) struct Diff {
    /// One file, or the id of a stored session; `-` is standard input
    pub(crate) a: PathBuf,
    /// The other
    pub(crate) b: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Group)]
pub(crate) struct Lint {
    /// The file; `-` is standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    /// The format whose rules count
    #[arg(long = "for", value_name = "TARGET", value_parser = rules)]
    pub(crate) target: Target,
    /// The model behind the name, as in `gpt-5`: a deployment or an inference profile does not tell
    #[arg(long, value_name = "M", value_parser = family)]
    pub(crate) family: Option<String>,
    /// Make every finding an error
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Group)]
pub(crate) struct Repair {
    /// The file, or the id of a stored session; `-` is standard input
    #[arg(value_name = "FILE|ID")]
    pub(crate) input: PathBuf,
    /// Where to write the request; standard output where it is not named
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    /// The vendor's wire; that of the input where it is one
    #[arg(long = "for", value_name = "TARGET", value_parser = rules)]
    pub(crate) target: Option<Target>,
    /// The model that the request is for
    #[arg(long, value_name = "M")]
    pub(crate) model: Option<String>,
    /// The model behind the name, as in `gpt-5`: a deployment or an inference profile does not tell
    #[arg(long, value_name = "M", value_parser = family)]
    pub(crate) family: Option<String>,
    /// Write the edits to a file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the edits as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

pub(crate) fn target(text: &str) -> std::result::Result<Target, String> {
    match Target::parse(text) {
        Ok(target) if !target.codec.spec().writes => Err(format!("`{text}` can only be read")),
        other => with_remedy(other),
    }
}

fn rules(text: &str) -> std::result::Result<Target, String> {
    let known: Vec<_> = turnkeep_codec::lint::targets().collect();
    if !known.iter().any(|known| known == text) {
        return Err(format!("no rules are known for `{text}`; targets: {}", known.join(", ")));
    }
    let (id, profile) = text.split_once(':').map_or((text, None), |(id, profile)| (id, Some(profile)));
    Ok(Target { variant: profile.map(str::to_owned), ..target(id)? })
}

fn family(text: &str) -> std::result::Result<String, String> {
    with_remedy(turnkeep_codec::models::check_family(text).map(|()| text.to_owned()))
}

pub(crate) fn with_remedy<T>(result: Result<T>) -> std::result::Result<T, String> {
    let message = |error: Error| match error.remedy() {
        Some(remedy) => format!("{error}; {remedy}"),
        None => error.to_string(),
    };
    result.map_err(message)
}
