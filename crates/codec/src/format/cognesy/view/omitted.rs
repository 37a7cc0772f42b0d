//! What of a session a view does not hold.

use std::collections::HashMap;

use turnkeep_model::json::{Json, Object, TreeSink};
use turnkeep_model::shape::Shape;
use turnkeep_model::view::ViewStep;
use turnkeep_model::{Block, Body, Loss, LossKind, Part, Session, Turn};

use super::super::slim::Dialect;
use super::messages::SelectedBlocks;
use super::steps;

const NO_PLACE: &str = "a view has no place for it";
const OLDER: &str = "it is older than what the view holds";

/// Every field that the view leaves out, place by place.
pub(super) fn losses(
    session: &Session,
    chosen: &SelectedBlocks,
    listed: &[(usize, ViewStep)],
    traced: bool,
    dialect: Dialect,
) -> Vec<Loss> {
    let mut omitted = Omitted { losses: Vec::new(), dialect };
    omitted.session(session);
    let steps: HashMap<usize, &ViewStep> = listed.iter().map(|(turn, step)| (*turn, step)).collect();
    let last = session.turns.len().saturating_sub(1);
    for (at, turn) in session.turns.iter().enumerate() {
        let step = steps.get(&at).copied();
        if step.is_none() && !chosen.turns.contains(&at) && !(traced && at == last) {
            omitted.drop(format!("turns[{at}]"), OLDER);
            continue;
        }
        omitted.turn(at, turn, step, traced && at == last);
        for (index, block) in turn.blocks.iter().enumerate() {
            omitted.block(format!("turns[{at}].blocks[{index}]"), block, (at, index), chosen);
        }
    }
    omitted.losses
}

struct Omitted {
    losses: Vec<Loss>,
    dialect: Dialect,
}

impl Omitted {
    fn drop(&mut self, at: String, what: &str) {
        self.losses.push(Loss::policy(LossKind::Dropped, at, what));
    }

    /// Drops every field but those named.
    fn fields(&mut self, at: &str, fields: &Object, held: &[&str]) {
        let dot = if at.is_empty() { "" } else { "." };
        for (key, _) in fields.iter().filter(|(key, _)| !held.contains(&&*key.to_str_lossy())) {
            self.drop(format!("{at}{dot}{}", key.to_str_lossy()), NO_PLACE);
        }
    }

    fn session(&mut self, session: &Session) {
        let head = tree(&session.head());
        self.fields("", &head, &["id", "parent", "status", "usage", "timing", "metadata"]);
        if let Some(Json::Object(parent)) = head.get("parent") {
            self.fields("parent", parent, &["session"]);
        }
        let counted: &[&str] = match self.dialect {
            Dialect::Proposal => &["input", "output", "total"],
            Dialect::V1 | Dialect::January => &["input", "output", "cached_read", "cached_write", "reasoning"],
        };
        if let Some(Json::Object(usage)) = head.get("usage") {
            self.fields("usage", usage, counted);
        }
        if let Some(Json::Object(timing)) = head.get("timing") {
            let began = if timing.contains("started") { "started" } else { "created" };
            let changed = if timing.contains("updated") { "updated" } else { "completed" };
            let seconds = if self.dialect == Dialect::January { "" } else { "seconds" };
            self.fields("timing", timing, &[began, changed, seconds]);
        }
    }

    fn turn(&mut self, at: usize, turn: &Turn, step: Option<&ViewStep>, traced: bool) {
        let head = tree(&turn.head());
        let place = format!("turns[{at}]");
        let held: &[&str] =
            if step.is_some() { &["usage", "timing", "finish", "continuation"] } else { &["continuation"] };
        self.fields(&place, &head, held);
        if let Some(Json::Object(made)) = head.get("continuation") {
            let held: &[&str] = if traced { &["should_continue", "stop_reason", "resolved_by"] } else { &[] };
            self.fields(&format!("{place}.continuation"), made, held);
        }
        let Some(step) = step else { return };
        if let Some(Json::Object(usage)) = head.get("usage") {
            self.fields(&format!("{place}.usage"), usage, &["total"]);
        }
        if let Some(Json::Object(timing)) = head.get("timing") {
            let held: &[&str] = match (self.dialect, timing.contains("seconds"), step.duration_ms.is_some()) {
                (Dialect::Proposal, true, true) => &["seconds"],
                _ => &[],
            };
            self.fields(&format!("{place}.timing"), timing, held);
        }
        if let Some(Json::Object(finish)) = head.get("finish") {
            self.fields(&format!("{place}.finish"), finish, &["reason"]);
        }
        if let Some(finish) = turn
            .finish
            .as_ref()
            .filter(|finish| steps::finish_word(&finish.reason, self.dialect) != finish.reason.as_str())
        {
            let what = format!("a view knows no `{}`", finish.reason.as_str());
            self.losses.push(Loss::policy(LossKind::Coerced, format!("{place}.finish.reason"), what));
        }
    }

    fn block(&mut self, at: String, block: &Block, place: (usize, usize), chosen: &SelectedBlocks) {
        if !chosen.blocks.contains(&place) {
            let what = match &block.body {
                Body::Reasoning(_) => "a view holds no thinking",
                Body::Other { .. } => "a view holds nothing that only its source knows",
                _ if chosen.orphans.contains(&place) => "the call that it answers is older than what the view holds",
                _ => OLDER,
            };
            return self.drop(at, what);
        }
        let head = Block { body: turnkeep_model::Text::default().into(), ..block.clone() };
        self.fields(&at, &tree(&head), &["author", "message", "type", "text", "metadata"]);
        let message = tree(&block.message);
        self.fields(&format!("{at}.message"), &message, &["ordinal"]);
        if let Body::ToolResult(result) = &block.body {
            let raw = result.parts.iter().enumerate().filter(|(_, part)| matches!(part, Part::Other { .. }));
            for (index, _) in raw {
                self.drop(format!("{at}.parts[{index}]"), "a view holds nothing that only its source knows");
            }
        }
    }
}

fn tree<T: Shape>(value: &T) -> Object {
    let mut sink = TreeSink::default();
    value.write(&mut sink);
    match sink.into_json() {
        Json::Object(fields) => fields,
        _ => Object::new(),
    }
}
