//! The laws of journals.

use turnkeep_testkit::laws::journal;

#[test]
fn made_of_a_session_folds_to_it() {
    journal::made_of_a_session_folds_to_it();
}

#[test]
fn folds_and_keeps_a_ledger() {
    journal::folds_and_keeps_a_ledger();
}

#[test]
fn snapshots_survive() {
    journal::snapshots_survive();
}

#[test]
fn a_torn_journal_gives_whole_batches() {
    journal::a_torn_journal_gives_whole_batches();
}

#[test]
fn a_flipped_bit_is_found() {
    journal::a_flipped_bit_is_found();
}
