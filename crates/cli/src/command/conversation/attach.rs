//! Files that are sent along.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use turnkeep_file::Limits;
use turnkeep_model::{Author, Block, Media};

use crate::exit::CliError;

/// What vendors take as it is, by the ending of a file's name.
const MEDIA: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("pdf", "application/pdf"),
    ("wav", "audio/wav"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
];

/// The largest file that is sent along.
const LARGEST: u64 = 32 << 20;

/// A file as a block of the user's: media where vendors know the kind, else the text it holds.
pub(super) fn attached(path: &Path) -> Result<Block, CliError> {
    let bytes = turnkeep_file::read(path, &Limits { max_bytes: LARGEST })?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    if let Some((_, kind)) = MEDIA.iter().find(|(known, _)| *known == ending) {
        let inline = Some(STANDARD.encode(bytes));
        let media = Media { media_type: Some((*kind).to_owned()), inline, name: Some(name), ..Media::default() };
        return Ok(Block::new(Author::User, media));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Block::text(Author::User, format!("{name}:\n{text}"))),
        Err(_) => {
            let known: Vec<&str> = MEDIA.iter().map(|(ending, _)| *ending).collect();
            let what = format!("{}: no model takes this kind of file", path.display());
            Err(CliError::Usage(what, format!("attach a text, or one of: {}", known.join(", "))))
        }
    }
}
