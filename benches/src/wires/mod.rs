//! Vendors' wires: reading a long history, putting streams together, and checking rules.

mod streams;
mod typed;

use std::time::Duration;

use turnkeep_codec::lint::{self, Strictness};
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, format, sniff};

use crate::race::{Times, race, timed};
use crate::report::{Bound, Report, Row};
use crate::{Outcome, sessions};
use streams::Stream;

const HISTORY_BYTES: usize = 22_000_000;
const LINTED_BYTES: usize = 4_000_000;
const SNIFFED_BYTES: usize = 35_000_000;
const ROUNDS: usize = 20;
const FEW_ROUNDS: usize = 5;

/// Measures decoding, streams and rules.
pub(crate) fn speed(report: &mut Report, _: &std::path::Path) -> Outcome<()> {
    history(report)?;
    for stream in streams::ALL {
        assembly(report, stream)?;
        sniffing(report, stream)?;
    }
    format::wires().try_for_each(|wire| rules(report, wire.spec().id))
}

fn history(report: &mut Report) -> Outcome<()> {
    let bytes = request("openai.chat", HISTORY_BYTES)?;
    let times =
        race(ROUNDS, || decoded("openai.chat", &bytes), || timed(|| serde_json::from_slice::<typed::Request>(&bytes)))?;
    let name = format!("openai.chat decode / serde_json, {} MB", bytes.len() / 1_000_000);
    report.measured(Row::speed(&name, times, Bound::AtLeast(0.5)));
    Ok(())
}

/// From the bytes of a stream to a session, against splitting it at its line breaks and parsing each event.
fn assembly(report: &mut Report, stream: &Stream) -> Outcome<()> {
    let bytes = (stream.write)();
    let times = race(ROUNDS, || decoded(stream.wire, &bytes), || timed(|| (stream.parse)(&bytes)))?;
    let name = format!("{} stream / memchr and serde_json, {} MB", stream.wire, bytes.len() / 1_000_000);
    report.measured(Row::speed(&name, times, Bound::AtLeast(0.33)));
    Ok(())
}

/// Telling what a long stream is, against reading it: only its first events are looked at.
fn sniffing(report: &mut Report, stream: &Stream) -> Outcome<()> {
    let bytes = stream.long(SNIFFED_BYTES);
    let sniffed = || timed(|| sniff(&Input::new(&bytes)));
    let Times { ours, theirs } = race(FEW_ROUNDS, sniffed, || decoded(stream.wire, &bytes))?;
    let name = format!("{} sniff / decode, stream of {} MB", stream.wire, bytes.len() / 1_000_000);
    report.measured(Row::time(name, ours, theirs, Bound::AtMost(0.2)));
    Ok(())
}

/// All rules over a parsed body, against decoding the same bytes. Parsing is part of decoding only: whoever checks a body
/// has parsed it, or is about to send it.
fn rules(report: &mut Report, wire: &str) -> Outcome<()> {
    let bytes = request(wire, LINTED_BYTES)?;
    let input = Input::new(&bytes);
    input.document().map_err(Clone::clone)?;
    let linted = || timed(|| lint::check(&input, wire, Strictness::Lax));
    let Times { ours, theirs } = race(ROUNDS, linted, || decoded(wire, &bytes))?;
    report.measured(Row::time(format!("{wire} lint pass / decode"), ours, theirs, Bound::AtMost(0.2)));
    Ok(())
}

fn decoded(wire: &str, bytes: &[u8]) -> Outcome<Duration> {
    let codec = format::by_id(wire)?;
    timed(|| codec.decode(Input::new(bytes), &DecodeOptions::default()))
}

/// The request that a long session makes.
fn request(wire: &str, size: usize) -> Outcome<Vec<u8>> {
    let mut options = EncodeOptions::default();
    options.as_request = true;
    Ok(format::by_id(wire)?.encode(&sessions::archive(size), &options)?.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_body_and_stream_is_read_by_both_sides() {
        for wire in format::wires().map(|wire| wire.spec().id) {
            decoded(wire, &request(wire, 100_000).unwrap()).unwrap();
        }
        serde_json::from_slice::<typed::Request>(&request("openai.chat", 100_000).unwrap()).unwrap();
        for stream in streams::ALL {
            let bytes = (stream.write)();
            assert!((stream.parse)(&bytes).unwrap() > 1_000, "{}", stream.wire);
            decoded(stream.wire, &bytes).unwrap();
            assert_eq!(sniff(&Input::new(&stream.long(4_000_000))).unwrap().codec.spec().id, stream.wire);
        }
    }
}
