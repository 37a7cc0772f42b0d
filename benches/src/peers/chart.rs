//! A chart of what an append costs as a session grows.

use std::fmt::Write;

use super::{LENGTHS, Measured, PEERS};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 230.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

/// Colours that are told apart by people who see few of them.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#cc79a7", "#882255", "#009e73", "#e69f00", "#56b4e9"];

/// The chart; both axes are logarithmic.
pub(super) fn svg(measured: &[Measured]) -> String {
    let (low, high) = (10f64, highest(measured));
    let across = |turns: usize| {
        let (first, last) = (LENGTHS.first().copied().unwrap_or(1), LENGTHS.last().copied().unwrap_or(1));
        LEFT + (WIDTH - LEFT - RIGHT) * share(turns as f64, first as f64, last as f64)
    };
    let down = |time: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share(time, low, high);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\">Processor time of an append, by the length of the session</text>\n"
    );
    let mut mark = low;
    while mark <= high {
        let y = down(mark);
        let _ = writeln!(
            text,
            "<line x1=\"{LEFT}\" y1=\"{y:.0}\" x2=\"{:.0}\" y2=\"{y:.0}\" stroke=\"#ddd\"/>",
            WIDTH - RIGHT
        );
        let _ = writeln!(
            text,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            unit(mark)
        );
        mark *= 10.0;
    }
    for length in LENGTHS {
        let (x, y) = (across(length), HEIGHT - BOTTOM + 20.0);
        let _ = writeln!(text, "<text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\">{length} turns</text>");
    }
    let systems = std::iter::once(("turnkeep", "turnkeep")).chain(PEERS);
    for ((system, name), colour) in systems.zip(COLOURS) {
        let points: Vec<(f64, f64)> =
            measured.iter().filter(|m| m.system == system).map(|m| (across(m.turns), down(m.append_cpu))).collect();
        line(&mut text, name, colour, &points);
    }
    text.push_str("</svg>\n");
    text
}

fn line(text: &mut String, name: &str, colour: &str, points: &[(f64, f64)]) {
    let Some((x, y)) = points.last() else {
        return;
    };
    let places: Vec<String> = points.iter().map(|(x, y)| format!("{x:.0},{y:.0}")).collect();
    let width = if name == "turnkeep" { 3 } else { 2 };
    let _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
        places.join(" ")
    );
    let _ = writeln!(text, "<text x=\"{:.0}\" y=\"{:.0}\" fill=\"{colour}\">{name}</text>", x + 8.0, y + 4.0);
}

/// The next power of ten above everything.
fn highest(measured: &[Measured]) -> f64 {
    let most = measured.iter().map(|m| m.append_cpu).fold(100.0, f64::max);
    10f64.powf(most.log10().ceil())
}

/// Where a value stands between two others, by its logarithm.
fn share(value: f64, low: f64, high: f64) -> f64 {
    (value.max(low) / low).ln() / (high / low).ln().max(f64::MIN_POSITIVE)
}

fn unit(micros: f64) -> String {
    if micros < 1e3 { format!("{micros:.0} us") } else { format!("{:.0} ms", micros / 1e3) }
}
