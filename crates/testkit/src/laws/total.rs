//! Any bytes give a value or an error.

use proptest::prelude::*;
use proptest::sample::Index;
use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Input, format};

use super::codec::{archives, encode, writings};
use crate::generate::{mutated, mutations, noise};
use crate::golden::Case;
use crate::property::for_all;

/// Any bytes are read or refused, in bounded time and memory, without a panic; what was read can be written and read.
pub fn total(codec: &dyn Codec) {
    hostile().iter().for_each(|bytes| survives(codec, bytes));
    for_all(300, &noise(), |bytes| {
        survives(codec, &bytes);
        Ok(())
    });
    // What must be refused was made to exhaust a reader; damage teaches nothing more.
    let usable = Case::all(codec.spec().id).into_iter().filter(|case| !case.fails());
    let inputs: Vec<Vec<u8>> = usable.map(|case| case.input).collect();
    inputs.iter().for_each(|bytes| survives_cuts(codec, bytes));
    for_all(400, &(any::<Index>(), mutations()), |(at, mutations)| {
        if let Some(bytes) = inputs.get(at.index(inputs.len().max(1))) {
            survives(codec, &mutated(bytes, &mutations));
        }
        Ok(())
    });
    for_all(60, &(archives(), proptest::collection::vec(mutations(), 8)), |(archive, damages)| {
        for options in writings(codec) {
            let bytes = encode(codec, &archive, &options)?.bytes;
            damages.iter().for_each(|damage| survives(codec, &mutated(&bytes, damage)));
        }
        Ok(())
    });
}

/// Reads some bytes as `format`, as a fuzzer does.
pub fn fuzz(format: &str, bytes: &[u8]) {
    if let Ok(codec) = format::by_id(format) {
        survives(codec, bytes);
    }
}

/// Reads, sniffs, and writes what was read: none of it may panic, and what was written can be read.
fn survives(codec: &dyn Codec, bytes: &[u8]) {
    let input = Input::new(bytes);
    let _ = codec.sniff(&input);
    if let Ok(decoded) = codec.decode(input, &DecodeOptions::default())
        && let Ok(encoded) = codec.encode(&decoded.archive, &EncodeOptions::default())
    {
        let again = codec.decode(Input::new(&encoded.bytes), &DecodeOptions::default());
        assert!(again.is_ok(), "{:?}\nread: {}\nwritten: {}", again.err(), shown(bytes), shown(&encoded.bytes));
    }
    if let Ok(decoded) = codec.decode(Input::new(bytes), &DecodeOptions::compat()) {
        let _ = codec.encode(&decoded.archive, &EncodeOptions::compat());
    }
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Cuts a small input at every byte, a large one at some.
fn survives_cuts(codec: &dyn Codec, bytes: &[u8]) {
    let step = bytes.len() / 200 + 1;
    for cut in (0..bytes.len()).step_by(step) {
        survives(codec, bytes.get(..cut).unwrap_or_default());
    }
}

/// Inputs made to exhaust a reader.
fn hostile() -> Vec<Vec<u8>> {
    let texts = [
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        "- ".repeat(100_000),
        "[{".repeat(50_000),
        "a: ".repeat(10_000),
        "? ".repeat(10_000),
        "\"".to_owned() + &"\\".repeat(100_000),
        format!("{{\"turnkeep\":1,\"sessions\":[{{\"metadata\":{}1{}}}]}}", "[".repeat(250), "]".repeat(250)),
        "&a ".repeat(1000),
        "\n".repeat(100_000),
        "#\n".repeat(50_000),
        "--- a\n".repeat(10_000),
        "\u{feff}".repeat(1000),
        format!("{}: 1", "k".repeat(100_000)),
        "1".repeat(100_000),
        alias_bomb(),
        alias_ladder(),
    ];
    texts.into_iter().map(String::into_bytes).collect()
}

/// Each line doubles the one before.
fn alias_bomb() -> String {
    let lines = (1..40).map(|n| format!("a{n}: &a{n} [*a{}, *a{}]\n", n - 1, n - 1));
    "a0: &a0 [x]\n".to_owned() + &lines.collect::<String>()
}

/// Each line nests the one before nearly as deep as may be.
fn alias_ladder() -> String {
    let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(200), "]".repeat(200));
    let lines = (1..60).map(|n| format!("a{n}: &a{n} {}\n", deep(&format!("*a{}", n - 1))));
    format!("a0: &a0 {}\n", deep("x")) + &lines.collect::<String>()
}
