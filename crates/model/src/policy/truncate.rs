//! Cuts what is long, and says that it cut.

use unicode_segmentation::GraphemeCursor;

use super::edit::{self, Opaque};
use super::pipeline::Policy;
use crate::block::{Block, Body, Part};
use crate::error::Result;
use crate::json::{self, Json, JsonString};
use crate::loss::{Loss, LossKind};
use crate::session::Session;
use crate::shape::string_enum;

string_enum! {
    /// A kind of content that can be cut.
    pub enum Content {
        /// Texts, whoever wrote them.
        Text = "text",
        /// Thinking and its summaries. What a vendor signed or encrypted goes with the text it spoke of.
        Reasoning = "reasoning",
        /// The arguments of tool calls. Where they are JSON they stay JSON: the texts in them are cut.
        ToolArgs = "tool_args",
        /// What tools answered.
        ToolResults = "tool_results",
        /// Summaries of older turns.
        Summary = "summary",
    }
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Characters,
    Bytes,
}

/// Cuts texts that are longer than a limit and puts a suffix behind them: a text may exceed the limit by its suffix only.
///
/// Limits count characters, and no grapheme is split. Doing it twice changes nothing more.
///
/// ```
/// use turnkeep_model::policy::{Policy, Truncate};
/// use turnkeep_model::{Author, Block, Session, Turn};
///
/// let turn = Turn { blocks: vec![Block::text(Author::User, "naïveté")], ..Turn::default() };
/// let mut session = Session { turns: vec![turn], ..Session::default() };
///
/// let losses = Truncate::to(3).apply(&mut session).unwrap();
///
/// assert_eq!(session.turns[0].blocks[0].body.as_text(), Some("naï..."));
/// assert_eq!(losses[0].at, "turns[0].blocks[0].text");
/// ```
#[derive(Debug, Clone)]
pub struct Truncate {
    limit: usize,
    measure: Measure,
    suffix: String,
    kinds: Vec<Content>,
}

impl Truncate {
    /// Cuts every kind of content to so many characters and `...`.
    #[must_use]
    pub fn to(limit: usize) -> Truncate {
        let kinds = Content::ALL.to_vec();
        Truncate { limit, measure: Measure::Characters, suffix: "...".to_owned(), kinds }
    }

    /// Counts bytes, as the original programs do; a character is not split all the same.
    #[must_use]
    pub fn in_bytes(self) -> Truncate {
        Truncate { measure: Measure::Bytes, ..self }
    }

    /// Puts another suffix behind what was cut.
    #[must_use]
    pub fn with_suffix(self, suffix: impl Into<String>) -> Truncate {
        Truncate { suffix: suffix.into(), ..self }
    }

    /// Cuts these kinds of content only.
    #[must_use]
    pub fn only(self, kinds: impl IntoIterator<Item = Content>) -> Truncate {
        Truncate { kinds: kinds.into_iter().collect(), ..self }
    }

    fn length(&self, text: &str) -> usize {
        match self.measure {
            Measure::Characters => text.chars().count(),
            Measure::Bytes => text.len(),
        }
    }

    /// Whether a text need not be cut: it is short enough, or was cut already.
    fn fits(&self, text: &str) -> bool {
        // No text has more characters than bytes.
        text.len() <= self.limit
            || self.length(text) <= self.limit
            || text.strip_suffix(self.suffix.as_str()).is_some_and(|kept| self.length(kept) <= self.limit)
    }

    /// The text, cut where it must be.
    pub fn cut(&self, text: &str) -> Option<String> {
        (!self.fits(text)).then(|| format!("{}{}", self.head(text, self.limit), self.suffix))
    }

    /// The beginning of a text that is no longer than a limit.
    fn head<'a>(&self, text: &'a str, limit: usize) -> &'a str {
        let end = match self.measure {
            Measure::Bytes => {
                (0..=limit.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
            }
            Measure::Characters => {
                let end = text.char_indices().nth(limit).map_or(text.len(), |(at, _)| at);
                whole_graphemes(text, end)
            }
        };
        text.get(..end).unwrap_or_default()
    }

    /// A text that is JSON, with the texts in it cut until all of it fits; what is no JSON is cut as it stands.
    fn cut_json(&self, text: &str) -> Option<String> {
        if self.fits(text) {
            return None;
        }
        match json::parse(text) {
            Ok(tree) => Some(self.shrink(&tree.into_json()).to_text()),
            Err(_) => self.cut(text),
        }
    }

    /// The value with its texts cut as little as is needed, or an empty one where even that is too long.
    fn shrink(&self, value: &Json) -> Json {
        let cut_to = |limit: usize| {
            let mut tree = value.clone();
            self.cut_leaves(&mut tree, limit);
            tree
        };
        let fits = |tree: &Json| self.length(&tree.to_text()) <= self.limit;
        let (mut low, mut high) = (0, self.limit);
        if !fits(&cut_to(low)) {
            return empty(value);
        }
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fits(&cut_to(middle)) { low = middle } else { high = middle - 1 }
        }
        cut_to(low)
    }

    fn cut_leaves(&self, tree: &mut Json, limit: usize) {
        match tree {
            Json::String(text) => {
                let told = text.to_str_lossy();
                if self.length(&told) > limit + self.length(&self.suffix) {
                    *text = JsonString::from(format!("{}{}", self.head(&told, limit), self.suffix));
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.cut_leaves(item, limit)),
            Json::Object(object) => object.iter_mut().for_each(|(_, value)| self.cut_leaves(value, limit)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn cuts(&self, kind: Content) -> bool {
        self.kinds.contains(&kind)
    }

    /// Cuts what a block says; whether anything was cut.
    fn body(&self, body: &mut Body) -> bool {
        match body {
            Body::Text(text) if self.cuts(Content::Text) => put(&mut text.text, |text| self.cut(text)),
            Body::Summary(summary) if self.cuts(Content::Summary) => put(&mut summary.text, |text| self.cut(text)),
            Body::ToolCall(call) if self.cuts(Content::ToolArgs) => {
                put(&mut call.arguments, |text| self.cut_json(text))
            }
            Body::Reasoning(reasoning) if self.cuts(Content::Reasoning) => {
                let texts = reasoning.text.iter_mut().chain(&mut reasoning.summary);
                texts.fold(false, |cut, text| put(text, |text| self.cut(text)) | cut)
            }
            Body::ToolResult(result) if self.cuts(Content::ToolResults) => {
                let cut = result.parts.iter_mut().fold(false, |cut, part| self.part(part) | cut);
                result.error.iter_mut().fold(cut, |cut, text| put(text, |text| self.cut(text)) | cut)
            }
            Body::Text(_) | Body::Summary(_) | Body::ToolCall(_) | Body::Reasoning(_) | Body::ToolResult(_) => false,
            Body::Media(_) | Body::Other { .. } => false,
        }
    }

    fn part(&self, part: &mut Part) -> bool {
        match part {
            Part::Text(text) => put(&mut text.text, |text| self.cut(text)),
            Part::Data(data) => {
                let long = self.length(&data.json.to_text()) > self.limit;
                let shrunk = long.then(|| self.shrink(&data.json)).filter(|shrunk| *shrunk != data.json);
                shrunk.map(|shrunk| data.json = shrunk).is_some()
            }
            Part::Media(_) | Part::Other { .. } => false,
        }
    }
}

/// Puts another text in the place of one, where there is another; whether there was.
fn put(text: &mut String, other: impl FnOnce(&str) -> Option<String>) -> bool {
    let other = other(text);
    other.map(|other| *text = other).is_some()
}

/// What is left of a value that cannot be made short enough, in the type it had.
fn empty(value: &Json) -> Json {
    match value {
        Json::Object(_) => Json::Object(json::Object::new()),
        Json::Array(_) => Json::Array(Vec::new()),
        Json::String(_) => "".into(),
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
    }
}

/// The last end of a grapheme that is not behind `end`.
fn whole_graphemes(text: &str, end: usize) -> usize {
    let mut cursor = GraphemeCursor::new(end, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => end,
        _ => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or_default(),
    }
}

impl Policy for Truncate {
    fn apply(&self, session: &mut Session) -> Result<Vec<Loss>> {
        let mut losses = Vec::new();
        for (turn, content) in session.turns.iter_mut().enumerate() {
            for (block, content) in content.blocks.iter_mut().enumerate() {
                self.block(content, &format!("turns[{turn}].blocks[{block}]"), &mut losses);
            }
        }
        Ok(losses)
    }
}

impl Truncate {
    fn block(&self, block: &mut Block, at: &str, losses: &mut Vec<Loss>) {
        let mut changed = block.clone();
        if self.body(&mut changed.body) {
            let unit = match self.measure {
                Measure::Characters => "characters",
                Measure::Bytes => "bytes",
            };
            let why = format!("it was longer than {} {unit}", self.limit);
            edit::replace(block, changed, at, Opaque::Drop, (LossKind::Truncated, &why), losses);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_a_grapheme_and_told() {
        let cut = |limit: usize, text: &str| Truncate::to(limit).cut(text);

        assert_eq!(cut(3, "abc"), None);
        assert_eq!(cut(3, "abcd").as_deref(), Some("abc..."));
        assert_eq!(cut(3, "abc..."), None, "it was cut already");
        assert_eq!(cut(2, "a👩‍👩‍👧b").as_deref(), Some("a..."));
        assert_eq!(cut(4, "abce\u{301}f").as_deref(), Some("abc..."));
        assert_eq!(cut(0, "a").as_deref(), Some("..."));
    }

    #[test]
    fn bytes_are_counted_as_the_originals_do_and_characters_stay_whole() {
        let cut = |limit: usize, text: &str| Truncate::to(limit).in_bytes().cut(text);

        assert_eq!(cut(5, "naïveté").as_deref(), Some("naïv..."));
        assert_eq!(cut(3, "naïveté").as_deref(), Some("na..."));
        assert_eq!(cut(2000, &"x".repeat(2001)), Some(format!("{}...", "x".repeat(2000))));
    }

    #[test]
    fn arguments_that_are_json_stay_json() {
        let text = format!(r#"{{"path": "a.rs", "content": "{}"}}"#, "x".repeat(400));
        let cut = Truncate::to(60).cut_json(&text).unwrap();

        assert!(cut.chars().count() <= 60, "{cut}");
        let tree = json::parse(&cut).unwrap().into_json();
        assert_eq!(tree.as_object().unwrap().get_str("path").as_deref(), Some("a.rs"));
        assert!(tree.as_object().unwrap().get_str("content").unwrap().ends_with("xxx..."), "{cut}");
        assert_eq!(Truncate::to(60).cut_json(&cut), None);
        assert_eq!(Truncate::to(4).cut_json(&text).as_deref(), Some("{}"));
        assert_eq!(Truncate::to(4).cut_json("not json").as_deref(), Some("not ..."));
    }
}
