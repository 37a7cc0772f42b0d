//! `turnkeep condense`, and condensing what other commands write

use pollster::block_on;
use turnkeep_codec::{EncodeOptions, Target};
use turnkeep_model::policy::Pipeline;
use turnkeep_model::policy::condense::{self as policy, KEEP};
use turnkeep_model::{Archive, Batch, Json, Loss, LossKind, SessionId};
use turnkeep_runtime::Ports;
use turnkeep_runtime::condense::{Condensed, Extract, Outcome, Settings, condense, summarise};

use super::Ending;
use super::convert::{file_of, write};
use crate::args::{is_dash, source_of};
use crate::exit::Exit;
use crate::reduce_args::{Condense, Condensing, Extent};
use crate::report::{object, say_losses, text_or_null};
use crate::terminal::{DIM, YELLOW, counted, print, print_json, say};
use crate::visible::visible;

pub(super) fn run(args: &Condense) -> Ending {
    let stored = args.input.to_str().filter(|_| !is_dash(&args.input) && !args.input.exists());
    match stored {
        Some(id) => record(args, &SessionId::new(id)),
        None => rewrite(args),
    }
}

fn settings(extent: &Extent, usual: usize) -> Settings {
    let plan = policy::Settings { keep: extent.keep.unwrap_or(usual), budget: extent.budget };
    Settings { plan, ..Settings::default() }
}

/// Condenses a stored session: one more record, and the originals stay.
fn record(args: &Condense, id: &SessionId) -> Ending {
    let archive = super::load(&args.place, id.as_str())?;
    let settings = settings(&args.extent, KEEP);
    let outcome = if args.dry_run {
        let session = archive.main_session().cloned().unwrap_or_default();
        block_on(summarise(&session, &Extract, &settings, &*Ports::default().clock))
    } else {
        let store = args.place.open()?;
        block_on(condense(&*store, id, &Ports::default(), &Extract, &settings))?
    };
    if args.json {
        print_json(&as_json(id.as_str(), &outcome))?;
    } else {
        print(&format!("{}\n", as_text(&outcome, args.dry_run)))?;
    }
    Ok(exit(&outcome))
}

fn exit(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Condensed(_) | Outcome::Nothing(_) => Exit::Ok,
        Outcome::Failed(_) => Exit::Failed,
    }
}

/// Condenses the sessions of a file, and writes them elsewhere.
fn rewrite(args: &Condense) -> Ending {
    let source = source_of(&args.input, &args.reading.limits())?;
    let name = source.name().to_owned();
    let mut opened = args.reading.options()?.open_source(source)?;
    let mut losses = opened.losses;
    let (told, outcome) = reduce(&mut opened.archive, &settings(&args.extent, usual(&args.to)));
    losses.extend(told);
    if args.dry_run {
        let text = as_text(&outcome, true);
        if args.json {
            print_json(&as_json(&name, &outcome))?
        } else {
            print(&format!("{text}\n"))?
        }
        return Ok(exit(&outcome));
    }
    let encoded = turnkeep_codec::encode(&opened.archive, &args.to, &EncodeOptions::default())?;
    losses.extend(encoded.losses);
    let file = args.output.as_deref().and_then(file_of);
    write(file, &encoded.bytes)?;
    match (args.json, file) {
        (true, Some(_)) => print_json(&as_json(&name, &outcome))?,
        _ => say(&format!("{DIM}{}{DIM:#}", as_text(&outcome, false))),
    }
    say_losses(&losses, "`turnkeep convert --condense` with --report FILE lists them all");
    Ok(exit(&outcome))
}

/// How many exchanges stay where nothing is said: Lucee's program condenses all that it keeps.
fn usual(target: &Target) -> usize {
    if target.codec.spec().id == "lucee.session" { 0 } else { KEEP }
}

/// Applies the policies, and condenses last if that is asked for.
pub(super) fn applied(
    condensing: &Condensing,
    pipeline: Pipeline,
    archive: &mut Archive,
    target: &Target,
) -> turnkeep_model::Result<Vec<Loss>> {
    if pipeline.is_empty() {
        return Ok(reduced(condensing, archive, target));
    }
    if !condensing.condense {
        return pipeline.apply_to(archive);
    }
    let settings = settings(&condensing.extent, usual(target));
    let losses = pipeline.condense(settings.plan).apply_to(archive)?;
    if !losses.iter().any(|loss| loss.kind == LossKind::Condensed) {
        say(&format!("{YELLOW}nothing to condense in what is left{YELLOW:#}"));
    }
    Ok(losses)
}

/// Condenses what a command writes, if it is asked to, and says why not where it is not.
fn reduced(condensing: &Condensing, archive: &mut Archive, target: &Target) -> Vec<Loss> {
    if !condensing.condense {
        return Vec::new();
    }
    let (losses, outcome) = reduce(archive, &settings(&condensing.extent, usual(target)));
    match &outcome {
        Outcome::Condensed(_) => {}
        Outcome::Nothing(_) | Outcome::Failed(_) => say(&format!("{YELLOW}{}{YELLOW:#}", as_text(&outcome, false))),
    }
    losses
}

/// Condenses every session; what became of the main one is told.
fn reduce(archive: &mut Archive, settings: &Settings) -> (Vec<Loss>, Outcome) {
    let mut losses = Vec::new();
    let mut told = Outcome::Nothing(policy::Nothing::Kept);
    for index in 0..archive.sessions.len() {
        let prefix = archive.prefix(index);
        let Some(session) = archive.sessions.get_mut(index) else { continue };
        let outcome = block_on(summarise(session, &Extract, settings, &*Ports::default().clock));
        if let Outcome::Condensed(made) = &outcome {
            let own = made.apply(session).into_iter();
            losses.extend(own.map(|loss| Loss { at: format!("{prefix}{}", loss.at), ..loss }));
            if index == archive.main as usize {
                note(archive, made);
            }
        }
        if index == archive.main as usize {
            told = outcome;
        }
    }
    (losses, told)
}

/// A journal gets one more record, and so keeps the originals.
fn note(archive: &mut Archive, made: &Condensed) {
    if let Some(journal) = &mut archive.journal {
        let at = journal.last().next();
        journal.batches.push(Batch::new(at, vec![made.event().into()]));
    }
}

fn as_text(outcome: &Outcome, rehearsed: bool) -> String {
    let word = if rehearsed { "would condense" } else { "condensed" };
    match outcome {
        Outcome::Condensed(Condensed { plan, text, by }) => format!(
            "{word} turns {} to {} ({}, {}): about {} tokens become {}, by {}",
            plan.from,
            plan.to,
            counted(plan.exchanges, "exchange", "exchanges"),
            counted(plan.blocks, "block", "blocks"),
            plan.tokens,
            policy::estimate(text),
            visible(by),
        ),
        Outcome::Nothing(why) => format!("nothing to condense: {why}"),
        Outcome::Failed(why) => format!("not condensed, the session is as it was: {}", visible(why)),
    }
}

fn as_json(name: &str, outcome: &Outcome) -> Json {
    let made = |made: &Condensed| {
        object([
            ("from", u64::from(made.plan.from).into()),
            ("to", u64::from(made.plan.to).into()),
            ("exchanges", (made.plan.exchanges as u64).into()),
            ("blocks", (made.plan.blocks as u64).into()),
            ("tokens", made.plan.tokens.into()),
            ("summary_tokens", policy::estimate(&made.text).into()),
            ("by", made.by.as_str().into()),
        ])
    };
    let (condensed, reason) = match outcome {
        Outcome::Condensed(condensed) => (made(condensed), None),
        Outcome::Nothing(why) => (Json::Null, Some(why.to_string())),
        Outcome::Failed(why) => (Json::Null, Some(why.clone())),
    };
    object([("session", name.into()), ("condensed", condensed), ("reason", text_or_null(reason.as_deref()))])
}
