//! Documents: what they say where they are text, and what they are where only an address is known.

use std::borrow::Cow;

use turnkeep_model::Media;

use super::repair::placeholder;
use crate::base64_text;

/// Media types that are text and do not begin with `text/`.
const TEXTUAL: &[&str] =
    &["application/json", "application/xml", "application/yaml", "application/x-yaml", "application/javascript"];

/// What a document says, if it is text.
pub(crate) fn text_of(media: &Media) -> Option<Cow<'_, str>> {
    if let Some(text) = &media.text {
        return Some(Cow::Borrowed(text));
    }
    let media_type = media.media_type.as_deref().filter(|media_type| is_textual(media_type))?;
    // A media type may carry a character set; UTF-8 is the only one we decode.
    media_type.split_once("charset=").is_none_or(|(_, set)| set.eq_ignore_ascii_case("utf-8")).then_some(())?;
    let bytes = base64_text::decode(media.inline.as_deref()?)?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn is_textual(media_type: &str) -> bool {
    let bare = media_type.split(';').next().unwrap_or_default();
    bare.starts_with("text/") || TEXTUAL.contains(&bare) || bare.ends_with("+json") || bare.ends_with("+xml")
}

/// The same media with its text as bytes, for wires that take files only so.
pub(crate) fn as_bytes(media: &Media) -> Cow<'_, Media> {
    match (&media.text, &media.inline) {
        (Some(text), None) => {
            let media_type = media.media_type.clone().or_else(|| Some("text/plain".to_owned()));
            let inline = Some(base64_text::encode(text.as_bytes()));
            Cow::Owned(Media { inline, media_type, text: None, ..media.clone() })
        }
        _ => Cow::Borrowed(media),
    }
}

/// What is sent in words where media cannot be sent: what a text document says, else what the media is.
pub(crate) fn in_words(media: &Media) -> String {
    let Some(text) = text_of(media).filter(|text| !text.trim().is_empty()) else { return placeholder(media) };
    match &media.name {
        Some(name) => format!("<document name=\"{}\">\n{text}\n</document>", name.replace('"', "'")),
        None => format!("<document>\n{text}\n</document>"),
    }
}

/// The media type of a document that is known by its address. The vendors that fetch documents fetch PDF files, so that
/// is what an address without a telling ending stands for.
pub(crate) fn type_of_url(url: &str) -> &'static str {
    const ENDINGS: &[(&str, &str)] = &[
        (".csv", "text/csv"),
        (".txt", "text/plain"),
        (".md", "text/markdown"),
        (".html", "text/html"),
        (".json", "application/json"),
        (".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        (".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        (".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ];
    let path = url.split(['?', '#']).next().unwrap_or(url).to_ascii_lowercase();
    ENDINGS.iter().find(|(ending, _)| path.ends_with(ending)).map_or("application/pdf", |(_, media_type)| media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn media(media_type: &str, inline: &str) -> Media {
        Media { media_type: Some(media_type.into()), inline: Some(inline.into()), ..Media::default() }
    }

    #[test]
    fn a_text_file_says_what_its_bytes_say() {
        assert_eq!(text_of(&media("text/csv", "YSxiCjEsMgo=")).as_deref(), Some("a,b\n1,2\n"));
        assert_eq!(text_of(&media("text/csv; charset=utf-8", "YSxiCjEsMgo=")).as_deref(), Some("a,b\n1,2\n"));
        assert_eq!(text_of(&media("text/plain; charset=latin1", "5A==")), None);
        assert_eq!(text_of(&media("text/plain", "5A==")), None);
        assert_eq!(text_of(&media("application/pdf", "YSxiCjEsMgo=")), None);
    }

    #[test]
    fn text_becomes_bytes_and_back() {
        let given = Media { text: Some("grün".into()), ..Media::default() };
        let bytes = as_bytes(&given);

        assert_eq!(*bytes, media("text/plain", "Z3LDvG4="));
        assert_eq!(text_of(&bytes).as_deref(), Some("grün"));
    }

    #[test]
    fn a_document_by_address_is_a_pdf_unless_its_ending_says_otherwise() {
        assert_eq!(type_of_url("https://arxiv.org/pdf/1706.03762"), "application/pdf");
        assert_eq!(type_of_url("https://a.example/Table.CSV?version=2"), "text/csv");
    }
}
