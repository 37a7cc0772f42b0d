//! Signatures of thinking that stand on other parts: on the first call of an answer, or on its last text.
//!
//! The vendor checks them for the calls after the last question, whatever stands before. They are bound to the generation
//! of models that made them, and to nothing else that is documented.

use turnkeep_model::{Block, Loss, LossKind, Session};

use super::FORMAT;
use crate::wire::repair::History;

/// The spellings of the field.
const KEYS: [&str; 2] = ["thoughtSignature", "thought_signature"];

/// Whether `model` can verify what `made_by` signed, as far as both are known.
pub(super) fn verifies(made_by: Option<&str>, model: &str) -> bool {
    match (made_by.and_then(generation), generation(model)) {
        (Some(made_by), Some(model)) => made_by == model,
        _ => true,
    }
}

/// Whether a block carries a signature. An empty text may: it stands for thinking that ended in nothing else.
pub(super) fn is_signed(block: &Block) -> bool {
    block.extra.fields(FORMAT).is_some_and(|fields| KEYS.iter().any(|key| fields.get_str(key).is_some()))
}

/// The number of a model's generation, as in `gemini-3-pro-preview`.
fn generation(model: &str) -> Option<u32> {
    let (_, rest) = model.rsplit_once("gemini-")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Takes away signatures that the model cannot verify, or another account was given.
pub(super) fn limit(history: &mut History, session: &Session, model: &str, account: Option<&str>) {
    for piece in &mut history.pieces {
        let turn = piece.from.and_then(|(turn, _)| session.turns.get(turn));
        let made_by = turn.and_then(|turn| turn.model.as_deref());
        let made_for = turn.and_then(|turn| turn.account.as_deref());
        let other_account = matches!((made_for, account), (Some(made_for), Some(account)) if made_for != account);
        if verifies(made_by, model) && !other_account {
            continue;
        }
        let at = piece.at(&format!("extra.{FORMAT}"));
        let fields = &mut piece.block.extra.part_mut(FORMAT).fields;
        if KEYS.iter().filter_map(|key| fields.remove(key)).count() > 0 {
            let what = "the signature can only be verified by the models and the account that made it";
            history.losses.push(Loss::encode(LossKind::Dropped, at, what));
        }
        piece.block.extra.tidy();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_verified_by_models_of_its_generation() {
        assert!(verifies(Some("gemini-3-pro-preview"), "models/gemini-3-flash-preview"));
        assert!(verifies(Some("gemini-2.5-pro"), "gemini-2.5-flash"));
        assert!(!verifies(Some("gemini-2.5-pro"), "gemini-3-pro-preview"));
        assert!(verifies(None, "gemini-3-pro-preview"));
        assert!(verifies(Some("tuned-model"), "gemini-3-pro-preview"));
    }
}
