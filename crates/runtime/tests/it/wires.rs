//! The requests of an agent as vendors get them: the same after a death as without one, with the settings that were kept.

use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_codec::{EncodeOptions, Target, encode};
use turnkeep_model::{Archive, Author, Block, Effort, Options, Session};
use turnkeep_runtime::port::{Answer, Deltas, Identity, Model, ModelError, Request};
use turnkeep_runtime::{Agent, Input, Recorder, Script};
use turnkeep_store::{BoxFuture, Store};
use turnkeep_testkit::Home;

use crate::kit::{memory, ports};
use crate::mortal::{Case, Death, Ledgerbook, Mortal, Story, agent_of, cases, later, live, recover, script};

const WIRES: [&str; 6] =
    ["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];

/// A model of each wire that takes a temperature, and can be told to think.
const MODELS: [&str; 6] = [
    "gpt-5.1",
    "gpt-5.1",
    "claude-sonnet-4-5",
    "gemini-2.5-flash",
    "qwen3",
    "anthropic.claude-sonnet-4-5-20250929-v1:0",
];

/// Answers as another model does, and keeps every request as all vendors would have got it.
struct Wired {
    answers: Arc<dyn Model>,
    defaults: Options,
    sent: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Wired {
    fn new(answers: Arc<dyn Model>) -> Wired {
        Wired { answers, defaults: Options::default(), sent: Arc::default() }
    }
}

impl Model for Wired {
    fn identity(&self) -> Identity {
        Identity { defaults: self.defaults.clone(), ..self.answers.identity() }
    }

    fn answer<'a>(&'a self, request: Request<'a>, deltas: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        self.sent.lock().unwrap().push(WIRES.map(|wire| body(wire, &request)).to_vec());
        self.answers.answer(request, deltas)
    }
}

/// The request as this vendor gets it.
fn body(wire: &str, request: &Request<'_>) -> String {
    let (options, tools) = (request.options.clone(), request.tools.to_vec());
    let session = Session { options, tools, ..request.session.clone() };
    let mut encoding = EncodeOptions::default();
    let model = WIRES.iter().zip(MODELS).find(|(known, _)| **known == wire).map(|(_, model)| model.to_owned());
    (encoding.as_request, encoding.model) = (true, model);
    let archive = Archive { sessions: vec![session], ..Archive::default() };
    String::from_utf8(encode(&archive, &Target::parse(wire).unwrap(), &encoding).unwrap().bytes).unwrap()
}

/// The last request of a life that dies at a point, or of a whole one.
fn last_request(case: Case, at: usize) -> (Vec<String>, bool) {
    let home = Home::new("memory");
    let (store, book) = (home.open(), Ledgerbook(home.folder().join("book")));
    let death = Death::at(at);
    let wired = Wired::new(script());
    let sent = wired.sent.clone();
    let agent = agent_of(case, Arc::new(wired), &book, &death);
    let mortal: Arc<dyn Store> = Arc::new(Mortal(store.clone(), death.clone()));
    let lived = block_on(death.survive(live(case, mortal, &agent, &later))).is_some();
    if !lived {
        let wired = Wired { answers: script(), defaults: Options::default(), sent: sent.clone() };
        let agent = agent_of(case, Arc::new(wired), &book, &Death::never());
        block_on(recover(case, store, &agent, &book, &later));
    }
    let last = sent.lock().unwrap().last().cloned().unwrap_or_default();
    (last, lived)
}

#[test]
fn after_a_death_the_next_request_is_byte_for_byte_that_of_a_run_that_lived() {
    let mut points = 0;
    for case in cases().filter(|case| case.story == Story::Turn) {
        let (expected, _) = last_request(case, usize::MAX);
        assert!(expected.iter().all(|body| body.contains("second done")), "{expected:?}");
        for at in 0.. {
            let (last, lived) = last_request(case, at);
            if lived {
                break;
            }
            points += 1;
            for ((wire, killed), whole) in WIRES.iter().zip(&last).zip(&expected) {
                assert_eq!(killed, whole, "{wire} {case:?} dead at {at}");
            }
        }
    }
    assert!(points >= 250, "{points}");
}

/// Two exchanges, the second in another process if it is said so, and its request.
fn second_request(options: Options, defaults: Options, turn: Options, process: Process) -> Vec<String> {
    let store = memory();
    let wired = |sent: Arc<Mutex<Vec<Vec<String>>>>| {
        let answers = Arc::new(Script::new("test", vec![Answer::text("one"), Answer::text("two")]));
        Agent::new(Arc::new(Wired { answers, defaults: defaults.clone(), sent }))
    };
    let sent = Arc::default();
    let first = wired(Arc::clone(&sent));
    let session = Session { id: Some("s".into()), options, ..Session::default() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, ports())).unwrap();
    let begin =
        vec![Block::text(Author::System, "Be brief.").in_message(0), Block::text(Author::User, "Hi").in_message(1)];
    block_on(first.run(&mut recorder, begin)).unwrap();
    let next = Input { blocks: vec![Block::text(Author::User, "And now?")], options: turn };
    match process {
        Process::Same => block_on(first.run(&mut recorder, next)).unwrap(),
        Process::Another => {
            let mut recorder = block_on(Recorder::resume(store, &"s".into(), later())).unwrap();
            block_on(wired(Arc::clone(&sent)).run(&mut recorder, next)).unwrap()
        }
    };
    sent.lock().unwrap().last().cloned().unwrap_or_default()
}

#[derive(Clone, Copy)]
enum Process {
    Same,
    Another,
}

fn of<'a>(bodies: &'a [String], wire: &str) -> &'a str {
    WIRES.iter().position(|one| *one == wire).map_or("", |at| &bodies[at])
}

#[test]
fn what_a_session_keeps_is_in_the_first_request_after_a_resume() {
    let none = Options::default;
    let thinking = none().with_reasoning(Effort::High).with_budget_tokens(2048).with_max_tokens(9000);
    let warm = none().with_temperature(0.5);
    for options in [thinking.clone(), warm.clone()] {
        let resumed = second_request(options.clone(), none(), none(), Process::Another);

        assert_eq!(resumed, second_request(options, none(), none(), Process::Same));
        assert!(resumed.iter().all(|body| body.contains("Be brief.")), "{resumed:?}");
    }
    let resumed = second_request(thinking, none(), none(), Process::Another);
    assert!(of(&resumed, "openai.chat").contains(r#""reasoning_effort": "high""#), "{resumed:?}");
    assert!(of(&resumed, "openai.responses").contains(r#""effort": "high""#), "{resumed:?}");
    assert!(of(&resumed, "anthropic.messages").contains(r#""budget_tokens": 2048"#), "{resumed:?}");
    assert!(of(&resumed, "gemini.contents").contains(r#""thinkingBudget": 2048"#), "{resumed:?}");
    let budgeted = none().with_budget_tokens(2048).with_max_tokens(9000);
    let resumed = second_request(budgeted, none(), none(), Process::Another);
    assert!(of(&resumed, "gemini.contents").contains(r#""thinkingBudget": 2048"#), "{resumed:?}");
    assert!(of(&resumed, "bedrock.converse").contains(r#""budget_tokens": 2048"#), "{resumed:?}");
    let resumed = second_request(warm, none(), none(), Process::Another);
    assert!(resumed.iter().all(|body| body.contains(r#""temperature": 0.5"#)), "{resumed:?}");
}

#[test]
fn the_turn_comes_before_the_session_before_the_endpoint_before_the_vendor() {
    let warm = |t: f64| Options::default().with_temperature(t);
    let none = Options::default;
    let table = [
        (warm(0.25), warm(0.5), warm(0.75), Some(r#""temperature": 0.75"#)),
        (warm(0.25), warm(0.5), none(), Some(r#""temperature": 0.25"#)),
        (none(), warm(0.5), none(), Some(r#""temperature": 0.5"#)),
        (none(), none(), none(), None),
    ];
    for (session, endpoint, turn, expected) in table {
        let bodies = second_request(session, endpoint, turn, Process::Another);

        for (wire, body) in WIRES.iter().zip(&bodies) {
            match expected {
                Some(setting) => assert!(body.contains(setting), "{wire}: {body}"),
                None => assert!(!body.contains("temperature"), "{wire}: {body}"),
            }
        }
    }
}
