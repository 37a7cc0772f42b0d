//! What a session needs next, as a table.

use turnkeep_model::event::{ApprovalAsked, ApprovalGiven, Effect, Resolution, ToolIntended, ToolResolved, Verdict};
use turnkeep_model::{
    Author, Block, CallId, Event, Ledger, Outcome, Part, Seq, Session, Text, Time, ToolCall, ToolResult, Turn,
};
use turnkeep_runtime::ResumePolicy;
use turnkeep_runtime::plan::{CallStep, Plan, plan};

fn call() -> CallId {
    CallId::given("c")
}

fn asked() -> Block {
    Block::text(Author::User, "go")
}

fn calls() -> Block {
    Block::new(Author::Assistant, ToolCall { call: call(), name: "act".into(), arguments: "{}".into() })
}

fn answered() -> Block {
    let result = ToolResult {
        call: call(),
        name: None,
        parts: vec![Part::Text(Text { text: "ok".into() })],
        error: None,
        is_error: None,
        outcome: Some(Outcome::Success),
    };
    Block::new(Author::Tool, result)
}

fn said() -> Block {
    Block::text(Author::Assistant, "done")
}

fn session(turns: &[&[Block]]) -> Session {
    let turns = turns.iter().map(|blocks| Turn { blocks: blocks.to_vec(), ..Turn::default() });
    Session { turns: turns.collect(), ..Session::default() }
}

fn ledger(events: Vec<Event>) -> Ledger {
    let mut ledger = Ledger::default();
    events.into_iter().zip(1..).for_each(|(event, seq)| ledger.apply(Seq(seq), &event));
    ledger
}

fn intended(effect: Effect) -> Event {
    ToolIntended { call: call(), effect, key: None, attempt: Some(1), duplicate_of: None }.into()
}

fn consent(expires: Option<&str>) -> Event {
    ApprovalAsked { call: call(), digest: "d".into(), expires: expires.map(Time::from), reason: None }.into()
}

fn given(verdict: Verdict, digest: &str) -> Event {
    let arguments = (verdict == Verdict::Edit).then(|| "{\"n\":1}".to_owned());
    ApprovalGiven { call: call(), digest: digest.into(), verdict, arguments, by: None, reason: None, key: None }.into()
}

fn resolved(resolution: Resolution) -> Event {
    ToolResolved { call: call(), resolution, by: None }.into()
}

fn planned(session: &Session, ledger: &Ledger, policy: ResumePolicy) -> Plan {
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    plan(session, ledger, policy, now, &|name| (name == "act").then_some(Effect::Once))
}

fn step(events: Vec<Event>, policy: ResumePolicy) -> CallStep {
    match planned(&session(&[&[asked(), calls()]]), &ledger(events), policy) {
        Plan::Calls { turn: 0, steps } => steps.into_iter().next().unwrap().step,
        other => panic!("{other:?}"),
    }
}

#[test]
fn with_no_call_open_it_asks_or_is_done() {
    let table: [(&[&[Block]], Plan); 6] = [
        (&[], Plan::Done),
        (&[&[asked()]], Plan::Ask),
        (&[&[asked(), said()]], Plan::Done),
        (&[&[asked(), calls(), answered()]], Plan::Ask),
        (&[&[asked(), calls(), answered()], &[said()]], Plan::Done),
        (&[&[asked(), said()], &[asked()]], Plan::Ask),
    ];
    for (turns, expected) in table {
        assert_eq!(planned(&session(turns), &Ledger::default(), ResumePolicy::MissingOnly), expected, "{turns:?}");
    }
}

#[test]
fn every_state_of_an_open_call_has_its_step() {
    let again = |attempt| CallStep::Call { attempt, arguments: None };
    let edited = CallStep::Call { attempt: 1, arguments: Some("{\"n\":1}".into()) };
    let no = CallStep::Deny("a person said no".into());
    let late = CallStep::Deny("nobody consented in time".into());
    let missing = ResumePolicy::MissingOnly;
    let table = [
        (vec![intended(Effect::Pure)], missing, again(2)),
        (vec![intended(Effect::Keyed)], missing, again(2)),
        (vec![intended(Effect::Once)], missing, CallStep::Unsure),
        (vec![intended(Effect::Pure)], ResumePolicy::RerunTurn, again(2)),
        (vec![intended(Effect::Once)], ResumePolicy::RerunTurn, CallStep::Unsure),
        (vec![intended(Effect::Pure)], ResumePolicy::Ask, CallStep::AwaitHuman),
        (vec![intended(Effect::Once), resolved(Resolution::Retry)], missing, again(2)),
        (vec![intended(Effect::Once), resolved(Resolution::Skip)], missing, CallStep::Abandon),
        (vec![intended(Effect::Pure), resolved(Resolution::Retry)], ResumePolicy::Ask, again(2)),
        (vec![consent(None)], missing, CallStep::AwaitHuman),
        (vec![consent(Some("2025-01-01T00:00:00Z"))], missing, late),
        (vec![consent(Some("2027-01-01T00:00:00Z"))], missing, CallStep::AwaitHuman),
        (vec![consent(None), given(Verdict::Approve, "d")], missing, again(1)),
        (vec![consent(None), given(Verdict::Approve, "other")], missing, CallStep::AwaitHuman),
        (vec![consent(None), given(Verdict::Edit, "d")], missing, edited),
        (vec![consent(None), given(Verdict::Deny, "d")], missing, no),
        (
            vec![consent(None), given(Verdict::Deny, "d"), given(Verdict::Approve, "d")],
            missing,
            CallStep::Deny("a person said no".into()),
        ),
        (vec![], missing, CallStep::Unsure),
        (vec![resolved(Resolution::Retry)], missing, again(1)),
        (vec![resolved(Resolution::Skip)], ResumePolicy::Ask, CallStep::Abandon),
        (vec![], ResumePolicy::Ask, CallStep::AwaitHuman),
    ];
    for (events, policy, expected) in table {
        assert_eq!(step(events.clone(), policy), expected, "{events:?} {policy:?}");
    }
}

#[test]
fn a_turn_that_is_gone_through_again_answers_settled_calls_from_the_ledger() {
    let mut other = calls();
    if let turnkeep_model::Body::ToolCall(call) = &mut other.body {
        call.call = CallId::given("second");
    }
    let half = session(&[&[asked(), calls(), other, answered()]]);
    let steps = |policy| match planned(&half, &Ledger::default(), policy) {
        Plan::Calls { steps, .. } => steps.into_iter().map(|planned| planned.step).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };

    assert_eq!(steps(ResumePolicy::RerunTurn), [CallStep::Replay, CallStep::Unsure]);
    assert_eq!(steps(ResumePolicy::MissingOnly), [CallStep::Unsure]);
}
