//! The settings of a state.

use turnkeep_model::json::{Json, Node, Number, Value};
use turnkeep_model::{Effort, ExtraPart, Loss, LossKind, Options};

use super::decode::{Read, Refusal};
use super::tree::{self, Kept, Maker};
use super::{FORMAT, java};
use crate::codec::Mode;

/// The keys, in the order of the library.
pub(super) const KEYS: [&str; 7] =
    ["temperature", "topP", "maxTokens", "presencePenalty", "frequencyPenalty", "reasoning", "budgetTokens"];

/// What the library assumes for the four settings that must be numbers, as it spells them.
const USUAL: [(&str, &str); 4] =
    [("temperature", "0.7"), ("topP", "1"), ("presencePenalty", "0"), ("frequencyPenalty", "0")];

fn usual(key: &str) -> &'static str {
    USUAL.iter().find(|(name, _)| *name == key).map_or("0", |(_, value)| value)
}

/// The place of a setting in the session.
fn place(key: &str) -> &'static str {
    match key {
        "temperature" => "options.temperature",
        "topP" => "options.top_p",
        "maxTokens" => "options.max_tokens",
        "presencePenalty" => "options.presence_penalty",
        "frequencyPenalty" => "options.frequency_penalty",
        "reasoning" => "options.reasoning",
        "budgetTokens" => "options.budget_tokens",
        _ => "options",
    }
}

/// Reads the settings; a missing object is an empty one.
///
/// # Errors
/// What the library refuses: a sampling setting that is no number, an effort it does not know.
pub(super) fn read(node: Option<Node<'_>>, losses: &mut Vec<Loss>) -> Read<Options> {
    let fields = match node {
        None => Vec::new(),
        Some(Node { value: Value::Object(fields), .. }) => fields,
        Some(node) => return Err(Refusal::wrong(&node, "completionOptions", "an object")),
    };
    let mut opened = tree::open(fields, &KEYS);
    let mut options = Options::default();
    let mut part = ExtraPart::default();
    tree::leave(&mut opened, &mut part);
    if !opened.repeated.is_empty() {
        losses.push(Loss::decode(LossKind::Dropped, "options", "a key stands more than once; the last one counts"));
    }
    let [temperature, top_p, max_tokens, presence, frequency, reasoning, budget] = opened.slots;
    options.temperature = Some(required(temperature, "temperature", losses)?);
    options.top_p = Some(required(top_p, "topP", losses)?);
    options.presence_penalty = Some(required(presence, "presencePenalty", losses)?);
    options.frequency_penalty = Some(required(frequency, "frequencyPenalty", losses)?);
    if max_tokens.is_none() {
        losses.push(missing("maxTokens", "null"));
    }
    options.max_tokens = optional(max_tokens, "maxTokens", &mut part, losses);
    if budget.is_none() {
        tree::note_absent(&mut part, "budgetTokens");
    }
    options.budget_tokens = optional(budget, "budgetTokens", &mut part, losses);
    options.reasoning = effort(reasoning, &mut part)?;
    *options.extra.part_mut(FORMAT) = part;
    options.extra.tidy();
    Ok(options)
}

fn missing(key: &str, value: &str) -> Loss {
    let what = format!("`completionOptions.{key}` is missing; `{value}` is assumed");
    Loss::decode(LossKind::Synthesised, place(key), what)
}

fn required(node: Option<Node<'_>>, key: &'static str, losses: &mut Vec<Loss>) -> Read<Number> {
    let text = match node {
        None => {
            losses.push(missing(key, usual(key)));
            usual(key).to_owned()
        }
        Some(Node { value: Value::Number(text), .. }) => text.into_owned(),
        Some(node) => return Err(Refusal::wrong(&node, format!("completionOptions.{key}"), "a number")),
    };
    Ok(Number::parse(&text).unwrap_or_else(|| Number::from(0_u64)))
}

/// A setting that is absent unless it is a number.
fn optional(node: Option<Node<'_>>, key: &'static str, part: &mut ExtraPart, losses: &mut Vec<Loss>) -> Option<Number> {
    match node?.value {
        Value::Null => None,
        Value::Number(text) => Number::parse(&text),
        other => {
            let what = format!("`completionOptions.{key}` is not a number; it is unset, and kept aside");
            losses.push(Loss::decode(LossKind::Coerced, place(key), what));
            part.fields.set(key, Node { at: 0, value: other }.into_json());
            None
        }
    }
}

fn effort(node: Option<Node<'_>>, part: &mut ExtraPart) -> Read<Option<Effort>> {
    let Some(node) = node else {
        tree::note_absent(part, "reasoning");
        return Ok(None);
    };
    if node.value == Value::Null {
        return Ok(None);
    }
    let Some(word) = node.as_str() else {
        return Err(Refusal::wrong(&node, "completionOptions.reasoning", "a string"));
    };
    let Some(effort) = parse_effort(&word) else {
        let what = "the effort is none of none, low, medium, high";
        return Err(Refusal::new(node.at, "completionOptions.reasoning", what));
    };
    if effort.as_str() != word {
        part.spelling.set("reasoning", &*word);
    }
    Ok(Some(effort))
}

/// The effort that a word names, whatever its case and the space around it.
pub(super) fn parse_effort(word: &str) -> Option<Effort> {
    match word.trim().to_lowercase().as_str() {
        "none" => Some(Effort::None),
        "low" => Some(Effort::Low),
        "medium" => Some(Effort::Medium),
        "high" => Some(Effort::High),
        _ => None,
    }
}

/// Writes the settings.
pub(super) fn write(options: &Options, mode: Mode) -> Node<'_> {
    let kept = Kept::of(&options.extra, mode);
    let mut maker = Maker::new(kept);
    let numbers = [
        spelling(&options.temperature),
        spelling(&options.top_p),
        spelling(&options.max_tokens),
        spelling(&options.presence_penalty),
        spelling(&options.frequency_penalty),
    ];
    for (key, value) in KEYS.into_iter().zip(numbers) {
        let usual = if key == "maxTokens" { tree::null() } else { tree::number(usual(key)) };
        maker.choose(key, value.map(|value| number(key, value, mode)), Some(usual));
    }
    let spelled = kept.spelled("reasoning").filter(|raw| means(raw, options.reasoning.as_ref())).map(Json::to_node);
    let word = options.reasoning.as_ref().and_then(effort_word).map(tree::text);
    maker.choose("reasoning", spelled.or(word), Some(tree::null()));
    let budget = spelling(&options.budget_tokens).map(|value| number("budgetTokens", value, mode));
    maker.choose("budgetTokens", budget, Some(tree::null()));
    maker.finish()
}

/// The spelling of a number that JSON can hold.
fn spelling(number: &Option<Number>) -> Option<&str> {
    number.as_ref().filter(|number| number.is_json()).map(Number::as_str)
}

/// The library counts tokens in 32 bits.
fn number<'s>(key: &str, value: &'s str, mode: Mode) -> Node<'s> {
    if mode == Mode::Compat && matches!(key, "maxTokens" | "budgetTokens") {
        return Node { at: 0, value: Value::Number(java::int(value).into()) };
    }
    tree::number(value)
}

fn means(raw: &Json, effort: Option<&Effort>) -> bool {
    effort.is_some() && raw.as_str().and_then(|word| parse_effort(&word)).as_ref() == effort
}

/// The library's word that comes nearest.
fn effort_word(effort: &Effort) -> Option<&'static str> {
    match effort {
        Effort::None => Some("none"),
        Effort::Minimal | Effort::Low => Some("low"),
        Effort::Medium => Some("medium"),
        Effort::High | Effort::XHigh | Effort::Max => Some("high"),
        _ => None,
    }
}
