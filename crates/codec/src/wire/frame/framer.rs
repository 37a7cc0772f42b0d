//! Any vendor's framing, told from how the bytes begin.

use turnkeep_model::Result;
use turnkeep_model::json::Json;

use super::aws::{AwsFramer, to_event};
use super::sse::json_of;
use super::{Frames, SseFramer, ValueFramer};

/// Cuts the bytes of a stream into its events, in pieces of any size, whatever framing a vendor uses: server-sent events,
/// JSON in lines or in an array, or frames of AWS.
#[derive(Debug, Default)]
pub struct Framer {
    cut: Cut,
    /// How many events there were.
    count: usize,
}

#[derive(Debug)]
enum Cut {
    /// Nothing came yet that tells.
    Unknown(Vec<u8>),
    Sse(SseFramer),
    Values(ValueFramer),
    Aws(AwsFramer),
}

impl Default for Cut {
    fn default() -> Cut {
        Cut::Unknown(Vec::new())
    }
}

impl Framer {
    /// Takes the next bytes and gives the events that are complete.
    ///
    /// # Errors
    /// `Corrupt` where an event is damaged.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Json>> {
        if let Cut::Unknown(before) = &mut self.cut {
            before.extend_from_slice(bytes);
            let Some(cut) = cut_of(before) else { return Ok(Vec::new()) };
            let before = std::mem::take(before);
            self.cut = cut;
            return self.events(&before);
        }
        self.events(bytes)
    }

    /// Whether what came are JSON values, which may be a whole body.
    pub fn is_json(&self) -> bool {
        matches!(self.cut, Cut::Values(_))
    }

    /// The event that was begun and not ended, if it is whole all the same.
    pub fn finish(self) -> Frames {
        let torn = match self.cut {
            Cut::Unknown(before) => !before.trim_ascii().is_empty(),
            Cut::Values(framer) => framer.is_torn(),
            Cut::Aws(framer) => framer.is_torn(),
            Cut::Sse(framer) => {
                let last = framer.finish().map(|event| json_of(&event.data, self.count));
                return match last.transpose() {
                    Ok(last) => Frames { events: last.flatten().into_iter().collect(), torn: false },
                    Err(_) => Frames { events: Vec::new(), torn: true },
                };
            }
        };
        Frames { events: Vec::new(), torn }
    }

    fn events(&mut self, bytes: &[u8]) -> Result<Vec<Json>> {
        match &mut self.cut {
            Cut::Unknown(_) => Ok(Vec::new()),
            Cut::Values(framer) => framer.push(bytes),
            Cut::Aws(framer) => framer.push(bytes)?.iter().map(to_event).collect(),
            Cut::Sse(framer) => {
                let (mut events, mut failed, count) = (Vec::new(), None, &mut self.count);
                framer.feed(bytes, &mut |event| {
                    match json_of(&event.data, *count) {
                        Ok(event) => events.extend(event),
                        Err(error) => failed = failed.take().or(Some(error)),
                    }
                    *count += 1;
                });
                failed.map_or(Ok(events), Err)
            }
        }
    }
}

/// How bytes are framed, as soon as they tell.
fn cut_of(bytes: &[u8]) -> Option<Cut> {
    let bom = "\u{feff}".as_bytes();
    let text = bytes.strip_prefix(bom).unwrap_or(bytes).trim_ascii_start();
    match text.first()? {
        // The length of a frame stands first, and is far below what four bytes can say.
        0 | 1 => Some(Cut::Aws(AwsFramer::default())),
        b'{' | b'[' => Some(Cut::Values(ValueFramer::default())),
        _ if bom.starts_with(bytes) => None,
        _ => Some(Cut::Sse(SseFramer::default())),
    }
}

/// The events of a whole text of server-sent events.
pub(super) fn events(bytes: &[u8]) -> Result<Frames> {
    let mut framer = Framer { cut: Cut::Sse(SseFramer::default()), count: 0 };
    let mut events = framer.push(bytes)?;
    let Frames { events: last, torn } = framer.finish();
    events.extend(last);
    Ok(Frames { events, torn })
}
