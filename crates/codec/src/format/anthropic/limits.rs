//! Settings made to fit what the vendor takes.

use turnkeep_model::{Loss, LossKind, Number, Options, ResponseKind, Session, ToolChoice, ToolMode};

use crate::models::Target;
use crate::models::fit::{self, ThinkingMode};
use crate::wire::dialogue::{Dialogue, legal};

/// The longest answer where nothing says how long it may be.
const MAX_TOKENS: u64 = 4096;

/// Whom a request is for.
pub(super) struct RequestTarget {
    /// What is known of the model.
    pub(super) target: Target,
    /// Whether the session came from this wire.
    pub(super) is_own: bool,
    /// Whether it goes back to the model that it came from.
    pub(super) is_same_model: bool,
}

/// Makes the settings of a session fit. Returns whether the request turns thinking on or off.
pub(super) fn fit(
    head: &mut Session,
    dialogue: &Dialogue<'_>,
    aim: &RequestTarget,
    losses: &mut Vec<Loss>,
) -> ThinkingMode {
    let may_think = dialogue.may_think();
    let mode = if aim.is_same_model {
        fit::only_in_loop(&mut head.options, may_think, losses);
        ThinkingMode::Unset
    } else {
        fit::thinking(&mut head.options, aim.target, may_think, losses)
    };
    let mut fit = Fit { losses };
    fit::room(&mut head.options, aim.target, Some(MAX_TOKENS), fit.losses);
    fit.limit(&mut head.options);
    fit.sampling(&mut head.options);
    let has_tools = !head.tools.is_empty() || dialogue.uses_tools() || aim.is_own;
    fit.choice(&mut head.options, has_tools);
    fit.format(head);
    mode
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
        options.max_tokens = Some(MAX_TOKENS.into());
        let what = "a request says how long the answer may be; it was filled in";
        self.losses.push(Loss::encode(LossKind::Synthesised, "options", what));
        self.lose(LossKind::Synthesised, "max_tokens", what);
    }

    fn sampling(&mut self, options: &mut Options) {
        let thinks = options.budget_tokens.is_some();
        let within = |number: &Number| number.is_json() && (0.0..=1.0).contains(&number.as_f64());
        if let Some(number) = options.temperature.take() {
            options.temperature = match number.as_f64() {
                value if thinks && value != 1.0 => None,
                _ if within(&number) => Some(number.clone()),
                value if number.is_json() && value > 1.0 => Some(Number::from(1u64)),
                _ => None,
            };
            if options.temperature.as_ref() != Some(&number) {
                self.lose(LossKind::Coerced, "temperature", "it is from 0 to 1 with the vendor, and 1 while thinking");
            }
        }
        options.top_p = options.top_p.take().filter(within);
        options.top_k = options.top_k.take().filter(|number| !thinks && number.as_u64().is_some());
        options.stop.retain(|text| !text.trim().is_empty());
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
