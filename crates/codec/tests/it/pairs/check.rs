//! What must hold of a request made of a session.

use std::collections::BTreeMap;

use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, Target};
use turnkeep_model::canon::canonical;
use turnkeep_model::json::{self, Json, Nan};
use turnkeep_model::{Archive, Loss, diff_archives};

use super::sources::Source;
use crate::recorded::wire;

/// The next request of a session for a target, and what was lost.
pub(super) fn request(archive: &Archive, target: &str) -> (Vec<u8>, Vec<Loss>) {
    let (id, variant) = target.split_once(':').map_or((target, None), |(id, variant)| (id, Some(variant)));
    let mut options = EncodeOptions::default();
    options.as_request = true;
    let target = Target { codec: wire(id), variant: variant.map(str::to_owned) };
    let encoded = turnkeep_codec::encode(archive, &target, &options).unwrap();
    (encoded.bytes, encoded.losses)
}

/// What is wrong with the next request of a session for a target.
pub(super) fn problems(archive: &Archive, target: &str) -> Vec<String> {
    let (bytes, losses) = request(archive, target);
    let mut found = Vec::new();
    if !is_silent(&bytes) {
        let findings = lint(Input::new(&bytes), target, Strictness::Lax).unwrap();
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        found.extend(errors.map(|finding| format!("{} at {}: {}", finding.rule, finding.at, finding.what)));
    }
    let id = target.split(':').next().unwrap_or_default();
    match wire(id).decode(Input::new(&bytes), &DecodeOptions::default()) {
        Ok(read) => found.extend(dishonest(archive, &read.archive, &losses)),
        Err(error) => found.push(format!("cannot be read again: {error}")),
    }
    found
}

/// Places that did not survive and that no loss tells, and losses of nothing.
fn dishonest(archive: &Archive, read: &Archive, losses: &[Loss]) -> Vec<String> {
    let places: Vec<String> = diff_archives(archive, read).into_iter().map(|change| change.at).collect();
    let told = |place: &&String| !losses.iter().any(|loss| loss.covers(place));
    let real = |loss: &&Loss| loss.at != "journal" && !places.iter().any(|place| loss.covers(place));
    let hidden = places.iter().filter(told).map(|place| format!("`{place}` is lost and not told"));
    hidden.chain(losses.iter().filter(real).map(|loss| format!("nothing is lost at `{}`", loss.at))).collect()
}

/// Whether a request says nothing: a session without content has no valid request.
pub(super) fn is_silent(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).unwrap();
    let body = json::parse_with(text, Nan::Accept).unwrap().into_json();
    let Json::Object(body) = body else { return true };
    let said = ["messages", "contents", "input"].into_iter().find_map(|key| body.get(key));
    said.is_none_or(|said| said.as_array().is_some_and(<[_]>::is_empty))
}

/// What was found over many sessions.
#[derive(Default)]
pub(super) struct Verdicts {
    made: BTreeMap<(&'static str, String), usize>,
    wrong: Vec<String>,
    given_back: usize,
    in_order: usize,
}

impl Verdicts {
    pub(super) fn add(&mut self, source: &Source, target: &str) {
        *self.made.entry((source.from, target.to_owned())).or_default() += 1;
        let found = problems(source.archive(), target).into_iter();
        self.wrong.extend(found.map(|problem| format!("{} -> {target}: {problem}", source.name)));
    }

    /// Checks that the session still gives its own wire what it was read from.
    pub(super) fn add_own(&mut self, source: &Source) {
        let encoded = wire(source.from).encode(source.archive(), &EncodeOptions::default()).unwrap();
        let text = String::from_utf8(encoded.bytes).unwrap();
        let back = json::parse_with(&text, Nan::Accept).unwrap().into_json();
        let own = json::parse_with(std::str::from_utf8(&source.bytes).unwrap(), Nan::Accept).unwrap().into_json();
        self.given_back += 1;
        self.in_order += usize::from(back == own);
        if canonical(&back) != canonical(&own) {
            self.wrong.push(format!("{}: does not give its own body back", source.name));
        }
    }

    pub(super) fn tell(&self, what: &str) {
        let wires = self.made.iter().filter(|((_, to), _)| !to.contains(':'));
        for ((from, to), count) in wires {
            println!("{what}: {from} -> {to}: {count}");
        }
        if self.given_back > 0 {
            println!("{what}: {} give their own body back, {} in its order", self.given_back, self.in_order);
        }
        assert!(self.in_order * 100 >= self.given_back * 99, "{} in order", self.in_order);
        let all: usize = self.made.values().sum();
        println!("{what}: {all} requests, {} problems", self.wrong.len());
        let shown: Vec<_> = self.wrong.iter().take(40).collect();
        assert!(self.wrong.is_empty(), "{} problems: {shown:#?}", self.wrong.len());
    }
}
