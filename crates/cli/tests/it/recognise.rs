//! What a file is taken for, through every command that reads one.

use crate::place::Place;

const ANTHROPIC: &str = "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":9,\"system\":\"Be brief.\",\"messages\":[{\"role\":\"user\",\"content\":\"hi there\"}]}\n";
const AMBIGUOUS: &str =
    "{\"model\":\"my-own\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}\n";
const CLAUDE_CODE: &str = "{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s\",\"isSidechain\":false,\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";

fn place() -> Place {
    let place = Place::new().with("a.json", ANTHROPIC).with("amb.json", AMBIGUOUS).with("cc.jsonl", CLAUDE_CODE);
    place.with("foo.json", "{\"foo\":1}\n").with("list.json", "[{\"role\":\"user\",\"content\":\"hi there\"}]\n")
}

#[test]
fn a_compact_request_is_converted_with_what_it_says() {
    let ran = place().run("convert a.json --to openai.chat").ends(0);

    assert!(ran.out.contains("hi there") && ran.out.contains("Be brief."), "{ran:#?}");
}

#[test]
fn a_file_of_a_known_system_is_refused_by_name_by_every_command() {
    let commands = [
        "sniff cc.jsonl",
        "show cc.jsonl",
        "convert cc.jsonl --to turnkeep",
        "lint cc.jsonl --for anthropic.messages",
        "repair cc.jsonl --for anthropic.messages",
        "tokens cc.jsonl",
        "slim cc.jsonl --preset minimal",
        "redact cc.jsonl --redact secrets --dry-run",
        "diff cc.jsonl a.json",
    ];
    for words in commands {
        place().run(words).ends(6).says("cc.jsonl: it is a Claude Code session; this version cannot read it yet");
    }
}

#[test]
fn ambiguity_is_said_by_every_command_and_in_json() {
    let commands = [
        "sniff amb.json --json",
        "lint amb.json --for openai.chat --json",
        "repair amb.json --for openai.chat --dry-run --json",
        "tokens amb.json --json",
        "slim amb.json --preset minimal --dry-run --json",
        "diff amb.json amb.json --json",
    ];
    for words in commands {
        let ran = place().run(words);
        let told: String = ran.out.split_whitespace().collect();
        assert!(told.contains(r#""ambiguous":["anthropic.messages"]"#), "{words}: {ran:#?}");
        let said = "ambiguous: amb.json is read as openai.chat; it may just as well be anthropic.messages";
        assert!(words.starts_with("sniff") || ran.err.contains(said), "{words}: {ran:#?}");
    }
    let place = place();
    let ran = place.run("convert amb.json --to turnkeep -o t.json --report r.json").ends(0);
    assert!(ran.err.contains("ambiguous: amb.json is read as openai.chat"), "{ran:#?}");
    assert!(place.text("r.json").contains("\"ambiguous\""), "{}", place.text("r.json"));
    assert!(place.run("show amb.json").ends(0).err.contains("ambiguous: "));
}

#[test]
fn a_format_that_is_named_is_checked() {
    for format in
        ["openai.chat", "anthropic.messages", "gemini.contents", "llm4s.state", "cognesy.slim", "wink.snapshot"]
    {
        for words in ["show foo.json", "convert foo.json --to turnkeep", "lint foo.json --for openai.chat"] {
            let ran = place().run(&format!("{words} --from {format}")).ends(6);
            let said = format!("error: foo.json: this is no {format}: expected that ");
            assert!(ran.err.starts_with(&said) && ran.err.contains("found an object with `foo`"), "{ran:#?}");
        }
    }
    place().run("show a.json --from gemini.contents").ends(6);
}

#[test]
fn a_bare_list_is_read_as_the_wire_that_is_named() {
    let ran = place().run("convert list.json --from openai.chat --to anthropic.messages").ends(0);

    assert!(ran.out.contains("hi there"), "{ran:#?}");
    assert!(ran.err.contains("a bare list was read as the `messages` of a request"), "{ran:#?}");
}
