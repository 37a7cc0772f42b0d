//! Text of a file, made safe for a terminal.

/// The text with every control character made visible, so that a file cannot drive the terminal. Line breaks and tabs
/// stay.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.replace("\r\n", "\n").chars() {
        match character {
            '\n' | '\t' => out.push(character),
            other => push_visible(other, &mut out),
        }
    }
    out
}

/// The text on one line of at most `width` characters; what is cut is marked by an ellipsis.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    let mut out = String::new();
    // A few more than fit, so that a long text is not gone through to its end.
    text.chars().take(width.saturating_add(1)).for_each(|character| push_visible(character, &mut out));
    if out.chars().count() <= width {
        return out;
    }
    let mut cut: String = out.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

fn push_visible(character: char, out: &mut String) {
    match character {
        '\u{0}'..='\u{1f}' => out.push(char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}')),
        '\u{7f}' => out.push('\u{2421}'),
        hidden if is_hidden(hidden) => out.extend(hidden.escape_unicode()),
        plain => out.push(plain),
    }
}

/// C1 controls, and marks that reorder what stands around them.
fn is_hidden(character: char) -> bool {
    matches!(character, '\u{80}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_visible_and_line_breaks_stay() {
        assert_eq!(visible("a\x1b[2J\r\nb\tc\r\u{9b}\u{202e}\x7f"), "a␛[2J\nb\tc␍\\u{9b}\\u{202e}␡");
    }

    #[test]
    fn a_cut_is_marked_and_falls_between_characters() {
        assert_eq!(shortened("日本語", 3), "日本語");
        assert_eq!(shortened("日本語!", 3), "日本…");
        assert_eq!(shortened("a\nb", 9), "a␊b");
    }
}
