//! What files are called.

use std::path::{Path, PathBuf};

use turnkeep_codec::{Target, format};

/// The name that a converted file gets: its own, with the ending of the target's format.
///
/// An ending that some format knows goes as a whole: `a.turnkeep.yaml` becomes `a.turnkeep.json`.
#[must_use]
pub fn output_name(input: &Path, target: &Target) -> PathBuf {
    let name = input.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    input.with_file_name(format!("{}{}", stem(&name), ending(target)))
}

fn stem(name: &str) -> &str {
    let endings = format::ALL.iter().flat_map(|codec| codec.spec().extensions);
    let known = endings.filter_map(|ending| name.strip_suffix(ending)).min_by_key(|stem| stem.len());
    let plain = || name.rsplit_once('.').map(|(stem, _)| stem);
    known.or_else(plain).filter(|stem| !stem.is_empty()).unwrap_or(name)
}

fn ending(target: &Target) -> String {
    let spec = target.codec.spec();
    match target.variant.as_deref() {
        Some(syntax @ ("json" | "yaml")) => {
            let fits = |ending: &&&str| ending.strip_suffix(syntax).is_some_and(|rest| rest.ends_with('.'));
            spec.extensions.iter().find(fits).map_or_else(|| format!(".{syntax}"), |ending| (*ending).to_owned())
        }
        _ => spec.extensions.first().copied().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, target: &str, output: &str) {
        assert_eq!(output_name(Path::new(input), &Target::parse(target).unwrap()), Path::new(output));
    }

    #[test]
    fn the_ending_follows_the_target() {
        check("a/b.turnkeep.yaml", "turnkeep", "a/b.turnkeep.json");
        check("a/b.txt", "turnkeep.jsonl", "a/b.turnkeep.jsonl");
        check("b", "turnkeep.yaml", "b.turnkeep.yaml");
        check("v1.turn.yaml", "turnkeep:pretty", "v1.turn.turnkeep.json");
        check("b.turnkeep.json", "geppetto.turn:json", "b.json");
    }
}
