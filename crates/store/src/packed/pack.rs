//! Lines as rows: large strings taken out and stored once under their hash, the rest compressed.
//!
//! Invariant: every byte comes back as it was. A line is cut at the quotes of its strings as they are spelled, and never parsed.

use std::collections::HashMap;
use std::sync::Arc;

use turnkeep_model::Seq;
use zstd::bulk::Decompressor;

use super::dictionary::{Dictionaries, Dictionary};
use crate::error::{Error, ErrorKind, Result};

/// Strings of a line that are longer than this are stored once, under their hash.
const LARGE: usize = 8 << 10;

/// A line longer than this is not worth keeping room for.
const LONG: usize = 4 << 20;

/// A line, ready to be stored.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    pub(crate) dictionary: i64,
    /// The length of what `data` holds.
    pub(crate) raw: usize,
    pub(crate) data: Vec<u8>,
    pub(crate) bodies: Vec<Body>,
}

/// A large string, ready to be stored.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) hash: [u8; 32],
    pub(crate) raw: usize,
    pub(crate) data: Vec<u8>,
}

/// Takes the large strings out of a line and compresses the rest. What is compressed begins with the number of strings
/// and, for each, where it stood in what remains.
pub(crate) fn pack(line: &str, dictionaries: &Dictionaries) -> Result<Packed> {
    let large = if line.len() > LARGE { large_strings(line.as_bytes()) } else { Vec::new() };
    let mut rest = Vec::with_capacity(line.len() + 16);
    push(&mut rest, large.len());
    let mut taken = 0;
    for (start, end) in &large {
        push(&mut rest, start - taken);
        taken += end - start;
    }
    let part = |start, end| line.as_bytes().get(start..end).unwrap_or_default();
    let (mut bodies, mut at) = (Vec::with_capacity(large.len()), 0);
    for (start, end) in large {
        rest.extend_from_slice(part(at, start));
        bodies.push(body(part(start, end), dictionaries)?);
        at = end;
    }
    rest.extend_from_slice(part(at, line.len()));
    let (dictionary, data) = dictionaries.compress(&rest)?;
    Ok(Packed { dictionary, raw: rest.len(), data, bodies })
}

fn body(bytes: &[u8], dictionaries: &Dictionaries) -> Result<Body> {
    let data = dictionaries.compress_plain(bytes)?;
    Ok(Body { hash: *blake3::hash(bytes).as_bytes(), raw: bytes.len(), data })
}

fn push(bytes: &mut Vec<u8>, number: usize) {
    let mut number = number;
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<usize> {
    let (mut number, mut shift) = (0usize, 0u32);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

/// Where the content of large strings stands in a JSON text: between quotes, as it is spelled.
fn large_strings(line: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = line.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'"')) {
        let start = at + open + 1;
        let end = string_end(line, start);
        if end - start > LARGE {
            found.push((start, end));
        }
        at = end + 1;
    }
    found
}

fn string_end(line: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(stop) = line.get(at..).and_then(|rest| rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))) {
        at += stop;
        if line.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    line.len()
}

/// Brings lines back. One a connection: it remembers dictionaries.
#[derive(Default)]
pub(crate) struct Unpacker {
    ready: HashMap<i64, Decompressor<'static>>,
    /// What was decompressed last.
    plain: Vec<u8>,
    /// For large bodies, which are compressed on their own.
    alone: Option<Decompressor<'static>>,
}

impl Unpacker {
    /// The bytes that were compressed; `find` fetches a dictionary that was not used before.
    pub(crate) fn decompress(
        &mut self,
        dictionary: i64,
        raw: usize,
        data: &[u8],
        find: impl FnOnce(i64) -> Result<Arc<Dictionary>>,
    ) -> Result<&[u8]> {
        let ready = match self.ready.entry(dictionary) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let made = Decompressor::with_dictionary(&find(dictionary)?.bytes);
                entry.insert(made.map_err(|error| damaged("a dictionary cannot be used").because(error))?)
            }
        };
        if self.plain.capacity() > LONG {
            self.plain = Vec::new();
        }
        self.plain.clear();
        self.plain.try_reserve(raw).map_err(|error| damaged("its length is wrong").because(error))?;
        ready
            .decompress_to_buffer(data, &mut self.plain)
            .map_err(|error| damaged("the bytes cannot be read").because(error))?;
        if self.plain.len() == raw { Ok(&self.plain) } else { Err(damaged("some of the bytes are missing")) }
    }
}

impl Unpacker {
    /// A large body.
    pub(crate) fn body(&mut self, raw: usize, data: &[u8]) -> Result<Vec<u8>> {
        let unreadable = |error| damaged("a large body cannot be read").because(error);
        let ready = match &mut self.alone {
            Some(ready) => ready,
            none => none.insert(Decompressor::new().map_err(unreadable)?),
        };
        let mut plain = Vec::new();
        plain.try_reserve_exact(raw).map_err(|error| damaged("its length is wrong").because(error))?;
        ready.decompress_to_buffer(data, &mut plain).map_err(unreadable)?;
        Ok(plain)
    }
}

/// What was compressed on its own, and has this length. The length may be wrong: room for it is asked for, not taken.
pub(crate) fn unpacked(raw: u64, data: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    plain.try_reserve_exact(usize::try_from(raw).ok()?).ok()?;
    Decompressor::new().ok()?.decompress_to_buffer(data, &mut plain).ok()?;
    Some(plain)
}

/// The line that was packed without large strings.
pub(crate) fn whole(rest: &[u8]) -> Result<&str> {
    match rest.split_first() {
        Some((0, line)) => std::str::from_utf8(line).map_err(|_| damaged("the line is not UTF-8")),
        _ => Err(damaged("the places of its large strings are wrong")),
    }
}

/// Puts the large strings back into what remained of a line.
pub(crate) fn join(rest: &[u8], bodies: &[Vec<u8>]) -> Result<String> {
    let mut rest = rest;
    let wrong = || damaged("the places of its large strings are wrong");
    let count = take(&mut rest).ok_or_else(wrong)?;
    if count != bodies.len() {
        return Err(wrong());
    }
    let places: Option<Vec<usize>> = bodies.iter().map(|_| take(&mut rest)).collect();
    let places = places.ok_or_else(wrong)?;
    let mut line = Vec::with_capacity(rest.len() + bodies.iter().map(Vec::len).sum::<usize>());
    let mut at = 0;
    for (place, body) in places.into_iter().zip(bodies) {
        line.extend_from_slice(rest.get(at..place).ok_or_else(wrong)?);
        line.extend_from_slice(body);
        at = place;
    }
    line.extend_from_slice(rest.get(at..).ok_or_else(wrong)?);
    String::from_utf8(line).map_err(|_| damaged("the line is not UTF-8"))
}

/// Refuses to look for more records than there are bytes: one of the two is wrong, and the search would not end.
pub(crate) fn check_length(last: Seq, bytes: u64) -> Result<()> {
    if last.0 <= bytes { Ok(()) } else { Err(damaged("the session has more records than bytes")) }
}

pub(crate) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, what).hint("run `turnkeep verify`, then repair or restore the store")
}

#[cfg(test)]
mod tests {
    use super::super::dictionary::Effort;
    use super::*;

    fn check(line: &str, bodies: usize) {
        let dictionaries = Dictionaries::new(None, Effort::Usual).unwrap();

        let packed = pack(line, &dictionaries).unwrap();

        assert_eq!(packed.bodies.len(), bodies);
        let mut unpacker = Unpacker::default();
        let find = |id| dictionaries.get(id).ok_or_else(|| damaged("no dictionary"));
        let rest = unpacker.decompress(packed.dictionary, packed.raw, &packed.data, find).unwrap();
        let plain = |body: &Body| zstd::bulk::decompress(&body.data, body.raw).unwrap();
        let bodies: Vec<Vec<u8>> = packed.bodies.iter().map(plain).collect();
        assert_eq!(join(rest, &bodies).unwrap(), line);
    }

    #[test]
    fn every_byte_comes_back() {
        let long = "é\\\"\\\\".repeat(3000);

        check("", 0);
        check(r#"{"a":"b"}"#, 0);
        check(&format!(r#"{{"a":"{long}","b":["x","{long}y"]}}"#), 2);
        check(&format!(r#"{{"a":"{long}"#), 1);
    }
}
