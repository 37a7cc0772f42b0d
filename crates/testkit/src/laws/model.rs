//! What holds for every model.
//!
//! A model answers; what an answer says is its own affair. The laws look at what a run relies on: whom a turn names,
//! what a screen was shown, what can be called, and that nobody is hurt who gives up waiting.
#![expect(clippy::expect_used, reason = "a broken law is a failed test")]

use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};

use pollster::block_on;
use turnkeep_model::json::{self, Json};
use turnkeep_model::{Author, Block, Body, Options, Session, ToolSpec, Turn};
use turnkeep_runtime::port::{Answer, Delta, Deltas, Model, ModelError, NoDeltas, Request};

/// A law with its name.
pub struct ModelLaw {
    /// Its name.
    pub name: &'static str,
    /// Panics where it does not hold.
    pub check: fn(&dyn Model),
}

macro_rules! laws {
    ($d:tt [$($law:ident,)*]) => {
        /// The laws of every model.
        pub const MODEL_LAWS: &[ModelLaw] = &[$(ModelLaw { name: stringify!($law), check: $law },)*];

        /// A test of every law of models for a model of your own, given as an expression of `&dyn Model`.
        #[macro_export]
        macro_rules! own_model_laws {
            ($d model:expr) => {
                $(#[test]
                fn $law() {
                    $crate::laws::model::check(stringify!($law), $d model);
                })*
            };
        }
    };
}

laws! { $ [
    is_always_the_same,
    pieces_make_up_the_text,
    calls_what_there_is,
    a_session_without_a_question_is_survived,
    an_answer_nobody_waits_for_is_given_up,
] }

/// Checks the law `name` for a model.
///
/// # Panics
/// Where it does not hold, or where there is no such law.
pub fn check(name: &str, model: &dyn Model) {
    let law = MODEL_LAWS.iter().find(|law| law.name == name).expect("a law of the table");
    (law.check)(model);
}

fn asking(text: &str) -> Session {
    let said = [Block::text(Author::System, "You help with the weather."), Block::text(Author::User, text)];
    Session { turns: vec![Turn { blocks: said.to_vec(), ..Turn::default() }], ..Session::default() }
}

fn weather() -> ToolSpec {
    let schema = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
    let parameters = json::parse(schema).expect("a schema").into_json();
    ToolSpec {
        name: "weather".into(),
        description: Some("The weather of a city.".into()),
        parameters,
        ..ToolSpec::default()
    }
}

fn ask(model: &dyn Model, session: &Session, deltas: &dyn Deltas) -> Result<Answer, ModelError> {
    let (options, tools) = (Options::default(), [weather()]);
    block_on(model.answer(Request { session, options: &options, tools: &tools, turn: 0 }, deltas))
}

/// Turns name who answered: a model that changes its name from one question to the next would be recorded as two.
pub fn is_always_the_same(model: &dyn Model) {
    let before = model.identity();
    ask(model, &asking("How is the weather in Oslo?"), &NoDeltas).expect("an answer");

    assert_eq!(model.identity(), before);
    assert!(before.model.is_some(), "a turn names the model that answered");
}

#[derive(Default)]
struct Heard(Mutex<String>);

impl Deltas for Heard {
    fn delta(&self, delta: Delta) {
        if let Delta::Text(text) = delta {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
        }
    }
}

/// What a screen was shown piece by piece is what is recorded, unless nothing was shown.
pub fn pieces_make_up_the_text(model: &dyn Model) {
    let heard = Heard::default();
    let answer = ask(model, &asking("How is the weather in Oslo?"), &heard).expect("an answer");
    let shown = heard.0.into_inner().unwrap_or_else(PoisonError::into_inner);

    let texts = answer.blocks.iter().filter_map(|block| match &block.body {
        Body::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    assert!(shown.is_empty() || shown == texts.collect::<String>(), "shown: {shown}");
    assert!(!answer.blocks.is_empty(), "an answer says or calls something");
}

/// Calls name a tool of the request, have ids of their own, and arguments that are an object.
pub fn calls_what_there_is(model: &dyn Model) {
    let answer = ask(model, &asking("How is the weather in Oslo? Use the tool."), &NoDeltas).expect("an answer");
    let mut ids = Vec::new();
    for block in &answer.blocks {
        assert_eq!(block.author, Author::Assistant, "an answer is the assistant's");
        let Body::ToolCall(call) = &block.body else { continue };
        let arguments = json::parse(&call.arguments).map(json::Node::into_json);
        assert!(matches!(arguments, Ok(Json::Object(_))), "the arguments are no object: {}", call.arguments);
        assert_eq!(call.name, "weather");
        assert!(!ids.contains(&call.call), "two calls have the id {}", call.call);
        ids.push(call.call.clone());
    }
}

/// A session in which nothing is asked is answered or refused, without a panic.
pub fn a_session_without_a_question_is_survived(model: &dyn Model) {
    let _ = ask(model, &Session::default(), &NoDeltas);
}

/// Whoever gives up an answer on its way can ask again at once.
pub fn an_answer_nobody_waits_for_is_given_up(model: &dyn Model) {
    let (session, options) = (asking("How is the weather in Oslo?"), Options::default());
    let request = Request { session: &session, options: &options, tools: &[], turn: 0 };
    let mut answering = model.answer(request, &NoDeltas);
    let _ = answering.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    drop(answering);

    ask(model, &session, &NoDeltas).expect("an answer");
}
