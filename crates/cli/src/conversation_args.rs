//! The part of the command line that concerns talking to models.

use std::path::PathBuf;

use clap::Args as Group;

use crate::store::StoreArgs;

/// Who answers.
#[derive(Group, Clone, Default)]
pub(crate) struct ModelArgs {
    /// The endpoint, from turnkeep.toml: its name, `id:…` or `default:…`; or `scripted`, optionally with a wire, as in
    /// `scripted:anthropic.messages`, which answers from --script
    #[arg(long, value_name = "E")]
    pub(crate) endpoint: Option<String>,
    /// What `scripted` answers: a script, or any session file, whose answers it then gives again
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
}

/// Who answers, and what it may do.
#[derive(Group)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Tools that the model may use: a file that lists programs
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
}

impl ModelArgs {
    /// Whether somebody is named who answers.
    pub(crate) fn is_named(&self) -> bool {
        self.endpoint.is_some() || self.script.is_some()
    }
}

/// Run a fixture, or every fixture of a directory: writes the requests, the events and the final turn
#[derive(Group)]
pub(crate) struct Run {
    /// A turn document, a fixture with follow-ups, or any session file; or a directory of them
    #[arg(value_name = "FIXTURE")]
    pub(crate) fixture: PathBuf,
    /// The directory to write to
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Where the exchanges are recorded; NAME.cassette.yaml in DIR where nothing is said
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Answer from what was recorded there; nothing is sent
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Write nothing: compare with what is in DIR, and exit 1 where it differs
    #[arg(long)]
    pub(crate) check: bool,
    /// Keep the session in memory only: a run that is killed leaves nothing to resume
    #[arg(long, conflicts_with = "store")]
    pub(crate) no_store: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Ask a stored session, or a new one
#[derive(Group)]
pub(crate) struct Ask {
    /// The session, or `new`
    #[arg(value_name = "ID|new")]
    pub(crate) id: String,
    /// The question; `-` is standard input
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Ask every endpoint of a list, each in a fork of its own, and show the answers side by side
    #[arg(long)]
    pub(crate) compare: bool,
    /// The system text of a new session
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Send a file along: an image, a document or a text
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<PathBuf>,
    /// Run the session here although another process runs it; that process is refused at its next write
    #[arg(long)]
    pub(crate) take_over: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Talk with a model; every word is kept
#[derive(Group)]
pub(crate) struct Chat {
    /// The session to go on with; a new one where none is named
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// The system text of a new session
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Run the session here although another process runs it; that process is refused at its next write
    #[arg(long)]
    pub(crate) take_over: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// List the endpoints, and say whether each can be used
#[derive(Group)]
pub(crate) struct Endpoints {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
