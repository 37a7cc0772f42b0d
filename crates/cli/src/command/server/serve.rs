//! `turnkeep serve`

use std::path::PathBuf;

use turnkeep_model::ErrorKind;
use turnkeep_provider::endpoint::Source;
use turnkeep_server::config::{self, Config};
use turnkeep_server::{Log, Reach, StopHandle, serve_blocking};

use super::super::CommandResult;
use crate::exit::{CliError, Exit};
use crate::server_args::Serve;
use crate::terminal::print_note;

pub(crate) fn serve(args: &Serve) -> CommandResult {
    let config = configured(args)?;
    let reach = if args.public { Reach::Public } else { Reach::Loopback };
    let log = if args.quiet { Log::default() } else { Log::new(|line| print_note(&line.to_json())) };
    let stop = StopHandle::default();
    let asked = stop.clone();
    // Where no signal can be watched, one ends the program, and its runs are taken up by the next server.
    let _ = ctrlc::set_handler(move || asked.ask());
    let started = |addr| print_note(&format!("listening on http://{addr}"));
    match serve_blocking(config, args.addr, reach, log, &stop, started) {
        Ok(()) => Ok(Exit::Ok),
        // The command line asks for what is not allowed.
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            Err(CliError::Usage(error.what().to_owned(), error.remedy().unwrap_or_default().to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

/// The configuration of the files, and the store of the command line where it names one.
fn configured(args: &Serve) -> Result<Config, CliError> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let sources = match &args.config {
        Some(path) => vec![Source::named(path)?],
        None => Source::around(&here)?,
    };
    let mut config = config::read(&sources)?;
    if config.store.is_empty() || args.store.is_named() {
        config.store = args.store.url()?;
    }
    Ok(config)
}
