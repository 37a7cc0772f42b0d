//! What decoders did not consume.

use proptest::prelude::*;
use proptest::{collection, sample};
use turnkeep_model::{Extra, ExtraPart, JsonString, Object};

use super::{json, object, rare};

/// Formats that keep fields of their own on a session.
const KEEPERS: &[&str] = &["geppetto.turn", "geppetto.fixture", "openai.chat", "llm4s.state"];

/// Formats whose notes on spelling nobody else reads.
const SPELLERS: &[&str] = &["openai.chat", "llm4s.state", "wink.snapshot"];

/// Leftovers of several formats; usually none.
pub fn extra() -> BoxedStrategy<Extra> {
    let foreign = (sample::select(KEEPERS), unknown_fields());
    let spelled = (sample::select(SPELLERS), object());
    (rare(foreign), rare(spelled), rare(unknown_fields()))
        .prop_map(|(foreign, spelled, native)| {
            let mut extra = Extra::NONE;
            if let Some((format, fields)) = foreign {
                extra.part_mut(format).fields = fields;
            }
            if let Some((format, spelling)) = spelled {
                extra.part_mut(format).spelling = spelling;
            }
            if let Some(fields) = native {
                *extra.part_mut("turnkeep") = ExtraPart { fields, ..ExtraPart::default() };
            }
            extra.tidy();
            extra
        })
        .boxed()
}

/// Fields whose names no version knows; sometimes one stands twice.
pub(super) fn unknown_fields() -> BoxedStrategy<Object> {
    let key = sample::select(&["x_new", "x_other", "x_new", "x_\u{2028}"][..]).prop_map(JsonString::from);
    collection::vec((key, json()), 1..3).prop_map(|pairs| pairs.into_iter().collect()).boxed()
}
