//! A tool made of a function.

use serde::Serialize;
use serde::de::DeserializeOwned;
use turnkeep_model::event::Effect;
use turnkeep_model::{Json, ToolSpec};
use turnkeep_store::BoxFuture;

use super::{CallInfo, Compensate, Consent, Probe, Settings, Tool, ToolContext, ToolError, ToolOutput};

type Handler = dyn for<'a> Fn(&'a Json, &'a ToolContext) -> BoxFuture<'a, std::result::Result<ToolOutput, ToolError>>
    + Send
    + Sync;

/// A tool made of a function. See [`tool`](crate::port::tool) for functions with typed arguments.
pub struct FnTool {
    spec: ToolSpec,
    pub(in crate::port) effect: Effect,
    pub(in crate::port) settings: Settings,
    pub(in crate::port) consent: Consent,
    handler: Box<Handler>,
    probe: Option<Box<dyn Probe>>,
    compensate: Option<Box<dyn Compensate>>,
}

impl FnTool {
    /// A tool that is called with JSON.
    pub fn new<F>(name: &str, description: &str, parameters: Json, effect: Effect, handler: F) -> FnTool
    where
        F: for<'a> Fn(&'a Json, &'a ToolContext) -> BoxFuture<'a, std::result::Result<ToolOutput, ToolError>>
            + Send
            + Sync
            + 'static,
    {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            parameters,
            ..ToolSpec::default()
        };
        FnTool {
            spec,
            effect,
            settings: Settings::default(),
            consent: Consent::default(),
            handler: Box::new(handler),
            probe: None,
            compensate: None,
        }
    }

    /// A tool whose arguments and result are types of their own, and that blocks its thread while it works.
    pub fn blocking<A, R, F>(name: &str, description: &str, parameters: Json, effect: Effect, work: F) -> FnTool
    where
        A: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        F: Fn(A, CallInfo) -> std::result::Result<R, ToolError> + Send + Sync + 'static,
    {
        let work = std::sync::Arc::new(work);
        FnTool::new(name, description, parameters, effect, move |arguments, context| {
            let (work, info) = (work.clone(), CallInfo::of(context));
            Box::pin(async move {
                let arguments = crate::typed::from_json(arguments)
                    .map_err(|error| ToolError::failed(format!("the arguments do not fit: {error}")))?;
                let value = crate::blocking::run(move || work(arguments, info)).await?;
                ToolOutput::of(&value?)
            })
        })
    }

    /// The same tool, called so.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> FnTool {
        self.settings = settings;
        self
    }

    /// The same tool, whose calls wait for a person.
    #[must_use]
    pub fn with_consent(mut self, consent: Consent) -> FnTool {
        self.consent = consent;
        self
    }

    /// The same tool, able to find out whether a call acted.
    #[must_use]
    pub fn with_probe(mut self, probe: impl Probe + 'static) -> FnTool {
        self.probe = Some(Box::new(probe));
        self
    }

    /// The same tool, able to undo a call.
    #[must_use]
    pub fn with_compensate(mut self, compensate: impl Compensate + 'static) -> FnTool {
        self.compensate = Some(Box::new(compensate));
        self
    }
}

impl Tool for FnTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Json,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, std::result::Result<ToolOutput, ToolError>> {
        (self.handler)(arguments, context)
    }

    fn settings(&self) -> Settings {
        self.settings.clone()
    }

    fn consent(&self) -> Consent {
        self.consent
    }

    fn probe(&self) -> Option<&dyn Probe> {
        self.probe.as_deref()
    }

    fn compensate(&self) -> Option<&dyn Compensate> {
        self.compensate.as_deref()
    }
}
