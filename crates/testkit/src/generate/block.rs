//! Blocks and what they are.

use proptest::prelude::*;
use proptest::{collection, sample};
use turnkeep_model::{
    Author, Block, BlockId, Body, CallId, Data, Extra, ItemId, Media, MessageId, MessageKey, Object, Outcome, Part,
    Reasoning, Scope, ShortExchange, Summary, Text, ToolCall, ToolResult,
};

use super::extra::unknown_fields;
use super::{extra, fields, json, object, often, rare, text, time, word};

/// Any block: any author with any body.
pub fn block() -> BoxedStrategy<Block> {
    block_of(author(), message_key(), body())
}

/// A block by some author, in some message, of some body.
pub(super) fn block_of(
    author: impl Strategy<Value = Author> + 'static,
    message: impl Strategy<Value = MessageKey> + 'static,
    body: impl Strategy<Value = Body> + 'static,
) -> BoxedStrategy<Block> {
    let block = fields!(Block {
        id: rare(word().prop_map(BlockId::new)),
        author: author,
        message: message,
        item_id: rare(word().prop_map(ItemId::new)),
        body: body,
        metadata: object(),
        extra: extra(),
    });
    block.prop_map(settle).boxed()
}

/// All unknown fields of a block of an unknown kind are the body's.
fn settle(mut block: Block) -> Block {
    if matches!(&block.body, Body::Other { kind, raw } if kind.starts_with("turnkeep/") && raw.as_object().is_some()) {
        block.extra.remove("turnkeep");
    }
    block
}

/// Who wrote a block.
pub(super) fn author() -> BoxedStrategy<Author> {
    let known = sample::select(Author::KNOWN).prop_map(Author::from_word);
    prop_oneof![8 => known, 1 => word().prop_map(|word| Author::from_word(&word))].boxed()
}

/// The key of a message, its ordinal 0.
pub fn message_key() -> BoxedStrategy<MessageKey> {
    let full = fields!(MessageKey {
        ordinal: Just(0),
        id: rare(word().prop_map(MessageId::new)),
        name: rare(word()),
        time: rare(time()),
        extra: extra(),
    });
    prop_oneof![2 => Just(MessageKey::default()), 1 => full].boxed()
}

/// Any body.
pub fn body() -> BoxedStrategy<Body> {
    let exchange = fields!(ShortExchange { question: text(), answer: text(), extra: extra() });
    let exchanges = prop_oneof![3 => Just(Vec::new()), 1 => collection::vec(exchange, 1..3)];
    let summary = fields!(Summary { text: text(), from: rare(0..4u32), to: rare(0..4u32), exchanges: exchanges });
    prop_oneof![
        4 => text().prop_map(|text| Text { text }.into()),
        2 => reasoning().prop_map(Body::from),
        2 => tool_call(call_id()).prop_map(Body::from),
        2 => tool_result(call_id()).prop_map(Body::from),
        1 => media().prop_map(Body::from),
        1 => summary.prop_map(Body::from),
        1 => other(),
    ]
    .boxed()
}

fn other() -> BoxedStrategy<Body> {
    let foreign = (word(), json()).prop_map(|(kind, raw)| Body::Other { kind, raw });
    let newer = unknown_fields().prop_map(|raw| Body::Other { kind: "turnkeep/hologram".into(), raw: raw.into() });
    let posing = (sample::select(&["turnkeep/text", "turnkeep/other", "turnkeep/", "turnkeep/x"][..]), json())
        .prop_map(|(kind, raw)| Body::Other { kind: kind.into(), raw });
    prop_oneof![2 => foreign, 1 => newer, 1 => posing].boxed()
}

/// Ids of few calls, so that some stand twice, some have no result and some results no call.
fn call_id() -> BoxedStrategy<CallId> {
    prop_oneof![
        3 => sample::select(&["call_1", "call_2", "", "7"][..]).prop_map(CallId::given),
        1 => (0..3u32).prop_map(CallId::Minted),
    ]
    .boxed()
}

/// Thinking, open and opaque.
pub fn reasoning() -> BoxedStrategy<Reasoning> {
    let scope = fields!(Scope {
        provider: often(word()),
        model: often(word()),
        account: rare(word()),
        prefix: rare(word()),
        extra: extra(),
    });
    fields!(Reasoning {
        text: often(text()),
        summary: collection::vec(text(), 0..2),
        signature: rare("[A-Za-z0-9+/]{8,40}={0,2}"),
        encrypted: rare("[A-Za-z0-9+/]{8,80}={0,2}"),
        scope: rare(scope),
    })
    .boxed()
}

/// A call of a tool, its arguments JSON in some spelling or not JSON at all.
pub(super) fn tool_call(call: BoxedStrategy<CallId>) -> BoxedStrategy<ToolCall> {
    let spaced = sample::select(&["{ \"city\" : \"Paris\" }", "{}", "", "null", "{\"a\":1.0,\"a\":2}"][..]);
    let broken = sample::select(&["{\"city\": \"Par", "city=Paris", "{'a': 1}", "[1,2", "{} trailing"][..]);
    let arguments = prop_oneof![
        3 => spaced.prop_map(str::to_owned),
        3 => object().prop_map(|object| turnkeep_model::Json::Object(object).to_text()),
        1 => broken.prop_map(str::to_owned),
        1 => text(),
    ];
    fields!(ToolCall { call: call, name: word(), arguments: arguments }).boxed()
}

/// A tool's answer.
pub fn tool_result(call: BoxedStrategy<CallId>) -> BoxedStrategy<ToolResult> {
    let known = sample::select(Outcome::KNOWN).prop_map(Outcome::from_word);
    let outcome = prop_oneof![6 => known, 1 => word().prop_map(|word| Outcome::from_word(&word))];
    fields!(ToolResult {
        call: call,
        name: rare(word()),
        parts: collection::vec(part(), 0..3),
        error: rare(text()),
        is_error: rare(any::<bool>()),
        outcome: rare(outcome),
    })
    .boxed()
}

/// A part of a tool's answer, parts of newer versions included.
pub fn part() -> BoxedStrategy<Part> {
    let newer = (sample::select(&["hologram", "text"][..]), unknown_fields()).prop_map(|(kind, raw)| {
        let mut fields = Object::new();
        if kind == "text" {
            fields.push("text", "a");
        }
        raw.into_iter().for_each(|(key, value)| fields.push(key, value));
        Part::Other { kind: kind.into(), raw: fields }
    });
    prop_oneof![
        4 => text().prop_map(|text| Text { text }.into()),
        3 => json().prop_map(|json| Data { json }.into()),
        1 => media().prop_map(Part::from),
        1 => newer,
    ]
    .boxed()
}

/// An image, a sound, a file.
pub fn media() -> BoxedStrategy<Media> {
    fields!(Media {
        media_type: often(sample::select(&["image/png", "audio/wav", "application/pdf"][..]).prop_map(str::to_owned)),
        inline: often("[A-Za-z0-9+/]{0,24}"),
        text: rare(text()),
        url: rare(text()),
        file_id: rare(word()),
        digest: rare("[0-9a-f]{64}"),
        name: rare(word()),
        detail: rare(word()),
    })
    .boxed()
}

/// A plain block: what stands in an ordinary chat.
pub(super) fn plain_block(author: Author, body: impl Into<Body>) -> Block {
    Block { extra: Extra::NONE, ..Block::new(author, body) }
}
