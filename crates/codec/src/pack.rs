//! Compressed documents: zstd, with a header that says what is inside.
//!
//! The header is a frame that zstd's own tools skip, so that `zstd -d` gives the document back. It names the format; a reader needs it
//! for nothing else. Documents compressed by others, without the header, are opened just as well.

use std::borrow::Cow;

use turnkeep_model::{Error, ErrorKind, Result};

/// What a frame of zstd begins with.
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// What a frame begins with that decoders skip; the low four bits of the first byte are free.
const SKIPPED: [u8; 3] = [0x2a, 0x4d, 0x18];

/// The frame that holds our header.
const HEADER: [u8; 4] = [0x54, 0x2a, 0x4d, 0x18];

/// What our header begins with: who wrote it, and the version of the header.
const MARK: &str = "turnkeep 1 ";

/// The level of compression where none is named.
pub const LEVEL: i32 = 9;

/// The levels that there are.
pub const LEVELS: std::ops::RangeInclusive<i32> = 1..=22;

/// Whether bytes are compressed.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&FRAME)
// Our header is one of zstd's sixteen kinds of skippable frames.
        || (bytes.first().is_some_and(|first| first & 0xf0 == 0x50) && bytes.get(1..4) == Some(&SKIPPED))
}

/// The format that the header of compressed bytes names.
pub fn packed_format(bytes: &[u8]) -> Option<&str> {
    let rest = bytes.strip_prefix(&HEADER)?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let header = rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    std::str::from_utf8(header).ok()?.strip_prefix(MARK)
}

/// Compresses a document of `format`.
///
/// # Errors
/// `Unsupported` where the level is none of [`LEVELS`], or this build lacks the feature `zstd`.
pub fn pack(bytes: &[u8], format: &str, level: i32) -> Result<Vec<u8>> {
    if !LEVELS.contains(&level) {
        let what = format!("there is no level of compression {level}");
        return Err(Error::new(ErrorKind::Unsupported, what).hint("levels go from 1 to 22"));
    }
    let header = format!("{MARK}{format}");
    let mut packed = HEADER.to_vec();
    packed.extend(u32::try_from(header.len()).unwrap_or(0).to_le_bytes());
    packed.extend(header.as_bytes());
    packed.extend(compressed(bytes, level)?);
    Ok(packed)
}

/// The document that compressed bytes hold; bytes that are not compressed are given back as they are.
///
/// # Errors
/// `TooLarge` where it has more than `limit` bytes, `Corrupt` where it is damaged or cut off.
pub fn unpack(bytes: &[u8], limit: u64) -> Result<Cow<'_, [u8]>> {
    if !is_packed(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    decompressed(bytes, limit).map(Cow::Owned)
}

#[cfg(feature = "zstd")]
fn compressed(bytes: &[u8], level: i32) -> Result<Vec<u8>> {
    use std::io::Write;
    let made = || -> std::io::Result<Vec<u8>> {
        let mut encoder = zstd::Encoder::new(Vec::new(), level)?;
        // A cut or a flipped bit must not pass for a document.
        encoder.include_checksum(true)?;
        encoder.set_pledged_src_size(Some(bytes.len() as u64))?;
        encoder.write_all(bytes)?;
        encoder.finish()
    };
    made().map_err(|error| Error::new(ErrorKind::Io, "cannot be compressed").because(error))
}

#[cfg(feature = "zstd")]
fn decompressed(bytes: &[u8], limit: u64) -> Result<Vec<u8>> {
    use std::io::Read;
    let damaged = |error| {
        Error::new(ErrorKind::Corrupt, "the compressed document is damaged or cut off")
            .because(error)
            .hint("get the file again, or restore it from a copy")
    };
    let mut document = Vec::new();
    let decoder = zstd::Decoder::with_buffer(bytes).map_err(damaged)?;
    decoder.take(limit.saturating_add(1)).read_to_end(&mut document).map_err(damaged)?;
    if document.len() as u64 > limit {
        let what = format!("has more than {limit} bytes when it is decompressed");
        return Err(Error::new(ErrorKind::TooLarge, what).hint("raise the limit with --max-bytes"));
    }
    Ok(document)
}

#[cfg(not(feature = "zstd"))]
fn compressed(_: &[u8], _: i32) -> Result<Vec<u8>> {
    Err(lacking())
}

#[cfg(not(feature = "zstd"))]
fn decompressed(_: &[u8], _: u64) -> Result<Vec<u8>> {
    Err(lacking())
}

#[cfg(not(feature = "zstd"))]
fn lacking() -> Error {
    Error::new(ErrorKind::Unsupported, "compressed documents need the feature `zstd`, which this build lacks")
        .hint("use a build with it, or decompress the file with zstd -d")
}

#[cfg(all(test, feature = "zstd"))]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_at_every_level() {
        let document = "{\"history\": []}\n".repeat(500).into_bytes();
        for level in LEVELS {
            let packed = pack(&document, "lucee.session", level).unwrap();

            assert_eq!(packed_format(&packed), Some("lucee.session"));
            assert!(packed.len() < document.len());
            assert_eq!(unpack(&packed, u64::MAX).unwrap(), document);
        }
        assert_eq!(unpack(&pack(b"", "x", 1).unwrap(), 0).unwrap(), b"".as_slice());
        assert_eq!(pack(b"", "x", 0).unwrap_err().kind(), ErrorKind::Unsupported);
        assert_eq!(pack(b"", "x", 23).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn what_is_not_compressed_is_left_alone() {
        for bytes in [b"{}".as_slice(), b"", b"P", b"PK\x03\x04", b"TURN"] {
            assert_eq!(unpack(bytes, 0).unwrap(), bytes);
        }
    }

    #[test]
    fn others_frames_and_several_of_them_are_opened() {
        let one = zstd::encode_all(b"{}".as_slice(), 3).unwrap();
        let two = [one.clone(), one.clone()].concat();

        assert_eq!(unpack(&one, 9).unwrap(), b"{}".as_slice());
        assert_eq!(unpack(&two, 9).unwrap(), b"{}{}".as_slice());
        assert_eq!(packed_format(&one), None);
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        let bomb = pack(&vec![b' '; 64 << 20], "turnkeep", 19).unwrap();

        assert!(bomb.len() < 10_000);
        assert_eq!(unpack(&bomb, 1 << 20).unwrap_err().kind(), ErrorKind::TooLarge);
    }

    #[test]
    fn no_cut_and_no_flipped_bit_passes_for_a_document() {
        let document = b"{\"turnkeep\":1,\"sessions\":[]}".repeat(20);
        let packed = pack(&document, "turnkeep", 3).unwrap();
        let start = HEADER.len() + 4 + MARK.len() + "turnkeep".len();
        for end in start + 4..packed.len() {
            assert_eq!(unpack(&packed[..end], 1 << 20).unwrap_err().kind(), ErrorKind::Corrupt, "cut at {end}");
        }
        for at in start + 4..packed.len() {
            let mut flipped = packed.clone();
            flipped[at] ^= 0x10;
            let opened = unpack(&flipped, 1 << 20);
            assert!(opened.as_ref().is_err() || opened.is_ok_and(|opened| opened == document), "flipped at {at}");
        }
    }
}
