//! The laws of YAML texts.

use turnkeep_testkit::laws::yaml;

#[test]
fn written_reads_the_same() {
    yaml::written_reads_the_same();
}

#[test]
fn tricky_texts_survive_everywhere() {
    yaml::tricky_texts_survive_everywhere();
}

#[test]
fn plain_strings_are_strings_for_everyone() {
    yaml::plain_strings_are_strings_for_everyone();
}
