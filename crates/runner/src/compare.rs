//! What was written before, beside what is written now.

use similar::TextDiff;

/// How one file differs from the one that was agreed on; `None` where it does not.
pub fn difference(name: &str, agreed: Option<&[u8]>, now: Option<&[u8]>) -> Option<String> {
    match (agreed, now) {
        (None, None) => None,
        (None, Some(_)) => Some(format!("+++ {name}: it is new\n")),
        (Some(_), None) => Some(format!("--- {name}: it is not written any more\n")),
        (Some(agreed), Some(now)) if agreed == now => None,
        (Some(agreed), Some(now)) => Some(between(name, agreed, now)),
    }
}

fn between(name: &str, agreed: &[u8], now: &[u8]) -> String {
    let (agreed, now) = (String::from_utf8_lossy(agreed), String::from_utf8_lossy(now));
    let diff = TextDiff::from_lines(agreed.as_ref(), now.as_ref());
    let (before, after) = (format!("{name} (agreed)"), format!("{name} (now)"));
    diff.unified_diff().context_radius(3).header(&before, &after).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_files_do_not_differ() {
        assert_eq!(difference("a", Some(b"x\n"), Some(b"x\n")), None);
    }

    #[test]
    fn a_changed_line_is_shown_with_both_versions() {
        let told = difference("a", Some(b"one\ntwo\n"), Some(b"one\n2\n")).unwrap();
        assert!(told.contains("-two\n+2\n"), "{told}");
    }

    #[test]
    fn files_that_come_or_go_are_named() {
        assert_eq!(difference("a", None, Some(b"")).as_deref(), Some("+++ a: it is new\n"));
        assert_eq!(difference("a", Some(b""), None).as_deref(), Some("--- a: it is not written any more\n"));
    }
}
