//! Steps that make a history valid for this wire, beside those of every wire.

use turnkeep_model::json::Json;
use turnkeep_model::{
    Author, Block, Body, Effort, ItemId, Loss, LossKind, Media, Part, Reasoning, Session, Text, ToolResult, Turn,
};

use super::next::RequestTarget;
use super::{FORMAT, item, part};
use crate::models::Thinks;
use crate::wire::prefix::is_of_other_account;
use crate::wire::repair::{History, INTERRUPTED, Piece, Sends, speaker};

/// Gives every block an author that the wire knows.
pub(super) fn authors(history: &mut History) {
    for piece in &mut history.pieces {
        let author = speaker(&piece.block);
        let keeps_own = item::is_whole(&piece.block);
        if piece.block.author != author && !keeps_own {
            let what = format!("only {author} can say it here");
            history.losses.push(Loss::encode(LossKind::Coerced, piece.at("author"), what));
            piece.block.author = author;
        }
        type_text(&mut piece.block);
    }
}

/// Text has the type that goes with its author.
fn type_text(block: &mut Block) {
    let kind = block.extra.spelling(FORMAT, "type").and_then(Json::as_str);
    let fits = match (&block.author, kind.as_deref()) {
        (_, None) => true,
        (Author::Assistant, Some(kind)) => matches!(kind, "output_text" | "refusal"),
        (_, Some(kind)) => kind == "input_text",
    };
    if matches!(block.body, Body::Text(_)) && !fits {
        block.extra.part_mut(FORMAT).spelling.remove("type");
        block.extra.tidy();
    }
}

/// Drops thinking without an id: the vendor's types know none.
pub(super) fn nameless_thinking(history: &mut History) {
    let losses = &mut history.losses;
    history.pieces.retain(|piece| {
        let nameless = matches!(piece.block.body, Body::Reasoning(_)) && piece.block.item_id.is_none();
        if nameless {
            losses.push(Loss::encode(LossKind::Dropped, piece.at(""), "thinking has an id with this vendor"));
        }
        !nameless
    });
}

/// Makes summaries text, and drops what only another system or vendor knows.
pub(super) fn bodies(history: &mut History, aim: &RequestTarget) {
    let losses = &mut history.losses;
    history.pieces.retain_mut(|piece| {
        let is_own = aim.is_home && item::is_whole(&piece.block);
        match &mut piece.block.body {
            Body::Summary(summary) => {
                let text = std::mem::take(&mut summary.text);
                piece.block.body = Text { text }.into();
                losses.push(Loss::encode(LossKind::Textified, piece.at("type"), "a summary is sent as text"));
                true
            }
            Body::Other { .. } if !is_own => {
                losses.push(Loss::encode(LossKind::Dropped, piece.at(""), "only the system it came from knows it"));
                false
            }
            _ => true,
        }
    });
}

/// A file that is sent needs a name.
pub(super) fn name_files(history: &mut History) {
    for piece in &mut history.pieces {
        let at = piece.at("name");
        let named = match &mut piece.block.body {
            Body::Media(media) => name_file(media),
            Body::ToolResult(result) => {
                result.parts.iter_mut().for_each(name_part);
                false
            }
            _ => false,
        };
        if named {
            history.losses.push(Loss::encode(LossKind::Synthesised, at, "a file must have a name"));
        }
    }
}

/// An image says how closely it is looked at, in the vendor's words; `auto` is what it means to say nothing.
pub(super) fn detail_images(history: &mut History) {
    const DETAILS: &[&str] = &["auto", "low", "high", "original"];
    let settle = |media: &mut Media| {
        let known = media.detail.as_deref().is_some_and(|detail| DETAILS.contains(&detail));
        let is_image = part::usual_media_type(media) == "input_image";
        media.detail = is_image.then(|| media.detail.take().filter(|_| known).unwrap_or_else(|| "auto".to_owned()));
        is_image && !known
    };
    for piece in &mut history.pieces {
        let made_up = match &mut piece.block.body {
            Body::Media(media) => settle(media),
            Body::ToolResult(result) => {
                for part in &mut result.parts {
                    if let Part::Media(media) = part {
                        settle(media);
                    }
                }
                false
            }
            _ => false,
        };
        if made_up {
            let at = piece.at("detail");
            history.losses.push(Loss::encode(LossKind::Synthesised, at, "an image says how it is looked at"));
        }
    }
}

fn name_part(part: &mut Part) {
    if let Part::Media(media) = part {
        name_file(media);
    }
}

fn name_file(media: &mut Media) -> bool {
    let needs = part::usual_media_type(media) == "input_file" && media.inline.is_some() && media.name.is_none();
    if needs {
        let ending = media.media_type.as_deref().and_then(|kind| kind.rsplit(['/', '+', '.']).next()).unwrap_or("bin");
        media.name = Some(format!("file.{ending}"));
    }
    needs
}

/// Says in words what the wire has no field for: that a result is an error, and values that are not text.
pub(super) fn results(history: &mut History) {
    for piece in &mut history.pieces {
        if let Body::ToolResult(result) = &mut piece.block.body {
            result.parts.iter_mut().for_each(in_words);
            tell_error(result);
        }
    }
}

fn in_words(part: &mut Part) {
    let text = match part {
        Part::Data(data) => data.json.to_text(),
        Part::Other { kind, raw } if !kind.starts_with("input_") => Json::Object(raw.clone()).to_text(),
        _ => return,
    };
    *part = Text { text }.into();
}

fn tell_error(result: &mut ToolResult) {
    let told = match (&result.error, result.is_error) {
        (Some(error), _) => format!("Error: {error}"),
        (None, Some(true)) => "Error: ".to_owned(),
        (None, _) => return,
    };
    match result.parts.first_mut() {
        Some(Part::Text(first)) if result.error.is_none() => first.text.insert_str(0, &told),
        _ => result.parts.insert(0, Text { text: told }.into()),
    }
}

/// Counts an answer as one message, so that its calls stay together: here each item has a place of its own.
pub(super) fn answers_together(history: &mut History) {
    let mut before: Option<(usize, u32)> = None;
    for piece in &mut history.pieces {
        let turn = piece.from.map(|(turn, _)| turn).filter(|_| piece.block.is_answer());
        before = match (turn, before) {
            (Some(turn), Some((same, ordinal))) if turn == same => {
                piece.block.message.ordinal = ordinal;
                before
            }
            (Some(turn), _) => Some((turn, piece.block.message.ordinal)),
            (None, _) => None,
        };
    }
}

/// Puts the calls of an answer after its words, for vendors that want nothing between calls and their outputs.
pub(super) fn calls_last(history: &mut History) {
    let same = |a: &Piece, b: &Piece| {
        a.block.is_answer() && b.block.is_answer() && a.block.message.ordinal == b.block.message.ordinal
    };
    for answer in history.pieces.chunk_by_mut(same) {
        answer.sort_by_key(|piece| matches!(piece.block.body, Body::ToolCall(_)));
    }
}

/// What of some thinking can be sent: all of it where it was made, if it can be verified there; a reasoning item cannot
/// be made up.
pub(super) fn sends(reasoning: &Reasoning, turn: Option<&Turn>, aim: &RequestTarget) -> Sends {
    let made_by = reasoning.scope.as_ref().and_then(|scope| scope.provider.as_deref());
    let made_by = made_by.or_else(|| turn.and_then(|turn| turn.provider.as_deref()));
    let is_home = made_by.is_some_and(|made_by| made_by == aim.provider)
        && !is_of_other_account(reasoning, turn, aim.account.as_deref());
    let is_stored = aim.is_home && aim.keeps_items;
    match (&reasoning.encrypted, is_home) {
        (Some(_), true) => Sends::Whole,
        (None, true) if is_stored => Sends::Whole,
        _ => Sends::Nothing,
    }
}

/// Gives calls without a result an honest one, where the vendor holds items that results may answer.
pub(super) fn close_calls(history: &mut History) {
    let results = history.pieces.iter().filter_map(|piece| match &piece.block.body {
        Body::ToolResult(result) => Some(result.call.clone()),
        _ => None,
    });
    let answered: std::collections::HashSet<_> = results.collect();
    let open = history.pieces.iter().filter_map(|piece| match &piece.block.body {
        Body::ToolCall(call) if !answered.contains(&call.call) => Some(call.call.clone()),
        _ => None,
    });
    let made = open.map(|call| {
        let parts = vec![Text { text: INTERRUPTED.to_owned() }.into()];
        let result = ToolResult { call, name: None, parts, error: None, is_error: None, outcome: None };
        Piece { from: None, block: Block::new(Author::Tool, result) }
    });
    let made: Vec<_> = made.collect();
    history.pieces.extend(made);
}

/// Keeps the ids of items only where their vendor gave them and is asked again.
pub(super) fn item_ids(history: &mut History, session: &Session, aim: &RequestTarget) {
    for piece in &mut history.pieces {
        let turn = piece.from.and_then(|(turn, _)| session.turns.get(turn));
        let is_own = aim.is_home || turn.is_some_and(|turn| turn.provider.as_deref() == Some(&aim.provider));
        let is_kind = piece.block.item_id.as_ref().is_none_or(|id| is_id_of(&piece.block, id, aim));
        if (!is_own || !is_kind) && piece.block.item_id.take().is_some() {
            let what = "only the vendor that gave it knows it";
            history.losses.push(Loss::encode(LossKind::Dropped, piece.at("item_id"), what));
        }
    }
}

/// Ids tell what they name; some vendors insist on it.
fn is_id_of(block: &Block, id: &ItemId, aim: &RequestTarget) -> bool {
    let starts = match &block.body {
        Body::Reasoning(_) => "rs",
        Body::ToolCall(_) if block.extra.spelling(FORMAT, "type").is_some() => "ctc",
        Body::ToolCall(_) => "fc",
        _ if block.author != Author::Assistant => "",
        _ => "msg",
    };
    let is_lenient = aim.is_home && !aim.profile.reasoning_needs_follower;
    is_lenient || id.as_str().starts_with(starts)
}

/// A call that thinking led to names it by its id: where that thinking is not sent, the id must not be either.
pub(super) fn ids_without_reasoning(history: &mut History, session: &Session, aim: &RequestTarget) {
    let is_thinking = aim.target.is_known && aim.target.row.thinks != Thinks::Never;
    let has_thought = |piece: &Piece| matches!(piece.block.body, Body::Reasoning(_));
    let is_told = session.options.reasoning.as_ref().is_some_and(|effort| *effort != Effort::None);
    let thinks = aim.target.row.thinks == Thinks::Always || is_told || history.pieces.iter().any(has_thought);
    if !aim.profile.reasoning_needs_follower || !is_thinking || !thinks || aim.server_holds_items {
        return;
    }
    let mut thought = false;
    for piece in &mut history.pieces {
        match &piece.block.body {
            Body::Reasoning(_) => thought = true,
            Body::ToolCall(_) if !thought && piece.block.item_id.take().is_some() => {
                let what = "the reasoning it goes with is not sent";
                history.losses.push(Loss::encode(LossKind::Dropped, piece.at("item_id"), what));
            }
            Body::Text(_) | Body::Media(_) if !piece.block.is_answer() => thought = false,
            _ => {}
        }
    }
}

/// Reasoning with an id needs the item it led to, with its id. Without that it is sent without its id where it can be
/// verified, and not at all where it cannot.
pub(super) fn followers(history: &mut History, aim: &RequestTarget) {
    if !aim.profile.reasoning_needs_follower {
        return;
    }
    let mut followed = false;
    let mut kept = Vec::with_capacity(history.pieces.len());
    for mut piece in std::mem::take(&mut history.pieces).into_iter().rev() {
        let is_followed = followed;
        followed = match &piece.block.body {
            Body::Reasoning(_) => followed,
            Body::Other { .. } => item::is_whole(&piece.block) && piece.block.is_answer(),
            _ => piece.block.is_answer() && piece.block.item_id.is_some(),
        };
        if let Body::Reasoning(reasoning) = &piece.block.body {
            let is_encrypted = reasoning.encrypted.is_some();
            let has_id = piece.block.item_id.is_some();
            if has_id && !is_followed || !has_id && !is_encrypted {
                let what = "the item that it led to is not sent with its id";
                let place = if is_encrypted { "item_id" } else { "" };
                history.losses.push(Loss::encode(LossKind::Dropped, piece.at(place), what));
                piece.block.item_id = None;
                if !is_encrypted {
                    continue;
                }
            }
        }
        kept.push(piece);
    }
    kept.reverse();
    history.pieces = kept;
}

/// Gives blocks the number of their message in the session again; what was made up has one of its own.
pub(super) fn own_messages(history: &mut History, ordinals: &[Vec<u32>]) {
    for piece in &mut history.pieces {
        let ordinal = piece.from.and_then(|(turn, block)| ordinals.get(turn)?.get(block));
        piece.block.message.ordinal = ordinal.copied().unwrap_or(u32::MAX);
    }
}

/// The number of the message of every block, turn by turn.
pub(super) fn ordinals(session: &Session) -> Vec<Vec<u32>> {
    let of_turn = |turn: &Turn| turn.blocks.iter().map(|block| block.message.ordinal).collect();
    session.turns.iter().map(of_turn).collect()
}
