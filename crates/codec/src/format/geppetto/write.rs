//! From turn documents to a text.

use turnkeep_model::json::{Json, JsonSink, JsonString, Layout, Object, Sink};

use super::document::{Block, Content, File, KIND_RAW, Kind, Turn};
use super::read::pointer_step;
use crate::codec::Mode;
use crate::yaml::{self, Style, YamlSink};

/// How turn documents are written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WriteOptions {
    /// As well as can be, or as geppetto does.
    pub(super) mode: Mode,
    /// Whether `data` is left out.
    pub(super) omit_data: bool,
}

/// The file as YAML.
pub(super) fn to_yaml(file: &File, manner: WriteOptions) -> String {
    let style = if manner.mode == Mode::Compat { Style::Go } else { Style::Readable };
    let mut sink = YamlSink::new(style);
    write_file(file, manner, &mut sink);
    sink.into_text()
}

/// The file as JSON can hold it.
pub(super) fn as_json(mut file: File) -> File {
    file.turns().for_each(turn_in_json);
    if let Content::Fixture { followups: Some(followups), .. } = &mut file.content {
        followups.iter_mut().for_each(block_in_json);
    }
    file
}

/// What JSON cannot say: that a text stands unquoted, and numbers that are not finite.
fn turn_in_json(turn: &mut Turn) {
    turn.bare.clear();
    let maps = [turn.metadata.as_mut(), turn.data.as_mut(), Some(&mut turn.unknown)];
    maps.into_iter().flatten().for_each(quote_non_finite);
    turn.blocks.iter_mut().flatten().for_each(block_in_json);
}

fn block_in_json(block: &mut Block) {
    block.bare.clear();
    let maps = [block.payload.as_mut(), block.metadata.as_mut(), Some(&mut block.unknown)];
    maps.into_iter().flatten().for_each(quote_non_finite);
}

fn quote_non_finite(map: &mut Object) {
    map.iter_mut().for_each(|(_, value)| quote(value));
}

fn quote(value: &mut Json) {
    match value {
        Json::Number(number) if !number.is_json() => *value = Json::from(number.as_str()),
        Json::Array(items) => items.iter_mut().for_each(quote),
        Json::Object(map) => quote_non_finite(map),
        _ => {}
    }
}

/// The file as JSON.
pub(super) fn to_json(file: &File, manner: WriteOptions) -> String {
    let mut sink = JsonSink::new(Layout::Pretty);
    write_file(file, manner, &mut sink);
    let mut text = sink.into_text();
    text.push('\n');
    text
}

fn write_file<S: Sink>(file: &File, manner: WriteOptions, out: &mut S) {
    let writer = Writer { manner };
    match &file.content {
        Content::Turn(turn) => writer.turn(turn, out),
        Content::Turns(turns) => writer.root(file, out, |out| {
            out.key("turns");
            out.begin_array();
            turns.iter().for_each(|turn| writer.turn(turn, out));
            out.end_array();
        }),
        Content::Fixture { turn, followups } => writer.root(file, out, |out| {
            if let Some(turn) = turn {
                out.key("turn");
                writer.turn(turn, out);
            }
            if let Some(followups) = followups {
                out.key("followups");
                writer.blocks(followups, out);
            }
        }),
    }
}

struct Writer {
    manner: WriteOptions,
}

impl Writer {
    fn faithful(&self) -> bool {
        self.manner.mode == Mode::Faithful
    }

    fn root<S: Sink>(&self, file: &File, out: &mut S, content: impl FnOnce(&mut S)) {
        out.begin_object();
        self.version(file.version, out);
        content(out);
        self.pairs(&file.unknown, "", &[], out);
        out.end_object();
    }

    fn version<S: Sink>(&self, version: Option<u64>, out: &mut S) {
        if let (Some(version), true) = (version, self.faithful()) {
            out.key("version");
            out.number(&version.to_string());
        }
    }

    fn turn<S: Sink>(&self, turn: &Turn, out: &mut S) {
        out.begin_object();
        self.version(turn.version, out);
        text("id", turn.id.as_deref(), out);
        if self.faithful() {
            text("run_id", turn.run_id.as_deref(), out);
        }
        if turn.blocks.is_some() || !self.faithful() {
            out.key("blocks");
            self.blocks(turn.blocks(), out);
        }
        self.map("metadata", turn.metadata.as_ref(), &turn.bare, out);
        if !self.manner.omit_data {
            self.map("data", turn.data.as_ref(), &turn.bare, out);
        }
        if self.faithful() {
            self.pairs(&turn.unknown, "", &turn.bare, out);
        }
        out.end_object();
    }

    fn blocks<S: Sink>(&self, blocks: &[Block], out: &mut S) {
        out.begin_array();
        blocks.iter().for_each(|block| self.block(block, out));
        out.end_array();
    }

    fn block<S: Sink>(&self, block: &Block, out: &mut S) {
        out.begin_object();
        text("id", block.id.as_deref(), out);
        self.kind(block, out);
        text("role", block.role.as_deref(), out);
        self.map("payload", block.payload.as_ref(), &block.bare, out);
        self.map("metadata", own_metadata(block).as_ref(), &block.bare, out);
        if self.faithful() {
            self.pairs(&block.unknown, "", &block.bare, out);
        }
        out.end_object();
    }

    fn kind<S: Sink>(&self, block: &Block, out: &mut S) {
        let kind = match (&block.raw_kind, block.kind) {
            (Some(raw), _) if self.faithful() => Some(raw.as_str()),
            (_, Some(kind)) => Some(kind.as_str()),
            (_, None) if self.faithful() => None,
            (_, None) => Some(Kind::User.as_str()),
        };
        if let Some(kind) = kind {
            out.key("kind");
            out.text(kind);
        }
    }

    fn map<S: Sink>(&self, key: &str, map: Option<&Object>, bare: &[String], out: &mut S) {
        let Some(map) = map else { return };
        if map.is_empty() && !self.faithful() {
            return;
        }
        out.key(key);
        self.object(map, &format!("/{key}"), bare, out);
    }

    fn object<S: Sink>(&self, object: &Object, at: &str, bare: &[String], out: &mut S) {
        if object.has_duplicates() {
            return out.json(&Json::Object(object.clone()));
        }
        out.begin_object();
        self.pairs(object, at, bare, out);
        out.end_object();
    }

    fn pairs<S: Sink>(&self, object: &Object, at: &str, bare: &[String], out: &mut S) {
        for (key, value) in self.sorted(object) {
            out.spelled_key(key);
            let below =
                if bare.is_empty() { String::new() } else { format!("{at}/{}", pointer_step(&key.to_str_lossy())) };
            self.value(value, &below, bare, out);
        }
    }

    fn sorted<'a>(&self, object: &'a Object) -> Vec<(&'a JsonString, &'a Json)> {
        let mut pairs: Vec<_> = object.iter().collect();
        pairs.sort_by(|(a, _), (b, _)| {
            let (a, b) = (a.to_str_lossy(), b.to_str_lossy());
            if self.faithful() { a.cmp(&b) } else { yaml::natural_order(&a, &b) }
        });
        pairs
    }

    fn value<S: Sink>(&self, value: &Json, at: &str, bare: &[String], out: &mut S) {
        match value {
            Json::Object(object) => self.object(object, at, bare, out),
            Json::Array(items) => {
                out.begin_array();
                for (index, item) in items.iter().enumerate() {
                    let below = if bare.is_empty() { String::new() } else { format!("{at}/{index}") };
                    self.value(item, &below, bare, out);
                }
                out.end_array();
            }
            Json::String(text) if bare.iter().any(|place| place == at) && yaml::is_bare(&text.to_str_lossy()) => {
                out.bare(&text.to_str_lossy());
            }
            scalar => out.json(scalar),
        }
    }
}

fn text<S: Sink>(key: &str, value: Option<&str>, out: &mut S) {
    if let Some(value) = value {
        out.key(key);
        out.text(value);
    }
}

/// The metadata without the raw kind that reading put there.
fn own_metadata(block: &Block) -> Option<Object> {
    let mut metadata = block.metadata.clone()?;
    if !block.holds_kind_raw && metadata.remove(KIND_RAW).is_some() && metadata.is_empty() {
        return None;
    }
    Some(metadata)
}
