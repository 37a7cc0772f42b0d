//! Changes parts of a session in place, and tells them as the differences they are.
//!
//! An edit works on the native tree of a part, not on its fields: so it reaches every text there is, what sources kept beside
//! it included, and a field that is added later cannot be forgotten. The report is the difference of both trees.

use crate::block::{Block, Body};
use crate::diff::{Change, Order, diff_blocks, diff_parts};
use crate::error::Result;
use crate::extra::{Extra, NATIVE};
use crate::json::{Json, TreeSink};
use crate::loss::{Loss, LossKind};
use crate::session::{Session, Turn};
use crate::shape::{Shape, ShapeReader};

/// A change of the native trees that the parts of a session have.
pub(super) trait Edit {
    /// Whether a part may have to be changed: quick, and never wrongly no.
    fn concerns<T: Shape>(&self, part: &T) -> bool;

    /// Changes the tree of a part.
    fn tree(&mut self, tree: &mut Json);

    /// Why.
    fn why(&self) -> &'static str;
}

/// Whether the opaque parts of a block still hold after its body was changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opaque {
    /// They spoke of the body as it was: they go.
    Drop,
    /// The change was to them alone.
    Keep,
}

/// Changes every part of a session that the edit concerns.
pub(super) fn session(edit: &mut impl Edit, session: &mut Session, opaque: Opaque) -> Result<Vec<Loss>> {
    let mut losses = Vec::new();
    if !edit.concerns(session) {
        return Ok(losses);
    }
    let head = session.head();
    if let Some(changed) = part(edit, &head)? {
        tell(diff_parts(&head, &changed, ""), LossKind::Redacted, edit.why(), &mut losses);
        let turns = std::mem::take(&mut session.turns);
        *session = Session { turns, ..changed };
    }
    for (index, content) in session.turns.iter_mut().enumerate() {
        if edit.concerns(content) {
            turn(edit, content, &format!("turns[{index}]"), opaque, &mut losses)?;
        }
    }
    Ok(losses)
}

fn turn(edit: &mut impl Edit, turn: &mut Turn, at: &str, opaque: Opaque, losses: &mut Vec<Loss>) -> Result<()> {
    let head = turn.head();
    if let Some(changed) = part(edit, &head)? {
        tell(diff_parts(&head, &changed, at), LossKind::Redacted, edit.why(), losses);
        let blocks = std::mem::take(&mut turn.blocks);
        *turn = Turn { blocks, ..changed };
    }
    for (index, block) in turn.blocks.iter_mut().enumerate() {
        if let Some(mut changed) = part(edit, block)? {
            changed.message.ordinal = block.message.ordinal;
            replace(block, changed, &format!("{at}.blocks[{index}]"), opaque, (LossKind::Redacted, edit.why()), losses);
        }
    }
    Ok(())
}

/// The part as the edit leaves it, where it changes it.
fn part<T: Shape + PartialEq>(edit: &mut impl Edit, part: &T) -> Result<Option<T>> {
    if !edit.concerns(part) {
        return Ok(None);
    }
    let mut sink = TreeSink::default();
    part.write(&mut sink);
    let mut tree = sink.into_json();
    edit.tree(&mut tree);
    let changed = T::read(tree.to_node(), &mut ShapeReader::default())?;
    Ok((changed != *part).then_some(changed))
}

/// Puts another block in the place of one, and tells the differences.
pub(super) fn replace(
    block: &mut Block,
    mut changed: Block,
    at: &str,
    opaque: Opaque,
    (kind, why): (LossKind, &str),
    losses: &mut Vec<Loss>,
) {
    if opaque == Opaque::Drop && changed.body != block.body {
        invalidate(block, &mut changed);
    }
    let order = Order::default();
    tell(diff_blocks((block, order), (&changed, order), at), kind, why, losses);
    *block = changed;
}

/// Drops what spoke of a body as it was: what sources kept beside it, and what vendors signed.
fn invalidate(before: &Block, changed: &mut Block) {
    let formats: Vec<String> = changed.extra.parts().map(|(name, _)| name.to_owned()).collect();
    for format in formats.iter().filter(|format| *format != NATIVE) {
        changed.extra.remove(format);
    }
    if let (Body::Reasoning(before), Body::Reasoning(reasoning)) = (&before.body, &mut changed.body)
        && (before.text != reasoning.text || before.summary != reasoning.summary)
    {
        (reasoning.signature, reasoning.encrypted, reasoning.scope) = (None, None, None);
    }
}

/// Tells changes as losses: what is gone was invalid, the rest was changed on purpose.
fn tell(changes: Vec<Change>, kind: LossKind, why: &str, losses: &mut Vec<Loss>) {
    for change in changes {
        losses.push(match change.after {
            Some(_) => Loss::policy(kind, change.at, why),
            None => Loss::policy(LossKind::Dropped, change.at, "it spoke of content that was changed"),
        });
    }
}

/// Changes what stands around sessions.
pub(super) fn around(edit: &mut impl Edit, extra: &mut Extra) -> Result<Vec<Loss>> {
    let before = extra.clone();
    for (_, content) in extra.parts_mut() {
        if let Some(changed) = part(edit, content)? {
            *content = changed;
        }
    }
    let (mut changes, mut losses) = (Vec::new(), Vec::new());
    crate::diff::diff_extras(&before, extra, &mut changes);
    tell(changes, LossKind::Redacted, edit.why(), &mut losses);
    Ok(losses)
}

/// Whether the edit would change a tree.
pub(super) fn would_change(edit: &mut impl Edit, tree: &Json) -> bool {
    let mut changed = tree.clone();
    edit.tree(&mut changed);
    changed != *tree
}
