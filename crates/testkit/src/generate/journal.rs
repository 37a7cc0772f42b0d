//! Events and journals that fold.

use proptest::prelude::*;
use proptest::{collection, sample};
use turnkeep_model::event::{
    ApprovalAsked, ApprovalGiven, BlockAdded, Cause, Choice, CompensationIntended, CompensationSettled, Effect,
    EndpointChosen, LogAdded, LossNoted, ModelAnswered, ModelAsked, ModelFailed, Resolution, RunStarted, RunStopped,
    SentRequest, SessionChanged, SessionCondensed, SessionOpened, SliceChanged, SliceOp, ToolIntended, ToolResolved,
    ToolSettled, TurnClosed, TurnOpened, UsageAdded, Verdict,
};
use turnkeep_model::{
    Batch, CallId, Entry, Event, Journal, Loss, LossKind, Outcome, RunId, Seq, SessionId, Severity, Side, SlicePolicy,
};

use super::extra::unknown_fields;
use super::session::{prompt, run};
use super::status::turn_error;
use super::{
    block, continuation, extra, fields, finish, json, number, object, options, rare, response_format, session, status,
    stop_reason, text, time, timing, tool_spec, turn, usage, word,
};

/// Any event; those that name a turn name turn 0.
pub fn event() -> BoxedStrategy<Event> {
    let opened = session().prop_map(|session| SessionOpened { session: Box::new(session) }.into());
    let turn = turn().prop_map(|turn| TurnOpened { turn: Box::new(turn) }.into());
    let added = (Just(0), block()).prop_map(|(turn, block)| BlockAdded { turn, block }.into());
    prop_oneof![
        1 => opened,
        2 => turn,
        4 => added,
        1 => changed().prop_map(Event::from),
        1 => condensed().prop_map(Event::from),
        1 => fields!(RunStarted { run: run() }).prop_map(Event::from),
        1 => stopped().prop_map(Event::from),
        1 => closed().prop_map(Event::from),
        2 => tool_event(),
        1 => human_event(),
        1 => model_event(),
        1 => slice_changed(),
        1 => fields!(LogAdded { line: text() }).prop_map(Event::from),
        1 => fields!(UsageAdded { usage: usage() }).prop_map(Event::from),
        1 => unknown_fields().prop_map(|raw| Event::Other { kind: "planet.aligned".into(), raw }),
    ]
    .boxed()
}

fn changed() -> BoxedStrategy<SessionChanged> {
    fields!(SessionChanged {
        title: rare(text()),
        prompt: rare(prompt()),
        options: rare(options()),
        tools: rare(collection::vec(tool_spec(), 0..2)),
        response_format: rare(response_format()),
        status: rare(status()),
        timing: rare(timing()),
        tags: rare(collection::vec((word(), text()), 0..2)),
        metadata: rare(object()),
    })
    .boxed()
}

fn condensed() -> BoxedStrategy<SessionCondensed> {
    fields!(SessionCondensed { from: Just(0), to: Just(0), block: block(), by: rare(word()) }).boxed()
}

fn stopped() -> BoxedStrategy<RunStopped> {
    fields!(RunStopped {
        run: rare(word().prop_map(RunId::new)),
        status: rare(status()),
        reason: rare(stop_reason()),
        completed: rare(time()),
    })
    .boxed()
}

fn closed() -> BoxedStrategy<TurnClosed> {
    fields!(TurnClosed {
        turn: Just(0),
        finish: rare(finish()),
        usage: rare(usage()),
        timing: rare(timing()),
        errors: collection::vec(turn_error(), 0..2),
        continuation: rare(continuation()),
        provider_payload: json(),
        run: rare(word().prop_map(RunId::new)),
        provider: rare(word()),
        api: rare(word()),
        model: rare(word()),
        account: rare(word()),
    })
    .boxed()
}

fn tool_event() -> BoxedStrategy<Event> {
    let call = || prop_oneof![Just(CallId::given("call_1")), (0..2u32).prop_map(CallId::Minted)];
    let intended = fields!(ToolIntended {
        call: call(),
        effect: sample::select(Effect::ALL),
        key: rare(word()),
        attempt: rare(prop_oneof![1..4u32, Just(u32::MAX)]),
        duplicate_of: rare(call()),
    });
    let outcome = word().prop_map(|word| Outcome::from_word(&word));
    let settled = fields!(ToolSettled { call: call(), outcome: outcome, seconds: rare(number()) });
    let asked = fields!(ModelAsked {
        turn: Just(0),
        messages: rare(0..9u32),
        tools: collection::vec(word(), 0..2),
        attempt: rare(1..4u32),
    });
    prop_oneof![intended.prop_map(Event::from), settled.prop_map(Event::from), asked.prop_map(Event::from)].boxed()
}

/// Who is asked, and what is known of requests besides what was said.
fn model_event() -> BoxedStrategy<Event> {
    let headers = || collection::vec((word(), text()), 0..2);
    let request =
        || fields!(SentRequest { digest: word(), format: word(), encoder: rare(word()), body: json(), extra: extra() });
    let chosen = fields!(EndpointChosen {
        provider: rare(word()),
        api: rare(word()),
        model: rare(word()),
        account: rare(word()),
        defaults: options(),
        choice: rare(word().prop_map(|word| Choice::from_word(&word))),
    });
    let answered = fields!(ModelAnswered {
        turn: Just(0),
        attempt: rare(1..4u32),
        seq: rare((1..9u64).prop_map(Seq)),
        request: rare(request()),
        headers: headers(),
    });
    let failed = fields!(ModelFailed {
        turn: Just(0),
        attempt: rare(1..4u32),
        seq: rare((1..9u64).prop_map(Seq)),
        cause: word().prop_map(|word| Cause::from_word(&word)),
        class: rare(word()),
        message: rare(text()),
        wait: rare(number()),
        request: rare(request()),
        headers: headers(),
        partial: collection::vec(block(), 0..2),
    });
    let loss = fields!(Loss {
        at: word(),
        kind: sample::select(LossKind::ALL),
        side: sample::select(Side::ALL),
        what: text(),
        severity: rare(sample::select(Severity::ALL)),
    });
    prop_oneof![
        chosen.prop_map(Event::from),
        answered.prop_map(Event::from),
        failed.prop_map(Event::from),
        fields!(LossNoted { turn: Just(0), loss: loss }).prop_map(Event::from),
    ]
    .boxed()
}

/// What people are asked, and what they say.
fn human_event() -> BoxedStrategy<Event> {
    let call = || prop_oneof![Just(CallId::given("call_1")), (0..2u32).prop_map(CallId::Minted)];
    let resolved =
        fields!(ToolResolved { call: call(), resolution: sample::select(Resolution::ALL), by: rare(word()) });
    let asked = fields!(ApprovalAsked { call: call(), digest: word(), expires: rare(time()), reason: rare(word()) });
    let given = fields!(ApprovalGiven {
        call: call(),
        digest: word(),
        verdict: sample::select(Verdict::ALL),
        arguments: rare(word()),
        by: rare(word()),
        reason: rare(word()),
        key: rare(word()),
    });
    let undoing = fields!(CompensationIntended { call: call() });
    let undone = fields!(CompensationSettled {
        call: call(),
        outcome: word().prop_map(|word| Outcome::from_word(&word)),
        error: rare(word()),
    });
    prop_oneof![
        resolved.prop_map(Event::from),
        asked.prop_map(Event::from),
        given.prop_map(Event::from),
        undoing.prop_map(Event::from),
        undone.prop_map(Event::from),
    ]
    .boxed()
}

fn slice_changed() -> BoxedStrategy<Event> {
    fields!(SliceChanged {
        name: sample::select(&["plan", "notes"][..]).prop_map(str::to_owned),
        op: sample::select(SliceOp::ALL),
        items: collection::vec(json(), 0..3),
        version: rare(word()),
        policy: rare(word().prop_map(|word| SlicePolicy::from_word(&word))),
    })
    .prop_map(Event::from)
    .boxed()
}

/// A journal without a gap that folds.
pub fn journal() -> BoxedStrategy<Journal> {
    let session = rare(word().prop_map(SessionId::new));
    (session, collection::vec(batch(), 0..4), rare(unknown_fields()))
        .prop_map(|(session, batches, newer)| {
            let mut journal = Journal { session, ..Journal::default() };
            if let Some(fields) = newer {
                journal.extra.part_mut("turnkeep").fields = fields;
            }
            let mut turns = 0;
            for mut batch in batches {
                batch.events.retain(|entry| is_legal(&entry.event, &mut turns));
                batch.seq = journal.last().next();
                if !batch.events.is_empty() {
                    journal.batches.push(batch);
                }
            }
            journal
        })
        .boxed()
}

/// Whether an event names only what is there.
fn is_legal(event: &Event, turns: &mut usize) -> bool {
    match event {
        Event::SessionOpened(opened) => *turns = opened.session.turns.len(),
        Event::TurnOpened(_) => *turns += 1,
        Event::BlockAdded(_) | Event::TurnClosed(_) | Event::SessionCondensed(_) => return *turns > 0,
        Event::ModelFailed(failed) => return failed.partial.is_empty() || *turns > 0,
        _ => {}
    }
    true
}

fn batch() -> BoxedStrategy<Batch> {
    (rare(time()), rare(word().prop_map(RunId::new)), collection::vec(entry(), 1..4), extra())
        .prop_map(|(time, run, events, extra)| {
            let mut batch = Batch::new(Default::default(), events);
            batch.time = time;
            batch.run = run;
            batch.extra = extra;
            batch
        })
        .boxed()
}

fn entry() -> BoxedStrategy<Entry> {
    (event(), extra())
        .prop_map(|(event, mut extra)| {
            if matches!(event, Event::Other { .. }) {
                extra.remove("turnkeep");
            }
            Entry { event, extra }
        })
        .boxed()
}
