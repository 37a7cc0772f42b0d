//! How much to think, in the terms of the model that is asked.
//!
//! A session may have an effort, a budget, or both; a model takes words, tokens, a switch, or nothing. What is meant is
//! kept where the model has a way to say it, and every change is reported.

use turnkeep_model::{Effort, Loss, LossKind, Number, Options};

use super::Target;
use super::row::{Budget, Row, Thinks};

/// The words for effort, from none to most.
const WORDS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The tokens that an effort stands for where a model takes a budget: those of llm4s, and its last for what is above.
const TOKENS: &[(&str, u64)] =
    &[("minimal", 1024), ("low", 2048), ("medium", 8192), ("high", 32_768), ("xhigh", 32_768), ("max", 32_768)];

const NO_THINKING_YET: &str = "thinking cannot begin within a tool loop: its answers have no thinking to send back";

const EFFORT: &str = "options.reasoning";
const BUDGET: &str = "options.budget_tokens";

/// Whether a request turns thinking on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingMode {
    /// Nothing: it does as it always does.
    Unset,
    /// Not to.
    Off,
    /// To think.
    On,
}

/// Puts effort and budget into the terms of a model. `may_begin` says whether the history lets it think: some vendors
/// want every answer of a tool loop to begin with thinking.
pub(crate) fn thinking(options: &mut Options, target: Target, may_begin: bool, losses: &mut Vec<Loss>) -> ThinkingMode {
    let effort = options.reasoning.take();
    let budget = options.budget_tokens.take();
    let wants = wanted(effort.as_ref(), budget.as_ref());
    let efforts = target.vendor.efforts_of(target.row.efforts);
    let fit = Fit { row: target.row, efforts, is_known: target.is_known };
    let (mode, [kept_effort, kept_budget]) = match wants {
        ThinkingMode::Unset => (ThinkingMode::Unset, [None, None]),
        ThinkingMode::Off => fit.off(),
        ThinkingMode::On if !may_begin && fit.efforts.is_empty() => (ThinkingMode::Unset, [None, None]),
        ThinkingMode::On => fit.on(effort.as_ref(), budget.as_ref(), may_begin),
    };
    options.reasoning = kept_effort.as_deref().map(Effort::from_word);
    options.budget_tokens = kept_budget.and_then(|tokens| Number::parse(&tokens));
    let why = fit.why(may_begin || wants != ThinkingMode::On);
    tell(EFFORT, effort.as_ref(), options.reasoning.as_ref(), &why, losses);
    tell(BUDGET, budget.as_ref(), options.budget_tokens.as_ref(), &why, losses);
    mode
}

/// What a session wants: a budget says more than an effort.
fn wanted(effort: Option<&Effort>, budget: Option<&Number>) -> ThinkingMode {
    match (budget.map(Number::as_f64), effort) {
        (Some(tokens), _) if tokens > 0.0 || tokens == -1.0 => ThinkingMode::On,
        (_, Some(Effort::None)) | (Some(_), None) => ThinkingMode::Off,
        (_, Some(_)) => ThinkingMode::On,
        (None, None) => ThinkingMode::Unset,
    }
}

fn tell<T: PartialEq>(at: &str, before: Option<&T>, after: Option<&T>, why: &str, losses: &mut Vec<Loss>) {
    let kind = match (before, after) {
        _ if before == after => return,
        (Some(_), None) => LossKind::Dropped,
        (None, _) => LossKind::Synthesised,
        (Some(_), Some(_)) => LossKind::Coerced,
    };
    losses.push(Loss::encode(kind, at, why));
}

/// An effort and a budget, as they are written.
type Kept = [Option<String>; 2];

struct Fit {
    row: &'static Row,
    /// The words for effort that the model and its vendor take.
    efforts: Vec<&'static str>,
    is_known: bool,
}

impl Fit {
    fn why(&self, may_begin: bool) -> String {
        let Row { budget, thinks, .. } = self.row;
        let efforts = &self.efforts;
        match (thinks, budget) {
            _ if !self.is_known => NO_ROW.to_owned(),
            _ if !may_begin => NO_THINKING_YET.to_owned(),
            (Thinks::Never, _) => "this model does not think".to_owned(),
            (_, Some(Budget { least, most })) if efforts.is_empty() => {
                format!("this model thinks with a budget of {least} to {most} tokens")
            }
            _ if efforts.is_empty() && !self.row.efforts.is_empty() => {
                "this vendor has no effort to set for this model".to_owned()
            }
            _ if efforts.is_empty() => "this model has no setting of how much it thinks".to_owned(),
            _ if efforts.len() < self.row.efforts.len() => {
                format!("this vendor takes an effort of {} for this model", efforts.join(", "))
            }
            _ => format!("this model thinks with an effort of {}", efforts.join(", ")),
        }
    }

    fn off(&self) -> (ThinkingMode, Kept) {
        match self.row.thinks {
            Thinks::Never => (ThinkingMode::Unset, [None, None]),
            Thinks::OnRequest | Thinks::ByDefault => (ThinkingMode::Off, [Some("none".to_owned()), None]),
            // The least that it can do.
            Thinks::Always => (ThinkingMode::On, [self.nearest("none"), None]),
        }
    }

    fn on(&self, effort: Option<&Effort>, budget: Option<&Number>, may_begin: bool) -> (ThinkingMode, Kept) {
        let word = effort.map(Effort::as_str).filter(|word| *word != "none");
        if self.row.thinks == Thinks::Never {
            return (ThinkingMode::Unset, [None, None]);
        }
        let kept_budget = budget.filter(|_| may_begin).and_then(|tokens| self.clamped(tokens));
        let kept_effort = match (word, budget) {
            (Some(word), _) => self.nearest(word),
            (None, Some(tokens)) if kept_budget.is_none() => self.nearest(of_budget(tokens.as_f64())),
            (None, _) => None,
        };
        let derived = || {
            let tokens = TOKENS.iter().find(|(known, _)| Some(*known) == word)?.1;
            self.clamped(&Number::from(tokens)).filter(|_| may_begin)
        };
        let kept_budget = kept_budget.or_else(|| derived().filter(|_| kept_effort.is_none()));
        (ThinkingMode::On, [kept_effort, kept_budget])
    }

    /// The nearest budget that the model takes, if it takes one.
    fn clamped(&self, tokens: &Number) -> Option<String> {
        let Budget { least, most } = self.row.budget?;
        if tokens.as_i64() == Some(-1) && self.row.maker == "Google" {
            return Some("-1".to_owned());
        }
        let whole = tokens.as_u64().or_else(|| (tokens.as_f64() > 0.0).then(|| tokens.as_f64() as u64))?;
        let fitting = whole.clamp(least, most);
        Some(if tokens.as_u64() == Some(fitting) { tokens.to_string() } else { fitting.to_string() })
    }

    /// The nearest effort that the model takes, if it takes one. Some effort is never none.
    fn nearest(&self, word: &str) -> Option<String> {
        if self.efforts.contains(&word) {
            return Some(word.to_owned());
        }
        let rank = |word: &str| WORDS.iter().position(|known| *known == word);
        let own = rank(word)?;
        let ranked = self.efforts.iter().filter_map(|word| Some((rank(word).filter(|rank| *rank > 0)?, *word)));
        ranked.min_by_key(|(rank, _)| (rank.abs_diff(own), *rank)).map(|(_, word)| word.to_owned())
    }
}

/// What is said of settings that are not sent to a model which the table does not know.
pub(super) const NO_ROW: &str = "the table of models has no row for this model: what some models of the wire refuse is not sent; name the model \
     behind it with --family, or with `family` in turnkeep.toml";

fn of_budget(tokens: f64) -> &'static str {
    match tokens {
        // Below zero the vendor decides, and the middle is the smallest mistake.
        tokens if tokens < 0.0 => "medium",
        tokens if tokens <= 4096.0 => "low",
        tokens if tokens <= 16384.0 => "medium",
        _ => "high",
    }
}

/// Turns a budget off that the history does not allow.
pub(crate) fn only_in_loop(options: &mut Options, may_begin: bool, losses: &mut Vec<Loss>) {
    if !may_begin && options.budget_tokens.take().is_some() {
        losses.push(Loss::encode(LossKind::Dropped, BUDGET, NO_THINKING_YET));
    }
}

/// Leaves room for the answer beside thinking: the budget is below the limit, or there is none. `fills` is the limit of an
/// answer without thinking, for vendors that require a limit.
pub(crate) fn room(options: &mut Options, target: Target, fills: Option<u64>, losses: &mut Vec<Loss>) {
    let Some(Budget { least, .. }) = target.row.budget else { return };
    let Some(budget) = options.budget_tokens.as_ref().and_then(Number::as_u64) else { return };
    let most = target.row.most_tokens.unwrap_or(u64::MAX);
    let given = options.max_tokens.as_ref().and_then(Number::as_u64).filter(|limit| *limit > 0);
    // Where the limit is filled in, the answer gets all of what it has without thinking.
    let (limit, answer) = match (given, fills) {
        (Some(limit), _) => (limit.min(most), 1),
        (None, Some(fills)) => (fills.saturating_add(budget).min(most), fills),
        (None, None) => return,
    };
    if given.is_none() {
        options.max_tokens = Some(limit.into());
        let what = "the limit of the answer must be above the thinking budget; it was filled in";
        for at in ["options", "options.max_tokens"] {
            losses.push(Loss::encode(LossKind::Synthesised, at, what));
        }
    }
    let fitting = limit.saturating_sub(answer);
    if budget <= fitting {
        return;
    }
    options.budget_tokens = (fitting >= least).then(|| fitting.into());
    let kind = if fitting >= least { LossKind::Coerced } else { LossKind::Dropped };
    let what = format!("thinking takes at least {least} tokens and less than the limit of the answer");
    losses.push(Loss::encode(kind, BUDGET, what));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(
        model: &str,
        effort: Option<&str>,
        budget: Option<u64>,
    ) -> (ThinkingMode, Option<String>, Option<String>) {
        let mut options = Options {
            reasoning: effort.map(Effort::from_word),
            budget_tokens: budget.map(Number::from),
            ..Options::default()
        };
        let mode = thinking(&mut options, super::super::of("openai.chat", None, model), true, &mut Vec::new());
        (mode, options.reasoning.map(|word| word.as_str().to_owned()), options.budget_tokens.map(|n| n.to_string()))
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn what_is_meant_is_said_in_the_terms_of_the_model() {
        assert_eq!(fitted("gpt-4o", Some("high"), Some(2000)), (ThinkingMode::Unset, None, None));
        assert_eq!(fitted("gpt-5", Some("xhigh"), None), (ThinkingMode::On, some("high"), None));
        assert_eq!(fitted("gpt-5", Some("none"), None), (ThinkingMode::On, some("minimal"), None));
        assert_eq!(fitted("gpt-5.1", Some("none"), None), (ThinkingMode::Off, some("none"), None));
        assert_eq!(fitted("o3", None, Some(10_000)), (ThinkingMode::On, some("medium"), None));
        assert_eq!(fitted("claude-sonnet-4-5", Some("high"), None), (ThinkingMode::On, None, some("32768")));
        assert_eq!(fitted("claude-sonnet-4-5", Some("high"), Some(2000)), (ThinkingMode::On, None, some("2000")));
        assert_eq!(fitted("claude-opus-4-6", Some("xhigh"), None), (ThinkingMode::On, some("high"), None));
        assert_eq!(fitted("claude-opus-4-8", None, Some(20_000)), (ThinkingMode::On, some("high"), None));
        assert_eq!(fitted("gemini-2.5-flash", Some("low"), None), (ThinkingMode::On, None, some("2048")));
        assert_eq!(fitted("gemini-2.5-pro", None, Some(64)), (ThinkingMode::On, None, some("128")));
        assert_eq!(fitted("gemini-3-flash-preview", None, Some(64)), (ThinkingMode::On, some("low"), None));
        assert_eq!(fitted("qwen3:4b", Some("high"), None), (ThinkingMode::On, None, None));
        assert_eq!(fitted("llama3.2", Some("high"), None), (ThinkingMode::Unset, None, None));
        assert_eq!(fitted("never-heard-of", Some("high"), Some(9)), (ThinkingMode::Unset, None, None));
    }

    #[test]
    fn a_budget_leaves_room_for_the_answer() {
        let target = super::super::of("bedrock.converse", None, "us.anthropic.claude-sonnet-4-5-20250929-v1:0");
        let roomy = |budget: u64, limit: Option<u64>, fills: Option<u64>| {
            let budget_tokens = Some(budget.into());
            let mut options = Options { budget_tokens, max_tokens: limit.map(Into::into), ..Options::default() };
            room(&mut options, target, fills, &mut Vec::new());
            let whole = |number: Option<Number>| number.and_then(|number| number.as_u64());
            (whole(options.budget_tokens), whole(options.max_tokens))
        };

        assert_eq!(roomy(16_000, Some(2000), None), (Some(1999), Some(2000)));
        assert_eq!(roomy(16_000, Some(1000), None), (None, Some(1000)));
        assert_eq!(roomy(16_000, None, Some(4096)), (Some(16_000), Some(20_096)));
        assert_eq!(roomy(100_000, None, Some(4096)), (Some(59_904), Some(64_000)));
        assert_eq!(roomy(16_000, None, None), (Some(16_000), None));
        assert_eq!(roomy(2000, Some(4000), Some(4096)), (Some(2000), Some(4000)));
    }
}
