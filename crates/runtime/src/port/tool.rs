//! The port that acts: what a tool is asked to implement. `context.rs` is what it is told of a call, `output.rs` what it
//! answers, and `function.rs` makes a tool of a function.

mod context;
mod function;
mod output;

use std::sync::Arc;
use std::time::Duration;

use turnkeep_model::event::Effect;
use turnkeep_model::{Json, ToolSpec};
use turnkeep_store::BoxFuture;

pub use self::context::{CallInfo, ToolContext};
pub use self::function::FnTool;
pub use self::output::{ToolError, ToolFailure, ToolOutput};

/// Something a model can have done.
pub trait Tool: Send + Sync {
    /// What the model is told of it. Arguments are checked against its schema before it is called.
    fn spec(&self) -> ToolSpec;

    /// What repeating a call would do.
    fn effect(&self) -> Effect;

    /// Does it.
    ///
    /// # Errors
    /// [`ToolError::Failed`] is told to the model; [`ToolError::Retryable`] is tried again first.
    fn call<'a>(
        &'a self,
        arguments: &'a Json,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, std::result::Result<ToolOutput, ToolError>>;

    /// How it is to be called.
    fn settings(&self) -> Settings {
        Settings::default()
    }

    /// Whether a person must consent to each call.
    fn consent(&self) -> Consent {
        Consent::NotNeeded
    }

    /// Finding out whether a call that was cut off acted, if it can.
    fn probe(&self) -> Option<&dyn Probe> {
        None
    }

    /// Undoing a call that is given up, if it can.
    fn compensate(&self) -> Option<&dyn Compensate> {
        None
    }
}

impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> ToolSpec {
        (**self).spec()
    }

    fn effect(&self) -> Effect {
        (**self).effect()
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Json,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, std::result::Result<ToolOutput, ToolError>> {
        (**self).call(arguments, context)
    }

    fn settings(&self) -> Settings {
        (**self).settings()
    }

    fn consent(&self) -> Consent {
        (**self).consent()
    }

    fn probe(&self) -> Option<&dyn Probe> {
        (**self).probe()
    }

    fn compensate(&self) -> Option<&dyn Compensate> {
        (**self).compensate()
    }
}

/// Finds out whether a call that was cut off acted.
pub trait Probe: Send + Sync {
    /// Looks, without acting.
    ///
    /// # Errors
    /// Where it cannot look now; the call stays unsure.
    fn probe<'a>(
        &'a self,
        arguments: &'a Json,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, std::result::Result<Found, ToolError>>;
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// It acted, with this result.
    Done(ToolOutput),
    /// It did not act: it is called again.
    NotDone,
    /// That cannot be told.
    Unknown,
}

/// Undoes a call that is given up.
pub trait Compensate: Send + Sync {
    /// Undoes what the call may have done; it may be asked twice.
    ///
    /// # Errors
    /// Where it could not be undone; that is recorded, and told to the model.
    fn compensate<'a>(
        &'a self,
        arguments: &'a Json,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, std::result::Result<(), ToolError>>;
}

/// How a tool is to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The longest a call may take.
    pub timeout: Option<Duration>,
    /// How often a call is tried at most, where it fails in a way that may pass.
    pub attempts: u32,
    /// The longest result, in bytes; what is beyond is cut, and said to be.
    pub max_result: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        // Ten minutes are enough for a build. No model reads a longer result than a megabyte.
        Settings { timeout: Some(Duration::from_secs(600)), attempts: 1, max_result: 1 << 20 }
    }
}

/// Whether a person must consent to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Consent {
    /// It is called at once.
    #[default]
    NotNeeded,
    /// It waits for a person, at most so long; for ever if nothing is said.
    Needed {
        /// How long.
        within: Option<Duration>,
    },
}
