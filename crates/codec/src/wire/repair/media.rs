//! Images, sounds and files in a history.

use std::borrow::Cow;

use turnkeep_model::{Author, Block, Body, Loss, LossKind, Media, Part, Text};

use super::{History, Piece};
use crate::wire::document::{as_bytes, in_words};

impl History {
    /// Says in words what the vendor cannot take as an image, a sound or a file: what a text document says, or what the
    /// media is.
    pub fn describe_media(&mut self, takes: impl Fn(&Media, &Block) -> bool, takes_in_result: impl Fn(&Media) -> bool) {
        let what = "it is sent in words";
        for piece in &mut self.pieces {
            let whole = piece.at("");
            let sent = match &piece.block.body {
                Body::Media(media) => Some(sent(media, |media| takes(media, &piece.block))),
                _ => None,
            };
            match (sent, &mut piece.block.body) {
                (Some(Ok(media)), body) => *body = media.into(),
                (Some(Err(text)), body) => {
                    *body = Text { text }.into();
                    self.losses.push(Loss::encode(LossKind::Textified, whole, what));
                }
                (None, Body::ToolResult(result)) => {
                    for (index, part) in result.parts.iter_mut().enumerate() {
                        let Part::Media(media) = part else { continue };
                        match self::sent(media, &takes_in_result) {
                            Ok(media) => *part = media.into(),
                            Err(text) => {
                                *part = Text { text }.into();
                                let at = format!("{whole}.parts[{index}]");
                                self.losses.push(Loss::encode(LossKind::Textified, at, what));
                            }
                        }
                    }
                }
                (None, _) => {}
            }
        }
    }

    /// Moves the images and files of results into a message of the user's after them, for vendors whose results are
    /// text. The results of one answer stay together.
    pub fn lift_media(&mut self) {
        let mut pieces = Vec::with_capacity(self.pieces.len());
        let mut lifted: Vec<Piece> = Vec::new();
        for mut piece in std::mem::take(&mut self.pieces) {
            if let Body::ToolResult(_) = piece.block.body {
                lifted.extend(lift(&mut piece, &mut self.losses));
            } else {
                pieces.append(&mut lifted);
            }
            pieces.push(piece);
        }
        pieces.append(&mut lifted);
        self.pieces = pieces;
    }
}

/// The media as it is sent, or the words that stand for it.
fn sent(media: &Media, takes: impl Fn(&Media) -> bool) -> Result<Media, String> {
    let media = as_bytes(media);
    if takes(&media) { Ok(Cow::into_owned(media)) } else { Err(in_words(&media)) }
}

/// Takes the media out of a result; one that holds nothing else says where it is.
fn lift(piece: &mut Piece, losses: &mut Vec<Loss>) -> Vec<Piece> {
    /// The number of the message that is made: no message of a session has it.
    const MADE: u32 = u32::MAX;
    let at = piece.at("parts");
    let from = piece.from;
    let Body::ToolResult(result) = &mut piece.block.body else { return Vec::new() };
    let (mut lifted, mut kept) = (Vec::new(), Vec::new());
    for (index, part) in std::mem::take(&mut result.parts).into_iter().enumerate() {
        match part {
            Part::Media(media) => {
                let what = "results are text with the vendor; it is sent in a message of the user's after them";
                losses.push(Loss::encode(LossKind::Reordered, format!("{at}[{index}]"), what));
                lifted.push(Piece { from, block: Block::new(Author::User, media).in_message(MADE) });
            }
            part => kept.push(part),
        }
    }
    if kept.is_empty() && !lifted.is_empty() {
        kept.push(Text { text: "[the result is in the next message]".to_owned() }.into());
    }
    result.parts = kept;
    lifted
}

/// What a model is told of media that it is not sent.
pub fn placeholder(media: &Media) -> String {
    let mut words = vec![media.media_type.clone().unwrap_or_else(|| "media".to_owned())];
    words.extend(media.name.as_ref().map(|name| format!("`{name}`")));
    if let Some(inline) = &media.inline {
        words.push(format!("of {} bytes", inline.len() / 4 * 3));
    }
    words.extend(media.url.as_deref().filter(|url| !url.starts_with("data:")).map(|url| format!("at {url}")));
    format!("[{}: not sent, this model cannot take it]", words.join(" "))
}
