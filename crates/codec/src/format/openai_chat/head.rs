//! The settings of the next request, as its vendor takes them.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Effort, Loss, LossKind, Number, Options, ResponseKind, Session, ToolMode, ToolSpec};

use super::ID;
use super::profile::{EffortIn, Profile};
use super::request::LONGEST_NAME;
use crate::models::vendor::NEW_LIMIT;
use crate::models::{Target, fit};
use crate::wire::repair::legal_name;

/// The session without its turns, its settings as the vendor takes them.
pub(super) fn head(
    session: &Session,
    profile: &Profile,
    own: bool,
    target: Option<Target>,
    losses: &mut Vec<Loss>,
) -> Session {
    let mut head = session.head();
    if !own {
        head.extra.remove(ID);
        head.tools.iter_mut().for_each(|tool| tool.extra = turnkeep_model::Extra::NONE);
        head.response_format.iter_mut().for_each(|format| format.extra = turnkeep_model::Extra::NONE);
    }
    for tool in &mut head.tools {
        tool.extra.part_mut(ID).spelling.remove("type");
        tool.extra.tidy();
    }
    head.tools.iter_mut().enumerate().for_each(|(index, tool)| settle_tool(index, tool, losses));
    let has_tools = !head.tools.is_empty() || head.extra.fields(ID).is_some_and(|fields| fields.contains("tools"));
    if let Some(target) = target {
        settle_thinking(&mut head.options, profile, target, losses);
    }
    settle_options(&mut head.options, profile, has_tools, losses);
    settle_format(&mut head, losses);
    name_fields(&mut head, profile);
    head
}

fn settle_tool(index: usize, tool: &mut ToolSpec, losses: &mut Vec<Loss>) {
    if let Some(legal) = legal_name(&tool.name, LONGEST_NAME) {
        tool.name = legal;
        let at = format!("tools[{index}].name");
        losses.push(Loss::encode(LossKind::Renamed, at, "the name is not allowed here"));
    }
    if !matches!(tool.parameters, Json::Object(_)) {
        tool.parameters = Json::Null;
    }
}

fn settle_options(options: &mut Options, profile: &Profile, has_tools: bool, losses: &mut Vec<Loss>) {
    options.extra = turnkeep_model::Extra::NONE;
    clamp(&mut options.temperature, 0.0, 2.0, "temperature", losses);
    clamp(&mut options.top_p, 0.0, 1.0, "top_p", losses);
    clamp(&mut options.presence_penalty, -2.0, 2.0, "presence_penalty", losses);
    clamp(&mut options.frequency_penalty, -2.0, 2.0, "frequency_penalty", losses);
    let whole = |number: &Number| number.as_u64().is_some_and(|count| count > 0);
    options.max_tokens = options.max_tokens.take().filter(whole);
    options.seed = options.seed.take().filter(|seed| seed.as_i64().is_some());
    options.top_k = options.top_k.take().filter(|k| profile.top_k && whole(k));
    options.stop.retain(|text| !text.is_empty());
    if options.stop.len() > 4 {
        options.stop.truncate(4);
        losses.push(Loss::encode(LossKind::Truncated, "options.stop[4]", "at most four texts can end an answer"));
    }
    options.reasoning = options.reasoning.take().and_then(|effort| effort_for(effort, profile, losses));
    if profile.effort != EffortIn::Object {
        options.budget_tokens = None;
    }
    let known = |mode: &ToolMode| !matches!(mode, ToolMode::Other(_));
    options.tool_choice = options.tool_choice.take().filter(|choice| has_tools && known(&choice.mode));
    for name in options.tool_choice.iter_mut().flat_map(|choice| &mut choice.names) {
        if let Some(legal) = legal_name(name, LONGEST_NAME) {
            *name = legal;
        }
    }
    options.parallel_tool_calls = options.parallel_tool_calls.filter(|_| has_tools);
}

/// Thinking in the terms of the model, where the vendor takes its settings as they are.
fn settle_thinking(options: &mut Options, profile: &Profile, target: Target, losses: &mut Vec<Loss>) {
    let is_openai = matches!(profile.name, "openai" | "azure");
    if matches!(profile.effort, EffortIn::Word) && (target.is_known || is_openai) {
        fit::thinking(options, target, true, losses);
        options.budget_tokens = None;
    }
}

pub(crate) fn clamp(value: &mut Option<Number>, low: f64, high: f64, name: &str, losses: &mut Vec<Loss>) {
    let Some(number) = value.as_ref() else { return };
    let given = number.as_f64();
    if given.is_nan() {
        *value = None;
        return;
    }
    if !(low..=high).contains(&given) {
        *value = Some(Number::from_f64(given.clamp(low, high)));
        let what = format!("it must lie between {low} and {high}");
        losses.push(Loss::encode(LossKind::Coerced, format!("options.{name}"), what));
    }
}

/// The nearest effort that the vendor knows.
fn effort_for(effort: Effort, profile: &Profile, losses: &mut Vec<Loss>) -> Option<Effort> {
    const ORDER: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];
    match profile.effort {
        EffortIn::No => return None,
        EffortIn::Object => return Some(effort),
        EffortIn::Word => {}
    }
    let words = profile.vendor().efforts.unwrap_or(ORDER);
    if words.contains(&effort.as_str()) {
        return Some(effort);
    }
    let rank = |word: &str| ORDER.iter().position(|known| *known == word);
    let wanted = rank(effort.as_str())?;
    // No thinking at all cannot be said as a little of it.
    let nearest = words.iter().filter(|_| wanted > 0).min_by_key(|word| {
        let own = rank(word).unwrap_or(0);
        (own.abs_diff(wanted), own)
    })?;
    let what = format!("this vendor knows {}", words.join(", "));
    losses.push(Loss::encode(LossKind::Coerced, "options.reasoning", what));
    Some(Effort::from_word(nearest))
}

fn settle_format(head: &mut Session, losses: &mut Vec<Loss>) {
    let Some(format) = &mut head.response_format else { return };
    match format.kind {
        ResponseKind::JsonSchema if !matches!(format.schema, Json::Object(_)) => {
            format.kind = ResponseKind::JsonObject;
            format.schema = Json::Null;
            (format.name, format.description, format.strict) = (None, None, None);
            format.extra.remove(ID);
        }
        ResponseKind::JsonSchema if format.name.is_none() => {
            format.name = Some("answer".to_owned());
            let what = "a schema must have a name";
            losses.push(Loss::encode(LossKind::Synthesised, "response_format.name", what));
        }
        ResponseKind::JsonSchema => {}
        ResponseKind::Text | ResponseKind::JsonObject => {
            format.schema = Json::Null;
            (format.name, format.description, format.strict) = (None, None, None);
        }
        _ => head.response_format = None,
    }
}

/// Notes that make the writer use the vendor's names.
fn name_fields(head: &mut Session, profile: &Profile) {
    let uses_budget = head.options.reasoning.is_some() || head.options.budget_tokens.is_some();
    let part = head.extra.part_mut(ID);
    let limit = profile.vendor().limits.first().copied().unwrap_or(NEW_LIMIT);
    let names = [(NEW_LIMIT, limit), ("seed", profile.seed)];
    for (usual, name) in names {
        part.spelling.remove(usual);
        if usual != name {
            part.spelling.set(usual, name);
        }
    }
    part.spelling.remove("tool_choice");
    if profile.required == "any" {
        part.spelling.set("tool_choice", "any");
    }
    if profile.effort == EffortIn::Object {
        if uses_budget && part.spelling.get("reasoning").is_none() {
            let object: Object = [("object", Json::Bool(true))].into_iter().collect();
            part.spelling.set("reasoning", object);
        }
    } else {
        part.spelling.remove("reasoning");
        part.fields.remove("reasoning");
    }
    part.spelling.remove("thinking");
    part.spelling.remove("kind");
}
