//! Sums at the end of what is kept, so that nothing is read that was changed meanwhile.
//!
//! Lines of ours end in their sum. One that another program wrote, or a person edited, may lack it, and comes back byte
//! for byte all the same: it is lent a sum, in a last field that is taken off when the line is read.

use std::borrow::Cow;

use turnkeep_model::line_sum;

use crate::error::{Error, ErrorKind, Result};

const SUM: &str = ",\"sum\":\"";
const LENT: &str = ",\"lent\":\"";

/// How many digits a sum has.
const DIGITS: usize = 16;

/// An object of JSON, ending in the sum of all before it.
pub(crate) fn summed(object: String) -> String {
    ending_in(SUM, object)
}

/// The line of a batch as it is kept.
pub(crate) fn kept(line: String) -> String {
    if has_own(&line) { line } else { ending_in(LENT, line) }
}

/// Whether a line ends in a sum of its own.
pub(crate) fn has_own(line: &str) -> bool {
    apart(line, SUM).is_some()
}

/// The line of a batch as it was given. Its own sum is left to whoever reads it.
pub(crate) fn given(line: &str) -> Result<Cow<'_, str>> {
    if has_own(line) {
        return Ok(Cow::Borrowed(line));
    }
    let end = line.trim_end();
    match apart(end, LENT) {
        Some((before, sum)) if line_sum(before) == sum => {
            let tail = line.get(end.len()..).unwrap_or_default();
            Ok(Cow::Owned(format!("{before}}}{tail}")))
        }
        Some(_) => Err(damaged("the line does not match its sum")),
        None => Err(damaged("the line lacks its sum")),
    }
}

/// Whether what [`summed`] made is as it was; nothing is said of what has no sum.
pub(crate) fn check(object: &str) -> Result<Summed> {
    match apart(object, SUM) {
        Some((before, sum)) if line_sum(before) == sum => Ok(Summed::Yes),
        Some(_) => Err(damaged("the line does not match its sum")),
        None => Ok(Summed::No),
    }
}

/// Whether something ends in a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Summed {
    Yes,
    No,
}

fn ending_in(key: &str, object: String) -> String {
    let Some(end) = object.rfind('}') else {
        return object;
    };
    let (before, after) = object.split_at(end);
    format!("{before}{key}{}\"{after}", line_sum(before))
}

/// What stands before the last field, if that is a sum of this key, and the sum.
fn apart<'a>(line: &'a str, key: &str) -> Option<(&'a str, &'a str)> {
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
    fn lines_come_back_as_they_were_given() {
        for line in [r#"{"seq":1,"events":[]}"#, "{ \"seq\" : 1 } \t", r#"{"seq":1,"sum":"0123456789abcdef"}"#, "{}"] {
            let kept = kept(line.to_owned());

            assert_eq!(given(&kept).unwrap(), line);
            assert_eq!(kept == line, has_own(line), "{kept}");
        }
    }

    #[test]
    fn no_changed_bit_of_a_lent_sum_is_accepted() {
        let kept = kept(r#"{"seq":1,"events":[{"é":"x"}]}"#.to_owned());
        for (at, bit) in (0..kept.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut bytes = kept.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            if let Ok(text) = String::from_utf8(bytes) {
                assert!(given(&text).is_err(), "{text}");
            }
        }
    }
}
