//! The part of the command line that concerns the server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as Group, Subcommand};
use turnkeep_server::TenantName;
use turnkeep_server::auth::Scope;

use crate::store::StoreArgs;

/// Serve sessions over HTTP: REST, events, and the Pusher protocol
#[derive(Group)]
pub(crate) struct Serve {
    /// The address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7780")]
    pub(crate) addr: SocketAddr,
    /// Let others than programs of this machine reach it; every request then needs a token
    #[arg(long)]
    pub(crate) public: bool,
    /// The configuration, in the place of your turnkeep.toml and the project's
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Log nothing
    #[arg(long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Make, list and remove the tokens of a server
#[derive(Group)]
pub(crate) struct Token {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token; it is shown once
    New(NewToken),
    /// List the tokens
    Ls(ListTokens),
    /// Remove a token; servers refuse it within two seconds
    Rm(RemoveToken),
}

#[derive(Group)]
pub(crate) struct NewToken {
    /// What it allows, each with what comes before it: `read`, `write`, `run` (spends money and starts programs), `admin`
    #[arg(long, value_name = "SCOPE", default_value = "read")]
    pub(crate) scope: Scope,
    /// Whose sessions it opens
    #[arg(long, value_name = "T", default_value = "default", value_parser = tenant)]
    pub(crate) tenant: TenantName,
    /// What people call it; decisions about calls record it
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// How long it lasts, as in `12h`, `30d`
    #[arg(long, value_name = "TIME", value_parser = lasting)]
    pub(crate) expires: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Group)]
pub(crate) struct ListTokens {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Group)]
pub(crate) struct RemoveToken {
    /// Its id, as `turnkeep token ls` shows it
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

fn tenant(name: &str) -> Result<TenantName, String> {
    TenantName::new(name).map_err(|error| error.what().to_owned())
}

fn lasting(text: &str) -> Result<Duration, String> {
    let unit = |unit: char| match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(3600),
        'd' => Some(86_400),
        _ => None,
    };
    let parts = text.char_indices().last().map(|(at, last)| (text.get(..at).unwrap_or_default(), unit(last)));
    let seconds = parts.and_then(|(number, unit)| number.parse::<u64>().ok()?.checked_mul(unit?));
    // A century is as good as for ever, and every date can hold it.
    let seconds = seconds.filter(|seconds| (1..=3_155_760_000).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| "a time such as `30m`, `12h` or `30d`".to_owned())
}
