//! From a view to its document. Every key is there, whether it says something or not.

use turnkeep_model::Time;
use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::view::{View, ViewMessage, ViewStep, ViewUsage};

use super::super::php::Spelling;
use super::super::slim::Dialect;

/// The document of a view, as text.
pub fn write(view: &View, dialect: Dialect) -> Vec<u8> {
    Spelling::PRETTY.write(&document(view, dialect)).into_bytes()
}

/// The document of a view.
pub(super) fn document(view: &View, dialect: Dialect) -> Json {
    let continuation = view.last_continuation.as_ref().map_or(Json::Null, |made| {
        object([
            ("should_continue", made.should_continue.map_or(Json::Null, Json::Bool)),
            ("stop_reason", text(made.stop_reason.as_deref())),
            ("resolved_by", text(made.resolved_by.as_deref())),
        ])
    });
    object([
        ("agent_id", text(view.agent_id.as_deref())),
        ("parent_agent_id", text(view.parent_agent_id.as_deref())),
        ("status", Json::from(view.status.as_str())),
        ("step_count", Json::from(view.step_count)),
        ("usage", usage(&view.usage, dialect)),
        ("execution", execution(view, dialect)),
        ("messages", Json::Array(view.messages.iter().map(|one| message(one, dialect)).collect())),
        ("steps", Json::Array(view.steps.iter().map(|one| step(one, dialect)).collect())),
        ("last_continuation", continuation),
        ("metadata", map(&view.metadata, dialect)),
    ])
}

fn usage(usage: &ViewUsage, dialect: Dialect) -> Json {
    match dialect {
        Dialect::Proposal => {
            object([("prompt", usage.input.into()), ("completion", usage.output.into()), ("total", usage.total.into())])
        }
        Dialect::V1 | Dialect::January => object([
            ("input", usage.input.into()),
            ("output", usage.output.into()),
            ("cacheWrite", usage.cache_write.into()),
            ("cacheRead", usage.cache_read.into()),
            ("reasoning", usage.reasoning.into()),
        ]),
    }
}

fn execution(view: &View, dialect: Dialect) -> Json {
    let time = |time: &Option<Time>| text(time.as_ref().map(Time::as_str));
    let execution = &view.execution;
    let (started, updated) = (time(&execution.started_at), time(&execution.updated_at));
    match dialect {
        Dialect::January => object([("created_at", started), ("updated_at", updated)]),
        Dialect::Proposal | Dialect::V1 => {
            let seconds = execution.cumulative_seconds.clone().map_or_else(|| Json::from(0_u64), Json::Number);
            object([("started_at", started), ("updated_at", updated), ("cumulative_seconds", seconds)])
        }
    }
}

fn message(message: &ViewMessage, dialect: Dialect) -> Json {
    object([
        ("role", Json::from(message.role.as_str())),
        ("content", message.content.clone()),
        (dialect.style().metadata, map(&message.metadata, dialect)),
    ])
}

fn step(step: &ViewStep, dialect: Dialect) -> Json {
    let call =
        |(id, name): &(Option<String>, String)| object([("id", text(id.as_deref())), ("name", name.as_str().into())]);
    let mut fields: Object = [
        ("step_number", Json::from(step.step_number)),
        ("type", Json::from(step.kind.as_str())),
        ("has_tool_calls", Json::Bool(step.has_tool_calls)),
        ("finish_reason", text(step.finish_reason.as_deref())),
        ("errors", Json::from(step.errors)),
        ("usage", object([("total", Json::from(step.total))])),
    ]
    .into_iter()
    .collect();
    if dialect == Dialect::Proposal {
        fields.push("duration_ms", step.duration_ms.clone().map_or(Json::Null, |time: Number| Json::Number(time)));
    }
    fields.push("tool_calls", step.tool_calls.iter().map(call).collect::<Vec<_>>());
    Json::Object(fields)
}

/// A map; PHP writes an empty one as a list.
fn map(map: &Object, dialect: Dialect) -> Json {
    if map.is_empty() && dialect != Dialect::Proposal { Json::Array(Vec::new()) } else { Json::Object(map.clone()) }
}

fn text(text: Option<&str>) -> Json {
    text.map_or(Json::Null, Json::from)
}

fn object<const N: usize>(pairs: [(&str, Json); N]) -> Json {
    Json::Object(pairs.into_iter().collect())
}
