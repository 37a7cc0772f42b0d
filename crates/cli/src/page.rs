//! A conversation as a person reads it.

use std::borrow::Cow;
use std::fmt::Write;

use turnkeep_model::json::TreeSink;
use turnkeep_model::shape::Shape;
use turnkeep_model::{
    Author, Block, Body, Json, Media, Part, Reasoning, Session, Slice, Status, Time, ToolCall, ToolResult, Turn,
};

use crate::facts::{Answer, Calls, Facts, calls};
use crate::terminal::{BOLD, CYAN, DIM, GREEN, PLAIN, RED, Style, YELLOW, counted};
use crate::visible::{shortened, visible, visible_line};

/// A page that grows session by session, turn by turn, block by block.
pub(crate) struct Page {
    text: String,
    width: usize,
    results: Results,
    /// What is known of the session that is shown, and how many of its turns were shown.
    facts: Facts,
    shown: usize,
    /// The calls of the turn that is shown.
    calls: Calls,
}

/// How much of a tool's answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Results {
    /// Its first lines: what matters is mostly said around it.
    Short,
    /// All of it.
    Full,
}

/// How many lines of a tool's answer, and how many items of a slice, are shown.
const FIRST: usize = 12;

impl Page {
    /// An empty page.
    pub(crate) fn new(width: usize) -> Page {
        Page {
            text: String::new(),
            width,
            results: Results::Full,
            facts: Facts::default(),
            shown: 0,
            calls: Calls::new(),
        }
    }

    /// The same, with so much of the tools' answers.
    pub(crate) fn with_results(mut self, results: Results) -> Page {
        self.results = results;
        self
    }

    /// The whole page.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// What there is of the page since it was last taken.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// A remark of ours.
    pub(crate) fn note(&mut self, note: &str) {
        let _ = writeln!(self.text, "{DIM}{}{DIM:#}", visible_line(note));
    }

    /// A session: its head, then its turns.
    pub(crate) fn session(&mut self, session: &Session, note: &str) {
        self.begin(session, Facts::of(&session.turns), note);
        session.turns.iter().for_each(|turn| self.turn(turn));
        self.end(session);
    }

    /// The head of a session, whose turns come next, one by one.
    pub(crate) fn begin(&mut self, session: &Session, facts: Facts, note: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        (self.facts, self.shown) = (facts, 0);
        self.head(session, note);
    }

    /// What comes after the turns of a session.
    pub(crate) fn end(&mut self, session: &Session) {
        session.slices.iter().for_each(|slice| self.slice(slice));
    }

    fn head(&mut self, session: &Session, note: &str) {
        let id = session.id.as_ref().map_or("session without an id".to_owned(), |id| format!("session {id}"));
        let _ = writeln!(self.text, "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}", shortened(&id, self.width), visible_line(note));
        self.field("title", session.title.as_deref().unwrap_or_default());
        self.field("agent", session.agent.as_deref().unwrap_or_default());
        self.field("model", &self.facts.models());
        self.field("status", &session.status.as_ref().map(status).unwrap_or_default());
        self.field("usage", &settings(&session.usage));
        self.field("options", &settings(&session.options));
        self.field("tools", &session.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", "));
        self.field("updated", session.last_time().map(Time::as_str).unwrap_or_default());
        self.field("phase", &phase(session));
        self.field("parent", session.parent.as_ref().map(|parent| parent.session.as_str()).unwrap_or_default());
        let turns = counted(self.facts.turns, "turn", "turns");
        let blocks = counted(self.facts.blocks, "block", "blocks");
        let slices = counted(session.slices.len(), "slice", "slices");
        let slices = if session.slices.is_empty() { String::new() } else { format!(", {slices}") };
        self.field("holds", &format!("{turns}, {blocks}{slices}"));
    }

    fn field(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        let lines = textwrap::wrap(&visible_line(value), self.width.saturating_sub(11))
            .into_iter()
            .map(Cow::into_owned)
            .collect::<Vec<_>>();
        for (index, line) in lines.iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            let _ = writeln!(self.text, "  {DIM}{name:<8}{DIM:#} {line}");
        }
    }

    /// The next turn.
    pub(crate) fn turn(&mut self, turn: &Turn) {
        self.shown += 1;
        self.calls = calls(turn);
        let model = turn.model.as_deref().unwrap_or_default();
        let finish = turn.finish.as_ref().map(|finish| finish.reason.as_str()).unwrap_or_default();
        let usage = settings(&turn.usage);
        let facts: Vec<&str> = [model, finish, &usage].into_iter().filter(|fact| !fact.is_empty()).collect();
        self.heading(&format!("turn {}", self.shown), &facts.join(" · "));
        turn.blocks.iter().for_each(|block| self.block(block));
        if !turn.interrupted.is_empty() {
            self.line(2, "interrupted: this is what arrived; no model is told of it", RED);
            turn.interrupted.iter().for_each(|block| self.block(block));
        }
        for error in &turn.errors {
            self.paragraph(2, &format!("error: {}", error.message), RED);
        }
    }

    fn heading(&mut self, what: &str, facts: &str) {
        let facts = if facts.is_empty() { String::new() } else { format!("  {DIM}{}{DIM:#}", visible_line(facts)) };
        let _ = writeln!(self.text, "\n{BOLD}{}{BOLD:#}{facts}", visible_line(what));
    }

    /// Side-state of an application: an item a line.
    fn slice(&mut self, slice: &Slice) {
        let items = counted(slice.items.len(), "item", "items");
        let policy = slice.policy.as_ref().map(|policy| format!("{} · ", policy.as_str())).unwrap_or_default();
        self.heading(&format!("slice {}", slice.name), &format!("{policy}{items}"));
        for item in slice.items.iter().take(FIRST) {
            self.line(2, &item.to_text(), PLAIN);
        }
        self.more(2, slice.items.len(), ("item", "items"), "--json");
    }

    /// Says how many of `all` were not shown, and what shows them.
    fn more(&mut self, indent: usize, all: usize, (one, many): (&str, &str), flag: &str) {
        if all > FIRST {
            self.line(indent, &format!("… and {}; {flag} shows all", counted(all - FIRST, one, many)), DIM);
        }
    }

    fn block(&mut self, block: &Block) {
        match &block.body {
            Body::Text(text) => {
                self.label(block);
                self.paragraph(4, &text.text, PLAIN);
            }
            Body::Reasoning(reasoning) => self.reasoning(reasoning),
            Body::ToolCall(call) => self.call(call),
            Body::ToolResult(result) => self.result(result),
            Body::Media(media) => {
                self.label(block);
                self.paragraph(4, &described(media), DIM);
            }
            Body::Summary(summary) => {
                self.line(2, "summary of older turns", DIM);
                self.paragraph(4, &summary.text, PLAIN);
            }
            Body::Other { kind, raw } => {
                self.label(block);
                let shown = shortened(&format!("{kind} {raw}"), self.width.saturating_sub(6));
                self.paragraph(4, &format!("[{shown}]"), DIM);
            }
            // Bodies of newer versions.
            other => self.line(4, &format!("[{}]", other.kind()), DIM),
        }
    }

    fn label(&mut self, block: &Block) {
        let style = match block.author {
            Author::User => CYAN,
            Author::Assistant => GREEN,
            _ => YELLOW,
        };
        let name = block.message.name.iter().map(|name| format!(" ({name})")).collect::<String>();
        self.line(2, &format!("{}{name}", block.author), style);
    }

    fn reasoning(&mut self, reasoning: &Reasoning) {
        self.line(2, "thinking", DIM);
        let texts = reasoning.text.iter().chain(&reasoning.summary);
        texts.for_each(|text| self.paragraph(4, text, DIM));
        let opaque = [("signature", &reasoning.signature), ("encrypted", &reasoning.encrypted)];
        for (name, content) in opaque {
            if let Some(content) = content {
                self.line(
                    4,
                    &format!("[{name}, {}]", counted(content.chars().count(), "character", "characters")),
                    DIM,
                );
            }
        }
    }

    fn call(&mut self, call: &ToolCall) {
        let room = self.width.saturating_sub(call.name.chars().count() + 12).max(20);
        let text = format!("{}({})", shortened(&call.name, self.width), shortened(&call.arguments, room));
        let open = matches!(self.calls.get(&call.call), Some((_, Answer::Open)));
        let open = open && self.facts.tool_apart(&call.call).is_none();
        let note = if open { format!("  {DIM}no result yet{DIM:#}") } else { String::new() };
        let _ = writeln!(self.text, "  {YELLOW}call{YELLOW:#}  {text}{note}");
    }

    fn result(&mut self, result: &ToolResult) {
        let failed = result.is_error == Some(true) || result.error.is_some();
        let (word, style) = if failed { ("failed", RED) } else { ("result", DIM) };
        let called = self.calls.get(&result.call).map(|(name, _)| name);
        let called = called.or_else(|| self.facts.tool_apart(&result.call));
        let name = result.name.as_ref().or(called).map(|name| format!(" of {name}")).unwrap_or_default();
        self.line(4, &format!("{word}{name}"), style);
        if let Some(error) = &result.error {
            self.paragraph(6, error, RED);
        }
        for part in &result.parts {
            self.answer(&part_text(part));
        }
    }

    /// What a tool answered.
    fn answer(&mut self, text: &str) {
        let from = self.text.len();
        self.paragraph(6, text, PLAIN);
        let ends = self.text.get(from..).unwrap_or_default().match_indices('\n').map(|(at, _)| from + at + 1);
        let ends: Vec<usize> = ends.collect();
        if let (Results::Short, Some(end)) = (self.results, ends.get(FIRST - 1)) {
            self.text.truncate(*end);
            self.more(6, ends.len(), ("line", "lines"), "--full");
        }
    }

    fn line(&mut self, indent: usize, text: &str, style: Style) {
        let text = shortened(text, self.width.saturating_sub(indent));
        let _ = writeln!(self.text, "{:indent$}{style}{text}{style:#}", "");
    }

    fn paragraph(&mut self, indent: usize, text: &str, style: Style) {
        let text = visible(text).replace('\t', "    ");
        for line in textwrap::wrap(text.trim_end_matches('\n'), self.width.saturating_sub(indent)) {
            let space = if line.is_empty() { 0 } else { indent };
            let _ = writeln!(self.text, "{:space$}{style}{line}{style:#}", "");
        }
    }
}

/// Which snapshot of a turn store it is: a store holds several of the same session.
fn phase(session: &Session) -> String {
    let text = |key: &str| session.extra.fields("geppetto.store").and_then(|fields| fields.get_str(key));
    match (text("phase"), text("conv_id")) {
        (Some(phase), Some(conversation)) => format!("{phase} of {conversation}"),
        (None, Some(conversation)) => format!("none, of {conversation}"),
        (phase, None) => phase.map(Cow::into_owned).unwrap_or_default(),
    }
}

fn status(status: &Status) -> String {
    match status {
        Status::Failed(failed) if failed.error.is_empty() => "failed".to_owned(),
        Status::Failed(failed) => format!("failed: {}", failed.error),
        Status::Handoff(handoff) => format!("handoff to {}", handoff.to),
        other => other.kind().replace('_', " "),
    }
}

/// The fields that are set, as in `input 12, output 7`. What only the source knows is left out.
fn settings(value: &impl Shape) -> String {
    let mut sink = TreeSink::default();
    value.write(&mut sink);
    let Json::Object(fields) = sink.into_json() else {
        return String::new();
    };
    let known = fields.iter().filter(|(key, _)| key.to_str_lossy() != "extra");
    let pairs = known.map(|(key, value)| format!("{} {}", key.to_str_lossy().replace('_', " "), setting(value)));
    pairs.collect::<Vec<_>>().join(", ")
}

fn setting(value: &Json) -> String {
    match value {
        Json::Object(fields) => {
            let pairs = fields.iter().map(|(key, value)| format!("{} {}", key.to_str_lossy(), setting(value)));
            pairs.collect::<Vec<_>>().join(", ")
        }
        value => value.as_str().map_or_else(|| value.to_text(), Cow::into_owned),
    }
}

fn part_text(part: &Part) -> String {
    match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        Part::Media(media) => described(media),
        other => format!("[{}]", other.kind()),
    }
}

fn described(media: &Media) -> String {
    let kind = media.media_type.as_deref().unwrap_or("media");
    let inline = media.inline.as_ref().map(|data| format!("about {} bytes inline", data.len() / 4 * 3));
    let url = media.url.as_ref().map(|url| format!("at {}", shortened(url, 60)));
    let file = media.file_id.as_ref().map(|id| format!("file {id}"));
    let digest = media.digest.as_ref().map(|digest| format!("digest {digest}"));
    let facts = [media.name.clone(), inline, url, file, digest].into_iter().flatten();
    format!("[{}]", [kind.to_owned()].into_iter().chain(facts).collect::<Vec<_>>().join(", "))
}
