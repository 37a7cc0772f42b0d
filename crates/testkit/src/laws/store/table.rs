//! The table of laws of stores, and the tests that run it.

use pollster::block_on;
use turnkeep_store::url::{DRIVERS, Keeps};

use crate::home::{Home, OpenOwn};

/// A law with its name.
pub struct StoreLaw {
    /// Its name.
    pub name: &'static str,
    /// Panics where it does not hold for the store of a home.
    pub check: fn(&Home),
}

macro_rules! laws {
    ($d:tt [$($law:ident = $check:expr,)*]) => {
        /// The laws of every store.
        pub const STORE_LAWS: &[StoreLaw] = &[$(StoreLaw { name: stringify!($law), check: $check },)*];

        /// A test of every law of stores for each driver, as `module = "scheme",`; each in its own module.
        #[macro_export]
        macro_rules! store_laws {
            ($d($d(#[$d meta:meta])* $d module:ident = $d scheme:literal,)*) => {
                $d($d(#[$d meta])* mod $d module {
                    $(#[test]
                    fn $law() {
                        $crate::laws::store::check(stringify!($law), $d scheme);
                    })*
                })*
            };
        }

        /// A test of every law of stores for a store of your own: whether it keeps what is stored when it is closed, and
        /// how it is opened in a folder.
        #[macro_export]
        macro_rules! own_store_laws {
            ($d keeps:expr, $d open:expr) => {
                $(#[test]
                fn $law() {
                    $crate::laws::store::check_own(stringify!($law), $d keeps, $d open);
                })*
            };
        }
    };
}

macro_rules! on_store {
    ($law:ident) => {
        |home| block_on(super::$law(&*home.open()))
    };
}

laws! { $ [
    read_your_append = on_store!(read_your_append),
    stale_append_is_refused = on_store!(stale_append_is_refused),
    journals_are_gapless = on_store!(journals_are_gapless),
    batches_are_atomic = on_store!(batches_are_atomic),
    concurrent_appenders_serialise = on_store!(concurrent_appenders_serialise),
    hostile_ids_are_kept_apart = on_store!(hostile_ids_are_kept_apart),
    unusable_input_is_refused = on_store!(unusable_input_is_refused),
    five_megabytes_are_stored = on_store!(five_megabytes_are_stored),
    survives_reopen = |home| block_on(super::survives_reopen(home)),
    openings_are_one_store = |home| block_on(super::openings_are_one_store(home)),
    paging_is_stable = on_store!(paging_is_stable),
    one_page_can_hold_every_session = on_store!(one_page_can_hold_every_session),
    metadata_is_listed_page_by_page = on_store!(metadata_is_listed_page_by_page),
    summaries_follow_the_journal = on_store!(summaries_follow_the_journal),
    filters_agree_with_summaries = on_store!(filters_agree_with_summaries),
    delete_is_complete = on_store!(delete_is_complete),
    deleted_ids_begin_anew = on_store!(deleted_ids_begin_anew),
    shared_past_outlives_its_owner = on_store!(shared_past_outlives_its_owner),
    forks_are_isolated = on_store!(forks_are_isolated),
    forks_of_forks_share = on_store!(forks_of_forks_share),
    forks_need_the_end_of_a_batch = on_store!(forks_need_the_end_of_a_batch),
    copies_verify_equal = on_store!(copies_verify_equal),
    copies_leave_other_histories_alone = on_store!(copies_leave_other_histories_alone),
    copies_are_listed_alike = on_store!(copies_are_listed_alike),
    copies_at_once_are_one = on_store!(copies_at_once_are_one),
    load_is_the_fold = on_store!(load_is_the_fold),
    windows_are_the_end = on_store!(windows_are_the_end),
    turns_come_one_by_one_as_they_fold = super::turns_come_one_by_one_as_they_fold,
    lines_are_those_of_the_journal = on_store!(lines_are_those_of_the_journal),
    generated_journals_come_back = super::generated_journals_come_back,
    imports_of_one_journal_are_one = on_store!(imports_of_one_journal_are_one),
    imports_at_once_are_one = on_store!(imports_at_once_are_one),
    erased_texts_are_gone_and_leave_a_mark = on_store!(erased_texts_are_gone_and_leave_a_mark),
    erasing_leaves_what_stands_around = on_store!(erasing_leaves_what_stands_around),
    erasing_takes_what_is_named = on_store!(erasing_takes_what_is_named),
    erasing_reaches_the_past_of_deleted_sessions = on_store!(erasing_reaches_the_past_of_deleted_sessions),
    accounts_add_up = on_store!(accounts_add_up),
    forks_cost_next_to_nothing = on_store!(forks_cost_next_to_nothing),
    retention_keeps_what_forks_reach = on_store!(retention_keeps_what_forks_reach),
    retention_goes_by_age_count_and_bytes = |home| block_on(super::retention_goes_by_age_count_and_bytes(home)),
    retention_keeps_what_is_changed_meanwhile = |home| block_on(super::retention_keeps_what_is_changed_meanwhile(home)),
    retention_keeps_what_is_held = |home| block_on(super::retention_keeps_what_is_held(home)),
    released_leases_are_not_renewed = on_store!(released_leases_are_not_renewed),
    claims_follow_labels = on_store!(claims_follow_labels),
    leases_that_nobody_took_are_renewed = on_store!(leases_that_nobody_took_are_renewed),
    claims_go_to_one_worker_each = |home| block_on(super::claims_go_to_one_worker_each(home)),
    a_session_has_one_worker_at_a_time = |home| block_on(super::a_session_has_one_worker_at_a_time(home)),
    a_fleet_resumes_what_the_dead_left = |home| block_on(super::a_fleet_resumes_what_the_dead_left(home)),
    what_was_said_is_found = on_store!(what_was_said_is_found),
    an_index_is_caught_up_in_steps = on_store!(an_index_is_caught_up_in_steps),
    hits_show_the_words_where_they_stand = on_store!(hits_show_the_words_where_they_stand),
    what_is_deleted_is_found_no_more = on_store!(what_is_deleted_is_found_no_more),
    any_text_can_be_searched_for = on_store!(any_text_can_be_searched_for),
    followers_are_told_of_every_append = super::followers_are_told_of_every_append,
    no_wake_up_is_lost = super::no_wake_up_is_lost,
    forks_and_deletions_are_told = super::forks_and_deletions_are_told,
    others_wake_nobody = super::others_wake_nobody,
    following_ends_with_the_store = super::following_ends_with_the_store,
    chunks_reach_other_openings = super::chunks_reach_other_openings,
    every_operation_leaves_an_intact_store = on_store!(every_operation_leaves_an_intact_store),
    lines_without_a_checksum_come_back = on_store!(lines_without_a_checksum_come_back),
] }

/// Checks the law `name` for a new store of one driver.
///
/// # Panics
/// Where it does not hold, or where there is no such law or driver.
pub fn check(name: &str, scheme: &str) {
    let law = STORE_LAWS.iter().find(|law| law.name == name).expect("a law of the table");
    match Home::missing(scheme) {
        Some(reason) => eprintln!("skipped: {scheme} ({reason})"),
        None => (law.check)(&Home::new(scheme)),
    }
}

/// Checks the law `name` for a new store of your own.
///
/// # Panics
/// Where it does not hold, or where there is no such law.
pub fn check_own(name: &str, keeps: Keeps, open: OpenOwn) {
    let law = STORE_LAWS.iter().find(|law| law.name == name).expect("a law of the table");
    (law.check)(&Home::own(keeps, open));
}

/// Checks that `tested` names every driver.
///
/// # Panics
/// With the drivers that are missing.
pub fn check_drivers(tested: &[&str]) {
    let drivers: Vec<&str> = DRIVERS.iter().map(|driver| driver.scheme).collect();
    assert_eq!(tested, drivers, "the drivers under test must be those of the table, in their order");
}
