//! Condensing: recorded as one event, checked before, and harmless when anything goes wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::TurnOpened;
use turnkeep_model::policy::condense::{self as policy, NothingToCondense, estimate};
use turnkeep_model::{
    Author, Block, Body, CallId, ErrorKind, Event, Finish, FinishReason, Part, Session, SessionId, Summary, Text,
    ToolCall, ToolResult, Turn, diff, expanded, fold,
};
use turnkeep_runtime::condense::{Extract, ModelSummariser, Outcome, Settings, Summariser, Task, condense, summarise};
use turnkeep_runtime::port::{Answer, Deltas, Identity, Model, ModelError, Request, SystemClock};
use turnkeep_runtime::{Recorder, say};
use turnkeep_store::{BoxFuture, Store, StoreExt};
use turnkeep_testkit::Home;

use crate::kit::{memory, ports, schemes};

/// An exchange of two turns: a question, a tool call with its result, an answer.
fn exchange(n: u32) -> [Turn; 2] {
    let id = || CallId::given(format!("call_{n}"));
    let call =
        ToolCall { call: id(), name: "read_file".into(), arguments: format!("{{\"path\":\"src/part_{n}.rs\"}}") };
    let text = format!(
        "part {n} holds {} lines, and most of them say nothing that anybody would have to remember later on",
        n * 37 + 11
    );
    let result = ToolResult {
        call: id(),
        name: Some("read_file".into()),
        parts: vec![Part::Text(Text { text })],
        error: None,
        is_error: None,
        outcome: None,
    };
    let at = n * 4 + 1;
    let asked = vec![
        Block::text(
            Author::User,
            format!("Hello again! Could you please tell me what part {n} is for, and whether we keep it?"),
        )
        .in_message(at),
        Block::new(Author::Assistant, call).in_message(at + 1),
        Block::new(Author::Tool, result).in_message(at + 2),
    ];
    let answered = vec![
        Block::text(Author::Assistant, format!("Sure, happy to help with that. We decided to keep src/part_{n}.rs. Let me know if there is anything else that you would like.")).in_message(at + 3),
    ];
    [Turn { blocks: asked, ..Turn::default() }, Turn { blocks: answered, ..Turn::default() }]
}

fn talk(exchanges: u32) -> Session {
    let mut turns: Vec<Turn> = (0..exchanges).flat_map(exchange).collect();
    turns[0].blocks.insert(0, Block::text(Author::System, "Be brief."));
    Session { turns, ..Session::default() }
}

fn stored(store: &Arc<dyn Store>, session: Session) -> SessionId {
    let id = SessionId::new("talk");
    block_on(Recorder::create(store.clone(), Session { id: Some(id.clone()), ..session }, ports())).unwrap();
    id
}

fn load(store: &dyn Store, id: &SessionId) -> Session {
    block_on(store.load(id)).unwrap().session
}

fn summary(session: &Session) -> Vec<(usize, String)> {
    let found = session.blocks().filter_map(|(turn, block)| match &block.body {
        Body::Summary(summary) => Some((turn, summary.text.clone())),
        _ => None,
    });
    found.collect()
}

#[test]
fn a_stored_session_is_condensed_by_one_record_and_can_be_expanded_again() {
    for scheme in schemes() {
        let home = Home::new(scheme);
        let store = home.open();
        let id = stored(&store, talk(8));
        let before = load(&*store, &id);
        let last = block_on(store.last(&id)).unwrap();

        let outcome = block_on(condense(&*store, &id, &ports(), &Extract, &Settings::default())).unwrap();

        let Outcome::Condensed(made) = outcome else { panic!("{outcome:?}") };
        let journal = block_on(store.journal(&id)).unwrap();
        assert_eq!((made.plan.from, made.plan.to), (0, 7), "the last four exchanges stay");
        assert_eq!(journal.last().0, last.0 + 1);
        let after = load(&*store, &id);
        assert_eq!(summary(&after), [(0, made.summary.text.clone())]);
        assert_eq!(after.turns[0].blocks[0].body.as_text(), Some("Be brief."));
        assert_eq!(after.turns[8..], before.turns[8..]);
        assert_eq!(fold(&journal).unwrap().turns, after.turns);
        assert_eq!(expanded(&journal).unwrap().turns, before.turns);
        let window = block_on(store.load_window(&id, 12)).unwrap();
        assert_eq!(window.head.session.turns, after.turns[4..], "{scheme}");
    }
}

#[test]
fn condensing_again_condenses_the_rest_and_not_the_summary() {
    let store = memory();
    let id = stored(&store, talk(8));
    let settings = Settings::default();
    let first = block_on(condense(&*store, &id, &ports(), &Extract, &settings)).unwrap();
    let again = block_on(condense(&*store, &id, &ports(), &Extract, &settings)).unwrap();
    assert_eq!(again, Outcome::Nothing(NothingToCondense::Kept));

    for n in 8..12 {
        let at = block_on(store.last(&id)).unwrap();
        let opened = |turn| Event::from(TurnOpened { turn: Box::new(turn) });
        let events = exchange(n).map(|turn| opened(turn).into());
        let batch = turnkeep_model::Batch::new(at.next(), events.into());
        block_on(store.append(&id, at, &batch)).unwrap();
    }
    let third = block_on(condense(&*store, &id, &ports(), &Extract, &settings)).unwrap();

    let (Outcome::Condensed(first), Outcome::Condensed(third)) = (first, third) else { panic!("not condensed") };
    assert_eq!((third.plan.from, third.plan.to), (8, 15));
    assert_eq!(summary(&load(&*store, &id)), [(0, first.summary.text), (8, third.summary.text)]);
}

#[test]
fn a_budget_stops_as_soon_as_it_is_met() {
    let session = talk(10);
    let total: u64 = policy::plan(&session, &Default::default(), &estimate).unwrap().total;
    let plan = |budget| policy::plan(&session, &policy::CondenseSettings { keep: 1, budget: Some(budget) }, &estimate);

    assert_eq!(plan(total), Err(NothingToCondense::WithinBudget));
    let (little, much) = (plan(total - 50).unwrap(), plan(total / 2).unwrap());
    assert_eq!(little.exchanges, 1);
    assert!(much.exchanges > 3 && much.exchanges < 9, "{much:?}");
    assert!(much.total - much.tokens + much.target <= total / 2);
    assert_eq!(plan(1).unwrap().exchanges, 9, "what is kept stays, whatever the budget");
}

#[test]
fn a_call_is_never_parted_from_its_result() {
    let mut session = talk(8);
    let result = session.turns[4].blocks.pop().unwrap();
    session.turns[9].blocks.push(result);

    let plan = policy::plan(&session, &Default::default(), &estimate).unwrap();

    assert_eq!(plan.to, 3, "the call of turn 4 is answered in turn 9");
    let blocks = &mut session.turns[0].blocks;
    blocks.retain(|block| !matches!(block.body, Body::ToolResult(_)));
    assert_eq!(policy::plan(&session, &Default::default(), &estimate), Err(NothingToCondense::OpenCall));
}

#[test]
fn losses_account_for_every_difference() {
    let before = talk(8);
    let plan = policy::plan(&before, &Default::default(), &estimate).unwrap();
    let mut after = before.clone();

    let losses = policy::apply(&mut after, &plan, "They kept four parts.");

    for change in diff(&before, &after) {
        assert!(losses.iter().any(|loss| loss.covers(&change.at)), "{} is not told", change.at);
    }
    assert_eq!(losses.len(), plan.blocks + 1);
}

/// A model that says what a test wants.
struct Says {
    answers: Vec<Result<Answer, ModelError>>,
    asked: AtomicUsize,
}

impl Model for Says {
    fn identity(&self) -> Identity {
        Identity { model: Some("small".into()), ..Identity::default() }
    }

    fn answer<'a>(&'a self, request: Request<'a>, _: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        assert_eq!(request.session.turns.len(), 1, "a session of its own");
        let index = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.get(index).cloned();
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

fn says(answers: Vec<Result<Answer, ModelError>>) -> Arc<Says> {
    Arc::new(Says { answers, asked: AtomicUsize::new(0) })
}

fn text(text: &str) -> Result<Answer, ModelError> {
    Ok(Answer::text(text))
}

#[test]
fn a_model_is_asked_and_its_summary_counts() {
    let store = memory();
    let id = stored(&store, talk(6));
    let model = says(vec![text("{\"summary\": \"Parts 0 and 1 are kept.\"}")]);

    let outcome =
        block_on(condense(&*store, &id, &ports(), &ModelSummariser::new(model), &Settings::default())).unwrap();

    let Outcome::Condensed(made) = outcome else { panic!("{outcome:?}") };
    assert_eq!((made.summary.text.as_str(), made.by.as_str()), ("Parts 0 and 1 are kept.", "small"));
    assert_eq!(summary(&load(&*store, &id)), [(0, made.summary.text)]);
}

#[test]
fn one_bad_answer_is_forgiven() {
    let model = says(vec![text("I cannot do that."), text("```json\n{\"summary\": \"All are kept.\"}\n```")]);

    let outcome =
        block_on(summarise(&talk(6), &ModelSummariser::new(model.clone()), &Settings::default(), &SystemClock));

    assert!(matches!(outcome, Outcome::Condensed(_)), "{outcome:?}");
    assert_eq!(model.asked.load(Ordering::SeqCst), 2);
}

#[test]
fn what_no_summariser_may_do_leaves_the_session_as_it_was_and_says_why() {
    let cut = Answer {
        finish: Some(Finish { reason: FinishReason::Length, ..Finish::default() }),
        ..Answer::text("{\"summary\": \"Pa")
    };
    let long = format!("{{\"summary\": \"{}\"}}", "very long ".repeat(2_000));
    let failed = || Err(ModelError::fatal("the endpoint is gone"));
    let cases: Vec<(Vec<Result<Answer, ModelError>>, &str)> = vec![
        (vec![text("no"), text("no")], "small: its answer is no JSON, or was cut off"),
        (vec![text("{}"), text("[1]")], "small: its answer is no JSON object"),
        (vec![text("{\"summary\": \" \"}"), text("{\"summary\": \"\"}")], "small: the summary is empty"),
        (vec![text(&long), text(&long)], "small: the summary is not shorter"),
        (vec![Ok(cut.clone()), Ok(cut)], "small: its answer was cut off"),
        (vec![failed(), failed()], "small: the endpoint is gone"),
        (vec![Ok(Answer::default()), Ok(Answer::default())], "small: its answer is no JSON"),
        (vec![], "small did not answer within 1s"),
    ];
    for (answers, why) in cases {
        let store = memory();
        let id = stored(&store, talk(6));
        let before = block_on(store.load(&id)).unwrap();
        let settings = Settings { patience: Duration::from_secs(1), ..Settings::default() };

        let outcome =
            block_on(condense(&*store, &id, &ports(), &ModelSummariser::new(says(answers)), &settings)).unwrap();

        assert!(matches!(&outcome, Outcome::Failed(reason) if reason.starts_with(why)), "{outcome:?} for {why}");
        assert_eq!(block_on(store.load(&id)).unwrap(), before);
    }
}

/// A summariser during which someone else writes.
struct Meanwhile<'a>(Box<dyn Fn() + Send + Sync + 'a>);

impl Summariser for Meanwhile<'_> {
    fn name(&self) -> String {
        "meanwhile".into()
    }

    fn summarise<'a>(&'a self, _: Task<'a>) -> BoxFuture<'a, Result<Summary, String>> {
        (self.0)();
        Box::pin(async { Ok(Summary::from("All parts are kept.")) })
    }
}

#[test]
fn what_someone_says_meanwhile_is_not_lost() {
    let store = memory();
    let id = stored(&store, talk(6));
    let busy = Meanwhile(Box::new(|| {
        block_on(say(&*store, &id, &ports(), "And part 7?")).unwrap();
    }));

    let outcome = block_on(condense(&*store, &id, &ports(), &busy, &Settings::default())).unwrap();

    assert!(matches!(outcome, Outcome::Condensed(_)));
    let session = load(&*store, &id);
    assert_eq!(session.turns.last().unwrap().blocks[0].body.as_text(), Some("And part 7?"));
    assert_eq!(summary(&session).len(), 1);
}

#[test]
fn of_two_that_condense_at_once_one_gets_a_conflict() {
    let store = memory();
    let id = stored(&store, talk(6));
    let settings = Settings::default();
    let busy = Meanwhile(Box::new(|| drop(block_on(condense(&*store, &id, &ports(), &Extract, &settings)).unwrap())));

    let error = block_on(condense(&*store, &id, &ports(), &busy, &settings)).unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(summary(&load(&*store, &id)).len(), 1);
}

#[test]
fn a_stored_session_keeps_its_last_exchange() {
    let store = memory();
    let id = stored(&store, talk(6));
    let settings = Settings { plan: policy::CondenseSettings { keep: 0, budget: None }, ..Settings::default() };

    let error = block_on(condense(&*store, &id, &ports(), &Extract, &settings)).unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

/// Facts of four kinds in a conversation of courtesies and filler, with the words that must survive.
fn planted(seed: u32) -> (Session, Vec<(&'static str, String)>) {
    const NAMES: [&str; 6] = [
        "Marguerite Oyelaran",
        "Tomasz Wierzbicki",
        "Priya Raghunathan",
        "Sven Lindqvist",
        "Aoife Brennan",
        "Kenji Watanabe",
    ];
    const FILLER: [&str; 8] = [
        "That makes a lot of sense to me, and I think it is a good way to look at the whole thing.",
        "Let me think about this for a moment before I say anything more about it.",
        "There are of course several ways to do this, and each of them has its own merits.",
        "In general it is a good idea to keep things simple and easy to follow for everyone.",
        "I hope this helps, and do let me know if anything is unclear or if you would like more detail.",
        "As far as I can tell this is how it usually works in most of the cases that one comes across.",
        "Thanks so much, that is really kind of you and it helps a great deal.",
        "It depends a bit on what you would like to do with it later on.",
    ];
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let mut next = move |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let mut facts = Vec::new();
    let mut turns = Vec::new();
    for n in 0..16_u32 {
        let (kind, fact, sentence) = match n % 4 {
            0 => {
                let name = NAMES[next(6) as usize].to_owned();
                ("name", name.clone(), format!("The person to ask about the billing part is {name}."))
            }
            1 => {
                let number = (1_000 + next(90_000)).to_string();
                ("number", number.clone(), format!("The importer stops after {number} rows on a usual day."))
            }
            2 => {
                let word = ["queue", "cache", "ledger", "mirror"][next(4) as usize];
                (
                    "decision",
                    format!("drop the {word} {n}"),
                    format!("We decided to drop the {word} {n} because nobody uses it."),
                )
            }
            _ => {
                let path = format!("services/api_{n}/handlers/v{}.rs", next(9));
                ("path", path.clone(), format!("The broken check is in {path}, near the top."))
            }
        };
        let mut filler = |count: u32| (0..count).map(|_| FILLER[next(8) as usize]).collect::<Vec<_>>().join(" ");
        let asked = format!("{} Could you go on with the next point?", filler(2));
        let answered = format!("{} {sentence} {}", filler(2), filler(3));
        turns.push(Turn {
            blocks: vec![
                Block::text(Author::User, asked).in_message(2 * n),
                Block::text(Author::Assistant, answered).in_message(2 * n + 1),
            ],
            ..Turn::default()
        });
        facts.push((kind, fact));
    }
    (Session { turns, ..Session::default() }, facts)
}

/// The table of docs/policies.md comes from here: run with `--nocapture`.
#[test]
fn planted_facts_survive_the_summary_that_nobody_is_asked_for() {
    let settings = Settings { plan: policy::CondenseSettings { keep: 0, budget: None }, ..Settings::default() };
    let (mut found, mut all): (std::collections::BTreeMap<&str, usize>, std::collections::BTreeMap<&str, usize>) =
        Default::default();
    let (mut before, mut after) = (0, 0);
    for seed in 0..50 {
        let (session, facts) = planted(seed);
        let outcome = block_on(summarise(&session, &Extract, &settings, &SystemClock));
        let Outcome::Condensed(made) = outcome else { panic!("{outcome:?}") };
        before += made.plan.tokens;
        after += estimate(&made.summary.text);
        for (kind, fact) in facts {
            *all.entry(kind).or_default() += 1;
            *found.entry(kind).or_default() += usize::from(made.summary.text.contains(&fact));
        }
    }
    let ratio = |kind: &str| found[kind] as f64 / all[kind] as f64;
    println!("compression {:.3}", after as f64 / before as f64);
    for kind in ["name", "number", "decision", "path"] {
        println!("{kind} {:.3} ({} of {})", ratio(kind), found[kind], all[kind]);
        assert!(ratio(kind) >= 0.95, "{kind}: {}", ratio(kind));
    }
    assert!(after * 10 <= before * 3, "{after} of {before} tokens");
}
