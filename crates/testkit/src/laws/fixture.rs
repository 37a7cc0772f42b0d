//! What holds for the files that belong to a format.

use turnkeep_codec::Codec;

use crate::golden::{Case, folder};

/// What the fixtures of a format give is what was agreed on.
pub fn golden(codec: &dyn Codec) {
    Case::all(codec.spec().id).iter().for_each(|case| case.check(codec));
}

/// Every format has fixtures.
pub fn has_fixtures(codec: &dyn Codec) {
    let id = codec.spec().id;
    assert!(!Case::all(id).is_empty(), "`{id}` has no fixtures: add fixtures/{id}/<case>/input.*");
}

/// Every format that is read has a fuzz target.
pub fn has_fuzz_target(codec: &dyn Codec) {
    let id = codec.spec().id;
    let name = id.replace('.', "_");
    let target = folder("fuzz").join(format!("fuzz_targets/{name}.rs"));
    let manifest = std::fs::read_to_string(folder("fuzz").join("Cargo.toml")).unwrap_or_default();
    let body = std::fs::read_to_string(&target).unwrap_or_default();
    let listed = manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\""));
    assert!(
        !codec.spec().reads || listed && body.contains(&format!("\"{id}\"")),
        "`{id}` has no fuzz target {name}.rs"
    );
}
