//! Conversions of a large session: from a format to ours, back, and to itself, against reading and writing that file
//! with `serde_json`.

mod shapes;

use serde::Serialize;
use serde::de::DeserializeOwned;
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, Target, convert};

use crate::race::{race, timed};
use crate::report::{Bound, Report, Row};
use crate::{Outcome, sessions};

const BYTES: usize = 36_000_000;
const ROUNDS: usize = 7;
const NATIVE: &str = "turnkeep";
/// No less than a third of the other's throughput.
const BOUND: Bound = Bound::AtLeast(0.333);

/// What one writes who only wants the fields of one format.
struct Shape {
    format: &'static str,
    copy: fn(&[u8]) -> serde_json::Result<Vec<u8>>,
}

const SHAPES: &[Shape] = &[
    Shape { format: "llm4s.state", copy: copy::<shapes::llm4s::State> },
    Shape { format: "wink.conversation", copy: copy::<shapes::wink::Snapshot> },
    Shape { format: "cognesy.state", copy: copy::<shapes::cognesy::State> },
    Shape { format: "lucee.session", copy: copy::<shapes::lucee::Session> },
];

/// Reads a text into structs and writes them.
fn copy<T: DeserializeOwned + Serialize>(bytes: &[u8]) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&serde_json::from_slice::<T>(bytes)?)
}

/// The size of the small file.
const PROBE: usize = 400_000;

/// Measures every conversion, or those of one format.
pub(crate) fn speed(report: &mut Report, only: Option<&str>) -> Outcome<()> {
    let mut wanted = SHAPES.iter().filter(|shape| only.is_none_or(|format| shape.format == format));
    wanted.try_for_each(|shape| speed_of(shape, report))
}

fn speed_of(shape: &Shape, report: &mut Report) -> Outcome<()> {
    let own = file(shape, BYTES)?;
    let native = converted(&own, NATIVE)?;
    let ways = [(&own, NATIVE), (&native, shape.format), (&own, shape.format)];
    for (bytes, to) in ways {
        let from = if to == NATIVE || std::ptr::eq(bytes, &own) { shape.format } else { NATIVE };
        let times = race(ROUNDS, || timed(|| converted(bytes, to)), || timed(|| (shape.copy)(&own)))?;
        let name = format!("{from} to {to} / serde_json, {:.0} MB", own.len() as f64 / 1e6);
        report.measured(Row::speed(&name, times, BOUND));
    }
    Ok(())
}

/// A file of the format with about so many bytes.
fn file(shape: &Shape, size: usize) -> Outcome<Vec<u8>> {
    // How much larger it is than the native file of the same session, seen on a small one.
    let growth = written(shape, PROBE)?.len() as f64 / PROBE as f64;
    written(shape, (size as f64 / growth) as usize)
}

fn written(shape: &Shape, native: usize) -> Outcome<Vec<u8>> {
    let target = Target::parse(shape.format)?;
    Ok(turnkeep_codec::encode(&sessions::archive(native), &target, &EncodeOptions::default())?.bytes)
}

/// The file in another format; nothing is said of the one it is in.
fn converted(bytes: &[u8], to: &str) -> Outcome<Vec<u8>> {
    let target = Target::parse(to)?;
    let conversion = convert(Input::new(bytes), None, &target, &DecodeOptions::default(), &EncodeOptions::default())?;
    Ok(conversion.bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_structs_hold_all_of_a_file() {
        for shape in SHAPES {
            let bytes = file(shape, 400_000).unwrap();
            let copied: Value = serde_json::from_slice(&(shape.copy)(&bytes).unwrap()).unwrap();

            assert!(copied == serde_json::from_slice::<Value>(&bytes).unwrap(), "{}", shape.format);
        }
    }

    #[test]
    fn files_have_about_the_size_asked_for() {
        for shape in SHAPES {
            let size = file(shape, 2_000_000).unwrap().len();

            assert!((1_600_000..2_400_000).contains(&size), "{}: {size}", shape.format);
        }
    }

    #[test]
    fn a_file_comes_back_from_ours_as_it_was() {
        for shape in SHAPES {
            let bytes = file(shape, 400_000).unwrap();

            assert!(converted(&converted(&bytes, NATIVE).unwrap(), shape.format).unwrap() == bytes, "{}", shape.format);
        }
    }
}
