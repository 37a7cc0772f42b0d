//! What the vendor demands of a request.

use std::borrow::Cow;

use turnkeep_model::json::{Node, Text};

use super::Converse;
use crate::lint::rule::{Evidence, Hit, Rule, error, warning};
use crate::lint::two_sides;
use crate::lint::view::{Block, BlockPlace, Message, RequestShape, RequestView, at, hits, items, missing, repeated};
use crate::models::{self, Medium, Row};

/// What Converse demands of a request.
pub(super) static RULES: &[Rule] = &[
    error(
        "BE-DANGLING",
        Evidence::Answer("Expected toolResult blocks at messages.2.content for the following Ids: tooluse_…"),
        "answer the call in the next message",
        dangling,
    ),
    error(
        "BE-ORPHAN",
        Evidence::Answer(
            "The number of toolResult blocks at messages.N.content exceeds the number of toolUse blocks of previous turn.",
        ),
        "leave the result out, or give the call back",
        orphan,
    ),
    error(
        "BE-DUPID",
        Evidence::Stated("ids of calls are unique, by the documentation"),
        "give the calls of a message different ids",
        repeated_ids,
    ),
    error(
        "BE-TOOLCFG",
        Evidence::Answer("The toolConfig field must be defined when using toolUse and toolResult content blocks."),
        "define the tools that the history calls",
        no_tools,
    ),
    error(
        "BE-ERREMPTY",
        Evidence::Answer(
            "The content field at messages.<n>.content.0.toolResult cannot be empty when status value is error.",
        ),
        "say what went wrong",
        empty_error,
    ),
    error(
        "BE-NOCONTENT",
        Evidence::Stated("a message has content, by the documentation"),
        "leave the message out",
        no_content,
    ),
    error("BE-BLANK", Evidence::Stated("text is not blank, as clients report"), "leave the block out", blank),
    error(
        "BE-ID",
        Evidence::Stated("ids match [a-zA-Z0-9_.:-]+ and have 1 to 64 characters, by the service model"),
        "rewrite the id in call and result",
        illegal_id,
    ),
    error(
        "BE-NAME",
        Evidence::Stated("names match [a-zA-Z0-9_-]+ and have 1 to 64 characters, by the service model"),
        "rename the tool",
        illegal_name,
    ),
    error(
        "BE-INPUT",
        Evidence::Stated("the input of a call is an object, by the documentation"),
        "give the arguments as an object",
        bad_input,
    ),
    error(
        "BE-SIG",
        Evidence::Stated("Claude takes thinking back only with its signature, by the documentation"),
        "send thinking only with the signature it came with",
        unsigned,
    ),
    error(
        "BE-SOURCE",
        Evidence::Stated("the bytes of media are in the request or in S3, by the service model"),
        "send the bytes; the vendor reads from no other address",
        sources,
    ),
    error(
        "BE-S3",
        Evidence::Answer("This model doesn't support the s3Uri field. Remove s3Uri and try again."),
        "send the bytes",
        s3_sources,
    ),
    error(
        "BE-VIDEO",
        Evidence::Answer(
            "This model doesn't support the video content block that you provided. Update the content block and try again.",
        ),
        "describe it in words, or ask a model that takes video",
        videos,
    ),
    warning(
        "BE-THINKFIRST",
        Evidence::Answer(
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block",
        ),
        "send the thinking back, or turn it off until the user speaks again",
        thinking_first,
    ),
    warning(
        "BE-ALT",
        Evidence::Stated("the sides take turns, by the documentation; recorded requests were accepted without"),
        "merge messages of one role",
        alternate,
    ),
    warning(
        "BE-FIRST",
        Evidence::Stated("the user begins, by the documentation; recorded requests were accepted without"),
        "begin with the user",
        two_sides::first,
    ),
];

pub(super) const SHAPE: RequestShape = RequestShape {
    is_request: |body| two_sides::is_request(&Converse, super::decode::REQUEST, body),
    lists: &["content"],
    kinds,
    call_key,
    message_call: None,
    class: |_| 0,
};

/// A block has a field for each kind that it is of.
fn kinds<'b, 'a>(_: &'static str, block: &'b Node<'a>, found: &mut dyn FnMut(Cow<'b, str>, &'b Node<'a>)) {
    for (key, inner) in block.as_object().unwrap_or_default() {
        found(key.to_str_lossy(), inner);
    }
}

/// Both kinds name their call alike.
fn call_key(kind: &str) -> Option<&'static str> {
    matches!(kind, "toolUse" | "toolResult").then_some("toolUseId")
}

/// The blocks of one kind that are objects.
fn of_kind<'v, 'b, 'a>(view: &'v RequestView<'b, 'a>, kind: &'static str) -> impl Iterator<Item = &'v Block<'b, 'a>> {
    view.of_kind(kind).filter(|block| block.node.is_object())
}

fn ids<'v>(
    view: &'v RequestView<'_, '_>,
    message: Option<&'v Message<'_, '_>>,
    kind: &'static str,
) -> impl Iterator<Item = (BlockPlace, &'v str)> {
    let blocks = message.map(|message| view.blocks_of(message)).unwrap_or_default();
    blocks
        .iter()
        .filter(move |block| block.kind == kind)
        .filter_map(|block| Some((block.place, block.call.as_deref()?)))
}

/// The places of blocks of a kind for which something is wrong.
fn each(
    view: &RequestView<'_, '_>,
    kind: &'static str,
    field: &str,
    what: &str,
    wrong: impl Fn(&Node<'_>) -> bool,
) -> Vec<Hit> {
    let blocks = of_kind(view, kind).filter(|block| wrong(block.node));
    blocks.map(|block| block.hit(&format!("{kind}{field}"), what)).collect()
}

fn dangling(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut found = Vec::new();
    for (index, message) in view.messages.iter().enumerate().filter(|(_, message)| message.role == "assistant") {
        let next = ids(view, view.messages.get(index + 1), "toolResult");
        let answered = next.chain(ids(view, Some(message), "toolResult")).map(|(_, id)| id);
        let open = missing(ids(view, Some(message), "toolUse"), answered);
        found.extend(hits(open, "the call has no result in the next message"));
    }
    found
}

fn orphan(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut found = Vec::new();
    for (index, message) in view.messages.iter().enumerate().filter(|(_, message)| message.role == "user") {
        let before = index.checked_sub(1).and_then(|before| view.messages.get(before));
        let called = ids(view, before, "toolUse").map(|(_, id)| id);
        let lost = missing(ids(view, Some(message), "toolResult"), called);
        found.extend(hits(lost, "it answers no call of the message before"));
    }
    found
}

fn repeated_ids(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut found = Vec::new();
    for message in &view.messages {
        for kind in ["toolUse", "toolResult"] {
            let again = repeated(ids(view, Some(message), kind));
            found.extend(hits(again, "another block of the message has this id"));
        }
    }
    found
}

fn no_tools(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let tools = at(view.body, &["toolConfig", "tools"]).and_then(Node::as_array);
    if tools.is_some_and(|tools| !tools.is_empty()) {
        return Vec::new();
    }
    let uses = |kind| each(view, kind, "", "the history uses tools and none is defined", |_| true);
    uses("toolUse").into_iter().chain(uses("toolResult")).take(1).collect()
}

fn empty_error(view: &RequestView<'_, '_>) -> Vec<Hit> {
    each(view, "toolResult", ".content", "an error says nothing", |result| {
        result.get_str("status").as_deref() == Some("error") && items(result, "content").is_empty()
    })
}

fn no_content(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_empty = |message: &Message<'_, '_>| message.content.and_then(Node::as_array).is_none_or(<[_]>::is_empty);
    let empty = view.messages.iter().filter(|message| is_empty(message));
    empty.map(|message| message.hit("content", "it is empty")).collect()
}

/// Empty text is refused, and white space where the message has nothing else.
fn blank(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let alone = |block: &Block<'_, '_>| view.message_of(block).is_some_and(|message| message.parts().len() == 1);
    let is_blank = |block: &&Block<'_, '_>| {
        block.node.as_text().is_some_and(|text| text.is_empty() || text.is_blank() && alone(block))
    };
    let blank = view.of_kind("text").filter(is_blank);
    blank.map(|block| block.hit("text", "the text is blank")).collect()
}

fn is_legal(text: &str, more: &[char]) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || more.contains(&c);
    (1..=64).contains(&text.len()) && text.chars().all(legal)
}

fn illegal_id(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let wrong = |block: &Node<'_>| !block.get_str("toolUseId").is_some_and(|id| is_legal(&id, &['.', ':']));
    let what = "the id is empty, too long, or has characters that the vendor refuses";
    let of = |kind| each(view, kind, ".toolUseId", what, wrong);
    of("toolUse").into_iter().chain(of("toolResult")).collect()
}

fn illegal_name(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let what = "the name is empty, too long, or has characters that the vendor refuses";
    let legal = |object: &Node<'_>| object.get_str("name").is_some_and(|name| is_legal(&name, &[]));
    let mut found = each(view, "toolUse", ".name", what, |call| !legal(call));
    let tools = at(view.body, &["toolConfig", "tools"]).and_then(Node::as_array).unwrap_or_default();
    for (index, tool) in tools.iter().enumerate() {
        let spec = tool.get("toolSpec").filter(|spec| spec.is_object());
        let at = format!("toolConfig.tools[{index}].toolSpec.name");
        found.extend(RequestView::hit_if(spec.is_some_and(|spec| !legal(spec)), &at, what));
    }
    found
}

fn bad_input(view: &RequestView<'_, '_>) -> Vec<Hit> {
    each(view, "toolUse", ".input", "the arguments are no object", |call| {
        !call.get("input").is_some_and(Node::is_object)
    })
}

/// Claude signs its thinking; other models, where one is named, do not.
fn unsigned(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_unsigned = |inner: &Node<'_>| {
        let text = inner.get("reasoningText").filter(|text| text.is_object());
        text.is_some_and(|text| text.get("signature").and_then(Node::as_text).is_none_or(Text::is_empty))
    };
    let signs = view.body.get_str("modelId").is_none_or(|model| model.contains("claude"));
    each(view, "reasoningContent", "", "thinking has no signature", |inner| signs && is_unsigned(inner))
}

/// The kinds of blocks that hold media.
const MEDIA: &[&str] = &["image", "document", "video", "audio"];

/// The blocks of media, also those inside results, with their places.
fn media<'b, 'a>(view: &RequestView<'b, 'a>) -> impl Iterator<Item = (String, &'static str, &'b Node<'a>)> {
    let own = MEDIA.iter().flat_map(move |kind| {
        of_kind(view, kind).map(move |block| (format!("{}.{kind}", block.place), *kind, block.node))
    });
    let inside = of_kind(view, "toolResult").flat_map(|block| {
        let parts = items(block.node, "content").iter().enumerate();
        parts.flat_map(move |(part, node)| {
            MEDIA.iter().filter_map(move |kind| {
                let media = node.get(kind)?;
                Some((format!("{}.toolResult.content[{part}].{kind}", block.place), *kind, media))
            })
        })
    });
    own.chain(inside)
}

fn sources(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_address = |text: Option<Cow<'_, str>>| text.is_some_and(|text| text.starts_with("http"));
    let is_wrong = |source: &Node<'_>| {
        let known = ["bytes", "s3Location", "text", "content"];
        let strange =
            source.as_object().is_some_and(|keys| !keys.iter().any(|(key, _)| known.iter().any(|k| key.is(k))));
        let away = source.get("s3Location").is_some_and(|place| is_address(place.get_str("uri")));
        strange || away || is_address(source.get_str("bytes"))
    };
    let wrong = media(view).filter(|(.., node)| node.get("source").is_some_and(is_wrong));
    let hit = |at: String| Hit { at: format!("{at}.source"), what: "the bytes are neither here nor in S3".to_owned() };
    wrong.map(|(at, ..)| hit(at)).collect()
}

/// The row of the model that the body names, where there is one.
fn row(view: &RequestView<'_, '_>) -> Option<&'static Row> {
    let model = view.body.get_str("modelId")?;
    Some(models::of(super::WIRE, None, &model)).filter(|target| target.is_known).map(|target| target.row)
}

fn s3_sources(view: &RequestView<'_, '_>) -> Vec<Hit> {
    if row(view).is_none_or(|row| row.maker != "Anthropic") {
        return Vec::new();
    }
    let in_s3 = media(view).filter(|(.., node)| at(node, &["source", "s3Location"]).is_some());
    let what = || "this model reads nothing from S3".to_owned();
    in_s3.map(|(at, ..)| Hit { at: format!("{at}.source.s3Location"), what: what() }).collect()
}

fn videos(view: &RequestView<'_, '_>) -> Vec<Hit> {
    if row(view).is_none_or(|row| row.media.contains(&Medium::Video)) {
        return Vec::new();
    }
    let videos = media(view).filter(|(_, kind, _)| *kind == "video");
    videos.map(|(at, ..)| Hit { at, what: "this model takes no video".to_owned() }).collect()
}

fn thinking_first(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let thinking = at(view.body, &["additionalModelRequestFields", "thinking", "type"]).and_then(Node::as_str);
    two_sides::thinking_first(view, thinking.as_deref() == Some("enabled"), "toolUse", &["reasoningContent"])
}

fn alternate(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let pairs = view.messages.iter().zip(view.messages.iter().skip(1));
    let same = pairs.filter(|(message, next)| message.role == next.role);
    same.map(|(_, next)| next.hit("role", "the same side speaks again")).collect()
}
