//! Foreign text, as a person may see it.

/// The text with every control character made visible; line breaks and tabs stay.
pub(crate) fn visible(text: &str) -> String {
    turnkeep_model::visible(text).into_owned()
}

/// The same on one line. A name with a line break in it would look like two.
pub(crate) fn visible_line(text: &str) -> String {
    turnkeep_model::visible_line(text).into_owned()
}

/// The text on one line of at most `width` characters; what is cut is marked by an ellipsis.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    // A few more than fit, so that a long text is not gone through to its end.
    let begins: String = text.chars().take(width.saturating_add(1)).collect();
    let out = visible_line(&begins);
    if out.chars().count() <= width {
        return out;
    }
    let mut cut: String = out.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_marked_and_falls_between_characters() {
        assert_eq!(shortened("日本語", 3), "日本語");
        assert_eq!(shortened("日本語!", 3), "日本…");
        assert_eq!(shortened("a\nb", 9), "a␊b");
    }
}
