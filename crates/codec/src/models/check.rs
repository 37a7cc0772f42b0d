//! Which settings of a request its model refuses.

use super::Target;
use super::row::{Budget, Forced, Row, Sampling, Thinks};
use super::settings::{Asked, Setting, Slot, Terms, Tree};
use super::vendor::{NEW_LIMIT, Vendor};

/// What is wrong with a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreachKind {
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
    /// The vendor knows the limit by its old name alone.
    NewLimit,
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
    /// This one of the wire's vendors takes it of no model.
    Vendor,
    /// The model refuses it, says its row.
    Model,
    /// It is taken, but not as it should be.
    Mild,
}

/// A setting that a model refuses.
#[derive(Debug)]
pub(super) struct Breach {
    pub(super) kind: BreachKind,
    pub(super) grade: Grade,
    /// The setting, where it is one.
    pub(super) slot: Option<&'static Slot>,
    pub(super) at: String,
    pub(super) what: String,
}

/// What is refused of a request. A body that names no model has no target: then only what the vendor takes of no model is
/// found. `any` is the conservative row of the wire.
pub(super) fn breaches<T: Tree>(
    asked: &Asked<'_, T>,
    target: Option<Target>,
    any: &Row,
    vendor: &'static Vendor,
) -> Vec<Breach> {
    let mut check = Check { asked, vendor, grade: Grade::Wire, found: Vec::new() };
    match asked.terms() {
        Terms::Claude => check.budgeted(),
        Terms::Gemini => check.gemini(),
        Terms::Chat | Terms::Responses => check.choice_without_tools(),
        Terms::Ollama => {}
    }
    check.many_tools(target.filter(|target| target.is_known).map_or(any, |target| target.row));
    check.grade = Grade::Vendor;
    check.of_vendor();
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
    vendor: &'static Vendor,
    grade: Grade,
    found: Vec<Breach>,
}

impl<T: Tree> Check<'_, '_, T> {
    fn add(&mut self, kind: BreachKind, (slot, _): (&'static Slot, &T), what: impl Into<String>) {
        let (at, grade) = (slot.at.to_owned(), self.grade);
        self.found.push(Breach { kind, grade, slot: Some(slot), at, what: what.into() });
    }

    fn all(&mut self, kind: BreachKind, ask: Setting, what: &str) {
        for found in self.asked.all(ask) {
            self.add(kind, found, what);
        }
    }

    /// The settings of a kind whose number is not as it must be.
    fn where_number(&mut self, kind: BreachKind, ask: Setting, what: &str, wrong: impl Fn(f64) -> bool) {
        for found in self.asked.all(ask).filter(|(_, value)| value.number().is_some_and(&wrong)) {
            self.add(kind, found, what);
        }
    }

    /// Thinking with a budget on the models of Anthropic, which excludes other settings.
    fn budgeted(&mut self) {
        // What is left of a setting whose mode was taken out.
        if let Some(found) = self.asked.first(Setting::Thinking).filter(|(slot, _)| slot.at == "thinking") {
            self.add(BreachKind::Thinking, found, "it does not say how to think");
        }
        if !self.asked.is_budgeted() {
            return;
        }
        self.where_number(BreachKind::Budget, Setting::Budget, "the budget is below 1024 tokens", |budget| {
            budget < 1024.0
        });
        let limit = self.asked.number(Setting::Limit).unwrap_or(f64::INFINITY);
        // With tools, a beta header lets a model think between calls for longer than one answer.
        let grade = if self.asked.tools() > 0 { Grade::Mild } else { Grade::Wire };
        let before = std::mem::replace(&mut self.grade, grade);
        let what = "the budget leaves no room for the answer";
        self.where_number(BreachKind::BudgetRoom, Setting::Budget, what, |budget| budget >= limit);
        self.grade = before;
        let what = "sampling is not changed while the model thinks";
        self.where_number(BreachKind::ThinkingSampling, Setting::Temperature, what, |value| value != 1.0);
        self.where_number(BreachKind::ThinkingSampling, Setting::TopP, what, |value| value < 0.95);
        self.all(BreachKind::ThinkingSampling, Setting::TopK, what);
        if let Some(found) = self.asked.first(Setting::Choice).filter(|(_, choice)| is_forced(*choice)) {
            self.add(BreachKind::Choice, found, "a call is forced while the model thinks");
        }
    }

    fn gemini(&mut self) {
        if let (Some(level), Some(_)) = (self.asked.first(Setting::Effort), self.asked.first(Setting::Budget)) {
            self.add(BreachKind::Thinking, level, "a level and a budget of thinking are given");
        }
        let serves = super::settings::at(self.asked.body, "toolConfig.includeServerSideToolInvocations");
        let is_served = serves.and_then(Tree::flag) == Some(true);
        if let Some(choice) = self.asked.first(Setting::Choice).filter(|_| self.asked.tools() == 0 && !is_served) {
            self.add(BreachKind::Choice, choice, "calls are configured and no function is declared");
        }
    }

    fn choice_without_tools(&mut self) {
        let refers = ["previous_response_id", "prompt", "conversation"];
        if self.asked.tools() > 0 || refers.iter().any(|key| self.asked.body.field(key).is_some()) {
            return;
        }
        let what = "there are no tools to choose from";
        let is_harmless = |choice: &T| choice.word().is_some_and(|word| matches!(&*word, "auto" | "none"));
        let is_chat = self.asked.terms() == Terms::Chat;
        for found in self.asked.all(Setting::Choice).filter(|(_, choice)| is_chat || !is_harmless(choice)) {
            self.add(BreachKind::Choice, found, what);
        }
        if is_chat {
            self.all(BreachKind::Parallel, Setting::Parallel, what);
        }
    }

    fn of_vendor(&mut self) {
        let vendor = self.vendor;
        if !vendor.penalties {
            self.all(BreachKind::Penalty, Setting::Penalty, "this vendor does not take it");
        }
        if let Some(found) =
            self.asked.first(Setting::Choice).filter(|(_, choice)| !vendor.forced && is_forced(*choice))
        {
            self.add(BreachKind::Choice, found, "this vendor lets no call be forced");
        }
        if self.asked.terms() != Terms::Chat {
            return;
        }
        if !vendor.knows_limit(NEW_LIMIT) {
            self.all(BreachKind::NewLimit, Setting::Limit, "this vendor knows the limit as `max_tokens`");
        }
        for found in self.asked.all(Setting::Format).filter(|(_, format)| !vendor.schema && is_schema(*format)) {
            self.add(BreachKind::Format, found, "this vendor takes no schema of the answer");
        }
    }

    fn sampling(&mut self, row: &Row) {
        let thinks = row.thinks_when(self.asked.wants_thinking());
        if row.sampling == Sampling::Never {
            self.sampled(BreachKind::Sampling, "this model does not take it");
        } else if thinks && !row.samples_thinking && !self.asked.is_budgeted() {
            self.sampled(BreachKind::ThinkingSampling, "this model does not take it while it thinks");
        } else if row.sampling == Sampling::Either && self.asked.first(Setting::Temperature).is_some() {
            self.all(BreachKind::Sampling, Setting::TopP, "this model takes either temperature or top_p, not both");
        }
        if !row.penalties || thinks && !row.samples_thinking {
            self.all(BreachKind::Penalty, Setting::Penalty, "this model does not take it");
        }
        if !row.stop {
            self.all(BreachKind::Stop, Setting::Stop, "this model takes no `stop`");
        }
    }

    /// Sampling settings, but for what the model does anyway.
    fn sampled(&mut self, kind: BreachKind, what: &str) {
        self.where_number(kind, Setting::Temperature, what, |value| value != 1.0);
        self.where_number(kind, Setting::TopP, what, |value| value != 1.0);
        self.all(kind, Setting::TopK, what);
    }

    fn thinking(&mut self, row: &Row) {
        for found in self.asked.all(Setting::Effort) {
            let word = found.1.word().unwrap_or_default().to_ascii_lowercase();
            let taken = self.vendor.efforts_of(row.efforts);
            if row.efforts.is_empty() {
                self.add(BreachKind::Effort, found, "this model has no effort to set");
            } else if taken.is_empty() {
                self.add(BreachKind::Effort, found, "this vendor has no effort to set for this model");
            } else if !taken.contains(&&*word) {
                let what = format!("`{word}` is none of this model's efforts: {}", taken.join(", "));
                self.add(BreachKind::Effort, found, what);
            }
        }
        self.switch(row);
        self.budget(row);
    }

    fn switch(&mut self, row: &Row) {
        let Some(found) = self.asked.first(Setting::Thinking) else {
            return self.included(row);
        };
        let word = found.1.word().unwrap_or_default();
        let is_off = self.asked.wants_thinking() == Some(false);
        if row.thinks == Thinks::Never && !(is_off && self.asked.terms() == Terms::Ollama) {
            self.add(BreachKind::Thinking, found, "this model does not think");
        } else if is_off && row.thinks == Thinks::Always && self.asked.first(Setting::Effort).is_none() {
            // Ollama lets it think all the same.
            let grade = if self.asked.terms() == Terms::Ollama { Grade::Mild } else { Grade::Model };
            self.grade = grade;
            self.add(BreachKind::Thinking, found, "thinking cannot be turned off on this model");
        } else if word == "adaptive" && !row.adaptive {
            self.add(BreachKind::Thinking, found, "this model does not take adaptive thinking");
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
        if let Some(found) = self.asked.first(Setting::Include).filter(|(_, value)| asks(value)) {
            self.add(BreachKind::Thinking, found, "this model does not think");
        }
    }

    fn budget(&mut self, row: &Row) {
        let Some(found) = self.asked.first(Setting::Budget) else { return };
        let Some(tokens) = found.1.number() else { return };
        let is_gemini = self.asked.terms() == Terms::Gemini;
        match row.budget {
            None if is_gemini && !row.efforts.is_empty() => {
                self.grade = Grade::Mild;
                self.add(
                    BreachKind::Budget,
                    found,
                    "this model takes a level of thinking; a budget is of older models",
                );
                self.grade = Grade::Model;
            }
            None => self.add(BreachKind::Budget, found, "this model takes no budget for thinking"),
            // What the model decides, and none at all.
            Some(_) if is_gemini && (tokens == -1.0 || tokens == 0.0 && row.can_stop_thinking()) => {}
            // The least that Claude thinks is the same for all of its models, and checked with the wire.
            Some(Budget { least, most }) if is_gemini && tokens < least as f64 || tokens > most as f64 => {
                self.add(BreachKind::Budget, found, format!("this model thinks with {least} to {most} tokens"));
            }
            Some(_) => {}
        }
    }

    fn limits(&mut self, row: &Row) {
        if let Some(most) = row.most_tokens {
            let what = format!("the answers of this model have at most {most} tokens");
            let is_above = |limit: f64| limit > most as f64;
            self.where_number(BreachKind::Limit, Setting::Limit, &what, is_above);
            self.where_number(BreachKind::Limit, Setting::OldLimit, &what, is_above);
        }
        if !row.old_limit && self.vendor.knows_limit(NEW_LIMIT) {
            self.all(BreachKind::OldLimit, Setting::OldLimit, "this model knows the limit as `max_completion_tokens`");
        }
    }

    fn many_tools(&mut self, row: &Row) {
        let count = self.asked.tools();
        if let (Some(found), Some(most)) = (self.asked.first(Setting::Tools), row.most_tools)
            && count > most
        {
            self.add(BreachKind::Tools, found, format!("{count} tools are given; at most {most} are taken"));
        }
    }

    fn tools(&mut self, row: &Row) {
        if !row.parallel {
            self.all(BreachKind::Parallel, Setting::Parallel, "this model does not take it");
        }
        let thinks = row.thinks_when(self.asked.wants_thinking()) && !self.asked.is_budgeted();
        let cannot = row.forced == Forced::Never || row.forced == Forced::NotThinking && thinks && !row.adaptive;
        if let Some(found) = self.asked.first(Setting::Choice).filter(|(_, choice)| cannot && is_forced(*choice)) {
            self.add(BreachKind::Choice, found, "this model cannot be forced to call a tool");
        }
        if !row.schema {
            for found in self.asked.all(Setting::Format).filter(|(_, format)| is_schema(*format)) {
                self.add(BreachKind::Format, found, "this model takes no schema of the answer");
            }
        }
    }

    fn prefill(&mut self, row: &Row) {
        let Some(index) = self.asked.prefill().filter(|_| !row.prefill) else { return };
        let history = self.asked.contract.history;
        self.found.push(Breach {
            kind: BreachKind::Prefill,
            grade: self.grade,
            slot: None,
            at: format!("{history}[{index}].role"),
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
