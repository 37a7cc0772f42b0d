//! `turnkeep demo`: an agent is killed in the middle of its tools, and goes on in another process with another model.

mod cast;
mod formats;
mod stage;

use super::CommandResult;
use crate::args::Demo;

pub(super) fn run(args: &Demo) -> CommandResult {
    match (&args.play, args.formats || args.save.is_some()) {
        (Some(stage), _) => cast::play(stage),
        (None, true) => formats::run(args),
        (None, false) => stage::run(),
    }
}
