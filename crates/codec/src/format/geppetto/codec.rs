//! The two codecs.

use turnkeep_model::json::Object;
use turnkeep_model::{Archive, Loss, Result, Session};

use super::document::{Content, File, Turn};
use super::write::{self, WriteOptions};
use super::{FORMAT, compat, decode, encode, read, validate};
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Keeps, Mode, Spec};
use crate::input::{Document, Input};
use crate::lint::{Finding, Strictness};
use crate::loss_report;
use crate::sniff::Guess;

/// `geppetto.turn`: a turn, or a collection of turns.
pub(crate) struct TurnCodec;

/// `geppetto.fixture`: a turn and the blocks that a runner appends to it.
pub(crate) struct FixtureCodec;

pub(super) const FIDELITY: Fidelity = Fidelity {
    keys: Keeps::Nothing,
    system_text: Keeps::All,
    options: Keeps::Some,
    tools: Keeps::All,
    reasoning: Keeps::All,
    signatures: Keeps::Some,
    media: Keeps::Some,
    tool_ids: Keeps::All,
    tool_errors: Keeps::Some,
    usage: Keeps::Some,
    timing: Keeps::Some,
    status: Keeps::Nothing,
    slices: Keeps::Nothing,
    ids: Keeps::Some,
    timestamps: Keeps::Nothing,
};

impl Codec for TurnCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "geppetto.turn",
            title: "geppetto turn document",
            variants: &["yaml", "json"],
            extensions: &[".yaml", ".yml"],
            fidelity: FIDELITY,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        let Some(document) = input.object() else { return Guess::no() };
        if let Some(turns) = document.node.get("turns").and_then(|turns| turns.as_array()) {
            let all = !turns.is_empty() && turns.iter().all(has_blocks);
            return if all {
                Guess::certain("every item of `turns` has blocks with kinds").of("collection")
            } else {
                Guess::no()
            };
        }
        sniff_turn(&document.node)
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        read_file(input, options)
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let turns: Vec<Turn> = archive.sessions.iter().map(encode::turn).collect();
        let spelled = |key: &str| archive.extra.spelling(FORMAT, key).is_some();
        let unknown = archive.extra.fields(FORMAT).cloned().unwrap_or_default();
        let content = match <[Turn; 1]>::try_from(turns) {
            Ok([turn]) if !spelled("turns") => Content::Turn(turn),
            Ok([turn]) => Content::Turns(vec![turn]),
            Err(turns) => Content::Turns(turns.into_iter().map(without_version).collect()),
        };
        let version = matches!(content, Content::Turns(_)) && !spelled("no_version");
        let file = File { version: version.then_some(read::VERSION), content, unknown };
        finish(archive, file, options)
    }
}

/// In a collection the version stands at its root.
fn without_version(turn: Turn) -> Turn {
    Turn { version: None, ..turn }
}

impl Codec for FixtureCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "geppetto.fixture",
            title: "geppetto runner fixture",
            variants: &["yaml", "json"],
            extensions: &[".yaml", ".yml"],
            fidelity: FIDELITY,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        let Some(document) = input.object() else { return Guess::no() };
        let node = &document.node;
        match (node.get("turn"), node.get("followups").and_then(|list| list.as_array())) {
            (Some(turn), _) if has_blocks(turn) => Guess::certain("it has a `turn` with blocks"),
            (None, Some(blocks)) if blocks.iter().all(|block| block.get("kind").is_some()) => {
                Guess::certain("it has `followups` with kinds")
            }
            _ => Guess::no(),
        }
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        read_file(input, options)
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let empty = Session::default();
        let (turn, followups) = encode::fixture(archive.main_session().unwrap_or(&empty));
        let spelled = |key: &str| archive.extra.spelling(FORMAT, key).is_some();
        let file = File {
            version: (!spelled("no_version")).then_some(read::VERSION),
            content: Content::Fixture {
                turn: (!spelled("no_turn")).then_some(turn),
                followups: (!followups.is_empty() || spelled("followups")).then_some(followups),
            },
            unknown: archive.extra.fields(FORMAT).cloned().unwrap_or_default(),
        };
        finish(archive, file, options)
    }
}

fn has_blocks(node: &turnkeep_model::json::Node<'_>) -> bool {
    node.get("blocks").and_then(|blocks| blocks.as_array()).is_some()
}

fn sniff_turn(node: &turnkeep_model::json::Node<'_>) -> Guess {
    let Some(blocks) = node.get("blocks").and_then(|blocks| blocks.as_array()) else { return Guess::no() };
    let kinds = blocks.iter().filter(|block| block.get("kind").is_some()).count();
    if kinds > 0 && kinds == blocks.len() {
        return Guess::certain("its `blocks` have kinds").of(generation(node));
    }
    let known = |(key, _): &(turnkeep_model::json::Text<'_>, turnkeep_model::json::Node<'_>)| {
        matches!(&*key.to_str_lossy(), "version" | "id" | "run_id" | "blocks" | "metadata" | "data")
    };
    let fields = node.as_object().unwrap_or_default();
    if fields.iter().all(known) || kinds > 0 {
        Guess::likely("it has `blocks`").of(generation(node))
    } else {
        Guess::no()
    }
}

fn generation(node: &turnkeep_model::json::Node<'_>) -> &'static str {
    let typed = |key: &str| {
        let map = node.get(key).and_then(|map| map.as_object()).unwrap_or_default();
        map.iter().any(|(key, _)| key.to_str_lossy().contains("@v"))
    };
    let old = node.get("version").is_some() || node.get("run_id").is_some();
    match (old, typed("metadata") || typed("data")) {
        (true, _) => "2025, with version or run_id",
        (false, true) => "2026, with typed keys",
        (false, false) => "without typed keys",
    }
}

fn read_file(input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
    if options.mode == Mode::Compat {
        let file = compat::file(input.text()?)?;
        return Ok(archive_of(file, Vec::new()));
    }
    let Document { node, text, notes, .. } = input.into_document()?;
    let (file, losses) = read::file(node).map_err(|error| error.locate(text))?;
    Ok(archive_of(file, notes.losses().into_iter().chain(losses).collect()))
}

/// The sessions of a file.
fn archive_of(file: File, mut losses: Vec<Loss>) -> Decoded {
    let mut archive = Archive::default();
    let part = archive.extra.part_mut(FORMAT);
    let is_turn = matches!(file.content, Content::Turn(_));
    if file.version.is_none() && !is_turn {
        part.spelling.set("no_version", true);
    }
    part.fields = file.unknown;
    let mut add = |archive: &mut Archive, (session, lost): (Session, Vec<Loss>)| {
        archive.sessions.push(session);
        losses.extend(lost);
    };
    match file.content {
        Content::Turn(turn) => add(&mut archive, decode::session(turn)),
        Content::Turns(turns) => {
            let root = file.version.is_some();
            if turns.len() == 1 {
                archive.extra.part_mut(FORMAT).spelling.set("turns", true);
            }
            for mut turn in turns {
                // The version at the root stands for all; one in the turn itself is its own.
                let own = turn.version.take();
                turn.version = own.or(root.then_some(read::VERSION));
                add(&mut archive, decode::session(turn));
            }
        }
        Content::Fixture { turn, followups } => {
            let part = archive.extra.part_mut(FORMAT);
            if turn.is_none() {
                part.spelling.set("no_turn", true);
            }
            if followups.as_ref().is_some_and(Vec::is_empty) {
                part.spelling.set("followups", true);
            }
            add(&mut archive, decode::fixture(turn, followups.unwrap_or_default()));
        }
    }
    archive.extra.tidy();
    Decoded { archive, losses }
}

fn finish(archive: &Archive, file: File, options: &EncodeOptions) -> Result<Encoded> {
    let manner = WriteOptions { mode: options.mode, omit_data: options.omit_data };
    let mut found = as_written(file, manner);
    let text = match options.variant.as_deref() {
        Some("json") => {
            found = write::as_json(found);
            write::to_json(&found, manner)
        }
        _ => write::to_yaml(&found, manner),
    };
    let back = archive_of(found, Vec::new()).archive;
    let losses = loss_report::losses(archive, &back, "a geppetto turn document");
    Ok(Encoded { bytes: text.into_bytes(), losses })
}

/// The file as a reader would find it.
fn as_written(mut file: File, manner: WriteOptions) -> File {
    let strip = |turn: &mut Turn| {
        if manner.omit_data {
            turn.data = None;
        }
        if manner.mode == Mode::Compat {
            turn.version = None;
            turn.run_id = None;
            turn.unknown = Object::new();
        }
    };
    file.turns().for_each(strip);
    file
}

/// Checks a turn document against the rules of the specification.
///
/// # Errors
/// Where the bytes are unusable.
pub fn lint(input: Input<'_>, strictness: Strictness) -> Result<Vec<Finding>> {
    let Document { node, text, .. } = input.into_document()?;
    let (file, _) = read::file(node).map_err(|error| error.locate(text))?;
    Ok(validate::validate_file(&file, strictness, text))
}
