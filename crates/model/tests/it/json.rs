//! The laws of JSON values and of the shapes that sessions have in it.

use turnkeep_testkit::laws::json;

#[test]
fn printed_reads_the_same() {
    json::printed_reads_the_same();
}

#[test]
fn spelling_survives() {
    json::spelling_survives();
}

#[test]
fn canonical_is_idempotent() {
    json::canonical_is_idempotent();
}

#[test]
fn canonical_ignores_order() {
    json::canonical_ignores_order();
}

#[test]
fn sessions_have_one_shape() {
    json::sessions_have_one_shape();
}

#[test]
fn diff_is_empty_for_equals_only() {
    json::diff_is_empty_for_equals_only();
}
