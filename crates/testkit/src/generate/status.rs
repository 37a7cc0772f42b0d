//! Where a session stands, and why answers and runs ended.

use proptest::prelude::*;
use proptest::{collection, sample};
use turnkeep_model::status::{
    Completed, Continuation, Decision, Evaluation, Failed, Handoff, InProgress, Pending, StopSignal, Stopped,
    TurnError, WaitingForHuman, WaitingForTools,
};
use turnkeep_model::{Finish, FinishReason, Status, StopReason};

use super::extra::unknown_fields;
use super::{extra, fields, json, rare, text, word};

/// Where a session stands, states and fields of newer versions included.
pub fn status() -> BoxedStrategy<Status> {
    let bare: [Status; 6] = [
        Pending {}.into(),
        InProgress {}.into(),
        WaitingForTools {}.into(),
        WaitingForHuman {}.into(),
        Completed {}.into(),
        Stopped {}.into(),
    ];
    let failed = fields!(Failed { error: text() }).prop_map(Status::from);
    let handoff = fields!(Handoff { to: word(), reason: rare(text()) }).prop_map(Status::from);
    let newer = (sample::select(&["paused", "completed"][..]), unknown_fields())
        .prop_map(|(kind, raw)| Status::Other { kind: kind.to_owned(), raw });
    prop_oneof![6 => sample::select(bare.to_vec()), 1 => failed, 1 => handoff, 1 => newer].boxed()
}

/// Why an answer ended.
pub fn finish() -> BoxedStrategy<Finish> {
    let known = sample::select(FinishReason::KNOWN).prop_map(FinishReason::from_word);
    let reason = prop_oneof![6 => known, 1 => word().prop_map(|word| FinishReason::from_word(&word))];
    fields!(Finish { reason: reason, word: rare(word()), extra: extra() }).boxed()
}

/// Why a run stopped.
pub fn stop_reason() -> BoxedStrategy<StopReason> {
    let known = sample::select(StopReason::KNOWN).prop_map(StopReason::from_word);
    prop_oneof![6 => known, 1 => word().prop_map(|word| StopReason::from_word(&word))].boxed()
}

/// An error that a turn ran into.
pub(super) fn turn_error() -> BoxedStrategy<TurnError> {
    fields!(TurnError { message: text(), class: rare(word()), extra: extra() }).boxed()
}

/// Whether a run goes on, and what every criterion said.
pub fn continuation() -> BoxedStrategy<Continuation> {
    fields!(Continuation {
        should_continue: rare(any::<bool>()),
        requested: rare(any::<bool>()),
        decision: rare(decision()),
        stop_reason: rare(stop_reason()),
        resolved_by: rare(word()),
        evaluations: collection::vec(evaluation(), 0..2),
        signals: collection::vec(signal(), 0..2),
        extra: extra(),
    })
    .boxed()
}

fn decision() -> BoxedStrategy<Decision> {
    let known = sample::select(Decision::KNOWN).prop_map(Decision::from_word);
    prop_oneof![6 => known, 1 => word().prop_map(|word| Decision::from_word(&word))].boxed()
}

fn evaluation() -> BoxedStrategy<Evaluation> {
    fields!(Evaluation {
        criterion: word(),
        decision: rare(decision()),
        reason: rare(text()),
        stop_reason: rare(stop_reason()),
        context: json(),
        extra: extra(),
    })
    .boxed()
}

fn signal() -> BoxedStrategy<StopSignal> {
    fields!(StopSignal {
        reason: rare(stop_reason()),
        message: rare(text()),
        context: json(),
        source: rare(word()),
        extra: extra(),
    })
    .boxed()
}
