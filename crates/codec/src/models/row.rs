//! What a row of the table says.

/// What the models of a family take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Patterns of their names, where `*` stands for anything. The first row that fits counts.
    pub models: &'static [&'static str],
    /// Who made them.
    pub maker: &'static str,
    /// When the first of them came out.
    pub since: &'static str,
    /// How it is known: which document says it, or which recording shows it.
    pub evidence: &'static str,
    /// Which of temperature and `top_p` they take.
    pub sampling: Sampling,
    /// Whether they take these while they think, too.
    pub samples_thinking: bool,
    /// Whether they take penalties, log probabilities and biases.
    pub penalties: bool,
    /// Whether they take texts that end an answer.
    pub stop: bool,
    /// Whether they think.
    pub thinks: Thinks,
    /// The words for effort that they take; none where they have no such setting.
    pub efforts: &'static [&'static str],
    /// The range of the thinking budget, for models that take one.
    pub budget: Option<Budget>,
    /// Whether they take adaptive thinking, where the model decides how much to think.
    pub adaptive: bool,
    /// Whether they take the old name of the limit, `max_tokens`, on OpenAI's chat.
    pub old_limit: bool,
    /// The longest answer, in tokens, where known.
    pub most_tokens: Option<u64>,
    /// What they take beside text.
    pub media: &'static [Medium],
    /// How many tools they take, where there is a limit.
    pub most_tools: Option<usize>,
    /// Whether they take `parallel_tool_calls`.
    pub parallel: bool,
    /// Whether a call can be forced.
    pub forced: Forced,
    /// Whether they go on from an answer that the request begins.
    pub prefill: bool,
    /// Whether they take a schema of the answer.
    pub schema: bool,
    /// Whether they take system text.
    pub system: bool,
}

/// Which of temperature and `top_p` a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// Both.
    Any,
    /// One of them, not both.
    Either,
    /// Neither; a temperature of 1 is what it has anyway.
    Never,
}

/// Whether a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinks {
    /// It does not.
    Never,
    /// Only when the request turns it on.
    OnRequest,
    /// Unless the request turns it off.
    ByDefault,
    /// Always; it cannot be turned off.
    Always,
}

/// The range of a thinking budget, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The fewest.
    pub least: u64,
    /// The most.
    pub most: u64,
}

/// What a model takes beside text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// Images.
    Image,
    /// PDF and other documents.
    Document,
    /// Sound.
    Audio,
    /// Video.
    Video,
}

/// Whether a call can be forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forced {
    /// Yes.
    Always,
    /// While the model does not think with a budget.
    NotThinking,
    /// No.
    Never,
}

impl Row {
    /// Whether the model thinks, given what the request says; `None` where it says nothing.
    pub(crate) fn thinks_when(&self, asked: Option<bool>) -> bool {
        match self.thinks {
            Thinks::Never => false,
            Thinks::Always => true,
            Thinks::OnRequest => asked == Some(true),
            Thinks::ByDefault => asked != Some(false),
        }
    }

    /// Whether thinking can be turned off.
    pub(crate) fn can_stop_thinking(&self) -> bool {
        matches!(self.thinks, Thinks::OnRequest | Thinks::ByDefault)
    }
}
