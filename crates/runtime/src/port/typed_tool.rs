//! Tools made of async functions with typed arguments.
//!
//! The schema that a model is told follows from the type of the arguments, so the two cannot disagree. A tool is
//! [`Effect::Once`] unless it says otherwise: a call that may have acted is then never silently repeated.

use std::future::Future;
use std::time::Duration;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use turnkeep_model::Json;
use turnkeep_model::event::Effect;

use super::tool::{Consent, FnTool, ToolContext, ToolError, ToolOutput};

/// A function that a tool can be made of: async, with arguments of a type of its own, and with or without the
/// [`ToolContext`] of the call. `Marker` tells the two apart.
pub trait Handler<Marker>: Send + Sync + 'static {
    /// What it is called with.
    type Arguments: DeserializeOwned + JsonSchema + Send;
    /// What it answers.
    type Output: Serialize;

    /// Does it.
    fn call(
        &self,
        arguments: Self::Arguments,
        context: ToolContext,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

impl<F, Running, A, R, E> Handler<(A,)> for F
where
    F: Fn(A) -> Running + Send + Sync + 'static,
    Running: Future<Output = Result<R, E>> + Send,
    A: DeserializeOwned + JsonSchema + Send,
    R: Serialize,
    E: Into<ToolError>,
{
    type Arguments = A;
    type Output = R;

    async fn call(&self, arguments: A, _: ToolContext) -> Result<R, ToolError> {
        self(arguments).await.map_err(Into::into)
    }
}

impl<F, Running, A, R, E> Handler<(A, ToolContext)> for F
where
    F: Fn(A, ToolContext) -> Running + Send + Sync + 'static,
    Running: Future<Output = Result<R, E>> + Send,
    A: DeserializeOwned + JsonSchema + Send,
    R: Serialize,
    E: Into<ToolError>,
{
    type Arguments = A;
    type Output = R;

    async fn call(&self, arguments: A, context: ToolContext) -> Result<R, ToolError> {
        self(arguments, context).await.map_err(Into::into)
    }
}

/// A tool made of an async function. Its schema follows from the type of the arguments; what it answers is a text, or
/// JSON.
///
/// ```
/// use turnkeep_runtime::port::{ToolContext, ToolError, tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Amount {
///     /// In whole euros.
///     eur: u32,
/// }
///
/// async fn charge(amount: Amount, call: ToolContext) -> Result<String, ToolError> {
///     Ok(format!("charged {} EUR under the key {}", amount.eur, call.key))
/// }
///
/// let charge = tool("charge", "Charges the card of the customer.", charge).once().needs_approval();
/// ```
pub fn tool<Marker: 'static, H: Handler<Marker>>(name: &str, description: &str, handler: H) -> FnTool {
    let handler = std::sync::Arc::new(handler);
    FnTool::new(name, description, schema_of::<H::Arguments>(), Effect::Once, move |arguments, context| {
        let (handler, context) = (handler.clone(), context.clone());
        Box::pin(async move {
            let arguments = crate::typed::from_json(arguments)
                .map_err(|error| ToolError::failed(format!("the arguments do not fit: {error}")))?;
            ToolOutput::of(&handler.call(arguments, context).await?)
        })
    })
}

impl FnTool {
    /// It only reads: after a crash it is called again.
    #[must_use]
    pub fn pure(self) -> FnTool {
        self.with_effect(Effect::Pure)
    }

    /// The outside world recognises a repetition by [`ToolContext::key`]: after a crash it is called again under the same
    /// key.
    #[must_use]
    pub fn keyed(self) -> FnTool {
        self.with_effect(Effect::Keyed)
    }

    /// It must not act twice: after a crash a call that may have acted waits for its probe, or for a person.
    #[must_use]
    pub fn once(self) -> FnTool {
        self.with_effect(Effect::Once)
    }

    fn with_effect(mut self, effect: Effect) -> FnTool {
        self.effect = effect;
        self
    }

    /// Every call waits until a person approves it.
    #[must_use]
    pub fn needs_approval(self) -> FnTool {
        self.with_consent(Consent::Needed { within: None })
    }

    /// The longest a call may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> FnTool {
        self.settings.timeout = Some(timeout);
        self
    }

    /// How often a call is tried at most, where it fails with [`ToolError::Retryable`].
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> FnTool {
        self.settings.attempts = attempts.max(1);
        self
    }
}

/// The schema of a type, as vendors take it: without the name of its dialect, and without references where it has no
/// cycle.
fn schema_of<T: JsonSchema>() -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    schema.remove("title");
    Json::from(schema.to_value())
}
