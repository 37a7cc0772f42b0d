//! `markdown`: an export of any session that a person reads. It is written, never read.
//!
//! The sections and their order are those of the file that llm4s writes beside a session.

use std::borrow::Cow;

use turnkeep_model::json::{self, JsonSink, Layout, Sink};
use turnkeep_model::{
    Archive, Author, Block, Body, Error, ErrorKind, Loss, LossKind, Media, Part, Reasoning, Result, Session, Status,
    ToolCall, ToolResult, Usage, visible,
};

use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Keeps, Mode, Spec};
use crate::input::Input;
use crate::sniff::Guess;

/// `markdown`.
pub(super) struct MarkdownCodec;

impl Codec for MarkdownCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "markdown",
            title: "Markdown for people (write only)",
            variants: &[],
            extensions: &[".md"],
            reads: false,
            writes: true,
            fidelity: Fidelity {
                system_text: Keeps::Some,
                tools: Keeps::Some,
                reasoning: Keeps::Some,
                media: Keeps::Some,
                tool_ids: Keeps::Some,
                tool_errors: Keeps::Some,
                usage: Keeps::Some,
                status: Keeps::Some,
                timestamps: Keeps::Some,
                ..Fidelity::NOTHING
            },
        }
    }

    fn sniff(&self, _: &Input<'_>) -> Guess {
        Guess::no()
    }

    fn decode(&self, _: Input<'_>, _: &DecodeOptions) -> Result<Decoded> {
        Err(Error::new(ErrorKind::Unsupported, "Markdown is for people and is not read back")
            .hint("keep the session in another format too"))
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let mut page = Page { text: String::new(), mode: options.mode };
        let main = archive.main_session();
        let others = archive.sessions.iter().enumerate().filter(|(index, _)| *index != archive.main as usize);
        for session in main.into_iter().chain(others.map(|(_, session)| session)) {
            if !page.text.is_empty() {
                page.text.push_str("---\n\n");
            }
            page.session(session);
        }
        if options.mode == Mode::Faithful {
            page.text.truncate(page.text.trim_end().len());
            page.text.push('\n');
            // A person reads it in a terminal, too.
            page.text = visible(&page.text).into_owned();
        }
        let what = "it is text for people now, which cannot be read back";
        let losses = vec![Loss::encode(LossKind::Textified, "", what)];
        Ok(Encoded { bytes: page.text.into_bytes(), losses })
    }
}

struct Page {
    text: String,
    mode: Mode,
}

impl Page {
    fn session(&mut self, session: &Session) {
        self.head(session);
        self.text.push_str("# Agent Execution Trace\n\n");
        self.facts(&trace_facts(session, self.mode));
        self.text.push_str("## Conversation Flow\n\n");
        self.conversation(session);
        if !session.logs.is_empty() {
            self.logs(&session.logs);
        }
    }

    fn head(&mut self, session: &Session) {
        let title = session.title.as_deref().or(session.initial_query.as_deref().and_then(first_line));
        let title = title.filter(|_| self.mode == Mode::Faithful || session.title.is_some()).unwrap_or("Session");
        self.text.push_str(&format!("# {}\n\n", self.name(title)));
        let created = session.timing.created.as_ref().map(|time| readable_time(time.as_str()));
        let mut facts = vec![("Created", created.unwrap_or_else(|| "unknown".to_owned()))];
        facts.push(("Tools Available", tool_names(session, self.mode)));
        self.facts(&facts);
        self.text.push_str("---\n\n");
    }

    /// A name as it stands within a line. One with a line break in it could begin a heading of its own.
    fn name<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.mode {
            Mode::Faithful if text.contains(['\n', '\r']) => text
                .split(['\n', '\r'])
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
                .into(),
            Mode::Faithful | Mode::Compat => text.into(),
        }
    }

    /// Lines of a name and a value. The line break is a hard one, so that the lines stay apart when rendered.
    fn facts(&mut self, facts: &[(&str, String)]) {
        let end = if self.mode == Mode::Faithful { "  \n" } else { "\n" };
        for (index, (name, value)) in facts.iter().enumerate() {
            let end = if index + 1 == facts.len() { "\n" } else { end };
            self.text.push_str(&format!("**{name}:** {}{end}", self.name(value)));
        }
        self.text.push('\n');
    }

    fn conversation(&mut self, session: &Session) {
        let blocks = session.in_message_order();
        let one = |a: &(usize, usize, &Block), b: &(usize, usize, &Block)| {
            a.2.message.ordinal == b.2.message.ordinal && a.2.author == b.2.author
        };
        for (index, message) in blocks.chunk_by(one).enumerate() {
            let Some((turn, _, first)) = message.first() else { continue };
            let model = session.turns.get(*turn).and_then(|turn| turn.model.as_deref());
            self.step(index + 1, first, model.filter(|_| self.mode == Mode::Faithful && first.is_answer()));
            let bodies: Vec<&Body> = message.iter().map(|(_, _, block)| &block.body).collect();
            match first.author {
                Author::Assistant => self.answer(&bodies),
                Author::System => bodies.iter().for_each(|body| self.body(body, Quote::Fenced)),
                _ => bodies.iter().for_each(|body| self.body(body, Quote::Plain)),
            }
        }
    }

    fn step(&mut self, number: usize, first: &Block, model: Option<&str>) {
        let speaker = match (&first.author, &first.body) {
            (_, Body::ToolResult(_)) => "Tool Response".to_owned(),
            (Author::Tool, _) => "Tool Message".to_owned(),
            (author, _) => format!("{} Message", capitalised(author.as_str())),
        };
        let model = model.map(|model| format!(" ({})", self.name(model))).unwrap_or_default();
        self.text.push_str(&format!("### Step {number}: {}{model}\n\n", self.name(&speaker)));
    }

    fn answer(&mut self, bodies: &[&Body]) {
        let is_call = |body: &&Body| matches!(body, Body::ToolCall(_));
        let (calls, said): (Vec<&Body>, Vec<&Body>) = bodies.iter().copied().partition(is_call);
        let is_blank = |body: &&Body| body.as_text().is_some_and(|text| text.trim().is_empty());
        match said.iter().all(is_blank) {
            true => self.text.push_str("--NO CONTENT--\n\n"),
            false => said.iter().for_each(|body| self.body(body, Quote::Plain)),
        }
        if !calls.is_empty() {
            self.text.push_str("**Tool Calls:**\n\n");
            calls.iter().for_each(|body| self.body(body, Quote::Plain));
        }
    }

    fn body(&mut self, body: &Body, quote: Quote) {
        match body {
            Body::Text(text) if quote == Quote::Fenced => self.fenced("", &text.text),
            Body::Text(text) => self.paragraph(&text.text),
            Body::Reasoning(reasoning) => self.reasoning(reasoning),
            Body::ToolCall(call) => self.call(call),
            Body::ToolResult(result) => self.result(result),
            Body::Media(media) => self.paragraph(&self.name(&media_line(media))),
            Body::Summary(summary) => self.quoted(&format!("Summary of earlier turns\n\n{}", summary.text)),
            Body::Other { kind, raw } => {
                self.paragraph(&format!("*{}*", self.name(kind)));
                self.fenced("json", &raw.to_text());
            }
            _ => {}
        }
    }

    fn paragraph(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push_str("\n\n");
    }

    fn quoted(&mut self, text: &str) {
        let lines: Vec<String> = text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
        self.paragraph(&lines.join("\n"));
    }

    /// A fence that nothing in the text can close.
    fn fenced(&mut self, language: &str, text: &str) {
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
        let length = if self.mode == Mode::Faithful { longest.max(2) + 1 } else { 3 };
        let fence = "`".repeat(length);
        self.text.push_str(&format!("{fence}{language}\n{text}\n{fence}\n\n"));
    }

    fn reasoning(&mut self, reasoning: &Reasoning) {
        let shown =
            reasoning.text.iter().chain(&reasoning.summary).map(String::as_str).collect::<Vec<_>>().join("\n\n");
        let shown = if shown.is_empty() { "(not shown by the provider)" } else { &shown };
        self.quoted(&format!("*Thinking*\n\n{shown}"));
    }

    fn call(&mut self, call: &ToolCall) {
        self.text.push_str(&format!("Tool: **{}**\n\nArguments:\n", self.name(&call.name)));
        match (call.arguments_json(), self.mode) {
            (Some(json), Mode::Faithful) => {
                let mut sink = JsonSink::new(Layout::Pretty);
                sink.json(&json);
                self.fenced("json", &sink.into_text());
            }
            (Some(_), Mode::Compat) => self.fenced("json", &call.arguments),
            (None, _) => self.fenced("", &call.arguments),
        }
    }

    fn result(&mut self, result: &ToolResult) {
        self.text.push_str(&format!("Tool Call ID: `{}`\n\n", self.name(&result.call.to_string())));
        if let Some(error) = &result.error {
            self.paragraph(&format!("Error: {error}"));
        } else if result.is_error == Some(true) {
            self.paragraph("The tool reports an error.");
        }
        self.text.push_str("Result:\n");
        let shown = result.parts.iter().map(part_text).collect::<Vec<_>>().join("\n");
        let is_json = self.mode == Mode::Compat || json::parse(&shown).is_ok();
        self.fenced(if is_json { "json" } else { "" }, &shown);
    }

    fn logs(&mut self, logs: &[String]) {
        const SPEAKERS: [(&str, &str); 4] =
            [("[assistant]", "Assistant"), ("[tool]", "Tool Output"), ("[tools]", "Tools"), ("[system]", "System")];
        self.text.push_str("## Execution Logs\n\n");
        for (index, line) in logs.iter().enumerate() {
            let known = SPEAKERS.iter().find_map(|(mark, name)| Some((name, line.strip_prefix(mark)?)));
            let line = match known {
                Some((name, rest)) => format!("**{name}:** {}", rest.strip_prefix(' ').unwrap_or(rest)),
                None => line.clone(),
            };
            self.text.push_str(&format!("{}. {}\n", index + 1, self.name(&line)));
        }
    }
}

/// Whether a text stands as it is or fenced.
#[derive(Clone, Copy, PartialEq)]
enum Quote {
    Plain,
    Fenced,
}

fn trace_facts(session: &Session, mode: Mode) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    facts.extend(session.initial_query.clone().map(|query| ("Initial Query", query)));
    facts.extend(session.status.as_ref().map(|status| ("Status", status_words(status))));
    facts.push(("Tools Available", tool_names(session, mode)));
    facts.extend(usage_words(&session.usage).map(|usage| ("Usage", usage)));
    facts
}

fn tool_names(session: &Session, mode: Mode) -> String {
    let names = session.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ");
    if names.is_empty() && mode == Mode::Faithful { "none".to_owned() } else { names }
}

fn status_words(status: &Status) -> String {
    match status {
        Status::InProgress(_) => "InProgress".to_owned(),
        Status::WaitingForTools(_) => "WaitingForTools".to_owned(),
        Status::Completed(_) => "Complete".to_owned(),
        Status::Failed(failed) => format!("Failed({})", failed.error),
        Status::Handoff(handoff) => match &handoff.reason {
            Some(reason) => format!("HandoffRequested({}, {reason})", handoff.to),
            None => format!("HandoffRequested({})", handoff.to),
        },
        other => capitalised(&other.kind().replace('_', " ")),
    }
}

fn usage_words(usage: &Usage) -> Option<String> {
    let count = |count: Option<u64>, what: &str| count.map(|count| format!("{count} {what}"));
    let words: Vec<String> = [
        count(usage.requests, "requests"),
        count(usage.input, "tokens in"),
        count(usage.output, "tokens out"),
        count(usage.reasoning, "tokens of thinking"),
        usage.cost.as_ref().map(|cost| format!("cost {cost}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The time with a space for the `T`, to the second; what is no time stands as it is.
fn readable_time(text: &str) -> String {
    let (date, rest) = match text.split_once('T') {
        Some((date, rest)) if date.len() == 10 => (date, rest),
        _ => return text.to_owned(),
    };
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(rest.len());
    let (time, tail) = rest.split_at(digits);
    let zone = tail.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let seconds = if time.len() == 5 { ":00" } else { "" };
    format!("{date} {time}{seconds}{zone}")
}

fn media_line(media: &Media) -> String {
    let kind = media.media_type.as_deref().unwrap_or("media");
    let name = media.name.as_deref().or(media.file_id.as_deref());
    match (&media.url, name) {
        (Some(url), _) => format!("[{kind}]({url})"),
        (None, Some(name)) => format!("*[{kind}: {name}]*"),
        (None, None) => format!("*[{kind}]*"),
    }
}

fn part_text(part: &Part) -> String {
    match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        Part::Media(media) => media_line(media),
        other => format!("[{}]", other.kind()),
    }
}
