//! File names for ids, whatever the ids are.
//!
//! Invariant: different ids have different names, on file systems that ignore case too, and no name leads out of the directory.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use turnkeep_model::SessionId;

/// What is escaped: all but lower-case letters, digits, `-` and `_`. Upper-case letters are escaped too, because some file systems
/// do not tell them apart.
const ESCAPED: &AsciiSet = &upper_case(NON_ALPHANUMERIC.remove(b'-').remove(b'_'));

const fn upper_case(mut set: AsciiSet) -> AsciiSet {
    let mut letter = b'A';
    while letter <= b'Z' {
        set = set.add(letter);
        letter += 1;
    }
    set
}

/// Longer names are cut and end in a digest.
const LONGEST: usize = 160;

/// The ending of journals.
pub(super) const JOURNAL: &str = ".turnkeep.jsonl";

/// The ending of the mark that a session was deleted while forks still share its past.
pub(super) const TOMBSTONE: &str = ".gone";

/// The ending of what will be a journal, once it is whole.
pub(super) const STAGED: &str = ".turnkeep.new";

/// The ending of a damaged journal that a repair kept.
pub(super) const DAMAGED: &str = ".turnkeep.damaged";

/// The stem of the files of a session: a name that no id can turn into a path, alike on every file system.
pub(super) fn stem(session: &SessionId, life: u32) -> String {
    let id = session.as_str();
    // No letter but those of an escape can be in upper case now, and names were always written in lower case.
    let mut stem = utf8_percent_encode(id, ESCAPED).to_string().to_ascii_lowercase();
    if stem.len() > LONGEST {
        let digest = blake3::hash(id.as_bytes()).to_hex();
        stem.truncate(LONGEST - 40);
        stem = format!("{stem}~{}", digest.get(..32).unwrap_or_default());
    }
    // An id may be used again while forks keep the past of an earlier session of that id.
    if life > 0 {
        stem.push_str(&format!("+{life}"));
    }
    stem
}

/// The session that files are named for, as far as the name tells: a long one was cut.
pub(super) fn session(stem: &str) -> SessionId {
    let name = stem.split('+').next().unwrap_or(stem);
    SessionId::new(percent_decode_str(name).decode_utf8_lossy())
}

/// Whether these files are of that session, in whichever of its lives.
pub(super) fn is_stem_of(name: &str, session: &SessionId) -> bool {
    name.split('+').next() == Some(stem(session, 0).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_becomes_a_path() {
        let stems = ["../x", "a/b", "A", ".", "é", "CON"].map(|id| stem(&SessionId::new(id), 0));

        assert_eq!(stems, ["%2e%2e%2fx", "a%2fb", "%41", "%2e", "%c3%a9", "%43%4f%4e"]);
        assert_eq!(stems.map(|stem| session(&stem).to_string()), ["../x", "a/b", "A", ".", "é", "CON"]);
    }

    #[test]
    fn a_name_that_no_id_has_is_shown_as_far_as_it_can_be_read() {
        assert_eq!(["a%2", "%zz", "%ff", "x+3"].map(|stem| session(stem).to_string()), ["a%2", "%zz", "\u{fffd}", "x"]);
    }

    #[test]
    fn long_ids_have_short_names_of_their_own() {
        let (a, b) = ("x".repeat(1000) + "a", "x".repeat(1000) + "b");

        let (a, b) = (stem(&SessionId::new(a), 0), stem(&SessionId::new(b), 0));

        assert!(a.len() <= LONGEST && b.len() <= LONGEST);
        assert_ne!(a, b);
    }
}
