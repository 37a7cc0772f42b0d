//! Events to many WebSockets: our server, a broadcaster on Node, and Sockudo where there is one, each a process of its own.

mod load;
mod process;

use std::path::Path;

use crate::Outcome;
use crate::report::{Bound, Report, Row};

use load::{Load, Measured};
use process::Process;

pub(crate) use process::serve;

/// Rounds of each, one after the other; the best counts.
const ROUNDS: usize = 3;

/// Connections that are open and silent while memory is measured; `TURNKEEP_IDLE` names another number.
const IDLE: usize = 2_000;

/// One channel that everyone listens on, and events of a kilobyte.
const CROWD: Load = Load { clients: 100, channels: 1, listeners: 100, events: 1_000 };

/// As many listeners a channel, on few channels and on many.
const FEW: Load = Load { clients: 100, channels: 10, listeners: 10, events: 5_000 };
const MANY: Load = Load { clients: 100, channels: 1_000, listeners: 10, events: 5_000 };

/// Everything that is measured of the fan-out.
pub(crate) fn all(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let ours = Process::ours()?;
    let mut others = Vec::new();
    for (name, peer) in [("Node ws", Process::node(scratch)), ("Sockudo", Process::sockudo())] {
        match peer {
            Ok(peer) => others.push((name, peer, None)),
            Err(why) => report.skipped(&format!("fan-out against {name}"), &why.to_string()),
        }
    }
    crowd(report, &ours, &mut others)?;
    channels(report, &ours)?;
    idle(report, &Process::ours()?)
}

type Peer = (&'static str, Process, Option<Measured>);

fn crowd(report: &mut Report, ours: &Process, others: &mut [Peer]) -> Outcome<()> {
    let mut mine: Option<Measured> = None;
    for _ in 0..ROUNDS {
        mine = Some(load::run(ours, CROWD)?.best(mine));
        for (_, peer, best) in others.iter_mut() {
            *best = Some(load::run(peer, CROWD)?.best(best.take()));
        }
    }
    let mine = mine.ok_or("nothing was measured")?;
    for (name, theirs) in others.iter().filter_map(|(name, _, best)| Some((name, best.as_ref()?))) {
        let time = format!("processor time of a delivery, 100 clients, against {name}");
        report.measured(Row::fraction(time, mine.cpu_each(), theirs.cpu_each(), Bound::AtMost(0.8)));
        let latency = format!("99th percentile of a delivery, against {name}");
        report.measured(Row::time(latency, mine.p99, theirs.p99, Bound::AtMost(1.0)));
    }
    let all = (ROUNDS * CROWD.events * CROWD.listeners) as f64;
    report.measured(Row::number("deliveries that were lost, of all", mine.lost as f64, all, "", Bound::AtMost(0.0)));
    Ok(())
}

fn channels(report: &mut Report, ours: &Process) -> Outcome<()> {
    let (mut few, mut many): (Option<Measured>, Option<Measured>) = (None, None);
    for _ in 0..ROUNDS {
        few = Some(load::run(ours, FEW)?.best(few));
        many = Some(load::run(ours, MANY)?.best(many));
    }
    let (few, many) = (few.ok_or("nothing was measured")?, many.ok_or("nothing was measured")?);
    let name = "processor time of a delivery, 1,000 channels against 10";
    report.measured(Row::fraction(name, many.cpu_each(), few.cpu_each(), Bound::AtMost(1.2)));
    Ok(())
}

fn idle(report: &mut Report, ours: &Process) -> Outcome<()> {
    let count = std::env::var("TURNKEEP_IDLE").ok().and_then(|count| count.parse().ok()).unwrap_or(IDLE);
    let before = ours.resident()?;
    let growth = load::idle(ours, count, || Ok(ours.resident()? - before))?;
    let each = growth as f64 / count as f64 / 1000.0;
    report.measured(Row::number("memory of an idle connection, of 20 kB", each, 20.0, " kB", Bound::AtMost(1.0)));
    Ok(())
}
