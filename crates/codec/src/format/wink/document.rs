//! Snapshots as values, checked as the original's untyped reader checks them.

use turnkeep_model::json::{Fields, Node, Object, Text, Value};
use turnkeep_model::{Error, ErrorKind, Loss, LossKind, Result};

use super::python::{self, Pairs, Part};
use crate::fields::{Opened, kept_pairs, open};
use crate::tree;

/// The version that every release wrote so far.
pub(super) const VERSION: &str = "1";

/// The keys of a snapshot.
const SNAPSHOT: [&str; 7] = ["version", "created_at", "parent_id", "children_ids", "slices", "tags", "policies"];

/// The keys of a slice.
const ENTRY: [&str; 3] = ["slice_type", "item_type", "items"];

/// A snapshot of a session. What may be missing in older releases is `None` where it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Snapshot<'a> {
    pub version: String,
    pub created_at: String,
    pub parent_id: Option<Option<String>>,
    pub children_ids: Option<Vec<String>>,
    pub slices: Option<Vec<Entry<'a>>>,
    pub tags: Option<Vec<(String, String)>>,
    pub policies: Option<Vec<(String, String)>>,
    pub unknown: Object,
}

/// One slice of a snapshot.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Entry<'a> {
    pub slice_type: String,
    pub item_type: String,
    pub items: Option<Vec<Node<'a>>>,
    pub unknown: Object,
}

/// Reads a snapshot; an error's words are the original's.
pub(super) fn read<'a>(node: Node<'a>, losses: &mut Vec<Loss>) -> Result<Snapshot<'a>> {
    Reader { losses }.snapshot(node)
}

struct Reader<'l> {
    losses: &'l mut Vec<Loss>,
}

impl Reader<'_> {
    fn snapshot<'a>(&mut self, node: Node<'a>) -> Result<Snapshot<'a>> {
        let at = node.at;
        let fields = self.object(node, "").ok_or_else(|| refuse("Snapshot payload must be an object", "", at))?;
        let Opened { slots, rest, .. } = open(fields, &SNAPSHOT);
        let [version, created_at, parent_id, children_ids, slices, tags, policies] = slots;
        let missing = |key: &str| refuse(&format!("Snapshot {key} must be a string"), key, at);
        let version = version.ok_or_else(|| missing("version"))?;
        let version = self.string(version, "version", "Snapshot version must be a string")?;
        let created_at = created_at.ok_or_else(|| missing("created_at"))?;
        let created_at = self.string(created_at, "created_at", "Snapshot created_at must be a string")?;
        let parent_id = parent_id.map(|node| self.parent(node)).transpose()?;
        let children_ids = children_ids.map(|node| self.children(node)).transpose()?;
        let slices = slices.map(|node| self.slices(node)).transpose()?;
        let tags = tags.map(|node| self.tags(node)).transpose()?;
        let policies = policies.map(|node| self.policies(node)).transpose()?;
        let unknown = kept_pairs(rest);
        Ok(Snapshot { version, created_at, parent_id, children_ids, slices, tags, policies, unknown })
    }

    fn parent(&mut self, node: Node<'_>) -> Result<Option<String>> {
        match node.value {
            Value::Null => Ok(None),
            _ => self.string(node, "parent_id", "Snapshot parent_id must be a string").map(Some),
        }
    }

    fn children(&mut self, node: Node<'_>) -> Result<Vec<String>> {
        let children = array(node, "children_ids", "Snapshot children_ids must be a list")?;
        let child = |(index, child)| {
            self.string(child, &format!("children_ids[{index}]"), "Snapshot children_ids entries must be strings")
        };
        children.into_iter().enumerate().map(child).collect()
    }

    fn slices<'a>(&mut self, node: Node<'a>) -> Result<Vec<Entry<'a>>> {
        let entries = array(node, "slices", "Snapshot slices must be a list")?;
        entries.into_iter().enumerate().map(|(index, entry)| self.slice(index, entry)).collect()
    }

    fn slice<'a>(&mut self, index: usize, node: Node<'a>) -> Result<Entry<'a>> {
        const TYPES: &str = "Slice type identifiers must be strings";
        let (path, at) = (format!("slices[{index}]"), node.at);
        let fields = self.object(node, &path).ok_or_else(|| refuse("Slice entry must be an object", &path, at))?;
        let Opened { slots: [slice_type, item_type, items], rest, .. } = open(fields, &ENTRY);
        let mut type_of = |key: &str, node: Option<Node<'a>>| {
            let place = format!("{path}.{key}");
            self.string(node.ok_or_else(|| refuse(TYPES, &place, at))?, &place, TYPES)
        };
        let slice_type = type_of("slice_type", slice_type)?;
        let item_type = type_of("item_type", item_type)?;
        let items = items.map(|node| items_of(node, &path)).transpose()?;
        Ok(Entry { slice_type, item_type, items, unknown: kept_pairs(rest) })
    }

    fn tags(&mut self, node: Node<'_>) -> Result<Vec<(String, String)>> {
        let at = node.at;
        let tags = self.object(node, "tags").ok_or_else(|| refuse("Snapshot tags must be an object", "tags", at))?;
        let tag = |(key, node): (Text<'_>, Node<'_>)| {
            let key = self.text(key, "tags");
            let place = format!("tags.{key}");
            Ok((key, self.string(node, &place, "Snapshot tags must be string key/value pairs")?))
        };
        tags.into_iter().map(tag).collect()
    }

    fn policies(&mut self, node: Node<'_>) -> Result<Vec<(String, String)>> {
        let at = node.at;
        let pairs = self.object(node, "policies");
        let pairs = pairs.ok_or_else(|| refuse("Snapshot policies must be an object", "policies", at))?;
        let policy = |(key, node): (Text<'_>, Node<'_>)| {
            let key = self.text(key, "policies");
            let (place, at) = (format!("policies.{key}"), node.at);
            let word = self.string(node, &place, "Snapshot policy values must be strings")?;
            match word.as_str() {
                "state" | "log" => Ok((key, word)),
                _ => Err(refuse("Snapshot policy value is invalid", &place, at)),
            }
        };
        pairs.into_iter().map(policy).collect()
    }

    /// The pairs of an object; of keys that stand twice the last counts.
    fn object<'a>(&mut self, node: Node<'a>, path: &str) -> Option<Fields<'a>> {
        let Value::Object(mut fields) = node.value else { return None };
        let mut seen: Vec<String> = Vec::with_capacity(fields.len());
        let mut keep: Vec<bool> = Vec::with_capacity(fields.len());
        for (key, _) in fields.iter().rev() {
            let key = key.to_str_lossy().into_owned();
            keep.push(!seen.contains(&key));
            seen.push(key);
        }
        if keep.contains(&false) {
            let what = "a key stands more than once; the last one counts";
            self.losses.push(Loss::decode(LossKind::Repaired, path, what));
            let mut keep = keep.into_iter().rev();
            fields.retain(|_| keep.next().unwrap_or(true));
        }
        Some(fields)
    }

    fn string(&mut self, node: Node<'_>, path: &str, words: &str) -> Result<String> {
        match node.value {
            Value::Text(text) => Ok(self.text(text, path)),
            _ => Err(refuse(words, path, node.at)),
        }
    }

    fn text(&mut self, text: Text<'_>, path: &str) -> String {
        let (text, verdict) = text.into_string_lossy();
        if verdict.is_err() {
            self.losses.push(Loss::decode(LossKind::Coerced, path, "half of a surrogate pair became U+FFFD"));
        }
        text
    }
}

fn items_of<'a>(node: Node<'a>, path: &str) -> Result<Vec<Node<'a>>> {
    let items = array(node, &format!("{path}.items"), "Slice items must be a list")?;
    match items.iter().enumerate().find(|(_, item)| !item.is_object()) {
        None => Ok(items),
        Some((index, item)) => Err(refuse("Slice items must be objects", &format!("{path}.items[{index}]"), item.at)),
    }
}

fn array<'a>(node: Node<'a>, path: &str, words: &str) -> Result<Vec<Node<'a>>> {
    match node.value {
        Value::Array(items) => Ok(items),
        _ => Err(refuse(words, path, node.at)),
    }
}

/// The original's refusal, with the place and what to do.
pub(super) fn refuse(words: &str, path: &str, at: u32) -> Error {
    Error::new(ErrorKind::Corrupt, words)
        .path(path)
        .offset(at as usize)
        .hint("put the value right there, or restore the file from the program that wrote it")
}

impl<'a> Snapshot<'a> {
    /// The pairs of the snapshot as it is written.
    pub(super) fn pairs(&'a self) -> Pairs<'a> {
        let mut pairs = kept(&self.unknown, &SNAPSHOT);
        let mut push = |key: &'static str, value: Node<'a>| pairs.push((Text::Plain(key), Part::Own(value)));
        push("created_at", tree::text(&self.created_at));
        push("version", tree::text(&self.version));
        if let Some(children) = &self.children_ids {
            push("children_ids", tree::array(children.iter().map(|child| tree::text(child))));
        }
        if let Some(parent) = &self.parent_id {
            push("parent_id", parent.as_deref().map_or_else(tree::null, tree::text));
        }
        if let Some(policies) = &self.policies {
            push("policies", map(policies));
        }
        if let Some(tags) = &self.tags {
            push("tags", map(tags));
        }
        if let Some(slices) = &self.slices {
            pairs.push((Text::Plain("slices"), Part::Objects(slices.iter().map(Entry::pairs).collect())));
        }
        pairs
    }

    /// The text of the snapshot.
    pub(super) fn write(&'a self, out: &mut String) {
        python::append_pairs(self.pairs(), out);
    }
}

impl<'a> Entry<'a> {
    fn pairs(&'a self) -> Pairs<'a> {
        let mut pairs = kept(&self.unknown, &ENTRY);
        pairs.push((Text::Plain("item_type"), Part::Own(tree::text(&self.item_type))));
        pairs.push((Text::Plain("slice_type"), Part::Own(tree::text(&self.slice_type))));
        if let Some(items) = &self.items {
            pairs.push((Text::Plain("items"), Part::List(items)));
        }
        pairs
    }
}

fn map(pairs: &[(String, String)]) -> Node<'_> {
    tree::object(pairs.iter().map(|(key, value)| (Text::Plain(key), tree::text(value))).collect())
}

/// Unknown fields, to be written among the known ones: one that has the name of a known one is not.
pub(super) fn kept<'a>(unknown: &'a Object, known: &[&str]) -> Pairs<'a> {
    let fields = unknown.iter().filter(|(key, _)| !known.contains(&&*key.to_str_lossy()));
    fields.map(|(key, value)| (key.to_text(), Part::Own(value.to_node()))).collect()
}
