//! From a parsed text to turn documents.

use turnkeep_model::json::{Fields, Json, Node, Object, Text, Value};
use turnkeep_model::{Error, ErrorKind, Loss, LossKind, Result};

use super::document::{Block, Content, File, KIND_RAW, Kind, Turn};
use crate::fields::{kept_pairs, open};
use crate::yaml;

/// The newest `version` of turn documents.
pub(super) const VERSION: u64 = 1;

/// The keys of a turn.
const TURN: [&str; 6] = ["version", "id", "run_id", "blocks", "metadata", "data"];

/// The keys of a block.
const BLOCK: [&str; 5] = ["id", "kind", "role", "payload", "metadata"];

/// Reads a file, and says what it had to change.
pub(super) fn file(node: Node<'_>) -> Result<(File, Vec<Loss>)> {
    let mut reader = Reader { losses: Vec::new(), block: 0 };
    let file = reader.file(node)?;
    Ok((file, reader.losses))
}

struct Reader {
    losses: Vec<Loss>,
    block: usize,
}

impl Reader {
    fn file(&mut self, node: Node<'_>) -> Result<File> {
        let Some(fields) = pairs(node, "", "a turn document")? else {
            let empty = Turn { blocks: Some(Vec::new()), ..Turn::default() };
            return Ok(File { version: None, content: Content::Turn(empty), unknown: Object::new() });
        };
        let ([turns, turn, followups], fields) = self.open(fields, &["turns", "turn", "followups"], "");
        if turns.is_none() && turn.is_none() && followups.is_none() {
            let turn = self.turn_fields(fields, "")?;
            return Ok(File { version: None, content: Content::Turn(turn), unknown: Object::new() });
        }
        let ([version], fields) = self.open(fields, &["version"], "");
        let version = self.version(version, "")?;
        let unknown = kept_pairs(fields);
        if let Some(turns) = turns {
            let turns = items(turns, "turns")?;
            let read = |(index, node)| self.turn(node, &format!("turns[{index}]"));
            let turns = turns.into_iter().enumerate().map(read).collect::<Result<_>>()?;
            return Ok(File { version, content: Content::Turns(turns), unknown });
        }
        let turn = turn.map(|node| self.turn(node, "turn")).transpose()?;
        let followups = followups.map(|node| self.blocks(node, "followups")).transpose()?;
        Ok(File { version, content: Content::Fixture { turn, followups }, unknown })
    }

    /// Takes an object apart. YAML has no key twice, JSON may.
    fn open<'a, const N: usize>(
        &mut self,
        fields: Fields<'a>,
        keys: &[&'static str; N],
        at: &str,
    ) -> ([Option<Node<'a>>; N], Fields<'a>) {
        let opened = open(fields, keys);
        for key in opened.repeated {
            let what = format!("`{}` stands more than once; the last one counts", join(at, key));
            self.losses.push(Loss::decode(LossKind::Dropped, "", what));
        }
        (opened.slots, opened.rest)
    }

    fn turn(&mut self, node: Node<'_>, at: &str) -> Result<Turn> {
        match pairs(node, at, "a turn")? {
            Some(fields) => self.turn_fields(fields, at),
            None => Ok(Turn::default()),
        }
    }

    fn turn_fields(&mut self, fields: Fields<'_>, at: &str) -> Result<Turn> {
        let mut bare = Vec::new();
        let ([version, id, run_id, blocks, metadata, data], rest) = self.open(fields, &TURN, at);
        Ok(Turn {
            version: self.version(version, at)?,
            id: self.text(id, "id", at)?,
            run_id: self.text(run_id, "run_id", at)?,
            blocks: blocks.map(|node| self.blocks(node, &join(at, "blocks"))).transpose()?,
            metadata: self.map(metadata, "metadata", at, &mut bare)?,
            data: self.map(data, "data", at, &mut bare)?,
            unknown: {
                self.bare_in_unknown(&rest, &mut bare);
                kept_pairs(rest)
            },
            bare,
        })
    }

    fn blocks(&mut self, node: Node<'_>, at: &str) -> Result<Vec<Block>> {
        let read = |(index, node)| self.block(node, &format!("{at}[{index}]"));
        items(node, at)?.into_iter().enumerate().map(read).collect()
    }

    fn block(&mut self, node: Node<'_>, at: &str) -> Result<Block> {
        let place = node.at;
        let Some(fields) = pairs(node, at, "a block")? else {
            return Ok(Block { at: place, ..Block::default() });
        };
        let mut bare = Vec::new();
        let ([id, kind, role, payload, metadata], rest) = self.open(fields, &BLOCK, at);
        let role_at = role.as_ref().map_or(place, |role| role.at);
        let mut block = Block {
            id: self.text(id, "id", at)?,
            role: self.text(role, "role", at)?,
            payload: self.map(payload, "payload", at, &mut bare)?,
            metadata: self.map(metadata, "metadata", at, &mut bare)?,
            at: place,
            role_at,
            ..Block::default()
        };
        self.kind(&mut block, kind, at)?;
        self.bare_in_unknown(&rest, &mut bare);
        block.unknown = kept_pairs(rest);
        block.bare = bare;
        self.block += 1;
        Ok(block)
    }

    fn kind(&mut self, block: &mut Block, kind: Option<Node<'_>>, at: &str) -> Result<()> {
        let held = block.metadata.as_ref().and_then(|map| map.get_str(KIND_RAW)).map(std::borrow::Cow::into_owned);
        block.holds_kind_raw = block.metadata.as_ref().is_some_and(|map| map.contains(KIND_RAW));
        let Some(word) = self.text(kind, "kind", at)? else { return Ok(()) };
        let kind = Kind::from_word(&word);
        block.kind = Some(kind.unwrap_or(Kind::Other));
        block.raw_kind = match kind {
            None => Some(word),
            Some(Kind::Other) => held.filter(|held| Kind::from_word(held).is_none()),
            Some(kind) => {
                self.respelled(&word, kind);
                None
            }
        };
        if let (Some(raw), false) = (&block.raw_kind, block.holds_kind_raw) {
            block.metadata.get_or_insert_default().set(KIND_RAW, raw.as_str());
        }
        Ok(())
    }

    fn respelled(&mut self, word: &str, kind: Kind) {
        if word != kind.as_str() {
            let what = format!("the kind of block {} is spelled `{}`", self.block, kind.as_str());
            self.losses.push(Loss::decode(LossKind::Coerced, "", what));
        }
    }

    fn version(&mut self, node: Option<Node<'_>>, at: &str) -> Result<Option<u64>> {
        let Some(node) = node else { return Ok(None) };
        let path = join(at, "version");
        let place = node.at as usize;
        let number = match &node.value {
            Value::Null => return Ok(None),
            Value::Number(text) => text.parse::<u64>().ok(),
            _ => None,
        };
        match number {
            Some(version) if version <= VERSION => Ok(Some(version)),
            Some(version) => Err(Error::new(ErrorKind::Unsupported, format!("version {version} is not known here"))
                .path(path)
                .offset(place)
                .hint(format!("the newest version that can be read is {VERSION}; use a newer turnkeep"))),
            None => Err(wrong(&node, &path, "a whole number")),
        }
    }

    /// A text under `key`: any scalar is one, null is none.
    fn text(&mut self, node: Option<Node<'_>>, key: &str, at: &str) -> Result<Option<String>> {
        let Some(node) = node else { return Ok(None) };
        match node.value {
            Value::Null => Ok(None),
            Value::Bool(value) => Ok(Some(value.to_string())),
            Value::Number(text) => Ok(Some(text.into_owned())),
            Value::Text(text) => Ok(Some(self.string(text, &join(at, key)))),
            Value::Array(_) | Value::Object(_) => Err(wrong(&node, &join(at, key), "a text")),
        }
    }

    fn string(&mut self, text: Text<'_>, at: &str) -> String {
        let (text, verdict) = text.into_string_lossy();
        if let Err(lone) = verdict {
            self.losses.push(Loss::decode(
                LossKind::Coerced,
                "",
                format!("`{at}`: {lone}; U+FFFD stands in its place"),
            ));
        }
        text
    }

    fn map(&mut self, node: Option<Node<'_>>, key: &str, at: &str, bare: &mut Vec<String>) -> Result<Option<Object>> {
        let Some(node) = node else { return Ok(None) };
        self.find_bare(&node, &format!("/{key}"), bare);
        match node.value {
            Value::Null => Ok(None),
            Value::Object(_) => Ok(match node.into_json() {
                Json::Object(object) => Some(object),
                _ => None,
            }),
            _ => Err(wrong(&node, &join(at, key), "a map")),
        }
    }

    fn bare_in_unknown(&mut self, fields: &Fields<'_>, bare: &mut Vec<String>) {
        for (key, node) in fields {
            self.find_bare(node, &format!("/{}", pointer_step(&key.to_str_lossy())), bare);
        }
    }

    fn find_bare(&mut self, node: &Node<'_>, at: &str, bare: &mut Vec<String>) {
        match &node.value {
            Value::Text(Text::Bare(text)) => {
                if matches!(yaml::resolve_as_go(text), Json::Number(_)) {
                    let what = format!("the number at `{at}` has no JSON spelling and is kept as text");
                    self.losses.push(Loss::decode(LossKind::Coerced, "", what));
                }
                bare.push(at.to_owned());
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, item)| self.find_bare(item, &format!("{at}/{index}"), bare));
            }
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.find_bare(value, &format!("{at}/{}", pointer_step(&key.to_str_lossy())), bare);
                }
            }
            _ => {}
        }
    }
}

/// One step of a JSON pointer.
pub(super) fn pointer_step(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn join(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

/// The pairs of a map; null is none.
fn pairs<'a>(node: Node<'a>, at: &str, wanted: &str) -> Result<Option<Fields<'a>>> {
    match node.value {
        Value::Null => Ok(None),
        Value::Object(fields) => Ok(Some(fields)),
        _ => Err(wrong(&node, at, &format!("{wanted} (a map)"))),
    }
}

fn items<'a>(node: Node<'a>, at: &str) -> Result<Vec<Node<'a>>> {
    match node.value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items),
        _ => Err(wrong(&node, at, "a list")),
    }
}

fn wrong(node: &Node<'_>, at: &str, wanted: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("expected {wanted}, found {}", node.kind()))
        .path(at.to_owned())
        .offset(node.at as usize)
        .hint("correct the file, or name another format with --from")
}
