//! How values of the model are written natively and read back.
//!
//! A shape is declared once, as a list of fields; writing, reading, omission of absent fields and survival of unknown
//! ones follow from it. It is not serde, because a stored type has to keep unknown fields and number spellings, which
//! `flatten` and `untagged` do not.

mod basic;
pub(crate) mod macros;
mod reader;

pub(crate) use macros::{flat_shape, shape, string_enum, tagged};
pub use reader::ShapeReader;

use crate::error::Result;
use crate::json::{Fields, Node, Sink};

/// A value with a native shape.
pub trait Shape: Sized {
    /// Writes the value.
    fn write<S: Sink>(&self, out: &mut S);

    /// Reads the value.
    ///
    /// # Errors
    /// `Corrupt`, with the path, where the node has another shape.
    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Self>;

    /// Whether an optional field with this value is left out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// A value that is written as some of the fields of an object.
pub trait FlatShape: Sized {
    /// The names of its fields.
    const FIELDS: &'static [&'static str] = &[];

    /// Writes the fields.
    fn write_fields<S: Sink>(&self, out: &mut S);

    /// Takes its fields and gives back the rest.
    ///
    /// # Errors
    /// `Corrupt`, with the path, where a field is missing or has another shape.
    fn read_fields<'a>(fields: Fields<'a>, reading: &mut ShapeReader) -> Result<(Self, Fields<'a>)>;
}
