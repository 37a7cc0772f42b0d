//! The usage summary of a state.

use turnkeep_model::json::{Json, Node, Value};
use turnkeep_model::{Decimal, ExtraPart, Loss, LossKind, Usage};

use super::tree::{self, Kept, Maker};
use super::{FORMAT, java};
use crate::codec::Mode;

/// The keys, in the order of the library; a model's summary has all but the last.
pub(super) const KEYS: [&str; 6] =
    ["requestCount", "inputTokens", "outputTokens", "thinkingTokens", "totalCost", "byModel"];

/// The largest count that is written as a number.
const LARGEST: u64 = 1 << 53;

/// Whose summary it is.
#[derive(Clone, Copy, PartialEq)]
enum SummaryOf {
    All,
    Model,
}

/// Reads a summary.
pub(super) fn read(node: Node<'_>, mode: Mode, losses: &mut Vec<Loss>) -> Usage {
    summary(node, SummaryOf::All, "usage", mode, losses)
}

fn summary(node: Node<'_>, of: SummaryOf, at: &str, mode: Mode, losses: &mut Vec<Loss>) -> Usage {
    let mut usage = Usage::default();
    let mut part = ExtraPart::default();
    let fields = match node.value {
        Value::Object(fields) => fields,
        value => {
            odd_summary(Node { at: node.at, value }, at, mode, &mut part, losses);
            Vec::new()
        }
    };
    let mut opened = tree::open(fields, &KEYS);
    tree::leave(&mut opened, &mut part);
    if !opened.repeated.is_empty() {
        losses.push(Loss::decode(LossKind::Dropped, at, "a key stands more than once; the last one counts"));
    }
    let [requests, input, output, thinking, cost, models] = opened.slots;
    let mut reading = Reading { at, part: &mut part, losses };
    usage.requests = reading.count(requests, "requestCount", "requests");
    usage.input = reading.count(input, "inputTokens", "input");
    usage.output = reading.count(output, "outputTokens", "output");
    usage.reasoning = reading.count(thinking, "thinkingTokens", "reasoning");
    usage.cost = reading.cost(cost, of);
    if let Some(models) = models {
        usage.by_model = reading.models(models, of, mode);
    }
    *usage.extra.part_mut(FORMAT) = part;
    usage.extra.tidy();
    usage
}

/// A summary that is no object is an empty one.
fn odd_summary(node: Node<'_>, at: &str, mode: Mode, part: &mut ExtraPart, losses: &mut Vec<Loss>) {
    match (node.value, mode) {
        (Value::Null, Mode::Compat) => part.spelling.set("summary", Json::Null),
        (Value::Null, Mode::Faithful) => {
            losses.push(Loss::decode(LossKind::Repaired, at, "the usage is null; it is read as empty"));
        }
        (value, _) => {
            let what = format!("the usage is {}, not an object; it is read as empty", Node { at: 0, value }.kind());
            losses.push(Loss::decode(LossKind::Repaired, at, what));
        }
    }
}

struct Reading<'r> {
    at: &'r str,
    part: &'r mut ExtraPart,
    losses: &'r mut Vec<Loss>,
}

impl Reading<'_> {
    fn coerced(&mut self, place: &str, what: String) {
        self.losses.push(Loss::decode(LossKind::Coerced, format!("{}.{place}", self.at), what));
    }

    fn count(&mut self, node: Option<Node<'_>>, key: &str, place: &str) -> Option<u64> {
        let raw = node?.into_json();
        let Some(count) = parse_count(&raw) else {
            self.coerced(place, format!("`{key}` is not a count; it is unset, and kept aside"));
            self.part.fields.set(key, raw);
            return None;
        };
        if !is_exact(&raw) {
            self.coerced(place, format!("`{key}` is not a whole number; its fraction is cut off"));
        }
        if raw != spell_count(count) {
            self.part.spelling.set(key, raw);
        }
        Some(count)
    }

    fn cost(&mut self, node: Option<Node<'_>>, of: SummaryOf) -> Option<Decimal> {
        let raw = node?.into_json();
        let cost = match &raw {
            Json::String(text) => text.to_str().ok().and_then(|text| Decimal::parse(&text)),
            Json::Number(number) => Decimal::parse(number.as_str()),
            _ => None,
        };
        match (&raw, &cost) {
            (_, None) => {
                self.coerced("cost", "`totalCost` is not a decimal; it is unset, and kept aside".to_owned());
                self.part.fields.set("totalCost", raw);
            }
            (Json::Number(_), Some(_)) => {
                self.part.spelling.set("totalCost", "number");
                if of == SummaryOf::Model {
                    self.coerced("cost", "`totalCost` of a model is a number; llm4s takes only a string".to_owned());
                }
            }
            _ => {}
        }
        cost
    }

    fn models(&mut self, node: Node<'_>, of: SummaryOf, mode: Mode) -> Vec<(String, Usage)> {
        let fields = match node.value {
            Value::Object(fields) if of == SummaryOf::All => fields,
            Value::Null if mode == Mode::Compat => {
                self.part.spelling.set("byModel", Json::Null);
                return Vec::new();
            }
            value => {
                self.coerced("by_model", "`byModel` is not an object of models; it is kept aside".to_owned());
                self.part.fields.set("byModel", Node { at: node.at, value }.into_json());
                return Vec::new();
            }
        };
        if fields.is_empty() {
            self.part.spelling.set("byModel", "empty");
        }
        let read = |(index, (name, node)): (usize, (turnkeep_model::json::Text<'_>, Node<'_>))| {
            let at = format!("{}.by_model[{index}]", self.at);
            (name.to_str_lossy().into_owned(), summary(node, SummaryOf::Model, &at, mode, self.losses))
        };
        fields.into_iter().enumerate().map(read).collect()
    }
}

/// The count that a number or a text of digits says; fractions are cut off.
fn parse_count(raw: &Json) -> Option<u64> {
    match raw {
        Json::Number(number) => number.as_u64().or_else(|| whole(number.as_f64())),
        Json::String(text) => text.to_str().ok()?.parse().ok(),
        _ => None,
    }
}

fn whole(value: f64) -> Option<u64> {
    (0.0..9e15).contains(&value).then_some(value as u64)
}

fn is_exact(raw: &Json) -> bool {
    raw.as_number().is_none_or(|number| number.as_u64().is_some() || number.as_f64().fract() == 0.0)
}

/// A count as the library spells it.
fn spell_count(count: u64) -> Json {
    if count > LARGEST { Json::from(count.to_string()) } else { Json::from(count) }
}

/// Writes a summary.
pub(super) fn write(usage: &Usage, mode: Mode) -> Node<'_> {
    summary_node(usage, SummaryOf::All, mode)
}

fn summary_node(usage: &Usage, of: SummaryOf, mode: Mode) -> Node<'_> {
    let kept = Kept::of(&usage.extra, mode);
    if kept.is_null("summary") && usage.requests.is_none() {
        return tree::null();
    }
    let mut maker = Maker::new(kept);
    let counts = [usage.requests, usage.input, usage.output, usage.reasoning];
    for (key, count) in KEYS.into_iter().zip(counts) {
        let count = count.filter(|count| mode == Mode::Faithful || *count > 0);
        let spelled = kept.spelled(key).filter(|raw| count.is_some() && parse_count(raw) == count);
        maker.choose(key, spelled.map(Json::to_node).or(count.map(count_node)), None);
    }
    let cost = usage.cost.as_ref().and_then(|cost| cost_node(cost, kept.spelled("totalCost").is_some(), mode));
    maker.choose("totalCost", cost, None);
    if of == SummaryOf::All {
        maker.choose("byModel", models_node(usage, mode), None);
    }
    maker.finish()
}

fn count_node(count: u64) -> Node<'static> {
    let text = count.to_string();
    if count > LARGEST { tree::owned(text) } else { Node { at: 0, value: Value::Number(text.into()) } }
}

fn cost_node(cost: &Decimal, as_number: bool, mode: Mode) -> Option<Node<'_>> {
    match mode {
        Mode::Faithful if as_number => Some(tree::number(cost.as_str())),
        Mode::Faithful => Some(tree::text(cost.as_str())),
        Mode::Compat => java::big_decimal(cost.as_str()).map(tree::owned),
    }
}

fn models_node(usage: &Usage, mode: Mode) -> Option<Node<'_>> {
    let noted = usage.extra.spelling(FORMAT, "byModel");
    if usage.by_model.is_empty() {
        return match noted {
            Some(Json::Null) => Some(tree::null()),
            Some(_) if mode == Mode::Faithful => Some(Node { at: 0, value: Value::Object(Vec::new()) }),
            _ => None,
        };
    }
    let model = |(name, usage)| (turnkeep_model::json::Text::Plain(name), summary_node(usage, SummaryOf::Model, mode));
    let pairs = usage.by_model.iter().map(|(name, usage)| (name.as_str(), usage)).map(model).collect();
    Some(Node { at: 0, value: Value::Object(pairs) })
}
