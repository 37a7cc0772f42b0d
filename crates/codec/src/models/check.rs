//! Which settings of a request its model refuses.

use super::Target;
use super::ask::{Ask, Asked, Slot, Tree};
use super::row::{Budget, Forced, Row, Sampling, Thinks};

/// What is wrong with a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The model does not take it.
    Sampling,
    /// The model does not take it while it thinks.
    ThinkingSampling,
    Penalty,
    Stop,
    Effort,
    Thinking,
    Budget,
    /// The budget leaves no room for the answer.
    BudgetRoom,
    Limit,
    OldLimit,
    Tools,
    Choice,
    Parallel,
    Format,
    Prefill,
}

/// How sure it is that a setting is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grade {
    /// The vendor refuses it, whatever the model.
    Wire,
    /// The model refuses it, says its row.
    Model,
    /// It is taken, but not as it should be.
    Mild,
}

/// A setting that a model refuses.
#[derive(Debug)]
pub(super) struct Breach {
    pub(super) kind: Kind,
    pub(super) grade: Grade,
    /// The setting, where it is one.
    pub(super) slot: Option<&'static Slot>,
    pub(super) at: String,
    pub(super) offset: u32,
    pub(super) what: String,
}

/// What is refused of a request. A body that names no model has no target: then only what the vendor takes of no model is
/// found. `vendor` is the conservative row of the wire.
pub(super) fn breaches<T: Tree>(asked: &Asked<'_, T>, target: Option<Target>, vendor: &Row) -> Vec<Breach> {
    let mut check = Check { asked, grade: Grade::Wire, found: Vec::new() };
    match asked.wire.id {
        "anthropic.messages" | "bedrock.converse" => check.budgeted(),
        "gemini.contents" => check.gemini(),
        "openai.chat" | "openai.responses" => check.choice_without_tools(),
        _ => {}
    }
    check.many_tools(target.filter(|target| target.is_known).map_or(vendor, |target| target.row));
    check.grade = Grade::Model;
    if let Some(Target { row, .. }) = target {
        check.sampling(row);
        check.thinking(row);
        check.limits(row);
        check.tools(row);
        check.prefill(row);
    }
    check.found
}

struct Check<'c, 'b, T> {
    asked: &'c Asked<'b, T>,
    grade: Grade,
    found: Vec<Breach>,
}

impl<T: Tree> Check<'_, '_, T> {
    fn add(&mut self, kind: Kind, (slot, value): (&'static Slot, &T), what: impl Into<String>) {
        let (at, offset, grade) = (slot.at.to_owned(), value.offset(), self.grade);
        self.found.push(Breach { kind, grade, slot: Some(slot), at, offset, what: what.into() });
    }

    fn all(&mut self, kind: Kind, ask: Ask, what: &str) {
        for found in self.asked.all(ask) {
            self.add(kind, found, what);
        }
    }

    /// The settings of a kind whose number is not as it must be.
    fn where_number(&mut self, kind: Kind, ask: Ask, what: &str, wrong: impl Fn(f64) -> bool) {
        for found in self.asked.all(ask).filter(|(_, value)| value.number().is_some_and(&wrong)) {
            self.add(kind, found, what);
        }
    }

    /// Thinking with a budget on the models of Anthropic, which excludes other settings.
    fn budgeted(&mut self) {
        // What is left of a setting whose mode was taken out.
        if let Some(found) = self.asked.first(Ask::Thinking).filter(|(slot, _)| slot.at == "thinking") {
            self.add(Kind::Thinking, found, "it does not say how to think");
        }
        if !self.asked.is_budgeted() {
            return;
        }
        self.where_number(Kind::Budget, Ask::Budget, "the budget is below 1024 tokens", |budget| budget < 1024.0);
        let limit = self.asked.number(Ask::Limit).unwrap_or(f64::INFINITY);
        // With tools, a beta header lets a model think between calls for longer than one answer.
        let grade = if self.asked.tools() > 0 { Grade::Mild } else { Grade::Wire };
        let before = std::mem::replace(&mut self.grade, grade);
        let what = "the budget leaves no room for the answer";
        self.where_number(Kind::BudgetRoom, Ask::Budget, what, |budget| budget >= limit);
        self.grade = before;
        let what = "sampling is not changed while the model thinks";
        self.where_number(Kind::ThinkingSampling, Ask::Temperature, what, |value| value != 1.0);
        self.where_number(Kind::ThinkingSampling, Ask::TopP, what, |value| value < 0.95);
        self.all(Kind::ThinkingSampling, Ask::TopK, what);
        if let Some(found) = self.asked.first(Ask::Choice).filter(|(_, choice)| is_forced(*choice)) {
            self.add(Kind::Choice, found, "a call is forced while the model thinks");
        }
    }

    fn gemini(&mut self) {
        if let (Some(level), Some(_)) = (self.asked.first(Ask::Effort), self.asked.first(Ask::Budget)) {
            self.add(Kind::Thinking, level, "a level and a budget of thinking are given");
        }
        let serves = super::ask::at(self.asked.body, "toolConfig.includeServerSideToolInvocations");
        let is_served = serves.and_then(Tree::flag) == Some(true);
        if let Some(choice) = self.asked.first(Ask::Choice).filter(|_| self.asked.tools() == 0 && !is_served) {
            self.add(Kind::Choice, choice, "calls are configured and no function is declared");
        }
    }

    fn choice_without_tools(&mut self) {
        let refers = ["previous_response_id", "prompt", "conversation"];
        if self.asked.tools() > 0 || refers.iter().any(|key| self.asked.body.field(key).is_some()) {
            return;
        }
        let what = "there are no tools to choose from";
        let is_harmless = |choice: &T| choice.word().is_some_and(|word| matches!(&*word, "auto" | "none"));
        let is_chat = self.asked.wire.id == "openai.chat";
        for found in self.asked.all(Ask::Choice).filter(|(_, choice)| is_chat || !is_harmless(choice)) {
            self.add(Kind::Choice, found, what);
        }
        if is_chat {
            self.all(Kind::Parallel, Ask::Parallel, what);
        }
    }

    fn sampling(&mut self, row: &Row) {
        let thinks = row.thinks_when(self.asked.wants_thinking());
        if row.sampling == Sampling::Never {
            self.sampled(Kind::Sampling, "this model does not take it");
        } else if thinks && !row.samples_thinking && !self.asked.is_budgeted() {
            self.sampled(Kind::ThinkingSampling, "this model does not take it while it thinks");
        } else if row.sampling == Sampling::Either && self.asked.first(Ask::Temperature).is_some() {
            self.all(Kind::Sampling, Ask::TopP, "this model takes either temperature or top_p, not both");
        }
        if !row.penalties || thinks && !row.samples_thinking {
            self.all(Kind::Penalty, Ask::Penalty, "this model does not take it");
        }
        if !row.stop {
            self.all(Kind::Stop, Ask::Stop, "this model takes no `stop`");
        }
    }

    /// Sampling settings, but for what the model does anyway.
    fn sampled(&mut self, kind: Kind, what: &str) {
        self.where_number(kind, Ask::Temperature, what, |value| value != 1.0);
        self.where_number(kind, Ask::TopP, what, |value| value != 1.0);
        self.all(kind, Ask::TopK, what);
    }

    fn thinking(&mut self, row: &Row) {
        for found in self.asked.all(Ask::Effort) {
            let word = found.1.word().unwrap_or_default().to_ascii_lowercase();
            if row.efforts.is_empty() {
                self.add(Kind::Effort, found, "this model has no effort to set");
            } else if !row.efforts.contains(&&*word) {
                let what = format!("`{word}` is none of this model's efforts: {}", row.efforts.join(", "));
                self.add(Kind::Effort, found, what);
            }
        }
        self.switch(row);
        self.budget(row);
    }

    fn switch(&mut self, row: &Row) {
        let Some(found) = self.asked.first(Ask::Thinking) else {
            return self.included(row);
        };
        let word = found.1.word().unwrap_or_default();
        let is_off = self.asked.wants_thinking() == Some(false);
        if row.thinks == Thinks::Never && !(is_off && self.asked.wire.id == "ollama.chat") {
            self.add(Kind::Thinking, found, "this model does not think");
        } else if is_off && row.thinks == Thinks::Always && self.asked.first(Ask::Effort).is_none() {
            // Ollama lets it think all the same.
            let grade = if self.asked.wire.id == "ollama.chat" { Grade::Mild } else { Grade::Model };
            self.grade = grade;
            self.add(Kind::Thinking, found, "thinking cannot be turned off on this model");
        } else if word == "adaptive" && !row.adaptive {
            self.add(Kind::Thinking, found, "this model does not take adaptive thinking");
        }
        self.grade = Grade::Model;
        self.included(row);
    }

    /// Thinking of a model that does not think cannot be sent back.
    fn included(&mut self, row: &Row) {
        if row.thinks != Thinks::Never {
            return;
        }
        let is_thinking = |item: &T| item.word().is_some_and(|word| word.starts_with("reasoning."));
        let lists = |value: &T| value.items().is_some_and(|items| items.iter().any(is_thinking));
        let asks = |value: &T| value.flag() == Some(true) || lists(value);
        if let Some(found) = self.asked.first(Ask::Include).filter(|(_, value)| asks(value)) {
            self.add(Kind::Thinking, found, "this model does not think");
        }
    }

    fn budget(&mut self, row: &Row) {
        let Some(found) = self.asked.first(Ask::Budget) else { return };
        let Some(tokens) = found.1.number() else { return };
        let is_gemini = self.asked.wire.id == "gemini.contents";
        match row.budget {
            None if is_gemini && !row.efforts.is_empty() => {
                self.grade = Grade::Mild;
                self.add(Kind::Budget, found, "this model takes a level of thinking; a budget is of older models");
                self.grade = Grade::Model;
            }
            None => self.add(Kind::Budget, found, "this model takes no budget for thinking"),
            // What the model decides, and none at all.
            Some(_) if is_gemini && (tokens == -1.0 || tokens == 0.0 && row.can_stop_thinking()) => {}
            // The least that Claude thinks is the same for all of its models, and checked with the wire.
            Some(Budget { least, most }) if is_gemini && tokens < least as f64 || tokens > most as f64 => {
                self.add(Kind::Budget, found, format!("this model thinks with {least} to {most} tokens"));
            }
            Some(_) => {}
        }
    }

    fn limits(&mut self, row: &Row) {
        if let Some(most) = row.most_tokens {
            let what = format!("the answers of this model have at most {most} tokens");
            let is_above = |limit: f64| limit > most as f64;
            self.where_number(Kind::Limit, Ask::Limit, &what, is_above);
            self.where_number(Kind::Limit, Ask::OldLimit, &what, is_above);
        }
        if !row.old_limit {
            self.all(Kind::OldLimit, Ask::OldLimit, "this model knows the limit as `max_completion_tokens`");
        }
    }

    fn many_tools(&mut self, row: &Row) {
        let count = self.asked.tools();
        if let (Some(found), Some(most)) = (self.asked.first(Ask::Tools), row.most_tools)
            && count > most
        {
            self.add(Kind::Tools, found, format!("{count} tools are given; at most {most} are taken"));
        }
    }

    fn tools(&mut self, row: &Row) {
        if !row.parallel {
            self.all(Kind::Parallel, Ask::Parallel, "this model does not take it");
        }
        let thinks = row.thinks_when(self.asked.wants_thinking()) && !self.asked.is_budgeted();
        let cannot = row.forced == Forced::Never || row.forced == Forced::NotThinking && thinks && !row.adaptive;
        if let Some(found) = self.asked.first(Ask::Choice).filter(|(_, choice)| cannot && is_forced(*choice)) {
            self.add(Kind::Choice, found, "this model cannot be forced to call a tool");
        }
        if !row.schema {
            for found in self.asked.all(Ask::Format).filter(|(_, format)| is_schema(*format)) {
                self.add(Kind::Format, found, "this model takes no schema of the answer");
            }
        }
    }

    fn prefill(&mut self, row: &Row) {
        let Some((index, last)) = self.asked.prefill().filter(|_| !row.prefill) else { return };
        let history = if self.asked.wire.id == "gemini.contents" { "contents" } else { "messages" };
        self.found.push(Breach {
            kind: Kind::Prefill,
            grade: self.grade,
            slot: None,
            at: format!("{history}[{index}].role"),
            offset: last.offset(),
            what: "this model does not continue an answer that the request begins".to_owned(),
        });
    }
}

/// Whether a choice of tools says that one must be called.
fn is_forced<T: Tree>(choice: &T) -> bool {
    let word = choice.word();
    match word.as_deref() {
        Some(word) => matches!(word, "required" | "any" | "tool"),
        None => ["function", "any", "tool"].iter().any(|key| choice.field(key).is_some()),
    }
}

/// Whether the form of an answer is a schema.
fn is_schema<T: Tree>(format: &T) -> bool {
    let kind = format.field("type").and_then(Tree::word);
    kind.is_some_and(|kind| kind == "json_schema") || format.field("textFormat").is_some()
}
