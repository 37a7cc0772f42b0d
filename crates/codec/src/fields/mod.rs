//! Objects of foreign documents, read field by field and written back as they were.
//!
//! A decoder moves what it understands into the model and has to give the rest back byte for byte: fields it does not
//! know, values of the wrong type, keys in an unusual order, keys that are missing. Every format needs that for every kind
//! of object, so it is done once, here.
//!
//! - A [`Form`] declares one kind of object: its keys in the order in which the program of the format writes them, and
//!   what stands under each when there is nothing to say ([`KeyRule`]).
//! - [`Fields`] reads an object. What is taken leaves it; what is not taken stays. A key that stands twice is not taken:
//!   nobody knows which of the two is meant.
//! - [`open`] does the same for the nodes of a parsed text, for decoders that say where an error stands.
//! - [`Writer`] writes an object: what the session says, then what the [`Extra`](turnkeep_model::Extra) of its node keeps, each
//!   in its place.
//!
//! **What is stored.** Leftovers stand in the extra's `fields`, those of an inner object under its key. Where the keys of a
//! source do not stand as the form says, one note keeps them: `order`, a JSON array of the keys as strings, and
//! `order.<key>` for an object inside. An array holds any key: with spaces, dots, quotes, half a surrogate pair, or twice.
//! Earlier versions spelled that note in five other ways; [`legacy`] reads them.
//!
//! **Invariant.** A reader and a writer with the same form agree on which order needs no note. Where a key is taken that
//! the form does not declare, nobody can tell where it would be written, so the order is noted.

mod form;
mod legacy;
mod open;
mod order;
mod read;
mod write;

pub(crate) use form::{Form, KeyRule, OTHERS, knows, optional, taken, taken_last};
pub(crate) use legacy::{follow_orders, note as order_note};
pub(crate) use open::{Opened, kept_pairs, open, open_by};
pub(crate) use order::{Places, in_order, keys_note, note_key, order_of};
pub(crate) use read::{Fields, is_text, plain_count};
pub(crate) use write::{Kept, Writer};

#[cfg(test)]
mod tests;
