//! What holds for every policy over generated sessions.

use proptest::prelude::*;
use turnkeep_model::policy::tokens::TokenCounter;
use turnkeep_model::policy::{Content, Pipeline, Policy, Redact, RedactTarget, Truncate, Unit, Window};
use turnkeep_model::{Archive, Block, Body, CallId, Session, diff, json::Layout};
use turnkeep_testkit::{for_all, generate};

const CASES: u32 = 200;

/// Any session, with secrets in the places that sessions have for text.
fn told() -> BoxedStrategy<Session> {
    let sessions = prop_oneof![generate::session(), generate::plain_session(), generate::history()];
    (sessions, any::<bool>()).prop_map(|(session, plant)| if plant { planted(session) } else { session }).boxed()
}

fn planted(mut session: Session) -> Session {
    session.title = Some("for ada@example.com".to_owned());
    session.metadata.set("db", "postgres://ada:hunter2x@db.example.com/x");
    session.tags.push(("owner".to_owned(), "ada@example.com".to_owned()));
    for (index, block) in session.turns.iter_mut().flat_map(|turn| &mut turn.blocks).enumerate() {
        match &mut block.body {
            Body::Text(text) if index % 2 == 0 => text.text.push_str(" call +49 30 901820 or grace@example.org"),
            Body::ToolCall(call) if index % 2 == 0 => {
                call.arguments = r#"{"to":"line\nada@example.com","pay":4111111111111111}"#.to_owned();
            }
            Body::Reasoning(reasoning) => reasoning.text = Some("the password is Tr0ub4dor!3".to_owned()),
            Body::Other { raw, .. } => *raw = "mail ada@example.com".into(),
            _ => {}
        }
    }
    session
}

fn redactions() -> Vec<Redact> {
    vec![
        Redact::new([RedactTarget::EncryptedContent]),
        Redact::new([RedactTarget::ToolArgs]),
        Redact::new([RedactTarget::ToolResults]),
        Redact::new([RedactTarget::Secrets]),
        Redact::new([]).with_pattern("[a-c]+|weather").unwrap(),
        Redact::new(RedactTarget::ALL.iter().copied()).with_pattern("Paris").unwrap(),
    ]
}

fn truncations() -> Vec<Truncate> {
    vec![
        Truncate::to(10),
        Truncate::to(1).with_suffix("…"),
        Truncate::to(7).in_bytes(),
        Truncate::to(20).only([Content::ToolArgs]),
    ]
}

fn windows() -> Vec<Window> {
    let counts = [0, 1, 2, 5];
    let units = counts.iter().flat_map(|count| Unit::ALL.iter().map(|unit| Window::last(*count, *unit)));
    units.chain([Window::tokens(10, TokenCounter::ESTIMATE), Window::tokens(60, TokenCounter::ESTIMATE)]).collect()
}

/// The mark that says what the losses say.
fn is_mark(at: &str) -> bool {
    at.ends_with(".metadata.redacted") || at.ends_with("].metadata") && at.starts_with("turns[")
}

/// The places that differ, but for the mark.
fn places(before: &Session, after: &Session) -> Vec<String> {
    let mut places: Vec<_> =
        diff(before, after).into_iter().map(|change| change.at).filter(|at| !is_mark(at)).collect();
    places.sort();
    places.dedup();
    places
}

fn losses(policy: &dyn Policy, session: &mut Session) -> Vec<String> {
    let mut places: Vec<_> =
        policy.apply(session).unwrap().into_iter().map(|loss| loss.at).filter(|at| !is_mark(at)).collect();
    places.sort();
    places.dedup();
    places
}

fn size(session: &Session) -> usize {
    Archive::from(session.clone()).to_json(Layout::Compact).len()
}

#[test]
fn redactions_and_truncations_tell_every_difference_and_nothing_else() {
    for_all(CASES, &told(), |session| {
        let redactions = redactions().into_iter().map(|redact| Box::new(redact) as Box<dyn Policy>);
        let truncations = truncations().into_iter().map(|truncate| Box::new(truncate) as Box<dyn Policy>);
        for policy in redactions.chain(truncations) {
            let mut after = session.clone();
            let told = losses(&*policy, &mut after);
            prop_assert_eq!(told, places(&session, &after));
        }
        Ok(())
    });
}

#[test]
fn policies_do_nothing_the_second_time() {
    for_all(CASES, &told(), |session| {
        let redactions = redactions().into_iter().map(|redact| Box::new(redact) as Box<dyn Policy>);
        let truncations = truncations().into_iter().map(|truncate| Box::new(truncate) as Box<dyn Policy>);
        let windows = windows().into_iter().map(|window| Box::new(window) as Box<dyn Policy>);
        for policy in redactions.chain(truncations).chain(windows) {
            let mut once = session.clone();
            losses(&*policy, &mut once);
            let mut twice = once.clone();
            prop_assert_eq!(losses(&*policy, &mut twice), Vec::<String>::new());
            prop_assert_eq!(twice, once);
        }
        Ok(())
    });
}

#[test]
fn nothing_grows_but_by_a_suffix() {
    for_all(CASES, &told(), |session| {
        for redact in [RedactTarget::ToolArgs, RedactTarget::ToolResults, RedactTarget::Secrets]
            .map(|hidden| Redact::new([hidden]))
        {
            let mut after = session.clone();
            losses(&redact, &mut after);
            prop_assert!(size(&after) <= size(&session));
        }
        for window in windows() {
            let mut after = session.clone();
            losses(&window, &mut after);
            prop_assert!(after.blocks().count() <= session.blocks().count());
        }
        let mut after = session.clone();
        let cut = losses(&Truncate::to(10), &mut after).len();
        prop_assert!(size(&after) <= size(&session) + 3 * cut);
        Ok(())
    });
}

/// The session with no two blocks alike, so that a difference has one place only.
fn distinct(mut session: Session) -> Session {
    for (index, block) in session.turns.iter_mut().flat_map(|turn| &mut turn.blocks).enumerate() {
        if let Body::Text(text) = &mut block.body {
            text.text = format!("{index} {}", text.text);
        }
        if let Body::ToolCall(call) = &mut block.body {
            call.name = format!("{}{index}", call.name);
        }
    }
    session
}

#[test]
fn windows_of_turns_tell_every_difference_and_nothing_else() {
    for_all(CASES, &generate::plain_session(), |session| {
        let session = distinct(session);
        for count in [1, 2, 3] {
            for unit in [Unit::Turns, Unit::Exchanges] {
                let mut after = session.clone();
                let told = losses(&Window::last(count, unit), &mut after);
                prop_assert_eq!(told, places(&session, &after));
            }
        }
        Ok(())
    });
}

#[test]
fn no_window_keeps_more_than_it_was_asked_for() {
    let instructs = |block: &Block| {
        matches!(block.author.as_str(), "system" | "developer") && !matches!(block.body, Body::ToolResult(_))
    };
    for_all(CASES, &told(), |session| {
        for count in [1, 2, 3] {
            let reduced = |unit: Unit| {
                let mut after = session.clone();
                losses(&Window::last(count, unit), &mut after);
                after
            };
            let counted = |session: &Session| {
                session.turns.iter().filter(|turn| turn.blocks.is_empty() || !turn.blocks.iter().all(instructs)).count()
            };
            prop_assert!(counted(&reduced(Unit::Turns)) <= count);
            prop_assert!(reduced(Unit::Blocks).blocks().filter(|(_, block)| !instructs(block)).count() <= count);
            let told = |session: &Session| session.blocks().filter(|(_, block)| instructs(block)).count();
            prop_assert_eq!(told(&reduced(Unit::Turns)), told(&session));
        }
        Ok(())
    });
}

/// Calls that have a result, and results that have a call.
fn tied(session: &Session) -> (Vec<CallId>, Vec<CallId>) {
    let calls = |session: &Session| -> Vec<CallId> {
        session
            .blocks()
            .filter_map(
                |(_, block)| if let Body::ToolCall(call) = &block.body { Some(call.call.clone()) } else { None },
            )
            .collect()
    };
    let results = |session: &Session| -> Vec<CallId> {
        session
            .blocks()
            .filter_map(
                |(_, block)| if let Body::ToolResult(result) = &block.body { Some(result.call.clone()) } else { None },
            )
            .collect()
    };
    (calls(session), results(session))
}

#[test]
fn no_window_parts_a_call_from_its_result() {
    for_all(CASES, &generate::plain_session(), |session| {
        for window in windows() {
            let mut after = session.clone();
            losses(&window, &mut after);
            let (mut calls, mut results) = tied(&after);
            calls.sort();
            results.sort();
            prop_assert_eq!(calls, results);
        }
        Ok(())
    });
}

#[test]
fn a_pipeline_tells_places_of_the_session_it_was_given() {
    for_all(CASES, &generate::plain_session(), |session| {
        let session = distinct(planted(session));
        let pipeline = Pipeline::new()
            .window(Window::last(2, Unit::Turns))
            .redact(Redact::new([RedactTarget::Secrets]))
            .truncate(Truncate::to(8));
        let mut after = session.clone();
        let losses = pipeline.apply(&mut after).unwrap();
        let found = places(&session, &after);
        for loss in &losses {
            prop_assert!(found.iter().any(|place| loss.covers(place)), "{} is no difference", loss.at);
        }
        Ok(())
    });
}
