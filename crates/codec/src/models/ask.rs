//! What a request asks of its model: which settings it has, and where they stand on each wire.

use std::borrow::Cow;

use turnkeep_model::Number;
use turnkeep_model::json::{Json, Node, Value};

/// A setting that not every model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    Temperature,
    TopP,
    TopK,
    Penalty,
    Stop,
    Effort,
    Budget,
    /// A switch, or a word for how to think.
    Thinking,
    /// The longest answer.
    Limit,
    /// The longest answer by its old name.
    OldLimit,
    Tools,
    Choice,
    Parallel,
    Format,
    /// What to send back of thinking.
    Include,
}

/// Where a wire has a setting.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) ask: Ask,
    /// Its place in a body.
    pub(super) at: &'static str,
    /// What goes where the setting goes: the place itself, or what makes no sense without it.
    pub(super) whole: &'static str,
    /// Its place in a session.
    pub(super) option: &'static str,
}

const fn slot(ask: Ask, at: &'static str, option: &'static str) -> Slot {
    Slot { ask, at, whole: at, option }
}

const fn part(ask: Ask, at: &'static str, whole: &'static str, option: &'static str) -> Slot {
    Slot { ask, at, whole, option }
}

/// A wire: its id, its settings, and the list that holds its history with the role of answers there.
pub(super) struct Wire {
    pub(super) id: &'static str,
    pub(super) slots: &'static [Slot],
    pub(super) model: &'static str,
    history: &'static str,
    answers: &'static str,
}

const TOOL_CHOICE: &str = "options.tool_choice";
const EFFORT: &str = "options.reasoning";
const BUDGET: &str = "options.budget_tokens";
const LIMIT: &str = "options.max_tokens";
const TEMPERATURE: &str = "options.temperature";
const FORMAT: &str = "response_format";

static WIRES: &[Wire] = &[
    Wire {
        id: "openai.chat",
        model: "model",
        history: "messages",
        answers: "assistant",
        slots: &[
            slot(Ask::Temperature, "temperature", TEMPERATURE),
            slot(Ask::TopP, "top_p", "options.top_p"),
            slot(Ask::Penalty, "presence_penalty", "options.presence_penalty"),
            slot(Ask::Penalty, "frequency_penalty", "options.frequency_penalty"),
            slot(Ask::Penalty, "logprobs", "extra.openai.chat.fields.logprobs"),
            slot(Ask::Penalty, "top_logprobs", "extra.openai.chat.fields.top_logprobs"),
            slot(Ask::Penalty, "logit_bias", "extra.openai.chat.fields.logit_bias"),
            slot(Ask::Stop, "stop", "options.stop"),
            slot(Ask::Effort, "reasoning_effort", EFFORT),
            slot(Ask::Limit, "max_completion_tokens", LIMIT),
            slot(Ask::OldLimit, "max_tokens", LIMIT),
            slot(Ask::Tools, "tools", "tools"),
            slot(Ask::Choice, "tool_choice", TOOL_CHOICE),
            slot(Ask::Parallel, "parallel_tool_calls", "options.parallel_tool_calls"),
            slot(Ask::Format, "response_format", FORMAT),
        ],
    },
    Wire {
        id: "openai.responses",
        model: "model",
        history: "input",
        answers: "assistant",
        slots: &[
            slot(Ask::Temperature, "temperature", TEMPERATURE),
            slot(Ask::TopP, "top_p", "options.top_p"),
            slot(Ask::Effort, "reasoning.effort", EFFORT),
            slot(Ask::Thinking, "reasoning", "extra.openai.responses.fields.reasoning"),
            slot(Ask::Include, "include", "extra.openai.responses.fields.include"),
            slot(Ask::Limit, "max_output_tokens", LIMIT),
            slot(Ask::Tools, "tools", "tools"),
            slot(Ask::Choice, "tool_choice", TOOL_CHOICE),
            slot(Ask::Parallel, "parallel_tool_calls", "options.parallel_tool_calls"),
            slot(Ask::Format, "text.format", FORMAT),
        ],
    },
    Wire {
        id: "anthropic.messages",
        model: "model",
        history: "messages",
        answers: "assistant",
        slots: &[
            slot(Ask::Temperature, "temperature", TEMPERATURE),
            slot(Ask::TopP, "top_p", "options.top_p"),
            slot(Ask::TopK, "top_k", "options.top_k"),
            slot(Ask::Effort, "output_config.effort", EFFORT),
            part(Ask::Thinking, "thinking.type", "thinking", EFFORT),
            slot(Ask::Thinking, "thinking", "extra.anthropic.messages.fields.thinking"),
            part(Ask::Budget, "thinking.budget_tokens", "thinking", BUDGET),
            slot(Ask::Limit, "max_tokens", LIMIT),
            slot(Ask::Tools, "tools", "tools"),
            part(Ask::Choice, "tool_choice.type", "tool_choice", TOOL_CHOICE),
            slot(Ask::Format, "output_config.format", FORMAT),
            slot(Ask::Format, "output_format", FORMAT),
        ],
    },
    Wire {
        id: "gemini.contents",
        model: "model",
        history: "contents",
        answers: "model",
        slots: &[
            slot(Ask::Penalty, "generationConfig.presencePenalty", "options.presence_penalty"),
            slot(Ask::Penalty, "generationConfig.frequencyPenalty", "options.frequency_penalty"),
            slot(Ask::Effort, "generationConfig.thinkingConfig.thinkingLevel", EFFORT),
            slot(Ask::Budget, "generationConfig.thinkingConfig.thinkingBudget", BUDGET),
            part(
                Ask::Include,
                "generationConfig.thinkingConfig.includeThoughts",
                "generationConfig.thinkingConfig",
                "extra.gemini.contents.fields.generationConfig",
            ),
            slot(Ask::Limit, "generationConfig.maxOutputTokens", LIMIT),
            slot(Ask::Tools, "tools", "tools"),
            part(Ask::Choice, "toolConfig.functionCallingConfig", "toolConfig.functionCallingConfig", TOOL_CHOICE),
        ],
    },
    Wire {
        id: "ollama.chat",
        model: "model",
        history: "messages",
        answers: "assistant",
        slots: &[slot(Ask::Thinking, "think", EFFORT)],
    },
    Wire {
        id: "bedrock.converse",
        model: "modelId",
        history: "messages",
        answers: "assistant",
        slots: &[
            slot(Ask::Temperature, "inferenceConfig.temperature", TEMPERATURE),
            slot(Ask::TopP, "inferenceConfig.topP", "options.top_p"),
            slot(Ask::TopK, "additionalModelRequestFields.top_k", "options.top_k"),
            slot(Ask::Effort, "additionalModelRequestFields.output_config.effort", EFFORT),
            slot(Ask::Effort, "additionalModelRequestFields.reasoning_effort", EFFORT),
            part(
                Ask::Thinking,
                "additionalModelRequestFields.thinking.type",
                "additionalModelRequestFields.thinking",
                EFFORT,
            ),
            part(
                Ask::Budget,
                "additionalModelRequestFields.thinking.budget_tokens",
                "additionalModelRequestFields.thinking",
                BUDGET,
            ),
            slot(Ask::Limit, "inferenceConfig.maxTokens", LIMIT),
            slot(Ask::Tools, "toolConfig.tools", "tools"),
            slot(Ask::Choice, "toolConfig.toolChoice", TOOL_CHOICE),
            slot(Ask::Format, "outputConfig", FORMAT),
        ],
    },
];

/// A wire by its id.
pub(super) fn wire(id: &str) -> Option<&'static Wire> {
    WIRES.iter().find(|wire| wire.id == id)
}

/// A value of a body, as given or as about to be sent.
pub(super) trait Tree: Sized {
    fn field(&self, key: &str) -> Option<&Self>;
    fn items(&self) -> Option<&[Self]>;
    fn number(&self) -> Option<f64>;
    fn word(&self) -> Option<Cow<'_, str>>;
    fn flag(&self) -> Option<bool>;
    /// Whether it says nothing: `null`, or an empty list, text or object.
    fn is_nothing(&self) -> bool;
    /// The byte where it stands, where known.
    fn offset(&self) -> u32;
}

impl Tree for Node<'_> {
    fn field(&self, key: &str) -> Option<&Self> {
        self.get(key)
    }

    fn items(&self) -> Option<&[Self]> {
        self.as_array()
    }

    fn number(&self) -> Option<f64> {
        self.as_number().as_ref().map(Number::as_f64)
    }

    fn word(&self) -> Option<Cow<'_, str>> {
        self.as_str()
    }

    fn flag(&self) -> Option<bool> {
        self.as_bool()
    }

    fn is_nothing(&self) -> bool {
        match &self.value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Text(text) => text.is_empty(),
            _ => false,
        }
    }

    fn offset(&self) -> u32 {
        self.at
    }
}

impl Tree for Json {
    fn field(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    fn items(&self) -> Option<&[Self]> {
        self.as_array()
    }

    fn number(&self) -> Option<f64> {
        self.as_number().map(Number::as_f64)
    }

    fn word(&self) -> Option<Cow<'_, str>> {
        self.as_str()
    }

    fn flag(&self) -> Option<bool> {
        self.as_bool()
    }

    fn is_nothing(&self) -> bool {
        match self {
            Json::Null => true,
            Json::Array(items) => items.is_empty(),
            Json::Object(fields) => fields.is_empty(),
            Json::String(text) => text.is_empty(),
            _ => false,
        }
    }

    fn offset(&self) -> u32 {
        0
    }
}

/// The settings that a body has.
pub(super) struct Asked<'b, T> {
    pub(super) wire: &'static Wire,
    pub(super) body: &'b T,
    found: Vec<(&'static Slot, &'b T)>,
}

impl<'b, T: Tree> Asked<'b, T> {
    pub(super) fn of(wire: &'static Wire, body: &'b T) -> Asked<'b, T> {
        let found = wire.slots.iter().filter_map(|slot| Some((slot, at(body, slot.at)?)));
        Asked { wire, body, found: found.filter(|(_, value)| !value.is_nothing()).collect() }
    }

    /// The settings of a kind, each with its value.
    pub(super) fn all(&self, ask: Ask) -> impl Iterator<Item = (&'static Slot, &'b T)> {
        self.found.iter().filter(move |(slot, _)| slot.ask == ask).copied()
    }

    pub(super) fn first(&self, ask: Ask) -> Option<(&'static Slot, &'b T)> {
        self.all(ask).next()
    }

    pub(super) fn number(&self, ask: Ask) -> Option<f64> {
        self.first(ask)?.1.number()
    }

    pub(super) fn word(&self, ask: Ask) -> Option<Cow<'b, str>> {
        self.first(ask)?.1.word()
    }

    /// The model that the body names.
    pub(super) fn model(&self) -> Option<Cow<'b, str>> {
        self.body.field(self.wire.model)?.word().filter(|model| !model.is_empty())
    }

    /// How many tools the request has.
    pub(super) fn tools(&self) -> usize {
        let tools = self.all(Ask::Tools).filter_map(|(_, tools)| tools.items()).flatten();
        let declared = |tool: &T| {
            let list = tool.field("functionDeclarations").or_else(|| tool.field("function_declarations"))?;
            list.items().map(<[T]>::len)
        };
        tools.map(|tool| if self.wire.id == "gemini.contents" { declared(tool).unwrap_or(0) } else { 1 }).sum()
    }

    /// Where the request ends with an answer, the place of that answer.
    pub(super) fn prefill(&self) -> Option<(usize, &'b T)> {
        let history = self.body.field(self.wire.history)?.items()?;
        let last = history.last()?;
        let role = last.field("role")?.word()?;
        (role == self.wire.answers).then(|| (history.len().saturating_sub(1), last))
    }

    /// Whether the request turns thinking on or off; `None` where it says nothing.
    pub(super) fn wants_thinking(&self) -> Option<bool> {
        let effort = || self.word(Ask::Effort).map(|word| word != "none");
        let budget = || self.number(Ask::Budget).map(|budget| budget != 0.0);
        let switch = || {
            let (_, value) = self.first(Ask::Thinking)?;
            value.flag().or_else(|| value.word().map(|word| !matches!(&*word, "disabled" | "none")))
        };
        // On Claude, effort applies to the whole answer and does not turn thinking on.
        match self.wire.id {
            "anthropic.messages" | "bedrock.converse" => switch().or_else(|| self.bedrock_effort()),
            _ => switch().or_else(budget).or_else(effort),
        }
    }

    fn bedrock_effort(&self) -> Option<bool> {
        self.all(Ask::Effort).find(|(slot, _)| slot.at.ends_with("reasoning_effort")).map(|_| true)
    }

    /// Whether thinking is turned on with a budget, in Anthropic's terms.
    pub(super) fn is_budgeted(&self) -> bool {
        self.word(Ask::Thinking).is_some_and(|word| word == "enabled")
    }
}

/// The value at a place of a body; keys may be spelled with underscores too.
pub(super) fn at<'b, T: Tree>(body: &'b T, place: &str) -> Option<&'b T> {
    place.split('.').try_fold(body, |value, key| value.field(key).or_else(|| value.field(snake(key)?.as_str())))
}

/// The spelling of a key with underscores, if that is another one.
pub(super) fn snake(key: &str) -> Option<String> {
    if !key.contains(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let mut spelled = String::with_capacity(key.len() + 2);
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            spelled.push('_');
        }
        spelled.push(c.to_ascii_lowercase());
    }
    Some(spelled)
}
