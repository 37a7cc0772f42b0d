//! What holds for every store.
//!
//! Every law panics where it does not hold.
#![expect(clippy::expect_used, clippy::panic, reason = "a broken law is a failed test")]

mod append;
mod capability;
mod delete;
mod fork;
mod integrity;
mod keep;
mod lease;
mod list;
mod load;
mod open;
mod script;
mod search;
mod table;
mod watch;

pub use append::{
    batches_are_atomic, concurrent_appenders_serialise, five_megabytes_are_stored, hostile_ids_are_kept_apart,
    journals_are_gapless, read_your_append, stale_append_is_refused, survives_reopen, unusable_input_is_refused,
};
pub use capability::{
    accounts_add_up, erased_texts_are_gone_and_leave_a_mark, erasing_leaves_what_stands_around,
    erasing_reaches_the_past_of_deleted_sessions, erasing_takes_what_is_named, forks_cost_next_to_nothing,
};
pub use delete::{delete_is_complete, deleted_ids_begin_anew, shared_past_outlives_its_owner};
pub use fork::{
    copies_are_listed_alike, copies_at_once_are_one, copies_leave_other_histories_alone, copies_verify_equal,
    forks_are_isolated, forks_need_the_end_of_a_batch, forks_of_forks_share,
};
pub use integrity::{every_operation_leaves_an_intact_store, lines_without_a_checksum_come_back};
pub use keep::{
    retention_goes_by_age_count_and_bytes, retention_keeps_what_forks_reach, retention_keeps_what_is_changed_meanwhile,
    retention_keeps_what_is_held,
};
pub use lease::{
    a_fleet_resumes_what_the_dead_left, a_session_has_one_worker_at_a_time, claims_follow_labels,
    claims_go_to_one_worker_each, leases_that_nobody_took_are_renewed, released_leases_are_not_renewed,
};
pub use list::{
    filters_agree_with_summaries, metadata_is_listed_page_by_page, one_page_can_hold_every_session, paging_is_stable,
    summaries_follow_the_journal,
};
pub use load::{
    generated_journals_come_back, imports_at_once_are_one, imports_of_one_journal_are_one,
    lines_are_those_of_the_journal, load_is_the_fold, turns_come_one_by_one_as_they_fold, windows_are_the_end,
};
pub use open::openings_are_one_store;
pub use script::{answer, batch, found, id, said, talk, tell};
pub use search::{
    an_index_is_caught_up_in_steps, any_text_can_be_searched_for, hits_show_the_words_where_they_stand,
    what_is_deleted_is_found_no_more, what_was_said_is_found,
};
pub use table::{STORE_LAWS, StoreLaw, check, check_drivers, check_own};
pub use watch::{
    Follower, chunks_reach_other_openings, followers_are_told_of_every_append, following_ends_with_the_store,
    forks_and_deletions_are_told, no_wake_up_is_lost, others_wake_nobody,
};
