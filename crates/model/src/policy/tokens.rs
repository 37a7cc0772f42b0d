//! How many tokens texts take: exact for the encodings of OpenAI, estimates elsewhere.

use crate::block::{Block, Body, Part};
use crate::error::Result;
use crate::session::Session;
use crate::shape::string_enum;

string_enum! {
    /// An encoding of OpenAI's, whose tokens can be counted exactly.
    pub enum Encoding {
        /// Of GPT-4o and everything after it.
        O200kBase = "o200k_base",
        /// Of GPT-4 and GPT-3.5.
        Cl100kBase = "cl100k_base",
    }
}

impl Encoding {
    /// The encoding of a model, where it is one of OpenAI's. A vendor's prefix, as in `openai/gpt-4o`, does not matter.
    pub fn of_model(model: &str) -> Option<Encoding> {
        const NEW: [&str; 9] = ["gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "chatgpt-4o", "o1", "o3", "o4"];
        const OLD: [&str; 5] = ["gpt-4", "gpt-3.5", "gpt-35", "text-embedding-3", "text-embedding-ada-002"];
        let name = model.rsplit('/').next().unwrap_or(model).trim_start_matches("ft:");
        let is_of = |family: &&str| {
            name.strip_prefix(*family).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
        };
        let new = NEW.iter().any(&is_of) || name.starts_with("gpt-5") || name.starts_with("chatgpt-");
        let old = OLD.iter().any(is_of);
        if new { Some(Encoding::O200kBase) } else { old.then_some(Encoding::Cl100kBase) }
    }
}

/// A way to count tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenCounter(Method);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Estimate,
    Words,
    #[cfg(feature = "tokens")]
    Exact(Encoding),
}

impl TokenCounter {
    /// A quarter of a token a byte of ASCII and a token any other character: near enough for every vendor.
    pub const ESTIMATE: TokenCounter = TokenCounter(Method::Estimate);

    /// 1.3 tokens a word, as llm4s counts.
    pub const WORDS: TokenCounter = TokenCounter(Method::Words);

    /// As the encoding itself counts.
    ///
    /// # Errors
    /// `Unsupported` where this build has no tables of encodings: they come with the cargo feature `tokens`.
    pub fn exact(encoding: Encoding) -> Result<TokenCounter> {
        #[cfg(feature = "tokens")]
        return Ok(TokenCounter(Method::Exact(encoding)));
        #[cfg(not(feature = "tokens"))]
        Err(crate::error::Error::new(
            crate::error::ErrorKind::Unsupported,
            format!("exact counts of {encoding} are not built in"),
        )
        .hint("build with the cargo feature `tokens`, or name no model of OpenAI's and get an estimate"))
    }

    /// Exact where the model is one of OpenAI's and the tables are built in, else the estimate.
    pub fn of_model(model: Option<&str>) -> TokenCounter {
        let exact = model.and_then(Encoding::of_model).and_then(|encoding| TokenCounter::exact(encoding).ok());
        exact.unwrap_or(TokenCounter::ESTIMATE)
    }

    /// Whether it counts as the model does.
    pub fn is_exact(self) -> bool {
        self.label() != "estimate"
    }

    /// The name of the encoding, or `estimate`.
    pub fn label(self) -> &'static str {
        match self.0 {
            Method::Estimate | Method::Words => "estimate",
            #[cfg(feature = "tokens")]
            Method::Exact(encoding) => encoding.as_str(),
        }
    }

    /// How many tokens a text takes.
    pub fn text(self, text: &str) -> u64 {
        match self.0 {
            Method::Estimate => estimate(text),
            Method::Words => words(text) * 13 / 10,
            #[cfg(feature = "tokens")]
            Method::Exact(encoding) => exact(encoding, text),
        }
    }

    /// How many tokens the content of a block takes: what a vendor frames messages with, media that is not text and
    /// opaque reasoning are not counted.
    pub fn block(self, block: &Block) -> u64 {
        match &block.body {
            Body::Text(text) => self.text(&text.text),
            Body::Summary(summary) => self.text(&summary.text),
            Body::Reasoning(reasoning) => {
                reasoning.text.iter().chain(&reasoning.summary).map(|text| self.text(text)).sum()
            }
            Body::ToolCall(call) => self.text(&call.name) + self.text(&call.arguments),
            Body::ToolResult(result) => {
                let parts = result.parts.iter().map(|part| self.part(part));
                parts.chain(result.error.iter().map(|error| self.text(error))).sum()
            }
            Body::Media(media) => media.text.as_deref().map_or(0, |text| self.text(text)),
            Body::Other { raw, .. } => self.text(&raw.to_text()),
        }
    }

    fn part(self, part: &Part) -> u64 {
        match part {
            Part::Text(text) => self.text(&text.text),
            Part::Data(data) => self.text(&data.json.to_text()),
            Part::Media(media) => media.text.as_deref().map_or(0, |text| self.text(text)),
            Part::Other { raw, .. } => self.text(&crate::json::Json::Object(raw.clone()).to_text()),
        }
    }

    /// How many tokens a session takes, turn by turn.
    pub fn session(self, session: &Session) -> TokenCount {
        let turns: Vec<u64> =
            session.turns.iter().map(|turn| turn.blocks.iter().map(|block| self.block(block)).sum()).collect();
        let tool = |tool: &crate::options::ToolSpec| {
            let told = tool.description.as_deref().map_or(0, |text| self.text(text));
            self.text(&tool.name) + told + self.text(&tool.parameters.to_text())
        };
        TokenCount { tools: session.tools.iter().map(tool).sum(), turns }
    }
}

/// The tokens of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenCount {
    /// Of every turn.
    pub turns: Vec<u64>,
    /// Of what the model is told of tools.
    pub tools: u64,
}

impl TokenCount {
    /// Of all.
    pub fn total(&self) -> u64 {
        self.tools + self.turns.iter().sum::<u64>()
    }
}

fn estimate(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    ascii.div_ceil(4) + other
}

/// How many words there are, as Java splits at white space: a space in front makes an empty one, none behind counts, and
/// an empty text is one.
fn words(text: &str) -> u64 {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r');
    let words = text.split(is_space).filter(|word| !word.is_empty()).count() as u64;
    match (text.is_empty(), text.starts_with(is_space) && words > 0) {
        (true, _) => 1,
        (false, true) => words + 1,
        (false, false) => words,
    }
}

#[cfg(feature = "tokens")]
fn exact(encoding: Encoding, text: &str) -> u64 {
    let tokenizer = match encoding {
        Encoding::O200kBase => bpe_openai::o200k_base(),
        Encoding::Cl100kBase => bpe_openai::cl100k_base(),
    };
    tokenizer.count(text) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_as_llm4s_does() {
        let count = |text: &str| TokenCounter::WORDS.text(text);

        assert_eq!(
            ["", "one", "one two", " one", "one ", "  ", "a b c d e f g h i j"].map(count),
            [1, 1, 2, 2, 1, 0, 13]
        );
    }

    #[test]
    fn models_of_openai_have_an_encoding() {
        let of = Encoding::of_model;

        for model in
            ["gpt-4o", "gpt-4o-mini", "openai/gpt-4.1", "o3-mini", "gpt-5.1-codex", "gpt-5", "chatgpt-4o-latest"]
        {
            assert_eq!(of(model), Some(Encoding::O200kBase), "{model}");
        }
        for model in ["gpt-4", "gpt-4-turbo", "gpt-3.5-turbo-0125", "text-embedding-3-small"] {
            assert_eq!(of(model), Some(Encoding::Cl100kBase), "{model}");
        }
        for model in ["claude-sonnet-4-5", "gemini-2.5-pro", "llama3", "o365", ""] {
            assert_eq!(of(model), None, "{model}");
        }
    }

    #[cfg(feature = "tokens")]
    #[test]
    fn exact_counts_are_those_of_the_encoding() {
        let counting = TokenCounter::exact(Encoding::O200kBase).unwrap();

        assert_eq!(counting.label(), "o200k_base");
        assert_eq!(["hello world", "", "antidisestablishmentarianism"].map(|text| counting.text(text)), [2, 0, 6]);
    }

    #[cfg(not(feature = "tokens"))]
    #[test]
    fn exact_counts_name_the_feature_they_need() {
        let error = TokenCounter::exact(Encoding::O200kBase).unwrap_err();

        assert!(error.remedy().unwrap().contains("`tokens`"));
        assert_eq!(TokenCounter::of_model(Some("gpt-4o")), TokenCounter::ESTIMATE);
    }
}
