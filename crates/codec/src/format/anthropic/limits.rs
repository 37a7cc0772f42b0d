//! Settings made to fit what the vendor takes.

use turnkeep_model::{Body, Effort, Loss, LossKind, Number, Options, ResponseKind, Session, ToolChoice, ToolMode};

use crate::wire::dialogue::{Dialogue, Item, Side, legal};

/// The longest answer where nothing says how long it may be.
const MAX_TOKENS: u64 = 4096;
/// The smallest budget for thinking.
const MIN_BUDGET: u64 = 1024;

/// Makes the settings of a session fit.
pub(super) fn fit(head: &mut Session, dialogue: &Dialogue<'_>, is_own: bool, losses: &mut Vec<Loss>) {
    let mut fit = Fit { losses };
    fit.limit(&mut head.options);
    fit.budget(&mut head.options, dialogue);
    fit.sampling(&mut head.options);
    if !is_own {
        fit.effort(&mut head.options);
    }
    let has_tools = !head.tools.is_empty() || dialogue.uses_tools() || is_own;
    fit.choice(&mut head.options, has_tools);
    fit.format(head);
}

struct Fit<'a> {
    losses: &'a mut Vec<Loss>,
}

impl Fit<'_> {
    fn lose(&mut self, kind: LossKind, field: &str, what: &str) {
        self.losses.push(Loss::encode(kind, format!("options.{field}"), what));
    }

    fn limit(&mut self, options: &mut Options) {
        let given = options.max_tokens.as_ref().and_then(Number::as_u64).filter(|limit| *limit > 0);
        if given.is_some() {
            return;
        }
        let thinking = options.budget_tokens.as_ref().and_then(Number::as_u64).unwrap_or(0);
        options.max_tokens = Some(MAX_TOKENS.saturating_add(thinking).into());
        let what = "a request says how long the answer may be; it was filled in";
        self.losses.push(Loss::encode(LossKind::Synthesised, "options", what));
        self.lose(LossKind::Synthesised, "max_tokens", what);
    }

    /// Thinking has at least 1024 tokens and leaves room for the answer; in the middle of a tool loop it cannot begin.
    fn budget(&mut self, options: &mut Options, dialogue: &Dialogue<'_>) {
        let Some(given) = options.budget_tokens.clone() else { return };
        let limit = options.max_tokens.as_ref().and_then(Number::as_u64).unwrap_or(MAX_TOKENS);
        let fitting = given.as_u64().map(|budget| budget.clamp(MIN_BUDGET, limit.saturating_sub(1).max(MIN_BUDGET)));
        options.budget_tokens = fitting.filter(|_| limit > MIN_BUDGET && may_think(dialogue)).map(Number::from);
        if options.budget_tokens.as_ref() != Some(&given) {
            let what = "thinking takes at least 1024 tokens, less than the answer's limit, and every answer of a tool \
                        loop begins with it";
            self.lose(LossKind::Coerced, "budget_tokens", what);
        }
    }

    fn sampling(&mut self, options: &mut Options) {
        let thinks = options.budget_tokens.is_some();
        let within = |number: &Number| number.is_json() && (0.0..=1.0).contains(&number.as_f64());
        if let Some(number) = options.temperature.take() {
            options.temperature = match number.as_f64() {
                value if thinks && value != 1.0 => None,
                _ if within(&number) => Some(number),
                value if number.is_json() && value > 1.0 => Some(Number::from(1u64)),
                _ => None,
            };
            self.lose(LossKind::Coerced, "temperature", "it is from 0 to 1 with the vendor, and 1 while thinking");
        }
        options.top_p = options.top_p.take().filter(within);
        options.top_k = options.top_k.take().filter(|number| !thinks && number.as_u64().is_some());
        options.stop.retain(|text| !text.trim().is_empty());
    }

    fn effort(&mut self, options: &mut Options) {
        let (effort, what) = match options.reasoning.take() {
            Some(Effort::Minimal) => (Some(Effort::Low), "the least effort of the vendor is `low`"),
            Some(Effort::XHigh) => (Some(Effort::High), "not every model of the vendor takes `xhigh`"),
            Some(Effort::None) if options.budget_tokens.is_some() => (None, "a budget to think with is given"),
            Some(Effort::Other(_)) => (None, "the vendor does not know this effort"),
            known => (known, ""),
        };
        options.reasoning = effort;
        if !what.is_empty() {
            self.lose(LossKind::Coerced, "reasoning", what);
        }
    }

    fn choice(&mut self, options: &mut Options, has_tools: bool) {
        if options.tool_choice.is_none() && options.parallel_tool_calls == Some(false) && has_tools {
            options.tool_choice = Some(ToolChoice::default());
        }
        let Some(choice) = &mut options.tool_choice else { return };
        if !has_tools {
            options.tool_choice = None;
            return self.lose(LossKind::Dropped, "tool_choice", "there are no tools to choose from");
        }
        choice.names.iter_mut().for_each(|name| {
            *name = legal(name, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'), 128);
        });
        if choice.mode == ToolMode::Required && options.budget_tokens.is_some() {
            choice.mode = ToolMode::Auto;
            self.lose(LossKind::Coerced, "tool_choice.mode", "a call cannot be forced while the model thinks");
        }
    }

    fn format(&mut self, head: &mut Session) {
        let fits = head
            .response_format
            .as_ref()
            .is_none_or(|format| format.kind == ResponseKind::JsonSchema && format.schema.as_object().is_some());
        if !fits {
            head.response_format = None;
            let what = "the vendor takes a schema of the answer, or nothing";
            self.losses.push(Loss::encode(LossKind::Dropped, "response_format", what));
        }
    }
}

/// Whether the model may think: where its last answer called tools, that answer must have begun with thinking.
fn may_think(dialogue: &Dialogue<'_>) -> bool {
    let last = dialogue.messages.iter().rev().find(|message| message.side == Side::Assistant);
    let Some(last) = last else { return true };
    let calls = last.items.iter().any(|item| matches!(item, Item::Call(..)));
    let thinks = matches!(last.items.first(), Some(Item::Block(_, block)) if matches!(block.body, Body::Reasoning(_)));
    !calls || thinks
}
