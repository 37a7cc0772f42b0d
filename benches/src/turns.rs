//! Turn documents in YAML: reading speed against PyYAML's C loader.

use std::fs;
use std::path::Path;

use turnkeep_codec::yaml::{self, Style};
use turnkeep_codec::{DecodeOptions, Input, format};
use turnkeep_model::{Author, Block, Body, Json, Object, Part};

use crate::python::Python;
use crate::race::{race, timed};
use crate::report::{Bound, Report, Row};
use crate::{Outcome, sessions};

const BYTES: usize = 3_000_000;
const ROUNDS: usize = 5;
const PARSE: &str = "YAML parse / PyYAML CSafeLoader, 3 MB";
const DECODE: &str = "turn document decode / PyYAML CSafeLoader, 3 MB";

/// Measures the parser alone, and the whole decoder.
pub(crate) fn speed(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let text = document();
    let file = scratch.join("turn.yaml");
    fs::write(&file, &text)?;
    let mut python = match Python::start(scratch, &file) {
        Ok(python) => python,
        Err(why) => {
            [PARSE, DECODE].into_iter().for_each(|name| report.skipped(name, &why.to_string()));
            return Ok(());
        }
    };
    let parsing = race(ROUNDS, || timed(|| yaml::parse(&text)), || python.load())?;
    report.measured(Row::speed(PARSE, parsing, Bound::AtLeast(1.0)));
    let codec = format::by_id("geppetto.turn")?;
    let decode = || codec.decode(Input::new(text.as_bytes()), &DecodeOptions::default());
    check(&decode()?.archive)?;
    let decoding = race(ROUNDS, || timed(decode), || python.load())?;
    report.measured(Row::speed(DECODE, decoding, Bound::AtLeast(1.0)));
    python.finish()
}

/// A decoder that reads nothing would be fast.
fn check(archive: &turnkeep_model::Archive) -> Outcome<()> {
    match archive.main_session() {
        Some(session) if session.blocks().count() > 0 => Ok(()),
        _ => Err("the turn document decodes to no block".into()),
    }
}

/// A turn document with the blocks of a long session.
fn document() -> String {
    let archive = sessions::archive(BYTES);
    let blocks = archive.sessions.iter().flat_map(turnkeep_model::Session::blocks).enumerate();
    let blocks: Vec<Json> = blocks.map(|(index, (_, block))| turn_block(index, block)).collect();
    let document: Object = [
        ("version", Json::from(1_u64)),
        ("id", Json::from("bench-turn")),
        ("run_id", Json::from("bench-run")),
        ("blocks", Json::from(blocks)),
        ("metadata", object([("provider", Json::from("anthropic"))])),
    ]
    .into_iter()
    .collect();
    yaml::write(&Json::Object(document), Style::Go)
}

fn turn_block(index: usize, block: &Block) -> Json {
    let (kind, payload) = match &block.body {
        Body::Reasoning(thinking) => {
            ("reasoning", object([("text", Json::from(thinking.text.clone().unwrap_or_default()))]))
        }
        Body::ToolCall(call) => (
            "tool_call",
            object([
                ("args", call.arguments_json().unwrap_or_default()),
                ("id", Json::from(call.call.to_string())),
                ("name", Json::from(call.name.as_str())),
            ]),
        ),
        Body::ToolResult(result) => {
            let answer = result.parts.iter().map(answer).next().unwrap_or_default();
            ("tool_use", object([("id", Json::from(result.call.to_string())), ("result", answer)]))
        }
        other => (text_kind(&block.author), object([("text", Json::from(other.as_text().unwrap_or_default()))])),
    };
    let mut pairs =
        object([("id", Json::from(format!("block-{index}"))), ("kind", Json::from(kind)), ("payload", payload)]);
    if let (Json::Object(pairs), "user" | "llm_text") = (&mut pairs, kind) {
        pairs.set("role", block.author.as_str());
    }
    pairs
}

fn text_kind(author: &Author) -> &'static str {
    if *author == Author::User { "user" } else { "llm_text" }
}

fn answer(part: &Part) -> Json {
    match part {
        Part::Text(text) => Json::from(text.text.as_str()),
        Part::Data(data) => data.json.clone(),
        _ => Json::Null,
    }
}

fn object<const N: usize>(pairs: [(&str, Json); N]) -> Json {
    Json::Object(pairs.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_yaml_of_some_size() {
        let text = document();

        let (node, _) = yaml::parse(&text).unwrap();

        assert!(text.len() > BYTES / 2, "{}", text.len());
        assert!(node.get("blocks").and_then(|blocks| blocks.as_array()).is_some_and(|blocks| blocks.len() > 1_000));
    }
}
