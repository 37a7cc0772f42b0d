//! Histories as crashes, trimming and other vendors leave them.

use proptest::prelude::*;
use proptest::{collection, sample};
use turnkeep_model::{
    Author, Block, Body, CallId, Data, ItemId, Json, Media, Object, Part, Reasoning, Scope, Session, Summary, Text,
    ToolCall, ToolResult, Turn,
};

use super::{options, rare, text, tool_spec};

/// A session whose calls dangle, whose results are orphans or stand twice, whose ids are foreign, whose texts are empty:
/// what a target has to be given a valid request of all the same.
pub fn history() -> BoxedStrategy<Session> {
    let turns = collection::vec(collection::vec(block(), 0..7), 0..5);
    let model = rare(sample::select(MODELS).prop_map(str::to_owned));
    (turns, collection::vec(tool_spec(), 0..2), options(), model, any::<bool>())
        .prop_map(|(turns, tools, options, model, joined)| {
            let turn = |blocks| Turn { blocks, model: model.clone(), ..Turn::default() };
            let turns = turns.into_iter().map(turn).collect();
            Session { turns: numbered(turns, joined), tools, options, ..Session::default() }
        })
        .boxed()
}

/// Gives every block a message of its own, or one with its neighbours of the same author.
fn numbered(mut turns: Vec<Turn>, joined: bool) -> Vec<Turn> {
    let (mut ordinal, mut before) = (0, None);
    for block in turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        if before.is_some() && !(joined && before.as_ref() == Some(&block.author)) {
            ordinal += 1;
        }
        before = Some(block.author.clone());
        block.message.ordinal = ordinal;
    }
    turns
}

/// Models of several vendors, among them those with demands of their own.
const MODELS: &[&str] =
    &["gpt-5", "o1-mini", "claude-sonnet-4-5", "gemini-3-pro", "deepseek-reasoner", "amazon.nova-pro"];

/// Ids as vendors give them, legal for few of the others.
const IDS: &[&str] = &[
    "call_1",
    "toolu_01AbCdEf",
    "functions.Bash:0",
    "fc_68c42de022c881948db7ed1cc2529f2e0202c9ad459e0d23aaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "abc123XYZ",
    "tooluse_ä",
    "",
    " ",
];

fn block() -> BoxedStrategy<Block> {
    prop_oneof![
        4 => said(Author::User),
        1 => said(Author::System),
        1 => said(Author::Developer),
        4 => said(Author::Assistant),
        6 => call().prop_map(|call| Block { item_id: call.1, ..Block::new(Author::Assistant, call.0) }),
        6 => result().prop_map(|result| Block::new(Author::Tool, result)),
        2 => thought().prop_map(|thought| Block::new(Author::Assistant, thought)),
        1 => media().prop_map(|media| Block::new(Author::User, media)),
        1 => media().prop_map(|media| Block::new(Author::Assistant, media)),
        1 => text().prop_map(|text| Block::new(Author::User, Summary::from(text))),
        1 => Just(Block::new(Author::Assistant, Body::Other { kind: "server_tool_use".into(), raw: Json::Null })),
        1 => vendors().prop_map(|(author, body)| Block::new(author, body)),
    ]
    .boxed()
}

/// Blocks that only their vendor has a body for: most of them say something all the same.
const VENDORS: &[(Author, &str, &str)] = &[
    (
        Author::User,
        "search_result",
        r#"{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"found"}]}"#,
    ),
    (
        Author::User,
        "document",
        r#"{"type":"document","source":{"type":"content","content":[{"type":"text","text":"clause"}]}}"#,
    ),
    (Author::User, "guardContent", r#"{"guardContent":{"text":{"text":"guarded"}}}"#),
    (Author::User, "cachePoint", r#"{"cachePoint":{"type":"default"}}"#),
    (Author::System, "cachePoint", r#"{"cachePoint":{"type":"default"}}"#),
    (Author::Assistant, "toolUse", r#"{"toolUse":{"toolUseId":"s","name":"n","type":"server_tool_use","input":{}}}"#),
    (Author::Assistant, "executableCode", r#"{"executableCode":{"language":"PYTHON","code":"print(1)"}}"#),
    (Author::Assistant, "audio", r#"{"id":"audio_1","data":"QUJD","transcript":"spoken"}"#),
    (Author::Assistant, "image_generation_call", r#"{"type":"image_generation_call","id":"ig_1","result":"QUJD"}"#),
];

fn vendors() -> BoxedStrategy<(Author, Body)> {
    let body = |(author, kind, raw): &(Author, &str, &str)| {
        let raw = turnkeep_model::json::parse(raw).map(turnkeep_model::json::Node::into_json).unwrap_or_default();
        (author.clone(), Body::Other { kind: (*kind).to_owned(), raw })
    };
    sample::select(VENDORS).prop_map(move |row| body(&row)).boxed()
}

fn said(author: Author) -> BoxedStrategy<Block> {
    let empty = sample::select(&["", " ", "\n", "\u{a0}"][..]).prop_map(str::to_owned);
    prop_oneof![3 => text(), 1 => empty].prop_map(move |text| Block::text(author.clone(), text)).boxed()
}

fn id() -> BoxedStrategy<CallId> {
    prop_oneof![5 => sample::select(IDS).prop_map(CallId::given), 1 => (0..3u32).prop_map(CallId::Minted)].boxed()
}

fn call() -> BoxedStrategy<(ToolCall, Option<ItemId>)> {
    let arguments =
        sample::select(&["{}", "{\"city\":\"Rome\"}", "", "not json", "[1]", "{\"a\":1,\"a\":2}", "{\"a\":NaN}"][..]);
    let name = sample::select(&["get_weather", "mcp.server/tool", "", "ein Werkzeug"][..]);
    (id(), name, arguments, rare(Just(ItemId::new("fc_1"))))
        .prop_map(|(call, name, arguments, item)| {
            (ToolCall { call, name: name.to_owned(), arguments: arguments.to_owned() }, item)
        })
        .boxed()
}

fn result() -> BoxedStrategy<ToolResult> {
    let part = prop_oneof![
        3 => text().prop_map(|text| Text { text }.into()),
        1 => Just(Text::default().into()),
        1 => Just(Data { json: Json::Bool(true) }.into()),
        2 => media().prop_map(Into::into),
        1 => Just(Part::Other { kind: "searchResult".into(), raw: searched() }),
    ];
    (id(), collection::vec(part, 0..3), rare(text()), rare(any::<bool>()))
        .prop_map(|(call, parts, error, is_error)| ToolResult {
            call,
            name: None,
            parts,
            error,
            is_error,
            outcome: None,
        })
        .boxed()
}

fn searched() -> Object {
    let found: Object = [("text", Json::from("found in a result"))].into_iter().collect();
    [("source", Json::from("s")), ("content", Json::Array(vec![found.into()]))].into_iter().collect()
}

fn thought() -> BoxedStrategy<Reasoning> {
    let provider = sample::select(&["anthropic", "bedrock", "openai", "google", "gemini", "elsewhere"][..]);
    let scope = (provider, rare(sample::select(MODELS))).prop_map(|(provider, model)| Scope {
        provider: Some(provider.into()),
        model: model.map(Into::into),
        ..Scope::default()
    });
    (rare(text()), rare(Just("c2lnbmVk".to_owned())), rare(Just("Z0FBQUE=".to_owned())), rare(scope))
        .prop_map(|(text, signature, encrypted, scope)| Reasoning {
            text,
            summary: Vec::new(),
            signature,
            encrypted,
            scope,
        })
        .boxed()
}

fn media() -> BoxedStrategy<Media> {
    let kind = sample::select(
        &["image/png", "image/tiff", "audio/wav", "video/mp4", "application/pdf", "text/csv", "nonsense"][..],
    );
    let url = sample::select(&["https://example.org/a.png", "file:///etc/passwd", "gs://bucket/a", "not a url"][..]);
    let bytes = sample::select(&["AAAA", "YSxiCjEsMg==", "5A=="][..]).prop_map(str::to_owned);
    (rare(kind), rare(bytes), rare(url), rare(Just("file-123".to_owned())), rare(text()))
        .prop_map(|(kind, inline, url, file_id, text)| Media {
            media_type: kind.map(str::to_owned),
            inline,
            text,
            url: url.map(str::to_owned),
            file_id,
            ..Media::default()
        })
        .boxed()
}
