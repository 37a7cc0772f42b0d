//! What a program uses first: the builder, typed tools, conversations and streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pollster::block_on;
use turnkeep_model::{Author, CallId, ErrorKind, Outcome, Seq, Session, Status};
use turnkeep_runtime::human::ConsentDecision;
use turnkeep_runtime::port::{Answer, FnTool, Liveness, Processes, Tool, ToolContext, ToolError, tool};
use turnkeep_runtime::slices::{Reducers, SliceItem};
use turnkeep_runtime::{
    Agent, AgentBuilder, Guard, Ports, Recorder, RunEvent, Script, StopSignal, Tail, TailItem, enqueue,
};
use turnkeep_store::{Store, open};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Amount {
    /// In whole euros.
    eur: u32,
    #[serde(default)]
    note: Option<String>,
}

#[derive(serde::Serialize, serde::Deserialize, Debug, PartialEq, Clone)]
struct Charged {
    eur: u32,
}

impl SliceItem for Charged {
    const NAME: &'static str = "charged";
}

async fn charge(amount: Amount, call: ToolContext) -> Result<String, ToolError> {
    let failed = call.slices.dispatch(Charged { eur: amount.eur });
    assert_eq!(failed, []);
    Ok(format!("charged {} EUR{}", amount.eur, amount.note.unwrap_or_default()))
}

fn charging() -> Script {
    Script::new("m", vec![Answer::calling("c1", "charge", r#"{"eur":42}"#), Answer::text("Done.")])
}

fn agent(tool: FnTool) -> Agent {
    let builder = Agent::builder().model(charging()).system("Be brief.").tool(tool).slice::<Charged>();
    builder.store_in(open("memory:").unwrap()).build().unwrap()
}

#[test]
fn the_schema_of_a_tool_follows_from_the_type_of_its_arguments() {
    let spec = tool("charge", "Charges.", charge).spec();

    let expected = r#"{"type":"object","properties":{"eur":{"type":"integer","format":"uint32","minimum":0,"description":"In whole euros."},"note":{"type":["string","null"],"default":null}},"required":["eur"]}"#;
    assert_eq!(spec.parameters, expected.parse::<turnkeep_model::Json>().unwrap());
}

#[test]
fn a_conversation_begins_with_its_first_question_and_goes_on_with_the_next() {
    let script = Script::new("m", vec![Answer::text("One."), Answer::text("Two.")]);
    let agent = Agent::builder().model(script).system("Be brief.").store("memory:").build().unwrap();
    let talk = agent.open("t").unwrap();

    let answers = [block_on(talk.ask("1?")).unwrap(), block_on(talk.ask("2?")).unwrap()];

    assert_eq!(answers.map(|stopped| stopped.text), [Some("One.".to_owned()), Some("Two.".to_owned())]);
    let session = block_on(talk.session()).unwrap();
    let said: Vec<_> =
        session.blocks().map(|(_, block)| (block.author.clone(), block.body.as_text().unwrap())).collect();
    let expected = [
        (Author::System, "Be brief."),
        (Author::User, "1?"),
        (Author::Assistant, "One."),
        (Author::User, "2?"),
        (Author::Assistant, "Two."),
    ];
    assert_eq!(said, expected);
}

#[test]
fn a_stream_tells_what_happens_and_ends_with_the_run() {
    let agent = agent(tool("charge", "Charges.", charge).once());
    let talk = agent.open("t").unwrap();
    let mut stream = talk.stream("Charge me.");

    let mut told = Vec::new();
    while let Some(event) = block_on(stream.next()) {
        told.push(match event.unwrap() {
            RunEvent::Text(text) => format!("text {text}"),
            RunEvent::ToolStarted { call, tool, arguments } => format!("start {call} {tool} {arguments}"),
            RunEvent::ToolFinished { call, tool, outcome, text } => {
                assert_eq!(outcome, Outcome::Success);
                format!("end {call} {tool} {text}")
            }
            RunEvent::Block(block) => format!("block {}", block.author),
            RunEvent::Stopped(stopped) => format!("stopped {}", stopped.status),
            other => format!("{other:?}"),
        });
    }

    let expected = [
        "block assistant",
        r#"start c1 charge {"eur":42}"#,
        "end c1 charge charged 42 EUR",
        "block tool",
        "text Done.",
        "block assistant",
        "stopped completed",
    ];
    assert_eq!(told, expected);
}

#[test]
fn what_a_tool_dispatches_is_in_the_session() {
    let agent = agent(tool("charge", "Charges.", charge).once());
    let talk = agent.open("t").unwrap();

    block_on(talk.ask("Charge me.")).unwrap();

    let session = block_on(talk.session()).unwrap();
    assert_eq!(turnkeep_runtime::slices::query::<Charged>(&session).unwrap(), [Charged { eur: 42 }]);
}

#[test]
fn a_call_that_needs_approval_waits_with_its_arguments_and_runs_once_approved() {
    let acted = Arc::new(AtomicUsize::new(0));
    let counter = acted.clone();
    let act = move |amount: Amount| {
        let counter = counter.clone();
        async move {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ToolError>(amount.eur)
        }
    };
    let talk = agent(tool("charge", "Charges.", act).once().needs_approval()).open("t").unwrap();

    let waits = block_on(talk.ask("Charge me.")).unwrap();

    assert_eq!(waits.status, "waiting_for_human".parse::<Status>().unwrap());
    assert_eq!((waits.waiting[0].arguments.as_str(), acted.load(Ordering::SeqCst)), (r#"{"eur":42}"#, 0));
    block_on(talk.decide(&CallId::given("c1"), &ConsentDecision::approve())).unwrap();
    let done = block_on(talk.resume()).unwrap();
    assert_eq!((done.text.as_deref(), acted.load(Ordering::SeqCst)), (Some("Done."), 1));
}

#[test]
fn what_is_wrong_with_an_agent_is_said_when_it_is_built() {
    let twice = || tool("charge", "Charges.", charge);
    let errors = [
        Agent::builder().build().unwrap_err(),
        Agent::builder().model(charging()).tool(twice()).tool(twice()).build().unwrap_err(),
        Agent::builder().model(charging()).store("nowhere:").build().unwrap_err(),
        Agent::builder().model(charging()).build().unwrap().open("t").err().unwrap(),
    ];

    let said = errors.map(|error| error.to_string());

    assert_eq!(said[..2], ["the agent has no model", "two tools are named `charge`"]);
    assert!(said[2].contains("nowhere"), "{said:?}");
    assert_eq!(said[3], "the agent has no store");
}

#[test]
fn of_two_that_begin_one_conversation_at_once_both_are_answered() {
    let store = open("memory:").unwrap();
    let script = Script::new("m", vec![Answer::text("One."), Answer::text("Two.")]);
    let agent = Agent::builder().model(script).store_in(store).build().unwrap();
    let talks = [agent.open("t").unwrap(), agent.open("t").unwrap()];

    let threads = talks.map(|talk| std::thread::spawn(move || block_on(talk.ask("Hello?"))));
    let ended = threads.map(|thread| thread.join().unwrap());

    let session = block_on(agent.open("t").unwrap().session()).unwrap();
    let asked = session.blocks().filter(|(_, block)| block.author == Author::User).count();
    assert_eq!(asked, 2, "{ended:?}");
}

/// What an agent is built of, one step each.
const STEPS: [fn(AgentBuilder) -> AgentBuilder; 7] = [
    |builder| builder.model(charging()),
    |builder| builder.fallback(Script::new("second", Vec::new())),
    |builder| builder.system("Be brief."),
    |builder| builder.tool(tool("charge", "Charges.", charge).once()),
    |builder| builder.slice::<Charged>(),
    |builder| builder.reducers(Reducers::default().slice::<Refunded>()),
    |builder| builder.store("memory:"),
];

#[derive(serde::Serialize, serde::Deserialize)]
struct Refunded;

impl SliceItem for Refunded {
    const NAME: &'static str = "refunded";
}

/// Every order of these numbers.
fn orders(numbers: &[usize]) -> Vec<Vec<usize>> {
    if numbers.is_empty() {
        return vec![Vec::new()];
    }
    let rest = |first: usize| numbers.iter().copied().filter(|number| *number != first).collect::<Vec<_>>();
    let with = |first: usize| orders(&rest(first)).into_iter().map(move |order| [vec![first], order].concat());
    numbers.iter().flat_map(|first| with(*first)).collect()
}

#[test]
fn every_order_of_building_gives_the_same_agent() {
    let built = |order: &[usize]| {
        let agent = order.iter().fold(Agent::builder(), |builder, step| STEPS[*step](builder)).build().unwrap();
        (format!("{agent:?}"), agent.session())
    };
    let steps: Vec<usize> = (0..STEPS.len()).collect();
    let expected = built(&steps);
    for part in ["second", "Be brief.", "charge", "charged", "refunded", "has_store: true"] {
        assert!(expected.0.contains(part), "{part}: {}", expected.0);
    }

    for order in orders(&steps) {
        assert_eq!(built(&order), expected, "{order:?}");
    }
}

#[test]
fn a_signal_stops_its_run_and_no_other() {
    let agent = agent(tool("charge", "Charges.", charge).once());
    let talk = agent.open("t").unwrap();
    let stop = StopSignal::default();
    stop.ask();

    let stopped = block_on(talk.ask_until("Charge me.", &stop)).unwrap();
    assert!(stopped.is_unanswered(), "{stopped:?}");

    let answered = block_on(talk.resume()).unwrap();
    assert_eq!(answered.text.as_deref(), Some("Done."));
}

#[test]
fn a_stream_that_is_asked_to_stop_ends_with_the_stopped_run() {
    let agent = agent(tool("charge", "Charges.", charge).once());
    let mut stream = agent.open("t").unwrap().stream("Charge me.");
    stream.stop_signal().ask();

    let mut last = None;
    while let Some(event) = block_on(stream.next()) {
        last = Some(event.unwrap());
    }

    assert!(matches!(last, Some(RunEvent::Stopped(stopped)) if stopped.is_unanswered()));
}

#[test]
fn a_guard_refuses_a_question_before_anything_is_recorded() {
    let agent = agent(tool("charge", "Charges.", charge).once().needs_approval()).with_guard(Guard::Ended);
    let talk = agent.open("t").unwrap();
    block_on(talk.ask("Charge me.")).unwrap();
    let last = block_on(talk.last()).unwrap();

    let refused = block_on(talk.ask("And more.")).unwrap_err();

    assert_eq!((refused.kind(), block_on(talk.last()).unwrap()), (ErrorKind::Conflict, last));
}

/// Processes of which another one, which lives, is asked about.
struct Others;

impl Processes for Others {
    fn own(&self) -> Option<String> {
        Some("2@here".into())
    }

    fn liveness(&self, _: &str) -> Liveness {
        Liveness::Alive
    }
}

/// A session that another process runs: its question is not answered yet.
fn busy_session(store: &Arc<dyn Store>) -> Recorder {
    let session = Session { id: Some("t".into()), ..Session::default() };
    block_on(Recorder::create_asking(store.clone(), session, "Charge me.", Ports::default())).unwrap()
}

#[test]
fn a_question_waits_for_the_process_that_runs_the_session() {
    let store = open("memory:").unwrap();
    let mut there = busy_session(&store);
    let other = Agent::new(Script::new("m", vec![Answer::text("Both answered.")]));
    let ports = Ports { processes: Arc::new(Others), ..Ports::default() };
    let waiting = Agent::builder().model(Script::new("n", Vec::new())).store_in(store).ports(ports).build().unwrap();
    let mut stream = waiting.open("t").unwrap().stream("And you?");

    let first = block_on(stream.next()).unwrap().unwrap();
    assert!(matches!(&first, RunEvent::Waiting(busy) if busy.to_string().contains("runs the session")), "{first:?}");
    block_on(other.resume(&mut there)).unwrap();
    drop(there);
    let mut told = Vec::new();
    while let Some(event) = block_on(stream.next()) {
        match event.unwrap() {
            RunEvent::Block(block) => told.push(block.body.as_text().unwrap_or_default().to_owned()),
            RunEvent::Stopped(stopped) => told.push(stopped.status.to_string()),
            _ => {}
        }
    }

    assert_eq!(told, ["Both answered.", "completed"]);
}

#[test]
fn a_tail_is_a_stream_of_every_batch_once() {
    let agent = agent(tool("charge", "Charges.", charge).once());
    let talk = agent.open("t").unwrap();
    let hub = agent.ports().hub.clone();
    let mut tail = Tail::new(agent.store().unwrap().clone(), &hub, talk.id(), Seq::START);
    block_on(talk.ask("Charge me.")).unwrap();

    let items: Vec<TailItem> = block_on(futures_util::TryStreamExt::try_collect(&mut tail)).unwrap();

    let batches = items.iter().filter_map(|item| match item {
        TailItem::Batch(batch) => Some((batch.seq, batch.last())),
        _ => None,
    });
    let mut next = Seq(1);
    for (first, last) in batches {
        assert_eq!(first, next);
        next = last.next();
    }
    assert_eq!(next, block_on(talk.last()).unwrap().next());
}

#[test]
fn what_a_conversation_knows_is_read_again_once_someone_else_has_written() {
    let agent = agent(tool("charge", "Charges.", charge).once());
    let talk = agent.open("t").unwrap();
    block_on(talk.ask("Charge me.")).unwrap();
    let before = block_on(talk.session()).unwrap();
    assert!(Arc::ptr_eq(&before, &block_on(talk.session()).unwrap()));

    block_on(enqueue(&**agent.store().unwrap(), "t", "And you?")).unwrap();

    assert_eq!(block_on(talk.session()).unwrap().turns.len(), before.turns.len() + 1);
}
