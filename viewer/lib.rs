//! The web page that shows sessions: its files, to be served, and one self-contained file with a session in it.
//!
//! The page is built from `src/` with Node and committed in `dist/`, so that a build of this crate needs no Node. It is only
//! bytes here: who serves them, and what a journal is, others know.

use data_encoding::BASE64;
use sha2::{Digest, Sha256};

/// The page as a server gives it.
pub const PAGE: &str = include_str!("dist/index.html");
/// Its script.
pub const SCRIPT: &str = include_str!("dist/viewer.js");
/// Its style.
pub const STYLE: &str = include_str!("dist/viewer.css");

/// The content security policy of the served page: its own script and style, images of sessions, and its own server.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                          base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// One self-contained page that shows a journal: no server, no network. `journal` is the text of a `turnkeep.jsonl` document.
pub fn document(title: &str, journal: &str) -> String {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        source_hash(SCRIPT),
        source_hash(STYLE)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\" data-theme=\"light\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         </head>\n<body>\n<div id=\"app\"></div>\n<script id=\"journal\" type=\"application/json\">{}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(title),
        json_string(journal),
    )
}

/// What a policy names an inline script or style by.
fn source_hash(source: &str) -> String {
    format!("sha256-{}", BASE64.encode(&Sha256::digest(source.as_bytes())))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A JSON string that can stand in a `script` element: no `<` is left that could end the element or begin a comment.
fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8 + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '<' => out.push_str("\\u003c"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            control if (control as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_cannot_end_the_element_it_stands_in() {
        let page =
            document("</title><script>alert(1)</script>", "{\"text\":\"</script><img onerror=x>\u{2028}\u{1}\"}\n");

        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<img onerror"));
        assert!(page.contains("\\u003c/script>\\u003cimg onerror=x>\\u2028\\u0001"));
    }

    #[test]
    fn the_script_and_the_style_can_stand_inside_a_page() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</style"));
    }
}
