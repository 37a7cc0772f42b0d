//! Settings that must survive.

use crate::decimal::Decimal;
use crate::extra::Extra;
use crate::json::{Json, Number};
use crate::shape::{shape, string_enum};
use crate::time::Time;

/// The settings of a model call. What is unset is left to the endpoint and then to the vendor.
///
/// ```
/// use turnkeep_model::{Effort, Options};
///
/// let options = Options::default().with_reasoning(Effort::High).with_budget_tokens(16_000);
///
/// assert_eq!(options.reasoning, Some(Effort::High));
/// assert_eq!(options.budget_tokens.map(|n| n.to_string()).as_deref(), Some("16000"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// How freely the model samples.
    pub temperature: Option<Number>,
    /// The probability mass it samples from.
    pub top_p: Option<Number>,
    /// How many candidates it samples from.
    pub top_k: Option<Number>,
    /// The longest answer, in tokens.
    pub max_tokens: Option<Number>,
    /// Penalty on tokens that occurred.
    pub presence_penalty: Option<Number>,
    /// Penalty on tokens by how often they occurred.
    pub frequency_penalty: Option<Number>,
    /// How hard the model thinks; unset differs from [`Effort::None`].
    pub reasoning: Option<Effort>,
    /// How many tokens it may think.
    pub budget_tokens: Option<Number>,
    /// Texts that end an answer.
    pub stop: Vec<String>,
    /// Seed of the sampler.
    pub seed: Option<Number>,
    /// Which tools the model may or must call.
    pub tool_choice: Option<ToolChoice>,
    /// Whether the model may call several tools at once.
    pub parallel_tool_calls: Option<bool>,
    /// How long to wait for a connection, in milliseconds.
    pub connect_timeout_ms: Option<Number>,
    /// How long to wait for data, in milliseconds.
    pub socket_timeout_ms: Option<Number>,
    /// Where a run must stop.
    pub limits: Limits,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! {
    Options {
        temperature: opt,
        top_p: opt,
        top_k: opt,
        max_tokens: opt,
        presence_penalty: opt,
        frequency_penalty: opt,
        reasoning: opt,
        budget_tokens: opt,
        stop: opt,
        seed: opt,
        tool_choice: opt,
        parallel_tool_calls: opt,
        connect_timeout_ms: opt,
        socket_timeout_ms: opt,
        limits: opt,
    }
}

/// Where a run must stop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Limits {
    /// How many exchanges the history keeps.
    pub exchanges: Option<Number>,
    /// How many steps a run may take.
    pub steps: Option<Number>,
    /// How many tokens it may use.
    pub tokens: Option<Number>,
    /// How many seconds it may run.
    pub seconds: Option<Number>,
    /// What it may cost.
    pub cost: Option<Decimal>,
    /// When it must end.
    pub deadline: Option<Time>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { Limits { exchanges: opt, steps: opt, tokens: opt, seconds: opt, cost: opt, deadline: opt } }

impl Limits {
    /// These limits where they are set, and those of `base` elsewhere.
    #[must_use]
    pub fn over(&self, base: &Limits) -> Limits {
        macro_rules! first {
            ($($field:ident)*) => { Limits {
                $($field: self.$field.clone().or_else(|| base.$field.clone()),)*
                extra: if self.extra.is_empty() { base.extra.clone() } else { self.extra.clone() },
            } };
        }
        first! { exchanges steps tokens seconds cost deadline }
    }
}

string_enum! {
    /// How hard a model thinks.
    pub enum Effort {
        /// Not at all.
        None = "none",
        /// As little as possible.
        Minimal = "minimal",
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
        /// More.
        XHigh = "xhigh",
        /// As much as it can.
        Max = "max",
        ; /// A word that only its source knows.
        other
    }
}

/// Which tools a model may or must call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolChoice {
    /// The rule.
    pub mode: ToolMode,
    /// The tools it speaks of, where it names some.
    pub names: Vec<String>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { ToolChoice { mode: req, names: opt } }

string_enum! {
    /// A rule for calling tools.
    #[derive(Default)]
    pub enum ToolMode {
        /// The model decides.
        #[default]
        Auto = "auto",
        /// None may be called.
        None = "none",
        /// One must be called.
        Required = "required",
        ; /// A word that only its source knows.
        other
    }
}

impl Options {
    /// These settings where they are set, and those of `base` elsewhere.
    #[must_use]
    pub fn over(&self, base: &Options) -> Options {
        macro_rules! first {
            ($($field:ident)*) => { Options {
                $($field: self.$field.clone().or_else(|| base.$field.clone()),)*
                stop: if self.stop.is_empty() { base.stop.clone() } else { self.stop.clone() },
                limits: self.limits.over(&base.limits),
                extra: if self.extra.is_empty() { base.extra.clone() } else { self.extra.clone() },
            } };
        }
        first! {
            temperature top_p top_k max_tokens presence_penalty frequency_penalty reasoning budget_tokens seed
            tool_choice parallel_tool_calls connect_timeout_ms socket_timeout_ms
        }
    }

    /// Sets how hard the model thinks.
    #[must_use]
    pub fn with_reasoning(mut self, effort: Effort) -> Options {
        self.reasoning = Some(effort);
        self
    }

    /// Sets how many tokens it may think.
    #[must_use]
    pub fn with_budget_tokens(mut self, tokens: u64) -> Options {
        self.budget_tokens = Some(tokens.into());
        self
    }

    /// Sets how freely it samples.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f64) -> Options {
        self.temperature = Some(Number::from_f64(temperature));
        self
    }

    /// Sets the probability mass it samples from.
    #[must_use]
    pub fn with_top_p(mut self, top_p: f64) -> Options {
        self.top_p = Some(Number::from_f64(top_p));
        self
    }

    /// Sets the longest answer.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u64) -> Options {
        self.max_tokens = Some(tokens.into());
        self
    }

    /// Sets the penalty on tokens that occurred.
    #[must_use]
    pub fn with_presence_penalty(mut self, penalty: f64) -> Options {
        self.presence_penalty = Some(Number::from_f64(penalty));
        self
    }

    /// Sets the penalty on tokens by how often they occurred.
    #[must_use]
    pub fn with_frequency_penalty(mut self, penalty: f64) -> Options {
        self.frequency_penalty = Some(Number::from_f64(penalty));
        self
    }

    /// Adds a text that ends an answer.
    #[must_use]
    pub fn with_stop(mut self, text: impl Into<String>) -> Options {
        self.stop.push(text.into());
        self
    }

    /// Sets the seed of the sampler.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Options {
        self.seed = Some(seed.into());
        self
    }
}

/// A tool as the model is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    pub parameters: Json,
    /// Whether the arguments must follow the schema exactly.
    pub strict: Option<bool>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { ToolSpec { name: req, description: opt, parameters: opt, strict: opt } }

/// The form an answer must have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResponseFormat {
    /// What kind of answer.
    pub kind: ResponseKind,
    /// The schema's name.
    pub name: Option<String>,
    /// What the answer is for.
    pub description: Option<String>,
    /// The JSON schema.
    pub schema: Json,
    /// Whether it must be followed exactly.
    pub strict: Option<bool>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { ResponseFormat { kind: req, name: opt, description: opt, schema: opt, strict: opt } }

string_enum! {
    /// What kind of answer is wanted.
    #[derive(Default)]
    pub enum ResponseKind {
        /// Plain text.
        #[default]
        Text = "text",
        /// Some JSON object.
        JsonObject = "json_object",
        /// JSON that follows a schema.
        JsonSchema = "json_schema",
        ; /// A word that only its source knows.
        other
    }
}
