//! What a request asks of its model: which settings it has, and where they stand on each wire.

use std::borrow::Cow;

use turnkeep_model::Number;
use turnkeep_model::json::{Json, Node, Value};

use super::check::BreachKind;
use crate::wire::{Contract, Wire};

/// A setting that not every model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
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
pub(crate) struct Slot {
    pub(super) setting: Setting,
    /// Its place in a body.
    pub(super) at: &'static str,
    /// What goes where the setting goes: the place itself, or what makes no sense without it.
    pub(super) whole: &'static str,
    /// Its place in a session.
    pub(super) option: &'static str,
}

pub(crate) const fn slot(setting: Setting, at: &'static str, option: &'static str) -> Slot {
    Slot { setting, at, whole: at, option }
}

pub(crate) const fn part(setting: Setting, at: &'static str, whole: &'static str, option: &'static str) -> Slot {
    Slot { setting, at, whole, option }
}

/// The settings of a wire's requests, and the rules on them.
pub(crate) struct Settings {
    /// Whose terms they are in.
    pub(crate) terms: Terms,
    /// Where they stand.
    pub(crate) slots: &'static [Slot],
    /// The dialects whose vendors refuse what their models do not take, where others drop or translate it; empty where
    /// all refuse it.
    pub(crate) makers: &'static [&'static str],
    /// The ids of the lint rules on them.
    pub(crate) rules: &'static [(BreachKind, &'static str)],
    /// The id of the rule on models that the table does not list.
    pub(crate) unknown_rule: &'static str,
}

impl Settings {
    /// The id of the rule on what is wrong with a setting, where the wire has one.
    pub(super) fn rule(&self, kind: BreachKind) -> Option<&'static str> {
        self.rules.iter().find(|(own, _)| *own == kind).map(|(_, id)| *id)
    }

    /// Whether the vendor itself refuses what its models do not take.
    pub(super) fn is_maker(&self, dialect: Option<&str>) -> bool {
        self.makers.is_empty() || dialect.is_none_or(|dialect| self.makers.contains(&dialect))
    }
}

/// Whose terms settings are in: what they mean and which of them exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Terms {
    /// OpenAI's chat: a choice of tools needs tools, however harmless it is.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's: thinking is turned on with a budget. Effort applies to the whole answer and turns nothing on.
    Claude,
    /// Google's: a level of thinking, or a budget.
    Gemini,
    /// Ollama's: what a model cannot do is often ignored.
    Ollama,
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
}

/// The settings that a body has.
pub(super) struct Asked<'b, T> {
    /// The id of the wire.
    pub(super) wire: &'static str,
    pub(super) contract: &'static Contract,
    pub(super) body: &'b T,
    found: Vec<(&'static Slot, &'b T)>,
}

impl<'b, T: Tree> Asked<'b, T> {
    pub(super) fn of(wire: &dyn Wire, body: &'b T) -> Asked<'b, T> {
        let contract = wire.contract();
        let found = contract.settings.slots.iter().filter_map(|slot| Some((slot, at(body, slot.at)?)));
        Asked { wire: wire.spec().id, contract, body, found: found.filter(|(_, value)| !value.is_nothing()).collect() }
    }

    pub(super) fn terms(&self) -> Terms {
        self.contract.settings.terms
    }

    /// The settings of a kind, each with its value.
    pub(super) fn all(&self, setting: Setting) -> impl Iterator<Item = (&'static Slot, &'b T)> {
        self.found.iter().filter(move |(slot, _)| slot.setting == setting).copied()
    }

    pub(super) fn first(&self, setting: Setting) -> Option<(&'static Slot, &'b T)> {
        self.all(setting).next()
    }

    pub(super) fn number(&self, setting: Setting) -> Option<f64> {
        self.first(setting)?.1.number()
    }

    pub(super) fn word(&self, setting: Setting) -> Option<Cow<'b, str>> {
        self.first(setting)?.1.word()
    }

    /// The model that the body names.
    pub(super) fn model(&self) -> Option<Cow<'b, str>> {
        self.body.field(self.contract.naming.key())?.word().filter(|model| !model.is_empty())
    }

    /// How many tools the request has.
    pub(super) fn tools(&self) -> usize {
        let tools = self.all(Setting::Tools).filter_map(|(_, tools)| tools.items()).flatten();
        let declared = |tool: &T| {
            let list = tool.field("functionDeclarations").or_else(|| tool.field("function_declarations"))?;
            list.items().map(<[T]>::len)
        };
        tools.map(|tool| if self.terms() == Terms::Gemini { declared(tool).unwrap_or(0) } else { 1 }).sum()
    }

    /// Where the request ends with an answer, the place of that answer.
    pub(super) fn prefill(&self) -> Option<usize> {
        let history = self.body.field(self.contract.history)?.items()?;
        let last = history.last()?;
        let role = last.field("role")?.word()?;
        (role == self.contract.answer_role).then(|| history.len().saturating_sub(1))
    }

    /// Whether the request turns thinking on or off; `None` where it says nothing.
    pub(super) fn wants_thinking(&self) -> Option<bool> {
        let effort = || self.word(Setting::Effort).map(|word| word != "none");
        let budget = || self.number(Setting::Budget).map(|budget| budget != 0.0);
        let switch = || {
            let (_, value) = self.first(Setting::Thinking)?;
            value.flag().or_else(|| value.word().map(|word| !matches!(&*word, "disabled" | "none")))
        };
        match self.terms() {
            Terms::Claude => switch().or_else(|| self.bedrock_effort()),
            _ => switch().or_else(budget).or_else(effort),
        }
    }

    fn bedrock_effort(&self) -> Option<bool> {
        self.all(Setting::Effort).find(|(slot, _)| slot.at.ends_with("reasoning_effort")).map(|_| true)
    }

    /// Whether thinking is turned on with a budget, in Anthropic's terms.
    pub(super) fn is_budgeted(&self) -> bool {
        self.word(Setting::Thinking).is_some_and(|word| word == "enabled")
    }
}

/// The value at a place of a body; keys may be spelled with underscores too.
pub(super) fn at<'b, T: Tree>(body: &'b T, place: &str) -> Option<&'b T> {
    place.split('.').try_fold(body, |value, key| value.field(key).or_else(|| value.field(snake(key)?.as_str())))
}

/// The spelling of a key with underscores, if that is another one.
pub(crate) fn snake(key: &str) -> Option<String> {
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
