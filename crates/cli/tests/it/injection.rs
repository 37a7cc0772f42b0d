//! Nothing that a session, a file, a vendor or a configuration says reaches a terminal raw: every command is run on a
//! session in which every text is hostile.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use turnkeep_codec::{DecodeOptions, Input, format};
use turnkeep_model::{Json, Object, json};

use crate::place::{Place, Ran};
use crate::terminal::shown;

/// What a hostile name has: a window title, a colour of ours, a cleared screen, 8-bit controls, marks that are not drawn or
/// turn the text around, and a line of its own.
const NAME: &str = "\u{1b}]0;pwned\u{7}\u{1b}[31mEVIL\u{1b}[2J\u{8}\r\u{9b}31m\u{85}\u{61c}\u{200b}\u{200e}\u{2028}\u{2029}\
                    \u{202e}\u{2066}\u{feff}\u{ad}\u{e0041}\u{7f}\t\nFORGED";

/// What a hostile text has: it may have lines, and a tab in an answer is kept, for those who write it to a file.
const TEXT: &str = "\u{1b}]0;pwned\u{7}\u{1b}[31mEVIL\u{1b}[2J\u{8}\r\u{9b}31m\u{85}\u{61c}\u{200b}\u{200e}\u{2028}\u{2029}\
                    \u{202e}\u{2066}\u{feff}\u{ad}\u{e0041}\u{7f}\nmore";

/// What a command prints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prints {
    /// Something for a person, or JSON of its own: it is clean wherever it goes.
    Words,
    /// A document, which goes to a pipe as it is.
    Document,
}
use Prints::{Document, Words};

/// Every command, with the exit code where this test may rely on it. `{file}` is a file, `{all}` one with unknown kinds,
/// `{id}` and `{run}` are stored, `{pay}`, `{del}` and `{get}` calls of the latter, `{name}` is nothing that exists.
const COMMANDS: &[(&str, Prints, Option<i32>)] = &[
    ("demo --formats", Words, Some(0)),
    ("formats", Words, Some(0)),
    ("formats --json", Words, Some(0)),
    ("sniff {file}", Words, Some(0)),
    ("sniff {file} --json", Words, Some(0)),
    ("sniff {name}", Words, Some(4)),
    ("show {file}", Words, Some(0)),
    ("show {all} --full", Words, Some(0)),
    ("show {file} --json", Words, Some(0)),
    ("show {file} --window 1turns --redact secrets,tool_args --dry-run", Words, Some(0)),
    ("show {id} --expand --store {store}", Words, Some(0)),
    ("show {run} --ledger --store {store}", Words, Some(0)),
    ("show {run} --ledger --json --store {store}", Words, Some(0)),
    ("show {id} --ledger --store {store}", Words, Some(0)),
    ("show {name} --store {store}", Words, Some(4)),
    ("convert {file} --to turnkeep", Document, Some(0)),
    ("convert {all} --to turnkeep:pretty", Document, Some(0)),
    ("convert {file} --to turnkeep.yaml", Document, Some(0)),
    ("convert {file} --to turnkeep.jsonl", Document, Some(0)),
    ("convert {file} --to markdown", Document, Some(0)),
    ("convert {file} --to geppetto.turn", Document, None),
    ("convert {file} --to openai.chat --model {name}", Document, Some(0)),
    ("convert {file} --to anthropic.messages", Document, Some(0)),
    ("convert {file} --to markdown --dry-run", Words, Some(0)),
    ("convert {file} --to openai.chat --report - -o out.json", Words, Some(0)),
    ("convert {file} --to {name}", Words, Some(2)),
    ("convert {folder} --to markdown -o out/{name}", Words, None),
    ("diff {file} s.json", Words, Some(1)),
    ("diff {file} s.json --json", Words, Some(1)),
    ("diff {file} {name}", Words, Some(4)),
    ("lint {file} --for openai.chat", Words, None),
    ("lint {all} --for anthropic.messages --json", Words, None),
    ("lint {file} --for {name}", Words, Some(2)),
    ("repair {file} --for anthropic.messages", Document, None),
    ("repair {file} --for openai.chat --dry-run", Words, None),
    ("repair {all} --for gemini.contents --dry-run --json", Words, None),
    ("redact {file} --to turnkeep", Document, Some(0)),
    ("redact {file} --dry-run", Words, Some(0)),
    ("redact {file} --dry-run --json", Words, Some(0)),
    ("tokens {file}", Words, Some(0)),
    ("tokens {file} --json", Words, Some(0)),
    ("slim {file} --preset full", Document, Some(0)),
    ("slim {file} --preset full --dry-run", Words, Some(0)),
    ("slim {file} --preset full --dry-run --json", Words, Some(0)),
    ("condense {file} --keep 1 --dry-run", Words, None),
    ("condense {id} --dry-run --json --store {store}", Words, None),
    ("ls --store {store}", Words, Some(0)),
    ("ls --limit 1 --store {store}", Words, Some(0)),
    ("ls --json --store {store}", Words, Some(0)),
    ("search FORGED --store {store}", Words, Some(0)),
    ("search EVIL --json --store {store}", Words, Some(0)),
    ("tag {id} {name} --title {name} --meta {name}=1 --store {store}", Words, Some(0)),
    ("tag {id} --json --store {store}", Words, Some(0)),
    ("verify --store {store}", Words, Some(0)),
    ("verify {id} --json --store {store}", Words, Some(0)),
    ("du --store {store}", Words, Some(0)),
    ("du --json --store {store}", Words, Some(0)),
    ("import {file} --store {store}", Words, Some(0)),
    ("import {file} {name} --json --store {store}", Words, Some(4)),
    ("export {id} --store {store}", Document, Some(0)),
    ("export {run} --to markdown --store {store}", Document, Some(0)),
    ("export {id} --to turnkeep.yaml --store {store}", Document, Some(0)),
    ("export {id} --to openai.responses --dry-run --store {store}", Words, Some(0)),
    ("copy --store {store} --to-store sqlite:other.db", Words, Some(0)),
    ("copy {name} --store {store} --to-store sqlite:other.db --json", Words, None),
    ("tail {run} --store {store}", Words, Some(0)),
    ("tail {id} --envelopes full --store {store}", Words, Some(0)),
    ("tail {run} --envelopes debug --dialect released --old-names --redact secrets --store {store}", Words, Some(0)),
    ("events events.json --preset debug --session {name}", Words, Some(0)),
    ("events events.json --dialect released --json", Words, Some(0)),
    ("events {file}", Words, Some(6)),
    ("endpoints", Words, Some(1)),
    ("endpoints --json", Words, Some(1)),
    ("run {fixture} --endpoint scripted --script talk.yaml --out out/{name}", Words, None),
    ("run {fixture} --endpoint scripted --script refused.yaml --out out --json", Words, None),
    ("ask new Hi --script talk.yaml --tools tools.yaml --store {store}", Words, Some(8)),
    ("ask new Hi --script talk.yaml --tools tools.yaml --json --store {store}", Words, Some(8)),
    ("ask new Hi --script refused.yaml --store {store}", Words, Some(1)),
    ("ask new Hi --endpoint {name} --store {store}", Words, Some(4)),
    ("ask new Hi --endpoint scripted,scripted --script said.yaml --compare --store {store}", Words, Some(0)),
    ("chat --script talk.yaml --tools tools.yaml --store {store}", Words, Some(0)),
    ("resume {run} --store {store}", Words, None),
    ("resume {run} --json --store {store}", Words, None),
    ("approve {run} {del} --digest other --json --store {store}", Words, None),
    ("approve {run} {del} --store {store}", Words, None),
    ("deny {run} {get} --json --store {store}", Words, None),
    ("resolve {run} {pay} --skip --store {store}", Words, None),
    ("resolve {run} {name} --skip --json --store {store}", Words, None),
    ("fork {id} --store {store}", Words, Some(0)),
    ("fork {run} --as {name}-fork --json --store {store}", Words, None),
    ("erase {id} --text EVIL --store {store}", Words, None),
    ("erase {run} --text EVIL --json --store {store}", Words, None),
    ("gc --keep-count 1 --dry-run --store {store}", Words, Some(0)),
    ("gc --keep-count 1 --dry-run --json --store {store}", Words, Some(0)),
    ("rm {id} --store {store}", Words, None),
    ("rm {run} {name} --json --store {store}", Words, None),
    ("completions bash", Document, Some(0)),
    ("man", Document, Some(0)),
    ("man {name}", Words, Some(2)),
    ("help", Words, Some(0)),
    ("{name}", Words, Some(2)),
    ("serve --addr 192.0.2.1:1 --store {store}", Words, Some(2)),
    ("token new --name {name} --store {store}", Words, Some(0)),
    ("token ls --store {store}", Words, Some(0)),
    ("token rm {name} --store {store}", Words, Some(4)),
];

/// A run that died: one call may have acted, one waits for consent, one only reads. `@` stands for what is hostile.
const RUN: &str = r#"{"turnkeep":1,"journal":"run@"}
{"seq":1,"time":"2026-01-01T00:00:00.000Z","events":[{"type":"session.opened","session":{"title":"t@"}}]}
{"seq":2,"time":"2026-01-01T00:00:01.000Z","run":"r1@","events":[{"type":"run.started","run":{"id":"r1@"}},{"type":"endpoint.chosen","turn":0,"provider":"p@","model":"m@"},{"type":"turn.opened","turn":{"blocks":[{"author":"user","type":"text","text":"Do it.@"}]}},{"type":"model.asked","turn":0,"messages":1}]}
{"seq":6,"time":"2026-01-01T00:00:02.000Z","run":"r1@","events":[{"type":"block.added","turn":0,"block":{"author":"assistant","message":{"ordinal":1},"type":"tool_call","call":"pay@","name":"charge@","arguments":"{\"a@\":1}"}},{"type":"block.added","turn":0,"block":{"author":"assistant","message":{"ordinal":1},"type":"tool_call","call":"del@","name":"delete@","arguments":"no JSON@"}},{"type":"block.added","turn":0,"block":{"author":"assistant","message":{"ordinal":1},"type":"tool_call","call":"get@","name":"read@","arguments":"{}"}},{"type":"tool.intended","call":"pay@","effect":"once","key":"k@","attempt":1},{"type":"approval.asked","call":"del@","digest":"d1@","reason":"why@"},{"type":"tool.intended","call":"get@","effect":"pure","attempt":1}]}
"#;

/// Events of another program. `@` stands for what is hostile.
const EVENTS: &str = r#"{"event":"AgentStepStarted","data":{"agentId":"a@","executionId":"e@","step":1,"messages":1,"tools":0}}
{"event":"ToolCallStarted","data":{"executionId":"e@","tool":"act@","args":{"q@":"x@"},"toolCallId":"c@"}}
{"event":"ToolCallCompleted","data":{"executionId":"e@","tool":"act@","success":false,"error":"no@","result":"r@","toolCallId":"c@"}}
{"event":"AgentExecutionFailed","data":{"executionId":"e@","error":"broken@"}}
"#;

#[test]
fn no_command_lets_a_hostile_text_reach_the_terminal() {
    let stage = Stage::new();
    let mut failures = Vec::new();
    for (words, prints, code) in COMMANDS {
        let (text, ended) = shown(stage.command(words), "Hi\n/show\n/nonsense\n/quit\n");
        failures.extend(raw(&text, *prints).map(|what| format!("{words} on a terminal: {what} in {text:?}")));
        if code.is_some_and(|code| code != ended) || text.contains("panicked") {
            failures.push(format!("{words} ended with {ended}: {text}"));
        }
        let Ran { out, err, .. } = stage.piped(words);
        let piped = if *prints == Words { format!("{out}{err}") } else { err };
        failures.extend(raw(&piped, Words).map(|what| format!("{words} to a pipe: {what} in {piped:?}")));
    }
    assert!(failures.is_empty(), "{} of them:\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn every_command_is_tried_and_every_one_that_prints_json_does() {
    let place = Place::new();
    let tried = |flag: &str| -> BTreeSet<String> {
        let with = COMMANDS.iter().filter(|(words, ..)| words.contains(flag));
        with.filter_map(|(words, ..)| words.split(' ').next())
            .filter(|word| *word != "{name}")
            .map(str::to_owned)
            .collect()
    };
    let help = place.run("--help").ends(0).out;
    let listed = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let all: BTreeSet<String> = names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    let prints_json = |name: &&String| place.run(&format!("{name} --help")).out.contains("      --json");

    assert_eq!(tried(""), all);
    // `tail` prints nothing but JSON.
    let with_json: BTreeSet<String> = all.iter().filter(prints_json).filter(|name| *name != "tail").cloned().collect();
    assert_eq!(tried(" --json").iter().filter(|name| *name != "tail").cloned().collect::<BTreeSet<_>>(), with_json);
}

/// Whoever writes to a stream by other means goes around the filter.
#[test]
fn everything_is_printed_through_one_module() {
    let mut found = Vec::new();
    for (name, text) in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let ways = ["io::stdout()", "io::stderr()", "println!", "print!(", "eprint", "AutoStream"];
        // Progress has no words but our own; the editor only asks whether there is a terminal.
        if ways.iter().any(|way| text.contains(way))
            && !["terminal.rs", "progress.rs", "editor.rs"].contains(&name.as_str())
        {
            found.push(name);
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

fn sources(directory: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    let read = |entry: std::fs::DirEntry| {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if path.is_dir() { sources(&path) } else { vec![(name, std::fs::read_to_string(path).unwrap())] }
    };
    entries.flat_map(read).collect()
}

#[test]
fn json_that_is_printed_has_the_same_value() {
    let stage = Stage::new();
    let value = |text: &str| json::parse(text).unwrap().into_json();
    let kept = stage.place.text(&format!("s{NAME}.json"));

    let printed = stage.piped("show {file} --json").ends(0).out;

    assert_eq!(
        value(&printed),
        value(&stage.place.run_words(&["convert", &format!("s{NAME}.json"), "--to", "turnkeep:pretty"]).out)
    );
    assert!(value(&kept).to_text().contains('\u{202e}') && !printed.contains('\u{202e}'));
}

#[test]
fn a_document_goes_to_a_pipe_as_it_is_and_a_binary_one_to_no_terminal() {
    let stage = Stage::new();

    let piped = stage.piped("convert {file} --to turnkeep").ends(0).out;
    stage.piped("convert {file} --to turnkeep -o same.json").ends(0);
    let (text, code) = shown(stage.command("convert {file} --to turnkeep --compress"), "");

    assert_eq!(piped, stage.place.text("same.json"));
    assert!(piped.contains('\u{202e}'));
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("it is binary, and a terminal cannot show it; write it to a file"), "{text}");
}

/// The first character of a printed text that no terminal should be given, or a line that no command of ours printed. A
/// document has lines and tabs of its own.
fn raw(text: &str, prints: Prints) -> Option<String> {
    let mut ours = text.to_owned();
    for evil in ["\u{1b}[31mEVIL", "\u{1b}[31;1mEVIL"] {
        if ours.contains(evil) {
            return Some("a colour of a text".to_owned());
        }
    }
    // Our colours, those of the help, and the line that shows how far work has come.
    let codes = ["0", "1", "2", "4", "31", "32", "33", "36", "1;31", "1;36"];
    codes.iter().for_each(|code| ours = ours.replace(&format!("\u{1b}[{code}m"), ""));
    ours = ours.replace("\r\u{1b}[2K", "");
    for work in ["convert", "import", "verify", "copy", "rm", "index", "gc"] {
        ours = ours.replace(&format!("\r{work} "), "");
    }
    if prints == Words && ours.lines().any(|line| line.starts_with("FORGED")) {
        return Some("a line of a name".to_owned());
    }
    let hidden = |c: &char| {
        let marks = "\u{ad}\u{61c}\u{200b}\u{200e}\u{2028}\u{2029}\u{202e}\u{2066}\u{feff}\u{e0041}";
        let stays = *c == '\n' || (*c == '\t' && prints == Document);
        (c.is_control() && !stays) || marks.contains(*c)
    };
    ours.chars().find(hidden).map(|c| format!("{c:?}"))
}

/// A directory with hostile files, a hostile configuration, and a store of hostile sessions.
struct Stage {
    place: Place,
    id: String,
}

impl Stage {
    fn new() -> Stage {
        let (file, id) = hostile(&["type", "author"]);
        let (all, _) = hostile(&[]);
        let place = Place::new()
            .with(&format!("s{NAME}.json"), &file)
            .with("all.json", all)
            .with(&format!("folder{NAME}/s{NAME}.json"), file)
            .with(&format!("folder{NAME}/broken{NAME}.json"), "{")
            .with("run.turnkeep.jsonl", RUN.replace('@', &escaped(NAME)))
            .with(&format!("fixture{NAME}.json"), fixture())
            .with("turnkeep.toml", endpoints())
            .with("events.json", EVENTS.replace('@', &escaped(NAME)))
            .with("talk.yaml", script())
            .with("said.yaml", format!("turnkeep_script: 1\nanswers: [{}]\n", yaml(TEXT)))
            .with("refused.yaml", refused())
            .with("tools.yaml", tools());
        let stage = Stage { place, id };
        stage.piped("import {file} run.turnkeep.jsonl --store {store}").ends(0);
        stage
    }

    fn words(&self, words: &str) -> Vec<String> {
        let meant = [
            ("{file}", format!("s{NAME}.json")),
            ("{all}", "all.json".to_owned()),
            ("{folder}", format!("folder{NAME}")),
            ("{fixture}", format!("fixture{NAME}.json")),
            ("{store}", "sqlite:kept.db".to_owned()),
            ("{id}", self.id.clone()),
            ("{run}", format!("run{NAME}")),
            ("{pay}", format!("pay{NAME}")),
            ("{del}", format!("del{NAME}")),
            ("{get}", format!("get{NAME}")),
            ("{name}", format!("name{NAME}")),
        ];
        let one = |word: &str| meant.iter().fold(word.to_owned(), |word, (short, long)| word.replace(short, long));
        words.split(' ').map(one).collect()
    }

    fn command(&self, words: &str) -> Command {
        let mut command = self.place.command("");
        command.args(self.words(words)).env("TURNKEEP_CONFIG_HOME", self.place.path("none"));
        command
    }

    /// The same to a pipe, where somebody wants to see colours.
    fn piped(&self, words: &str) -> Ran {
        let mut command = self.command(words);
        command.env("CLICOLOR_FORCE", "1").stdin(Stdio::null());
        Ran::from(command.output().unwrap())
    }
}

fn escaped(text: &str) -> String {
    let text = Json::from(text).to_text();
    text[1..text.len() - 1].to_owned()
}

/// A session with every field there is, and in every text of it something hostile, but for those that `spared` keys hold
/// and those that nobody could read then. With it comes its id.
fn hostile(spared: &[&str]) -> (String, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/turnkeep/everything/input.json");
    let mut document = json::parse(&std::fs::read_to_string(path).unwrap()).unwrap().into_json();
    let mut spoiled = 0;
    for index in 0..strings(&mut document.clone(), spared, &mut |_| {}) {
        let mut tried = document.clone();
        let mut at = 0;
        strings(&mut tried, spared, &mut |text| {
            if at == index {
                *text = Json::from(format!("{}{NAME}", text.as_str().unwrap()));
            }
            at += 1;
        });
        if is_read(&tried) {
            document = tried;
            spoiled += 1;
        }
    }
    assert!(spoiled > 60, "only {spoiled} texts are hostile");
    let id = document.as_object().unwrap().get("sessions").unwrap().as_array().unwrap()[0].as_object().unwrap();
    let id = id.get_str("id").unwrap().into_owned();
    (document.to_text(), id)
}

fn is_read(document: &Json) -> bool {
    let codec = format::by_id("turnkeep").unwrap();
    codec.decode(Input::new(document.to_text().as_bytes()), &DecodeOptions::default()).is_ok()
}

/// Goes through the texts of a document, and counts them.
fn strings(json: &mut Json, spared: &[&str], each: &mut dyn FnMut(&mut Json)) -> usize {
    match json {
        Json::String(_) => {
            each(json);
            1
        }
        Json::Array(items) => items.iter_mut().map(|item| strings(item, spared, each)).sum(),
        Json::Object(object) => {
            let fields = object.iter_mut().filter(|(key, _)| !spared.iter().any(|spared| key.is(spared)));
            fields.map(|(_, value)| strings(value, spared, each)).sum()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    }
}

fn fixture() -> String {
    let block = Json::Object(Object::from_iter([
        ("author", Json::from("user")),
        ("type", Json::from("text")),
        ("text", Json::from(TEXT)),
    ]));
    format!(
        r#"{{"turnkeep":1,"sessions":[{{"id":"f{}","turns":[{{"blocks":[{}]}}]}}]}}"#,
        escaped(NAME),
        block.to_text()
    )
}

fn endpoints() -> String {
    let name = escaped(NAME).replace("\\u0008", "\\b");
    let astral = name.replace('\u{7f}', "\\u007f");
    format!(
        "[endpoint.\"e{astral}\"]\nprovider = \"openai\"\nmodel = \"m{astral}\"\nid = \"i{astral}\"\n\
         categories = [\"c{astral}\"]\nbase_url = \"http://127.0.0.1:1/{astral}\"\nkey = {{ env = \"NO{astral}\" }}\n"
    )
}

/// A vendor that thinks, answers and calls with hostile words.
fn script() -> String {
    let (name, text) = (yaml(&format!("tool{NAME}")), yaml(TEXT));
    let call = format!("{{name: {name}, id: {name}, arguments: {{a: {text}}}}}");
    format!(
        "turnkeep_script: 1\nmodel: {name}\nanswers:\n  - {{reasoning: {text}, text: {text}, calls: [{call}]}}\n  - {text}\n"
    )
}

fn refused() -> String {
    let (name, text) = (yaml(NAME), yaml(TEXT));
    format!("turnkeep_script: 1\nanswers:\n  - error: {{status: 400, message: {text}, class: {name}}}\n")
}

fn tools() -> String {
    format!("tools:\n  - {{name: {}, command: [cat], approve: true}}\n", yaml(&format!("tool{NAME}")))
}

/// A text in YAML, which takes few control characters as they are.
fn yaml(text: &str) -> String {
    let escaped = |c: char| if c.is_ascii_graphic() { c.to_string() } else { format!("\\U{:08x}", u32::from(c)) };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}
