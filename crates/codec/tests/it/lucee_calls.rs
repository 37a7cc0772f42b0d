//! Lucee's two functions.

use turnkeep_codec::format::lucee::{
    Arguments, Condense, Data, Endpoint, Endpoints, Serialized, Wanted, arguments, load, load_or_new, serialize, trim,
};
use turnkeep_codec::{EncodeOptions, Mode, Target, encode};
use turnkeep_model::json::{Json, parse};
use turnkeep_model::{Author, Block, Body, ErrorKind, Loss, LossKind, Number, Options, Session, Summary, Turn};

fn json(text: &str) -> Json {
    parse(text).unwrap().into_json()
}

fn talk(exchanges: u32) -> Session {
    let turn = |n: u32| Turn {
        blocks: vec![
            Block::text(Author::User, format!("Question {n}?")).in_message(2 * n + 1),
            Block::text(Author::Assistant, format!("Answer {n}.")).in_message(2 * n + 2),
        ],
        ..Turn::default()
    };
    let mut turns: Vec<Turn> = (0..exchanges).map(turn).collect();
    turns[0].blocks.insert(0, Block::text(Author::System, "Be brief."));
    let options = Options { temperature: Number::parse("0.5"), ..Options::default() };
    Session { turns, options, ..Session::default() }
}

fn questions(text: &str) -> Vec<String> {
    let document = json(text);
    let history = document.as_object().unwrap().get("history").unwrap().as_array().unwrap();
    history.iter().map(|item| item.as_object().unwrap().get_str("question").unwrap().into_owned()).collect()
}

fn plain(session: &Session, maxlength: Option<i64>, mode: Mode) -> Serialized {
    serialize(session, maxlength, Condense::No, mode).unwrap()
}

#[test]
fn maxlength_keeps_the_last_exchanges_and_the_settings() {
    let session = talk(3);
    for (maxlength, mode, kept) in [
        (None, Mode::Faithful, 3),
        (Some(2), Mode::Faithful, 2),
        (Some(3), Mode::Faithful, 3),
        (Some(99), Mode::Faithful, 3),
        (Some(0), Mode::Faithful, 0),
        (Some(-1), Mode::Faithful, 3),
        (Some(-7), Mode::Faithful, 3),
        (Some(-1), Mode::Compat, 3),
        (Some(-7), Mode::Compat, 0),
        (Some(0), Mode::Compat, 0),
        (Some(1), Mode::Compat, 1),
    ] {
        let made = plain(&session, maxlength, mode);

        assert_eq!(questions(&made.text).len(), kept, "{maxlength:?} {mode:?}");
        assert!(made.text.contains("\"temperature\": 0.5") && made.text.contains("Be brief."), "{}", made.text);
        let dropped = made.losses.iter().filter(|loss| loss.kind == LossKind::Dropped && loss.at.starts_with("turns"));
        assert_eq!(dropped.count(), 3 - kept);
    }
    assert_eq!(questions(&plain(&session, Some(1), Mode::Faithful).text), ["Question 2?"]);
    assert_eq!(session, talk(3), "the session itself is not touched");
}

/// Condenses everything to one sentence, and remembers what it was given.
fn condensed(session: &Session) -> Result<(Session, Vec<Loss>), String> {
    let asked = session.blocks().filter(|(_, block)| block.author == Author::User).count();
    let text = format!("They asked {asked} questions.");
    let block = Block::new(Author::User, Summary { text, ..Summary::default() }).in_message(1);
    let turn = Turn { blocks: vec![Block::text(Author::System, "Be brief."), block], ..Turn::default() };
    Ok((Session { turns: vec![turn], ..session.clone() }, vec![Loss::policy(LossKind::Condensed, "turns", "all")]))
}

#[test]
fn maxlength_comes_before_condense_and_a_summary_is_one_pair() {
    let made = serialize(&talk(5), Some(2), Condense::With(&condensed), Mode::Faithful).unwrap();

    assert!(made.text.contains("They asked 2 questions."), "{}", made.text);
    assert_eq!(questions(&made.text), ["Summarize our conversation so far."]);
    assert!(made.text.contains("\"temperature\": 0.5"));
    assert_eq!(made.uncondensed, None);
    let back = load("claude", Data::Text(&made.text), &Configured, Mode::Faithful).unwrap();
    let summaries = back.session.blocks().filter(|(_, block)| matches!(block.body, Body::Summary(_)));
    assert_eq!(summaries.count(), 1, "it is known as a summary again");
}

#[test]
fn condensing_that_fails_gives_the_data_and_the_reason() {
    let broken = |_: &Session| Err("the endpoint is gone".to_owned());

    let made = serialize(&talk(3), Some(2), Condense::With(&broken), Mode::Faithful).unwrap();

    assert_eq!(made.uncondensed.as_deref(), Some("the endpoint is gone"));
    assert_eq!(made.text, plain(&talk(3), Some(2), Mode::Faithful).text);
}

#[test]
fn arguments_are_taken_as_lucee_takes_them() {
    let session = json("{\"history\":[]}");
    let call = |rest: &str| {
        let Json::Array(rest) = json(rest) else { panic!("a list") };
        arguments(&[vec![session.clone()], rest].concat())
    };
    let read = |rest: &str| call(rest).map(|Arguments { maxlength, condense, .. }| (maxlength, condense)).unwrap();

    assert_eq!(read("[]"), (-1, Wanted::No));
    assert_eq!(read("[10, true]"), (10, Wanted::Yes));
    assert_eq!(read("[\"10\", \"yes\"]"), (10, Wanted::Yes));
    assert_eq!(read("[\"ten\", \"perhaps\"]"), (-1, Wanted::No));
    assert_eq!(read("[{}, []]"), (-1, Wanted::No));
    assert_eq!(read("[0]"), (0, Wanted::No));
    assert_eq!(
        call("[1, true, 3]").unwrap_err().to_string(),
        "SerializeAISession takes 1 to 3 arguments, and 4 are given"
    );
    assert!(arguments(&[]).is_err());
    let error = arguments(&[Json::from("claude")]).unwrap_err();
    assert_eq!(error.to_string(), "Can't cast Object type [String] to a value of type [AISession]");
}

/// Two endpoints, one of them for exceptions.
struct Configured;

fn endpoint(name: &str) -> Endpoint {
    let options =
        Options { temperature: Number::parse("0.9"), socket_timeout_ms: Number::parse("5000"), ..Options::default() };
    Endpoint { name: name.into(), options, system: Some(" Be kind. ".into()) }
}

impl Endpoints for Configured {
    fn by_name(&self, name: &str) -> Option<Endpoint> {
        self.names().into_iter().find(|own| own.eq_ignore_ascii_case(name)).map(|own| endpoint(&own))
    }

    fn by_id(&self, id: &str) -> Option<Endpoint> {
        (id == "123").then(|| endpoint("claude"))
    }

    fn by_category(&self, category: &str) -> Option<Endpoint> {
        category.eq_ignore_ascii_case("exception").then(|| endpoint("chatGPT"))
    }

    fn names(&self) -> Vec<String> {
        vec!["claude".into(), "chatGPT".into()]
    }
}

const BASIC: &str = r#"{"temperature":0.2,"limit":2,"connectionTimeout":-1,"socketTimeout":-1,"systemMessage":"Be brief.",
    "history":[{"question":"One?","answer":"1"},{"question":"Two?","answer":"2"},{"question":"Three?","answer":"3"}]}"#;

#[test]
fn endpoints_are_found_by_name_id_and_category_with_the_originals_words() {
    let found = |reference: &str| {
        load(reference, Data::Text(BASIC), &Configured, Mode::Faithful).map(|loaded| loaded.endpoint.name)
    };
    let words = |reference: &str| found(reference).unwrap_err().to_string();

    assert_eq!(found("CLAUDE").unwrap(), "claude");
    assert_eq!(found("id:123").unwrap(), "claude");
    assert_eq!(found("default:exception").unwrap(), "chatGPT");
    assert_eq!(words("id:9"), "there is no AIEngine stored with id [9]");
    assert_eq!(words("default:mail"), "no match for default [mail] found.");
    assert_eq!(words("default:"), "default name cannot be empty.");
    let error = found("gemini").unwrap_err();
    assert_eq!((error.kind(), error.remedy()), (ErrorKind::NotFound, Some("there are: claude, chatGPT")));
    assert!(found("ID:123").is_err(), "prefixes have their case");
}

#[test]
fn text_and_value_load_alike_and_json5_too() {
    let text = load("claude", Data::Text(BASIC), &Configured, Mode::Faithful).unwrap().session;
    let value = load("claude", Data::Value(&json(BASIC)), &Configured, Mode::Faithful).unwrap().session;
    let json5 =
        load("claude", Data::Text("{history: [{question: 'a', answer: 'b'},], /* x */ }"), &Configured, Mode::Faithful);

    assert_eq!(text.turns, value.turns);
    assert_eq!(json5.unwrap().session.turns.len(), 1);
    for bad in ["", "[]", "{}", "{\"history\":{}}", "{\"history\":[1]}", "{\"history\":[{\"question\":\"a\"}]}"] {
        assert!(load("claude", Data::Text(bad), &Configured, Mode::Faithful).is_err(), "{bad}");
    }
}

#[test]
fn what_the_session_does_not_say_the_endpoint_does() {
    let own = load("claude", Data::Text(BASIC), &Configured, Mode::Faithful).unwrap().session;
    let bare = load(
        "claude",
        Data::Text("{\"history\":[{\"question\":\"a\",\"answer\":\"b\"}]}"),
        &Configured,
        Mode::Faithful,
    )
    .unwrap();
    let zero = "{\"temperature\":0,\"systemMessage\":\"  \",\"history\":[]}";
    let ours = load("claude", Data::Text(zero), &Configured, Mode::Faithful).unwrap().session;
    let theirs = load("claude", Data::Text(zero), &Configured, Mode::Compat).unwrap().session;

    let temperature = |session: &Session| session.options.temperature.as_ref().map(|number| number.as_str().to_owned());
    assert_eq!(temperature(&own).as_deref(), Some("0.2"));
    assert_eq!(own.options.socket_timeout_ms, Number::parse("5000"));
    assert_eq!(own.turns[0].blocks[0].body.as_text(), Some("Be brief."));
    assert_eq!(temperature(&bare.session).as_deref(), Some("0.9"));
    assert_eq!(bare.session.turns[0].blocks[0].body.as_text(), Some("Be kind."));
    assert!(bare.losses.iter().any(|loss| loss.kind == LossKind::Synthesised));
    assert_eq!((temperature(&ours).as_deref(), temperature(&theirs).as_deref()), (Some("0"), Some("0.9")));
    assert_eq!(ours.turns[0].blocks[0].body.as_text(), Some("Be kind."));
}

#[test]
fn a_history_over_its_limit_is_kept_on_load_and_trimmed_from_the_oldest_afterwards() {
    let mut session = load("claude", Data::Text(BASIC), &Configured, Mode::Faithful).unwrap().session;
    assert_eq!(session.turns.len(), 3);

    let losses = trim(&mut session);

    assert_eq!(questions(&plain(&session, None, Mode::Faithful).text), ["Two?", "Three?"]);
    assert_eq!(session.turns[0].blocks[0].body.as_text(), Some("Be brief."));
    assert_eq!(losses.len(), 1);
    assert!(trim(&mut session).is_empty());
}

#[test]
fn a_damaged_session_is_set_aside_and_a_new_one_begun() {
    let (fresh, why) = load_or_new("claude", Data::Text("{\"history\": 7}"), &Configured, Mode::Faithful).unwrap();
    let (known, none) = load_or_new("claude", Data::Text(BASIC), &Configured, Mode::Faithful).unwrap();

    assert_eq!(why.unwrap().kind(), ErrorKind::Corrupt);
    assert_eq!(fresh.session.turns.len(), 1, "the endpoint's system message");
    assert!(none.is_none() && known.session.turns.len() == 3);
}

#[test]
fn the_same_history_becomes_each_vendors_request() {
    let session = load("chatGPT", Data::Text(BASIC), &Configured, Mode::Faithful).unwrap().session;
    let request = |wire: &str| {
        let mut options = EncodeOptions::default();
        options.as_request = true;
        options.model = Some("m".into());
        let encoded = encode(&session.clone().into(), &Target::parse(wire).unwrap(), &options).unwrap();
        json(std::str::from_utf8(&encoded.bytes).unwrap())
    };
    let field = |body: &Json, key: &str| body.as_object().unwrap().get(key).cloned().unwrap_or_default();

    let openai = field(&request("openai.chat"), "messages");
    let claude = request("anthropic.messages");
    let gemini = request("gemini.contents");

    let roles = |list: &Json| {
        let items = list.as_array().unwrap().iter();
        items.map(|item| item.as_object().unwrap().get_str("role").unwrap().into_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(roles(&openai), "system user assistant user assistant user assistant");
    assert_eq!(roles(&field(&claude, "messages")), "user assistant user assistant user assistant");
    assert!(field(&claude, "system").to_text().contains("Be brief."));
    assert_eq!(roles(&field(&gemini, "contents")), "user model user model user model");
    assert!(field(&gemini, "systemInstruction").to_text().contains("Be brief."));
}
