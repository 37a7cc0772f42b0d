//! The public corpus: recorded streams, played byte for byte.

use std::path::PathBuf;

use turnkeep_codec::{DecodeOptions, Input, format};
use turnkeep_model::json::{Json, parse};
use turnkeep_provider::ProviderErrorKind;

use crate::kit::{self, WIRES};
use crate::server::{Play, Server};

/// The recorded streams of a wire: at most so many, spread over all of them.
const MOST: usize = 120;

fn streams(dialect: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let folder = PathBuf::from(std::env::var_os("TURNKEEP_CORPUS")?).join("providers");
    let mut files: Vec<_> = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut found = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")) {
        let text = std::fs::read_to_string(path).unwrap();
        let marked = [format!("\"dialect\": \"{dialect}\""), format!("\"dialect\":\"{dialect}\"")];
        let lines = text.lines().filter(|line| marked.iter().any(|mark| line.contains(mark.as_str())));
        for line in lines.filter(|line| line.contains("stream")) {
            let Json::Object(record) = parse(line).unwrap().into_json() else { continue };
            let is_stream = record.get_str("kind").is_some_and(|kind| kind == "stream");
            if let (true, Some(Json::String(body))) = (is_stream, record.get("body")) {
                let id = record.get_str("id").unwrap_or_default().into_owned();
                found.push((id, body.to_str_lossy().into_owned().into_bytes()));
            }
        }
    }
    let step = found.len().div_ceil(MOST).max(1);
    Some(found.into_iter().step_by(step).collect())
}

#[test]
fn recorded_streams_give_the_same_answer_over_a_connection() {
    let dialects = ["openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "bedrock-converse"];
    for ((wire, provider), dialect) in WIRES.iter().zip(dialects) {
        let Some(streams) = streams(dialect) else {
            println!("skipped: recorded_streams_give_the_same_answer_over_a_connection (TURNKEEP_CORPUS is not set)");
            return;
        };
        let (mut same, mut cut) = (0, Vec::new());
        for (id, stream) in streams {
            let decoded = format::by_id(wire).unwrap().decode(Input::new(&stream), &DecodeOptions::default());
            let Ok(decoded) = decoded else { continue };
            let expected = kit::answer_in(wire, &stream);
            // Recordings of frames and of lists are not in the form that they were sent in.
            let kind = if stream.starts_with(b"{") || stream.starts_with(b"[") {
                "application/json"
            } else {
                kit::content_type(wire)
            };
            let kind = if *wire == "ollama.chat" { kit::content_type(wire) } else { kind };
            let server = Server::new([Play::new(200, kind, stream).in_pieces(1000)]);
            let model = kit::model(provider, &server.url).with_wire(wire).unwrap();
            match kit::asked(&model) {
                Ok(answer) => {
                    assert_eq!(answer.blocks.len(), expected.blocks.len(), "{wire} {id}");
                    assert_eq!((answer.finish, answer.usage), (expected.finish, expected.usage), "{wire} {id}");
                    same += 1;
                }
                Err(error) if matches!(error.kind, ProviderErrorKind::Cut | ProviderErrorKind::StreamError) => {
                    cut.push((id, decoded.losses.len()));
                }
                Err(error) => panic!("{wire} {id}: {error}"),
            }
        }
        println!("{wire}: {same} streams read, {} broken off: {cut:?}", cut.len());
    }
}
