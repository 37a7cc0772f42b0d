//! File names for ids, whatever the ids are.

use turnkeep_model::SessionId;

/// Longer names are cut and end in a digest.
const LONGEST: usize = 160;

/// The ending of journals.
pub(super) const JOURNAL: &str = ".turnkeep.jsonl";

/// The ending of the mark that a session was deleted while forks still share its past.
pub(super) const GONE: &str = ".gone";

/// The ending of what will be a journal, once it is whole.
pub(super) const ASIDE: &str = ".turnkeep.new";

/// The ending of a damaged journal that a repair kept.
pub(super) const DAMAGED: &str = ".turnkeep.damaged";

/// The stem of the files of a session: a name that no id can turn into a path, alike on every file system. Upper-case
/// letters are encoded too, because some file systems do not tell them apart.
pub(super) fn stem(session: &SessionId, life: u32) -> String {
    let id = session.as_str();
    let mut stem: String = id.bytes().map(encoded).collect();
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
    let mut bytes = Vec::new();
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        let code = (byte == b'%').then(|| [rest.next(), rest.next()].into_iter().flatten().collect::<Vec<u8>>());
        let decoded = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(&code).ok()?, 16).ok());
        bytes.push(decoded.unwrap_or(byte));
    }
    SessionId::new(String::from_utf8_lossy(&bytes))
}

/// Whether these files are of that session, in whichever of its lives.
pub(super) fn is_stem_of(name: &str, session: &SessionId) -> bool {
    name.split('+').next() == Some(stem(session, 0).as_str())
}

fn encoded(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        other => format!("%{other:02x}"),
    }
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
    fn long_ids_have_short_names_of_their_own() {
        let (a, b) = ("x".repeat(1000) + "a", "x".repeat(1000) + "b");

        let (a, b) = (stem(&SessionId::new(a), 0), stem(&SessionId::new(b), 0));

        assert!(a.len() <= LONGEST && b.len() <= LONGEST);
        assert_ne!(a, b);
    }
}
