//! What a model refuses is taken out of a request before it is sent, by the same check that lint makes.

use std::collections::HashSet;

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Body, Loss, LossKind, Session};

use super::Target;
use super::check::{Breach, BreachKind, Grade, breaches};
use super::fit::NO_ROW;
use super::settings::{Asked, Slot, snake};
use super::vendor::{NEW_LIMIT, OLD_LIMIT};
use crate::codec::EncodeOptions;
use crate::wire::Wire;

/// Taking out one setting may show that another does not fit.
const ROUNDS: usize = 4;

/// What the user is made to say where a model goes on only from the user.
const GO_ON: &str = "[please continue]";

/// The names of the tools that a history calls.
pub(crate) fn called_tools(session: &Session) -> HashSet<String> {
    let mut called = HashSet::new();
    for (_, block) in session.blocks() {
        if let Body::ToolCall(call) = &block.body
            && !called.contains(&call.name)
        {
            called.insert(call.name.clone());
        }
    }
    called
}

/// Takes out of a request what its model refuses. `called` are the tools that its history calls; `is_own` says that the
/// request came from this wire.
pub(crate) fn settle(
    wire: &dyn Wire,
    session: &Session,
    called: &HashSet<String>,
    options: &EncodeOptions,
    is_own: bool,
    body: &mut Json,
) -> Vec<Loss> {
    let (id, key) = (wire.spec().id, wire.contract().naming.key());
    let model = Asked::of(wire, &*body).model().map(std::borrow::Cow::into_owned);
    let Some(model) = model.or_else(|| options.family.clone()) else { return Vec::new() };
    let target = super::asked(id, options.variant.as_deref(), &model, options);
    let any = super::conservative(id, options.variant.as_deref());
    let is_same = is_own && options.variant.is_none() && is_of_session(session, id, key, &model);
    let mut settling = Settling { session, called, target, losses: Vec::new() };
    for _ in 0..ROUNDS {
        let found = breaches(&Asked::of(wire, &*body), Some(target), any, target.vendor);
        let applies = |breach: &Breach| match breach.grade {
            Grade::Wire | Grade::Vendor => true,
            // Nobody is made to say anything on a guess.
            Grade::Model => target.is_known || !is_same && breach.kind != BreachKind::Prefill,
            Grade::Mild => !is_same,
        };
        let mut found: Vec<Breach> = found.into_iter().filter(applies).collect();
        if found.is_empty() {
            break;
        }
        // What the vendor refuses goes first: the rest may fit then.
        if found.iter().any(|breach| breach.grade == Grade::Wire) {
            found.retain(|breach| breach.grade == Grade::Wire);
        }
        found.into_iter().for_each(|breach| settling.put_right(breach, body));
    }
    if !target.is_known && !is_same {
        settling.losses.extend(unknown((id, key), session, &model));
    }
    settling.losses
}

/// Whether a session was with a model: its request named it, or it answered.
pub(crate) fn is_of_session(session: &Session, wire: &str, key: &str, model: &str) -> bool {
    let named = session.extra.fields(wire).and_then(|fields| fields.get_str(key));
    named.as_deref() == Some(model) || session.turns.iter().any(|turn| turn.model.as_deref() == Some(model))
}

/// Says of the model that nothing is known of it. A reader finds it in the turn that waits, or beside the session.
fn unknown((id, key): (&str, &str), session: &Session, model: &str) -> Vec<Loss> {
    let last = session.turns.len().saturating_sub(1);
    let places = [
        format!("turns[{last}].model"),
        "extra".to_owned(),
        format!("extra.{id}"),
        format!("extra.{id}.fields"),
        format!("extra.{id}.fields.{key}"),
    ];
    let what = format!("`{model}`: {NO_ROW}");
    places.into_iter().map(|at| Loss::encode(LossKind::Synthesised, at, what.clone())).collect()
}

struct Settling<'s> {
    session: &'s Session,
    called: &'s HashSet<String>,
    target: Target,
    losses: Vec<Loss>,
}

impl Settling<'_> {
    fn put_right(&mut self, breach: Breach, body: &mut Json) {
        let Some(slot) = breach.slot else { return self.go_on(breach, body) };
        let kind = match breach.kind {
            BreachKind::Limit => self.lower_limit(slot, body),
            BreachKind::OldLimit => rename_limit(slot, NEW_LIMIT, body),
            BreachKind::NewLimit => rename_limit(slot, OLD_LIMIT, body),
            BreachKind::Tools => return self.fewer_tools(&breach.what, body),
            BreachKind::Format if slot.at == "response_format" => plain_format(body),
            _ => remove(body, slot.whole).map(|_| LossKind::Dropped),
        };
        let Some(kind) = kind else { return };
        let is_sure = self.target.is_known || matches!(breach.grade, Grade::Wire | Grade::Vendor);
        let what = if is_sure { breach.what.as_str() } else { NO_ROW };
        let fields = ["options.", "response_format", "extra."];
        let option = Some(slot.option).filter(|at| fields.iter().any(|field| at.starts_with(field)));
        self.losses.extend(option.map(|at| Loss::encode(kind, at, what)));
    }

    fn lower_limit(&mut self, slot: &Slot, body: &mut Json) -> Option<LossKind> {
        let most = self.target.row.most_tokens?;
        *value_mut(body, slot.at)? = Json::from(most);
        Some(LossKind::Coerced)
    }

    /// Keeps as many tools as the model takes: those that the history calls, then the others in their order.
    fn fewer_tools(&mut self, what: &str, body: &mut Json) {
        let Some(most) = self.target.row.most_tools else { return };
        let Some(tools) = value_mut(body, "tools").and_then(declarations) else { return };
        let called = |name: &str| self.called.contains(name);
        let (mut kept, mut spare): (Vec<usize>, Vec<usize>) =
            (0..tools.len()).partition(|index| tools.get(*index).and_then(name_of).is_some_and(|name| called(&name)));
        kept.append(&mut spare);
        kept.truncate(most);
        let gone = (0..tools.len()).filter(|index| !kept.contains(index));
        self.losses.extend(gone.map(|index| Loss::encode(LossKind::Dropped, format!("tools[{index}]"), what)));
        let mut index = 0;
        tools.retain(|_| {
            index += 1;
            kept.contains(&(index - 1))
        });
    }

    /// Lets the user speak last.
    fn go_on(&mut self, breach: Breach, body: &mut Json) {
        let Json::Object(body) = body else { return };
        let text: Object = [("text", Json::from(GO_ON))].into_iter().collect();
        let parts = Json::Array(vec![Json::Object(text)]);
        let (history, key, said) = if body.contains("contents") {
            ("contents", "parts", parts)
        } else if body.contains("modelId") {
            ("messages", "content", parts)
        } else {
            ("messages", "content", Json::from(GO_ON))
        };
        let Some(Json::Array(messages)) = body.iter_mut().find(|(key, _)| key.is(history)).map(|(_, value)| value)
        else {
            return;
        };
        messages.push(Json::Object([("role", Json::from("user")), (key, said)].into_iter().collect()));
        let at = format!("turns[{}]", self.session.turns.len());
        self.losses.push(Loss::encode(LossKind::Synthesised, at, breach.what));
    }
}

/// The list of tools; Gemini has its functions in one of them.
fn declarations(tools: &mut Json) -> Option<&mut Vec<Json>> {
    let Json::Array(tools) = tools else { return None };
    let keys = ["functionDeclarations", "function_declarations"];
    let holder = tools.iter().position(|tool| {
        let declared = |key: &str| tool.as_object().and_then(|tool| tool.get(key)?.as_array()).is_some();
        keys.iter().any(|key| declared(key))
    });
    let Some(holder) = holder else { return Some(tools) };
    let Some(Json::Object(tool)) = tools.get_mut(holder) else { return None };
    match tool.iter_mut().find(|(key, _)| keys.iter().any(|known| key.is(known))) {
        Some((_, Json::Array(declared))) => Some(declared),
        _ => None,
    }
}

fn name_of(tool: &Json) -> Option<String> {
    let tool = tool.as_object()?;
    let inner = tool.get("function").and_then(Json::as_object).unwrap_or(tool);
    inner.get_str("name").map(std::borrow::Cow::into_owned)
}

/// The limit under the name that its reader knows.
fn rename_limit(slot: &Slot, name: &str, body: &mut Json) -> Option<LossKind> {
    let limit = remove(body, slot.at)?;
    let Json::Object(body) = body else { return None };
    if !body.contains(name) {
        body.push(name, limit);
    }
    Some(LossKind::Renamed)
}

/// JSON without a schema, where a model takes none.
fn plain_format(body: &mut Json) -> Option<LossKind> {
    let format: Object = [("type", Json::from("json_object"))].into_iter().collect();
    *value_mut(body, "response_format")? = Json::Object(format);
    Some(LossKind::Coerced)
}

fn value_mut<'b>(body: &'b mut Json, place: &str) -> Option<&'b mut Json> {
    place.split('.').try_fold(body, |value, key| field_mut(value, key))
}

/// A field, in either spelling.
fn field_mut<'b>(value: &'b mut Json, key: &str) -> Option<&'b mut Json> {
    let Json::Object(object) = value else { return None };
    let key = spelled(object, key)?;
    object.iter_mut().find(|(own, _)| own.is(&key)).map(|(_, value)| value)
}

fn spelled(object: &Object, key: &str) -> Option<String> {
    let spellings = [Some(key.to_owned()), snake(key)];
    spellings.into_iter().flatten().find(|key| object.contains(key))
}

/// Removes what stands at a place, and what holds nothing else.
fn remove(body: &mut Json, place: &str) -> Option<Json> {
    let (holder, key) = match place.rsplit_once('.') {
        Some((holder, key)) => (Some(holder), key),
        None => (None, place),
    };
    let object = match holder {
        Some(holder) => value_mut(body, holder)?,
        None => &mut *body,
    };
    let Json::Object(object) = object else { return None };
    let removed = object.remove(&spelled(object, key)?);
    let is_empty = object.is_empty();
    if let Some(holder) = holder.filter(|_| is_empty) {
        remove(body, holder);
    }
    removed
}
