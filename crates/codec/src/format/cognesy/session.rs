//! Session files: a header, the agent's definition, and its state.

use turnkeep_model::json::{Json, Number};
use turnkeep_model::{Decimal, ExtraPart, Limits, Loss, Parent, Session, SessionId, ToolSpec};

use super::map::{Draft, Form, KeyRule, Map, has_note, keep_as, keep_fields, left_at, text};
use super::words::{self, Generation};
use super::{state, state_out};

const FILE: Form = &[("header", KeyRule::Derived), ("definition", KeyRule::Derived), ("state", KeyRule::Derived)];
const HEADER: Form = &[
    ("sessionId", KeyRule::Derived),
    ("parentId", KeyRule::Null),
    ("status", KeyRule::Derived),
    ("version", KeyRule::Zero),
    ("agentName", KeyRule::Derived),
    ("agentLabel", KeyRule::Derived),
    ("createdAt", KeyRule::Derived),
    ("updatedAt", KeyRule::Derived),
];
const DEFINITION: Form = &[
    ("name", KeyRule::Derived),
    ("label", KeyRule::Derived),
    ("description", KeyRule::Empty),
    ("systemPrompt", KeyRule::Derived),
    ("llmConfig", KeyRule::Null),
    ("tools", KeyRule::Null),
    ("toolsDeny", KeyRule::Null),
    ("skills", KeyRule::Null),
    ("budget", KeyRule::Null),
    ("capabilities", KeyRule::List),
    ("metadata", KeyRule::Null),
];
const BUDGET: Form = &[
    ("maxSteps", KeyRule::Null),
    ("maxTokens", KeyRule::Null),
    ("maxSeconds", KeyRule::Null),
    ("maxCost", KeyRule::Null),
    ("deadline", KeyRule::Null),
];

/// The name under which session files keep what only they have.
const PART: &str = "cognesy.session";

/// The agent's name where a session has none.
const AGENT: &str = "agent";

/// What a header says of a session that is in use.
const ACTIVE: &str = "active";

/// The session of a file.
pub(super) fn read(document: Json) -> (Session, Vec<Loss>) {
    let mut part = ExtraPart::default();
    let Ok(mut map) = Map::open(document, FILE) else { return (Session::default(), Vec::new()) };
    let header = map.open_at("header", HEADER);
    let definition = map.open_at("definition", DEFINITION);
    let mut lent = false;
    let (mut session, losses) = match map.remove("state") {
        Some(mut state @ (Json::Object(_) | Json::Array(_))) => {
            if let Some(prompt) = definition.as_ref().and_then(|definition| definition.get("systemPrompt")) {
                lent = lend_prompt(&mut state, prompt);
            }
            state::read(state, Generation::V2)
        }
        other => {
            other.into_iter().for_each(|other| map.restore("state", other));
            (Session::default(), Vec::new())
        }
    };
    if lent {
        state_note(&mut session, "prompt_of", "definition");
    }
    if let Some(header) = header {
        take_header(header, &mut session, &mut part);
    }
    if let Some(definition) = definition {
        take_definition(definition, &mut session, &mut part);
    }
    let (left, note) = map.close();
    keep_fields(&mut part, "", left);
    super::map::keep_keys(&mut part, "", note);
    keep_as(&mut session.extra, PART, part);
    (session, losses)
}

/// A state without a system prompt runs with that of the agent's definition.
fn lend_prompt(state: &mut Json, prompt: &Json) -> bool {
    let Json::Object(fields) = state else { return false };
    let Some(Json::Object(context)) = fields.get("context") else { return false };
    let is_text = text(prompt).is_some_and(|text| !text.is_empty());
    if !is_text || context.get("systemPrompt") != Some(&Json::from("")) {
        return false;
    }
    let mut context = context.clone();
    context.set("systemPrompt", prompt.clone());
    fields.set("context", context);
    true
}

/// Notes with the state what its header or definition says instead.
fn state_note(session: &mut Session, key: &str, value: impl Into<Json>) {
    session.extra.part_mut(Generation::V2.part()).spelling.set(key, value);
}

fn take_header(mut header: Map, session: &mut Session, part: &mut ExtraPart) {
    let agent = session.id.take().map(|id| id.to_string());
    let parent = session.parent.take().map(|parent| parent.session.to_string());
    session.id = header.text("sessionId").map(SessionId::new);
    session.parent = header.text("parentId").map(|id| Parent { session: SessionId::new(id), ..Parent::default() });
    let expected = session.id.as_ref().map(turnkeep_model::SessionId::as_str).filter(|id| words::is_uuid(id));
    // Where the state has odd ids, what it says of itself does not follow from the header.
    let odd = has_note(session.extra.part(Generation::V2.part()), "ids");
    if odd || agent.as_deref() != expected {
        state_note(session, "agent", agent.map_or(Json::Null, Json::from));
    }
    let expected = session.parent.as_ref().map(|parent| parent.session.as_str()).filter(|id| words::is_uuid(id));
    if odd || parent.as_deref() != expected {
        state_note(session, "parent_agent", parent.map_or(Json::Null, Json::from));
    }
    session.agent = header.text("agentName");
    header.derived("status", &Json::from(ACTIVE));
    header.derived("agentLabel", &Json::from(session.agent.as_deref().unwrap_or(AGENT)));
    let timing = &mut session.timing;
    let mut of_header = Vec::new();
    for (key, time) in [("createdAt", &mut timing.created), ("updatedAt", &mut timing.updated)] {
        match time {
            Some(time) => header.derived(key, &Json::from(time.as_str())),
            None => {
                *time = header.time(key);
                of_header.extend(time.is_some().then(|| format!("{key}_of")));
            }
        }
    }
    of_header.iter().for_each(|key| state_note(session, key, "header"));
    header.leave(part, "header");
}

fn take_definition(mut definition: Map, session: &mut Session, part: &mut ExtraPart) {
    let agent = Json::from(session.agent.as_deref().unwrap_or(AGENT));
    definition.derived("name", &agent);
    definition.derived("label", &agent);
    let prompt = state_out::prompt_text(session).unwrap_or_default();
    definition.derived("systemPrompt", &Json::from(prompt));
    session.tools = definition.take("tools", tools).unwrap_or_default();
    if let Some(mut budget) = definition.object("budget").and_then(|budget| Map::open(budget.into(), BUDGET).ok()) {
        session.options.limits = Limits {
            steps: budget.number("maxSteps"),
            tokens: budget.number("maxTokens"),
            seconds: budget.number("maxSeconds"),
            cost: budget.take("maxCost", |value| Decimal::parse(value.as_number()?.as_str())),
            deadline: budget.time("deadline"),
            ..Limits::default()
        };
        let (left, note) = budget.close();
        if left.is_empty() && note.is_none() && session.options.limits == Limits::default() {
            part.spelling.set("budget", "empty");
        }
        keep_fields(part, "definition.budget", left);
        super::map::keep_keys(part, "definition.budget", note);
    }
    definition.leave(part, "definition");
}

fn tools(value: &Json) -> Option<Vec<ToolSpec>> {
    let named = |item: &Json| Some(ToolSpec { name: text(item)?, ..ToolSpec::default() });
    let tools: Vec<ToolSpec> = value.as_array()?.iter().map(named).collect::<Option<_>>()?;
    (!tools.is_empty()).then_some(tools)
}

/// The file of a session.
pub(super) fn write(session: &Session) -> Json {
    let notes = session.extra.part(PART);
    let mut draft = Draft::default();
    draft.hold("header", header(session));
    draft.hold("definition", definition(session));
    draft.hold("state", state_out::write_in_session(session));
    draft.finish(FILE, notes, "")
}

/// A name that the program accepts as a session's id.
fn session_id(session: &Session) -> String {
    let Some(id) = &session.id else {
        return format!("session-{}", turnkeep_model::line_sum(&format!("{:?}", session.turns)));
    };
    if words::is_session_id(id.as_str()) {
        return id.to_string();
    }
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
    let name: String = id.as_str().chars().map(safe).collect();
    if words::is_session_id(&name) { name } else { format!("session{name}") }
}

fn header(session: &Session) -> Json {
    let notes = session.extra.part(PART);
    let mut draft = Draft::default();
    let agent = session.agent.as_deref().unwrap_or(AGENT);
    draft.derive("sessionId", session_id(session));
    draft.put_text("parentId", session.parent.as_ref().map(|parent| parent.session.as_str()));
    draft.derive("status", ACTIVE);
    draft.derive("agentName", agent);
    draft.derive("agentLabel", agent);
    for (key, time) in [("createdAt", &session.timing.created), ("updatedAt", &session.timing.updated)] {
        if let Some(time) = time {
            draft.derive(key, time.as_str());
        }
    }
    draft.finish(HEADER, notes, "header")
}

fn definition(session: &Session) -> Json {
    let notes = session.extra.part(PART);
    let agent = session.agent.as_deref().unwrap_or(AGENT);
    let mut draft = Draft::default();
    draft.derive("name", agent);
    draft.derive("label", agent);
    draft.derive("systemPrompt", state_out::prompt_text(session).unwrap_or_default());
    if !session.tools.is_empty() {
        draft.put("tools", session.tools.iter().map(|tool| Json::from(tool.name.as_str())).collect::<Vec<_>>());
    }
    let limits = &session.options.limits;
    let mut budget = Draft::default();
    budget.put_some("maxSteps", limits.steps.clone());
    budget.put_some("maxTokens", limits.tokens.clone());
    budget.put_some("maxSeconds", limits.seconds.clone());
    budget.put_some("maxCost", limits.cost.as_ref().and_then(|cost| Number::parse(cost.as_str())));
    budget.put_time("deadline", limits.deadline.as_ref());
    let held = super::map::has_keys(notes, "definition.budget")
        || left_at(notes, "definition.budget").is_some_and(|left| !left.is_empty())
        || has_note(notes, "budget");
    if !budget.is_blank() || held {
        draft.put("budget", budget.finish(BUDGET, notes, "definition.budget"));
    }
    draft.finish(DEFINITION, notes, "definition")
}
