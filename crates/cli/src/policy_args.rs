//! The flags of policies, and the commands made of them.

use std::path::PathBuf;

use clap::Args as Group;
use turnkeep_codec::Target;
use turnkeep_model::policy::tokens::{Encoding, TokenCounter};
use turnkeep_model::policy::{Pipeline, Redact, RedactTarget, Truncate, Unit, Window};
use turnkeep_model::{Archive, Result};

use crate::args::target;
use crate::input_args::InputArgs;
use crate::store::StoreArgs;

/// What is reduced on the way: window first, then redact, then truncate.
#[derive(Group, Default)]
pub(crate) struct PolicyArgs {
    /// Keep the newest only, as in 10, 10exchanges, 10turns, 10blocks or 8000tokens; a number alone counts exchanges, 0 keeps none and
    /// -1 all
    #[arg(long, value_name = "N[UNIT]", value_parser = kept, allow_hyphen_values = true)]
    pub(crate) window: Option<Kept>,
    /// What to hide: encrypted_content, tool_args, tool_results, secrets
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = hidden)]
    pub(crate) redact: Vec<RedactTarget>,
    /// Hide also what a regular expression matches; can be repeated
    #[arg(long, value_name = "RE", value_parser = pattern)]
    pub(crate) pattern: Vec<String>,
    /// Cut texts that are longer than so many characters
    #[arg(long, value_name = "N", value_parser = limit)]
    pub(crate) truncate: Option<u32>,
}

/// What a window keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kept {
    Last(u32, Unit),
    Tokens(u32),
    /// A negative number of exchanges, as Lucee's `maxlength` may be.
    Negative(i64),
}

/// Whose rules are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Ours,
    /// As the original programs do: slices are plain, and limits count bytes.
    Original,
}

impl PolicyArgs {
    /// Whether nothing is reduced.
    pub(crate) fn is_empty(&self) -> bool {
        self.window.is_none() && self.redact.is_empty() && self.pattern.is_empty() && self.truncate.is_none()
    }

    /// The policies in their order, for a model if one is named.
    pub(crate) fn pipeline(&self, manner: Manner, model: Option<&str>, archive: &Archive) -> Result<Pipeline> {
        let mut pipeline = Pipeline::new();
        let window = match self.window {
            None | Some(Kept::Negative(-1)) => None,
            // Lucee's own program keeps nothing then.
            Some(Kept::Negative(_)) => (manner == Manner::Original).then(|| Window::last(0, Unit::Exchanges)),
            Some(Kept::Last(count, unit)) => Some(Window::last(count as usize, unit)),
            Some(Kept::Tokens(budget)) => Some(Window::tokens(budget.into(), counting(model, archive)?)),
        };
        if let Some(window) = window {
            pipeline = pipeline.window(if manner == Manner::Original { window.plain() } else { window });
        }
        let redact = self.redaction()?;
        if !redact.is_empty() {
            pipeline = pipeline.redact(redact);
        }
        if let Some(limit) = self.truncate {
            let truncate = Truncate::to(limit as usize);
            pipeline = pipeline.truncate(if manner == Manner::Original { truncate.in_bytes() } else { truncate });
        }
        Ok(pipeline)
    }

    fn redaction(&self) -> Result<Redact> {
        let redact = Redact::new(self.redact.iter().copied());
        self.pattern.iter().try_fold(redact, |redact, pattern| redact.with_pattern(pattern))
    }
}

/// How tokens are counted: as the named model does, or as that of the session where none is named.
pub(crate) fn counting(model: Option<&str>, archive: &Archive) -> Result<TokenCounter> {
    match model.map(Encoding::of_model) {
        Some(Some(encoding)) => TokenCounter::exact(encoding),
        Some(None) => Ok(TokenCounter::ESTIMATE),
        None => Ok(TokenCounter::of_model(own_model(archive))),
    }
}

/// The model that answered last.
pub(crate) fn own_model(archive: &Archive) -> Option<&str> {
    archive.main_session()?.turns.iter().rev().find_map(|turn| turn.model.as_deref())
}

/// Hide what must not be told
#[derive(Group)]
pub(crate) struct RedactFile {
    /// The file, or the id of a stored session; `-` is standard input
    #[arg(value_name = "FILE|ID")]
    pub(crate) input: PathBuf,
    /// Where to write; standard output where it is not named
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// The format to write; that of the input where it is not named
    #[arg(long, value_name = "FORMAT[:VARIANT]", value_parser = target)]
    pub(crate) to: Option<Target>,
    /// What to hide: encrypted_content, tool_args, tool_results, secrets
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = hidden)]
    pub(crate) redact: Vec<RedactTarget>,
    /// Hide also what a regular expression matches; can be repeated
    #[arg(long, value_name = "RE", value_parser = pattern)]
    pub(crate) pattern: Vec<String>,
    /// Only say what would be hidden
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write what was hidden to a file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print what was hidden as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

impl RedactFile {
    /// What is hidden; secrets where nothing is named.
    pub(crate) fn reducing(&self) -> PolicyArgs {
        let named = !self.redact.is_empty() || !self.pattern.is_empty();
        let redact = if named { self.redact.clone() } else { vec![RedactTarget::Secrets] };
        PolicyArgs { redact, pattern: self.pattern.clone(), ..PolicyArgs::default() }
    }
}

/// Count tokens
#[derive(Group)]
pub(crate) struct Tokens {
    /// The file, or the id of a stored session; `-` is standard input
    #[arg(value_name = "FILE|ID")]
    pub(crate) input: PathBuf,
    /// The model that counts; that of the session where none is named
    #[arg(long, value_name = "M")]
    pub(crate) model: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

fn kept(text: &str) -> std::result::Result<Kept, String> {
    if let Some(count) = text.strip_prefix('-').and_then(|_| text.parse().ok()) {
        return Ok(Kept::Negative(count));
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at_checked(digits).unwrap_or_default();
    let refused = || {
        "write a number, and a unit if you like, as in 10, 10exchanges, 10turns, 10blocks or 8000tokens; -1 keeps all"
            .to_owned()
    };
    let count: u32 = number.parse().map_err(|_| refused())?;
    match unit {
        "" => Ok(Kept::Last(count, Unit::Exchanges)),
        "tokens" if count > 0 => Ok(Kept::Tokens(count)),
        unit => Unit::from_word(unit).map(|unit| Kept::Last(count, unit)).ok_or_else(refused),
    }
}

fn limit(text: &str) -> std::result::Result<u32, String> {
    let number = text.parse().ok().filter(|limit| *limit > 0);
    number.ok_or_else(|| "write a number of characters from 1 on, as in 2000".to_owned())
}

pub(crate) fn hidden(word: &str) -> std::result::Result<RedactTarget, String> {
    let known: Vec<_> = RedactTarget::ALL.iter().map(RedactTarget::as_str).collect();
    RedactTarget::from_word(word).ok_or_else(|| format!("LIST is made of: {}", known.join(", ")))
}

pub(crate) fn pattern(text: &str) -> std::result::Result<String, String> {
    match Redact::default().with_pattern(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("{error}; {}", error.remedy().unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_number_and_a_unit() {
        assert_eq!(kept("10"), Ok(Kept::Last(10, Unit::Exchanges)));
        assert_eq!(kept("3turns"), Ok(Kept::Last(3, Unit::Turns)));
        assert_eq!(kept("7blocks"), Ok(Kept::Last(7, Unit::Blocks)));
        assert_eq!(kept("8000tokens"), Ok(Kept::Tokens(8000)));
        assert_eq!(kept("0"), Ok(Kept::Last(0, Unit::Exchanges)));
        assert_eq!(kept("-1"), Ok(Kept::Negative(-1)));
        for nonsense in ["-", "-1turns", "10x", "", "turns", "99999999999999999999", "1.5", "0tokens", " 3", "３turns"]
        {
            assert!(kept(nonsense).is_err(), "{nonsense}");
        }
    }
}
