//! What a decoder did not consume, and how the source spelled things.

use crate::error::Result;
use crate::json::{Fields, Object, Sink, read_object, read_value};
use crate::shape::{FlatShape, Shape, ShapeReader, flat_shape};

/// What a decoder did not consume, plus source spelling, on the node where it stood, by format.
///
/// It is never a second copy of what was consumed. A format's encoder gives its own part back; other parts are
/// reported as lost when a session is written in another format.
#[derive(Debug, Clone, Default)]
#[expect(clippy::box_collection, reason = "every node has one, and most are empty: one word, not three")]
pub struct Extra(Option<Box<Vec<(String, ExtraPart)>>>);

/// The part of one format.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtraPart {
    /// Fields of the source that the model has no place for, verbatim.
    pub fields: Object,
    /// Notes of the decoder on how the source spelled what it consumed.
    pub spelling: Object,
    /// Fields that this version does not know.
    pub newer: Object,
}

flat_shape! { ExtraPart { fields: opt, spelling: opt } newer }

/// The format under which unknown fields of native documents are kept; they are written back where they stood.
pub(crate) const NATIVE: &str = "turnkeep";

impl Extra {
    /// Nothing extra.
    pub const NONE: Extra = Extra(None);

    /// The part of `format`, if there is one.
    pub fn part(&self, format: &str) -> Option<&ExtraPart> {
        self.parts().find(|(name, _)| *name == format).map(|(_, part)| part)
    }

    /// The part of `format`, made if need be.
    pub fn part_mut(&mut self, format: &str) -> &mut ExtraPart {
        let parts = self.0.get_or_insert_default();
        let at = parts.iter().position(|(name, _)| name == format).unwrap_or_else(|| {
            parts.push((format.to_owned(), ExtraPart::default()));
            parts.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the position was just found or pushed")]
        &mut parts[at].1
    }

    /// Keeps the part of `format`, if it holds something.
    pub fn keep(&mut self, format: &str, part: ExtraPart) {
        if part != ExtraPart::default() {
            *self.part_mut(format) = part;
        }
    }

    /// A note of `format` on how the source spelled something.
    pub fn spelling(&self, format: &str, key: &str) -> Option<&crate::json::Json> {
        self.part(format)?.spelling.get(key)
    }

    /// The unconsumed fields of `format`.
    pub fn fields(&self, format: &str) -> Option<&Object> {
        self.part(format).map(|part| &part.fields)
    }

    /// Every part with the format it is of.
    pub fn parts(&self) -> impl Iterator<Item = (&str, &ExtraPart)> {
        self.0.iter().flat_map(|parts| parts.iter()).map(|(name, part)| (name.as_str(), part))
    }

    /// Every part, changeable.
    pub fn parts_mut(&mut self) -> impl Iterator<Item = (&str, &mut ExtraPart)> {
        self.0.iter_mut().flat_map(|parts| parts.iter_mut()).map(|(name, part)| (name.as_str(), part))
    }

    /// Removes the part of `format`.
    pub fn remove(&mut self, format: &str) -> Option<ExtraPart> {
        let parts = self.0.as_mut()?;
        let at = parts.iter().position(|(name, _)| name == format)?;
        let (_, part) = parts.remove(at);
        self.tidy();
        Some(part)
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Drops parts that hold nothing, so that equal extras compare equal.
    pub fn tidy(&mut self) {
        if let Some(parts) = &mut self.0 {
            parts.retain(|(_, part)| *part != ExtraPart::default());
            if parts.is_empty() {
                self.0 = None;
            }
        }
    }

    pub(crate) fn write_fields<S: Sink>(&self, out: &mut S) {
        let foreign = || self.parts().filter(|(name, part)| *name != NATIVE && **part != ExtraPart::default());
        if foreign().next().is_some() {
            out.key("extra");
            out.begin_object();
            for (name, part) in foreign() {
                out.key(name);
                part.write(out);
            }
            out.end_object();
        }
        for (key, value) in self.fields(NATIVE).iter().flat_map(|fields| fields.iter()) {
            out.spelled_key(key);
            out.json(value);
        }
    }

    pub(crate) fn read_fields(rest: Fields<'_>, reading: &mut ShapeReader) -> Result<Extra> {
        let mut extra = Extra::NONE;
        for (key, node) in rest {
            if key.to_str_lossy() != "extra" {
                extra.part_mut(NATIVE).fields.push(key.into_json_string(), read_value(node));
                continue;
            }
            let parts = reading.within("extra", |reading| Shape::read(node, reading))?;
            merge(&mut extra, parts);
        }
        extra.tidy();
        Ok(extra)
    }
}

/// Parts that hold nothing do not count.
impl PartialEq for Extra {
    fn eq(&self, other: &Extra) -> bool {
        let real = |(_, part): &(&str, &ExtraPart)| **part != ExtraPart::default();
        self.parts().filter(real).eq(other.parts().filter(real))
    }
}

impl Eq for Extra {}

/// The field `extra` apart from the others.
pub(crate) fn split(fields: Fields<'_>) -> (Fields<'_>, Fields<'_>) {
    fields.into_iter().partition(|(key, _)| key.to_str_lossy() == "extra")
}

fn merge(extra: &mut Extra, parts: Vec<(String, ExtraPart)>) {
    for (name, part) in parts {
        *extra.part_mut(&name) = part;
    }
}

impl Shape for ExtraPart {
    fn write<S: Sink>(&self, out: &mut S) {
        out.begin_object();
        self.write_fields(out);
        for (key, value) in self.newer.iter() {
            out.spelled_key(key);
            out.json(value);
        }
        out.end_object();
    }

    fn read(node: crate::json::Node<'_>, reading: &mut ShapeReader) -> Result<ExtraPart> {
        let fields = reading.object(node)?;
        let (part, rest) = ExtraPart::read_fields(fields, reading)?;
        Ok(ExtraPart { newer: read_object(rest), ..part })
    }
}
