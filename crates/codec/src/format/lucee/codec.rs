//! The codec.

use turnkeep_model::json::{self, Nan, Node};
use turnkeep_model::{Archive, Loss, LossKind, Result, Session, Severity};

use super::document::{SESSION_KEYS, known};
use super::encode::Parts;
use super::{decode, encode, read, write};
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Keeps, Spec};
use crate::input::{Form, Input, Syntax};
use crate::sniff::Guess;
use crate::{json5, loss_report};

/// `lucee.session`: what SerializeAISession writes.
pub(crate) struct SessionCodec;

const PRETTY: &str = "pretty";
const COMPACT: &str = "compact";
/// For readers of 7.0, which know no parts.
const TEXT: &str = "text";

impl Codec for SessionCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "lucee.session",
            title: "Lucee AI session",
            variants: &[PRETTY, COMPACT, TEXT],
            extensions: &[".json", ".json5"],
            fidelity: Fidelity {
                keys: Keeps::All,
                system_text: Keeps::Some,
                options: Keeps::Some,
                media: Keeps::Some,
                ..Fidelity::NOTHING
            },
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        match (input.top().form, input.object()) {
            (_, Some(document)) if document.syntax == Syntax::Json => guess(&document.node),
            (Form::Yaml | Form::Other, _) => sniff_json5(input),
            _ => Guess::no(),
        }
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        let text = input.text()?;
        let (node, mut losses) = parse(input, text).map_err(|error| error.locate(text))?;
        let (document, found) = read::document(node, text, options.mode).map_err(|error| error.locate(text))?;
        losses.extend(found);
        let (session, found) = decode::session(document, options.mode);
        losses.extend(found);
        Ok(Decoded { archive: Archive::from(session), losses })
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let empty = Session::default();
        let parts = if options.variant.as_deref() == Some(TEXT) { Parts::Never } else { Parts::WhereNeeded };
        let mut document = encode::document(archive.main_session().unwrap_or(&empty), options.mode, parts);
        match options.variant.as_deref() {
            Some(PRETTY | TEXT) => document.layout.compact = false,
            Some(COMPACT) => document.layout.compact = true,
            _ => {}
        }
        let bytes = write::text(&document);
        let (back, _) = decode::session(document, options.mode);
        Ok(Encoded { bytes, losses: loss_report::losses(archive, &Archive::from(back), "a Lucee AI session") })
    }
}

/// The text parsed as JSON, or as JSON5 where it is not JSON.
fn parse<'a>(input: Input<'a>, text: &'a str) -> Result<(Node<'a>, Vec<Loss>)> {
    if input.document().is_ok_and(|document| document.syntax == Syntax::Json) {
        return Ok((input.into_document()?.node, Vec::new()));
    }
    if let Ok(node) = json::parse_with(text, Nan::Accept) {
        return Ok((node, Vec::new()));
    }
    let parsed = json5::parse(text)?;
    let what = format!("comments are not kept ({})", parsed.comments);
    let comments = (parsed.comments > 0).then(|| Loss::decode(LossKind::Dropped, "", what).rated(Severity::Spelling));
    Ok((parsed.node, comments.into_iter().collect()))
}

/// Only what may be an object of JSON5 is parsed as such.
fn sniff_json5(input: &Input<'_>) -> Guess {
    let Ok(text) = input.text() else { return Guess::no() };
    let start = text.trim_start();
    if !(start.starts_with('{') || start.starts_with("//") || start.starts_with("/*")) {
        return Guess::no();
    }
    match json5::parse(text) {
        Ok(parsed) => guess(&parsed.node),
        Err(_) => Guess::no(),
    }
}

fn guess(node: &Node<'_>) -> Guess {
    let Some(fields) = node.as_object() else { return Guess::no() };
    let settings = fields.iter().filter(|(key, _)| known(&SESSION_KEYS[..5], &key.to_str_lossy()).is_some()).count();
    let Some(history) = get(node, "history") else {
        let timeouts = get(node, "connectionTimeout").is_some() && get(node, "socketTimeout").is_some();
        return if timeouts { Guess::likely("it has both timeouts but no `history`") } else { Guess::no() };
    };
    let Some(items) = history.as_array() else {
        return if settings >= 3 { Guess::likely("it has the settings but no list as `history`") } else { Guess::no() };
    };
    let asks = |item: &&Node<'_>| get(item, "question").is_some();
    let is_pair = |item: &Node<'_>| asks(&item) && get(item, "answer").is_some();
    if !items.is_empty() && items.iter().all(is_pair) {
        return Guess::certain("every item of `history` has a question and an answer").of(generation(node, items));
    }
    match (items.is_empty() && settings >= 3, settings >= 3 || items.iter().any(|item| asks(&item))) {
        (true, _) => Guess::certain("it has the settings and an empty `history`").of(generation(node, items)),
        (_, true) => Guess::likely("it has a `history` of questions"),
        _ => Guess::no(),
    }
}

/// Who wrote it, as far as its keys tell.
fn generation(node: &Node<'_>, items: &[Node<'_>]) -> String {
    let parts = |item: &Node<'_>| {
        ["question", "answer"].iter().any(|key| get(item, key).is_some_and(|side| side.as_array().is_some()))
    };
    let mut words = vec![if items.iter().any(parts) { "multipart" } else { "text" }];
    if get(node, "systemMessage").is_none() {
        words.push("engine without system message");
    }
    if node.get("HISTORY").is_some() {
        words.push("upper-case keys");
    }
    words.join(", ")
}

fn get<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    let fields = node.as_object()?;
    fields.iter().rev().find(|(name, _)| name.to_str_lossy().eq_ignore_ascii_case(key)).map(|(_, node)| node)
}
