//! The turn loop: ask the model, record its answer with the intents of its calls, call the tools, record what came of
//! it, and decide whether to go on.

mod answer;
mod ask;
mod calls;
mod drive;
mod outcome;
mod partial;
mod settings;
mod told;

pub(crate) use ask::in_force;
pub(crate) use outcome::last_text;
pub use outcome::{Stopped, Waiting, WaitingFor};
pub use settings::{Agent, Duplicates, Guard, Unsure};
