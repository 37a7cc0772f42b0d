//! What the specification expects of a turn, and what a document lacks.

use turnkeep_model::json::Json;

use super::document::{Block, Content, File, Kind, Turn};
use crate::lint::{Finding, Severity, Strictness};

/// A rule: its name, the kinds it speaks of, and what it finds wrong.
struct BlockRule {
    id: &'static str,
    check: fn(&Block) -> Option<String>,
    /// The field it speaks of.
    field: &'static str,
}

const RULES: &[BlockRule] = &[
    BlockRule { id: "kind.missing", check: kind_missing, field: "kind" },
    BlockRule { id: "kind.unknown", check: kind_unknown, field: "kind" },
    BlockRule { id: "role.missing", check: role_missing, field: "role" },
    BlockRule { id: "role.wrong", check: role_wrong, field: "role" },
    BlockRule { id: "role.unexpected", check: role_unexpected, field: "role" },
    BlockRule { id: "tool_call.id", check: |block| lacks(block, Kind::ToolCall, "id"), field: "payload.id" },
    BlockRule { id: "tool_call.name", check: |block| lacks(block, Kind::ToolCall, "name"), field: "payload.name" },
    BlockRule { id: "tool_call.args", check: |block| lacks(block, Kind::ToolCall, "args"), field: "payload.args" },
    BlockRule { id: "tool_use.id", check: |block| lacks(block, Kind::ToolUse, "id"), field: "payload.id" },
    BlockRule { id: "tool_use.result", check: |block| lacks(block, Kind::ToolUse, "result"), field: "payload.result" },
];

/// Checks a turn. Lax findings are warnings; strict ones are errors. Lines are of `text`, where it is given.
pub fn validate(turn: &Turn, strictness: Strictness, text: Option<&str>) -> Vec<Finding> {
    check_blocks(turn.blocks(), "blocks", strictness, text)
}

/// Checks every turn of a file.
pub(super) fn validate_file(file: &File, strictness: Strictness, text: &str) -> Vec<Finding> {
    let blocks = |turn: &Turn, at: &str| check_blocks(turn.blocks(), at, strictness, Some(text));
    match &file.content {
        Content::Turn(turn) => blocks(turn, "blocks"),
        Content::Turns(turns) => {
            let each = turns.iter().enumerate();
            each.flat_map(|(index, turn)| blocks(turn, &format!("turns[{index}].blocks"))).collect()
        }
        Content::Fixture { turn, followups } => {
            let mut findings = turn.as_ref().map_or_else(Vec::new, |turn| blocks(turn, "turn.blocks"));
            findings.extend(check_blocks(
                followups.as_deref().unwrap_or_default(),
                "followups",
                strictness,
                Some(text),
            ));
            findings
        }
    }
}

fn check_blocks(blocks: &[Block], at: &str, strictness: Strictness, text: Option<&str>) -> Vec<Finding> {
    let severity = match strictness {
        Strictness::Lax => Severity::Warning,
        Strictness::Strict => Severity::Error,
    };
    let mut findings = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        for BlockRule { id, check, field } in RULES {
            let Some(what) = check(block) else { continue };
            let place = if *field == "role" { block.role_at } else { block.at };
            let (line, column) = text.map(|text| turnkeep_model::line_and_column(text, place as usize)).unzip();
            findings.push(Finding { rule: id, severity, at: format!("{at}[{index}].{field}"), line, column, what });
        }
    }
    findings
}

fn kind_missing(block: &Block) -> Option<String> {
    let what = "the block has no kind; it is read as `other` (geppetto reads it as `user`); name its kind";
    block.kind.is_none().then(|| what.to_owned())
}

fn kind_unknown(block: &Block) -> Option<String> {
    let raw = block.raw_kind.as_deref()?;
    Some(format!("the kind `{raw}` is not known; it is kept as `other`"))
}

fn role_missing(block: &Block) -> Option<String> {
    let role = block.kind?.role()?;
    let blank = block.role.as_deref().is_none_or(|role| role.trim().is_empty());
    blank.then(|| format!("a block of kind `{}` needs the role `{role}`", block.kind().as_str()))
}

fn role_wrong(block: &Block) -> Option<String> {
    let wanted = block.kind?.role()?;
    let role = block.role.as_deref().filter(|role| !role.trim().is_empty() && *role != wanted)?;
    Some(format!("the role is `{role}`, but a block of kind `{}` has `{wanted}`", block.kind().as_str()))
}

fn role_unexpected(block: &Block) -> Option<String> {
    let kind = block.kind.filter(|kind| matches!(kind, Kind::ToolCall | Kind::ToolUse | Kind::Reasoning))?;
    block.role.as_deref().filter(|role| !role.is_empty())?;
    Some(format!("a block of kind `{}` has no role; remove it", kind.as_str()))
}

fn lacks(block: &Block, kind: Kind, key: &str) -> Option<String> {
    if block.kind != Some(kind) {
        return None;
    }
    let there = match block.get(key) {
        None => false,
        Some(Json::String(text)) if key == "id" || key == "name" => !text.to_str_lossy().is_empty(),
        Some(Json::Null) => key == "result" || key == "args",
        Some(_) => true,
    };
    (!there).then(|| format!("a block of kind `{}` needs `{key}` in its payload", kind.as_str()))
}
