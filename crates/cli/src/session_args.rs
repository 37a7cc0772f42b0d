//! The part of the command line that concerns running sessions.

use clap::{Args as Group, ValueEnum};
use turnkeep_runtime::ResumePolicy;

use crate::conversation_args::AgentArgs;
use crate::envelope_args::{EnvelopeArgs, Preset};
use crate::store::StoreArgs;

/// Say what a session needs next, or go on with it
#[derive(Group)]
pub(crate) struct Resume {
    /// The session
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// What becomes of calls that an earlier run left open
    #[arg(long, value_enum, default_value = "missing-only")]
    pub(crate) policy: Policy,
    /// Run the session here although another process runs it; that process is refused at its next write
    #[arg(long)]
    pub(crate) take_over: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Policy {
    MissingOnly,
    RerunTurn,
    Ask,
}

impl From<Policy> for ResumePolicy {
    fn from(policy: Policy) -> ResumePolicy {
        match policy {
            Policy::MissingOnly => ResumePolicy::MissingOnly,
            Policy::RerunTurn => ResumePolicy::RerunTurn,
            Policy::Ask => ResumePolicy::Ask,
        }
    }
}

/// Let a call that waits for consent be made
#[derive(Group)]
pub(crate) struct Approve {
    /// The session
    pub(crate) id: String,
    /// The call
    pub(crate) call: String,
    /// Call it with these arguments instead
    #[arg(long, value_name = "JSON")]
    pub(crate) edit: Option<String>,
    #[command(flatten)]
    pub(crate) decider: DeciderArgs,
}

/// Refuse a call that waits for consent
#[derive(Group)]
pub(crate) struct Deny {
    /// The session
    pub(crate) id: String,
    /// The call
    pub(crate) call: String,
    /// Why: the model is told
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) decider: DeciderArgs,
}

/// Who decides, and about what they saw.
#[derive(Group)]
pub(crate) struct DeciderArgs {
    /// The digest of what you saw, as `show --ledger` prints it; refused if the call is another one now
    #[arg(long, value_name = "HEX")]
    pub(crate) digest: Option<String>,
    /// Who decides
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Say what became of a call that was cut off
#[derive(Group)]
pub(crate) struct Resolve {
    /// The session
    pub(crate) id: String,
    /// The call
    pub(crate) call: String,
    #[command(flatten)]
    pub(crate) known: OutcomeArgs,
    /// Who says so
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Group)]
#[group(required = true, multiple = false)]
pub(crate) struct OutcomeArgs {
    /// It did not act: call it again
    #[arg(long)]
    pub(crate) retry: bool,
    /// It acted, and this is its result
    #[arg(long, value_name = "RESULT")]
    pub(crate) done: Option<String>,
    /// Nobody knows: give it up, undo it where the tool can, and tell the model so
    #[arg(long)]
    pub(crate) skip: bool,
}

/// Print what happens to a session, as lines of JSON
#[derive(Group)]
pub(crate) struct Tail {
    /// The session
    pub(crate) id: String,
    /// Begin after this record
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    pub(crate) after: u64,
    /// Print an agent's envelopes rather than the journal
    #[arg(long, value_enum)]
    pub(crate) envelopes: Option<Preset>,
    #[command(flatten)]
    pub(crate) writing: EnvelopeArgs,
    /// Go on as it grows, until its run stops; for ever with `forever`
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "run")]
    pub(crate) follow: Option<Follow>,
    /// Print JSON, a line an envelope, which it does anyway
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Follow {
    Run,
    Forever,
}
