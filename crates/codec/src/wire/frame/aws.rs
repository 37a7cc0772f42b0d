//! AWS event-stream frames: a prelude with lengths and a sum, headers, a payload, and a sum of it all.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Error, ErrorKind, Result};

use super::{Frames, event};
use crate::base64_text;

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The headers whose values are strings, in order.
    pub headers: Vec<(String, String)>,
    /// The payload.
    pub payload: Vec<u8>,
}

const PRELUDE: usize = 12;
const STRING: u8 = 7;
/// The largest frame that AWS sends.
const MAX_FRAME: usize = 24 * 1024 * 1024;

impl Frame {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The frame as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut headers = Vec::new();
        for (name, value) in &self.headers {
            headers.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
            headers.extend_from_slice(name.as_bytes());
            headers.push(STRING);
            headers.extend_from_slice(&u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes());
            headers.extend_from_slice(value.as_bytes());
        }
        let total = PRELUDE + headers.len() + self.payload.len() + 4;
        let mut bytes = Vec::with_capacity(total);
        bytes.extend_from_slice(&u32::try_from(total).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend_from_slice(&u32::try_from(headers.len()).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        bytes.extend_from_slice(&headers);
        bytes.extend_from_slice(&self.payload);
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        bytes
    }
}

/// Cuts bytes into frames, in pieces of any size.
#[derive(Debug, Default)]
pub struct AwsFramer {
    rest: Vec<u8>,
}

impl AwsFramer {
    /// Takes the next bytes and gives the frames that are complete.
    ///
    /// # Errors
    /// `Corrupt` where a sum does not match or a length is impossible.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>> {
        self.rest.extend_from_slice(bytes);
        let mut frames = Vec::new();
        let mut start = 0;
        while let Some((frame, length)) = read_frame(self.rest.get(start..).unwrap_or_default())? {
            frames.push(frame);
            start += length;
        }
        self.rest.drain(..start);
        Ok(frames)
    }

    /// Whether a frame was begun and not ended.
    pub fn is_torn(&self) -> bool {
        !self.rest.is_empty()
    }
}

/// Whether bytes begin with a frame's prelude.
pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    prelude(bytes).is_ok_and(|lengths| lengths.is_some())
}

/// The events of frames: each payload under the name of its event, as `{"contentBlockDelta": {…}}`.
pub(super) fn events(bytes: &[u8]) -> Result<Frames> {
    let mut framer = AwsFramer::default();
    let frames = framer.push(bytes)?;
    let events = frames.iter().map(to_event).collect::<Result<_>>()?;
    Ok(Frames { events, torn: framer.is_torn() })
}

/// An event without what carries it: a frame that was recorded as `{"headers": …, "payload": …}`, and the bytes of a
/// model's own event in a `chunk`.
pub(crate) fn unwrapped(event: Json) -> Json {
    let Json::Object(mut object) = event else { return event };
    if let (Some(Json::Object(headers)), Some(_)) = (object.get("headers"), object.get("payload")) {
        let name = [":event-type", ":exception-type"].iter().find_map(|key| headers.get_str(key));
        let name = name.unwrap_or_default().into_owned();
        let payload = object.remove("payload").unwrap_or_default();
        object = Object::new();
        object.push(name, payload);
    }
    let bytes = object.get("chunk").and_then(Json::as_object).and_then(|chunk| chunk.get_str("bytes"));
    let inner = bytes.as_deref().and_then(base64_text::decode).and_then(|bytes| event_of(&bytes));
    inner.unwrap_or(Json::Object(object))
}

fn event_of(bytes: &[u8]) -> Option<Json> {
    event(std::str::from_utf8(bytes).ok()?).ok()
}

pub(super) fn to_event(frame: &Frame) -> Result<Json> {
    let name = [":event-type", ":exception-type"].iter().find_map(|key| frame.header(key)).unwrap_or_default();
    let payload = event(&String::from_utf8_lossy(&frame.payload))?;
    let mut object = Object::new();
    object.push(name, payload);
    Ok(Json::Object(object))
}

/// The length of the frame and of its headers, once its prelude is there.
fn prelude(bytes: &[u8]) -> Result<Option<(usize, usize)>> {
    let Some(prelude) = bytes.get(..PRELUDE) else { return Ok(None) };
    let number = |at: usize| {
        let bytes = prelude.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default();
        u32::from_be_bytes(bytes)
    };
    let (total, headers, sum) = (number(0) as usize, number(4) as usize, number(8));
    if sum != crc32fast::hash(prelude.get(..8).unwrap_or_default()) {
        return Err(damaged("the sum of its prelude does not match"));
    }
    if total > MAX_FRAME || total < PRELUDE + headers + 4 {
        return Err(damaged("its length is impossible"));
    }
    Ok(Some((total, headers)))
}

fn read_frame(bytes: &[u8]) -> Result<Option<(Frame, usize)>> {
    let Some((total, headers)) = prelude(bytes)? else { return Ok(None) };
    let Some(frame) = bytes.get(..total) else { return Ok(None) };
    let (content, sum) = frame.split_at(total - 4);
    if sum != crc32fast::hash(content).to_be_bytes() {
        return Err(damaged("its sum does not match"));
    }
    let headers_end = PRELUDE + headers;
    let payload = content.get(headers_end..).unwrap_or_default().to_vec();
    let headers = read_headers(content.get(PRELUDE..headers_end).unwrap_or_default())?;
    Ok(Some((Frame { headers, payload }, total)))
}

fn read_headers(mut bytes: &[u8]) -> Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    while !bytes.is_empty() {
        let name = take_sized(&mut bytes, 1)?;
        let kind = take(&mut bytes, 1)?.first().copied().unwrap_or_default();
        match kind {
            0 | 1 => {}
            2 => drop(take(&mut bytes, 1)?),
            3 => drop(take(&mut bytes, 2)?),
            4 => drop(take(&mut bytes, 4)?),
            5 | 8 => drop(take(&mut bytes, 8)?),
            6 => drop(take_sized(&mut bytes, 2)?),
            STRING => {
                let value = take_sized(&mut bytes, 2)?;
                headers.push((text(name), text(value)));
            }
            // Types that no event of a model uses are stepped over: truth values, numbers, bytes, a time, a UUID.
            9 => drop(take(&mut bytes, 16)?),
            _ => return Err(damaged("a header has an unknown type")),
        }
    }
    Ok(headers)
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or_else(|| damaged("a header is cut off"))?;
    *bytes = rest;
    Ok(taken)
}

/// Bytes whose count stands before them, in one or two bytes.
fn take_sized<'a>(bytes: &mut &'a [u8], width: usize) -> Result<&'a [u8]> {
    let count = take(bytes, width)?.iter().fold(0, |count, byte| count << 8 | usize::from(*byte));
    take(bytes, count)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn damaged(why: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("a frame of the event stream is damaged: {why}"))
        .hint("the recording is damaged; record it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_in_pieces_of_any_size_and_damage_is_found() {
        let frame = |name: &str, payload: &str| Frame {
            headers: vec![(":event-type".into(), name.into()), (":message-type".into(), "event".into())],
            payload: payload.into(),
        };
        let sent = [frame("messageStart", r#"{"role":"assistant"}"#), frame("messageStop", "{}")];
        let bytes: Vec<u8> = sent.iter().flat_map(Frame::to_bytes).collect();

        for size in 1..bytes.len() {
            let mut framer = AwsFramer::default();
            let read: Vec<_> = bytes.chunks(size).flat_map(|chunk| framer.push(chunk).unwrap()).collect();
            assert_eq!(read, sent);
            assert!(!framer.is_torn());
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            let mut framer = AwsFramer::default();
            assert!(framer.push(&damaged).is_err() || framer.is_torn(), "byte {at}");
        }
        assert!(looks_like(&bytes));
        assert!(events(&bytes[..bytes.len() - 3]).unwrap().torn);
    }
}
