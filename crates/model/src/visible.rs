//! Foreign text, made safe to print.
//!
//! Text of a session was written by models, tools and strangers. Printed as it is, it could move the cursor, reorder what
//! stands around it, or hide a part of itself.

use std::borrow::Cow;

/// The text with every character made visible that a terminal would obey or would not show. Line breaks and tabs stay.
///
/// Controls of ASCII become their picture (`␛`), everything else becomes the escape that JSON has for it (`\u202e`). So a
/// JSON text keeps its value: there, a raw control of ASCII is never part of a string.
///
/// ```
/// use turnkeep_model::visible;
///
/// assert_eq!(visible("a\u{1b}[2J\u{202e}b"), "a␛[2J\\u202eb");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, Breaks::Stay)
}

/// The same on one line: line breaks and tabs are made visible too. A name that ends one line and begins another could
/// pass for two.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    shown(text, Breaks::AreShown)
}

/// What becomes of line breaks and tabs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breaks {
    Stay,
    AreShown,
}

/// How many joiners may follow a character: an emoji is drawn as a picture by a selector, and tied to the next by a joiner.
const JOINERS: usize = 2;

fn shown(text: &str, breaks: Breaks) -> Cow<'_, str> {
    let stays = |c: char| breaks == Breaks::Stay && matches!(c, '\n' | '\t');
    if !text.contains(|c: char| (c.is_ascii_control() && !stays(c)) || is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut joiners = 0;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if is_joiner(c) && joiners > 0 {
            joiners -= 1;
            out.push(c);
            continue;
        }
        // After ASCII, and after what is hidden itself, a joiner joins nothing and only disguises a name.
        joiners = if c.is_ascii() || is_hidden(c) { 0 } else { JOINERS };
        match c {
            '\r' if breaks == Breaks::Stay && rest.peek() == Some(&'\n') => {}
            c if stays(c) => out.push(c),
            '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
            c if is_hidden(c) => escape(c, &mut out),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn escape(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

/// Marks that tie characters together, or choose how one is drawn. Emoji and several scripts need them.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Characters beyond the controls of ASCII that are obeyed, reorder what stands around them, break a line, or are not
/// drawn: `Cc`, `Cf`, `Zl`, `Zp` and whatever else Unicode calls ignorable. Signs that are drawn around numbers are not.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{70f}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_shown_and_line_breaks_stay() {
        assert_eq!(visible("a\x1b[2J\r\nb\tc\r\u{9b}\u{202e}\x7f"), "a␛[2J\nb\tc␍\\u009b\\u202e\\u007f");
        assert_eq!(visible_line("a\r\nb\tc"), "a␍␊b␉c");
    }

    #[test]
    fn what_is_not_drawn_is_shown() {
        assert_eq!(visible("\u{61c}\u{200b}\u{2028}\u{ad}\u{feff}"), "\\u061c\\u200b\\u2028\\u00ad\\ufeff");
        assert_eq!(visible("\u{e0041}\u{13437}"), "\\udb40\\udc41\\ud80d\\udc37");
    }

    #[test]
    fn plain_text_of_any_script_is_left_alone() {
        for text in [
            "Grüße, 日本語, עברית, العربية!",
            "👨\u{200d}👩\u{200d}👧",
            "👁\u{fe0f}\u{200d}🗨\u{fe0f}",
            "می\u{200c}خواهم",
        ] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn a_joiner_that_joins_nothing_is_shown() {
        assert_eq!(visible("send\u{200d}mail"), "send\\u200dmail");
        assert_eq!(visible("é\u{fe00}\u{fe01}\u{fe02}"), "é\u{fe00}\u{fe01}\\ufe02");
    }

    #[test]
    fn a_json_text_keeps_its_value() {
        let value = crate::Json::from("a\u{0}\u{1b}\u{7f}\u{9b}\u{202e}\u{e0041}\"\\\u{200d}");
        let text = value.to_text();

        let shown = visible(&text);

        assert_ne!(shown, text);
        assert_eq!(crate::json::parse(&shown).unwrap().into_json().as_str(), value.as_str());
    }
}
