//! Checksums at the end of stored JSON objects, so that a changed bit is found when the object is read.
//!
//! A line that this program writes ends in a `sum` field of its own. A line that another program wrote, or a person edited,
//! may have none, and must come back byte for byte all the same. Such a line is stored with a borrowed checksum: a last field
//! `lent`, which [`stored_line`] adds and [`original_line`] checks and removes.
//!
//! Invariant: `original_line(stored_line(line)) == line` for every line.

use std::borrow::Cow;

use turnkeep_model::line_sum;

use crate::error::{Error, ErrorKind, Result};

/// How the field of a line's own checksum is stored.
const OWN: &str = ",\"sum\":\"";

/// How the field of a borrowed checksum is stored.
const BORROWED: &str = ",\"lent\":\"";

/// How many hexadecimal digits a checksum has.
const DIGITS: usize = 16;

/// A JSON object with the checksum of everything before it as its last field.
pub(crate) fn with_checksum(object: String) -> String {
    add_field(OWN, object)
}

/// The line of a batch as it is stored: with a borrowed checksum if it has none of its own.
pub(crate) fn stored_line(line: String) -> String {
    if has_own(&line) { line } else { add_field(BORROWED, line) }
}

/// Whether a line ends in a checksum of its own.
pub(crate) fn has_own(line: &str) -> bool {
    split_field(line, OWN).is_some()
}

/// The line of a batch as it was appended. A borrowed checksum is checked here; a line's own one is checked by whoever parses
/// the line, so that it is not computed twice.
pub(crate) fn original_line(line: &str) -> Result<Cow<'_, str>> {
    if has_own(line) {
        return Ok(Cow::Borrowed(line));
    }
    let end = line.trim_end();
    match split_field(end, BORROWED) {
        Some((before, sum)) if line_sum(before) == sum => {
            let tail = line.get(end.len()..).unwrap_or_default();
            Ok(Cow::Owned(format!("{before}}}{tail}")))
        }
        Some(_) => Err(damaged("the line does not match its sum")),
        None => Err(damaged("the line lacks its sum")),
    }
}

/// Checks what [`with_checksum`] made. An object without a checksum passes, and the answer says so.
pub(crate) fn check(object: &str) -> Result<Checksum> {
    match split_field(object, OWN) {
        Some((before, sum)) if line_sum(before) == sum => Ok(Checksum::Present),
        Some(_) => Err(damaged("the line does not match its sum")),
        None => Ok(Checksum::Absent),
    }
}

/// Whether an object ends in a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checksum {
    Present,
    Absent,
}

fn add_field(key: &str, object: String) -> String {
    let Some(end) = object.rfind('}') else {
        return object;
    };
    let (before, after) = object.split_at(end);
    format!("{before}{key}{}\"{after}", line_sum(before))
}

/// What stands before the last field, if that is a checksum under this key, and the checksum.
fn split_field<'a>(line: &'a str, key: &str) -> Option<(&'a str, &'a str)> {
    let rest = line.strip_suffix("\"}")?;
    let (rest, sum) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
    Some((rest.strip_suffix(key)?, sum))
}

fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, what).hint("restore the store, or run `turnkeep verify --repair`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_they_were_appended() {
        for line in [r#"{"seq":1,"events":[]}"#, "{ \"seq\" : 1 } \t", r#"{"seq":1,"sum":"0123456789abcdef"}"#, "{}"] {
            let stored = stored_line(line.to_owned());

            assert_eq!(original_line(&stored).unwrap(), line);
            assert_eq!(stored == line, has_own(line), "{stored}");
        }
    }

    #[test]
    fn no_changed_bit_of_a_borrowed_checksum_is_accepted() {
        let stored = stored_line(r#"{"seq":1,"events":[{"é":"x"}]}"#.to_owned());
        for (at, bit) in (0..stored.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut bytes = stored.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            if let Ok(text) = String::from_utf8(bytes) {
                assert!(original_line(&text).is_err(), "{text}");
            }
        }
    }
}
