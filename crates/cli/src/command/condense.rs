//! `turnkeep condense`, and condensing what other commands write

use std::sync::{Arc, Mutex, PoisonError};

use pollster::block_on;
use turnkeep_codec::{EncodeOptions, Target};
use turnkeep_model::policy::condense::{self as policy, KEEP};
use turnkeep_model::policy::{Pipeline, Policy};
use turnkeep_model::{Archive, Batch, Json, Ledger, Loss, Session, SessionId};
use turnkeep_runtime::Ports;
use turnkeep_runtime::condense::{
    Condensed, Extract, ModelSummariser, Outcome, Settings, Summariser, condense, summarise,
};
use turnkeep_store::StoreExt;

use super::CommandResult;
use super::conversation::{configured, model_of};
use super::convert::{file_of, write};
use crate::conversation_args::ModelArgs;
use crate::exit::Exit;
use crate::input_args::{is_dash, source_of};
use crate::reduce_args::{Condense, CondenseArgs, Extent};
use crate::report::{note_losses, object, text_or_null, with_ambiguous};
use crate::terminal::{DIM, YELLOW, counted, print, print_json, print_note};
use crate::visible::visible_line;

pub(super) fn run(args: &Condense) -> CommandResult {
    let stored = args.input.to_str().filter(|_| !is_dash(&args.input) && !args.input.exists());
    match stored {
        Some(id) => record(args, &SessionId::new(id)),
        None => rewrite(args),
    }
}

fn settings(extent: &Extent, usual: usize) -> Settings {
    let plan = policy::CondenseSettings { keep: extent.keep.unwrap_or(usual), budget: extent.budget };
    Settings { plan, ..Settings::default() }
}

/// Condenses a stored session: one more record, and the originals stay.
fn record(args: &Condense, id: &SessionId) -> CommandResult {
    let store = args.store.open_existing()?;
    let settings = settings(&args.extent, KEEP);
    let loaded = block_on(store.load(id))?;
    let by = if args.offline { Arc::new(Extract) } else { of_session(&args.by, &loaded.ledger)? };
    let outcome = if args.dry_run {
        block_on(summarise(&loaded.session, &*by, &settings, &*Ports::default().clock))
    } else {
        block_on(condense(&*store, id, &Ports::default(), &*by, &settings))?
    };
    if args.json {
        print_json(&as_json(id.as_str(), &outcome))?;
    } else {
        print(&format!("{}\n", as_text(&outcome, args.dry_run)))?;
    }
    Ok(exit(&outcome))
}

/// Who summarises: whoever is named, or nobody.
fn named(by: &ModelArgs) -> turnkeep_model::Result<Arc<dyn Summariser>> {
    Ok(if by.is_named() { Arc::new(ModelSummariser::new(model_of(by)?)) } else { Arc::new(Extract) })
}

/// Who summarises a stored session: whoever is named, else the endpoint it was talked with, if that is configured.
fn of_session(by: &ModelArgs, ledger: &Ledger) -> turnkeep_model::Result<Arc<dyn Summariser>> {
    let asked = ledger.endpoint().filter(|_| !by.is_named()).and_then(configured);
    match asked {
        Some(endpoint) => named(&ModelArgs { endpoint: Some(endpoint), script: None }),
        None => named(by),
    }
}

fn exit(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Condensed(_) | Outcome::Nothing(_) => Exit::Ok,
        Outcome::Failed(_) => Exit::Failed,
    }
}

/// Condenses the sessions of a file, and writes them elsewhere.
fn rewrite(args: &Condense) -> CommandResult {
    let source = source_of(&args.input, &args.reading.limits())?;
    let name = source.name().to_owned();
    let mut opened = args.reading.open(source)?;
    let mut losses = opened.losses;
    let settings = settings(&args.extent, usual(&args.to));
    let (told, outcome) = reduce(&mut opened.archive, &settings, &*named(&args.by)?);
    losses.extend(told);
    if args.dry_run {
        let text = as_text(&outcome, true);
        if args.json {
            print_json(&with_ambiguous(as_json(&name, &outcome), &opened.ambiguous))?;
        } else {
            print(&format!("{text}\n"))?;
        }
        return Ok(exit(&outcome));
    }
    let encoded = turnkeep_codec::encode(&opened.archive, &args.to, &EncodeOptions::default())?;
    losses.extend(encoded.losses);
    let file = args.output.as_deref().and_then(file_of);
    write(file, &encoded.bytes)?;
    match (args.json, file) {
        (true, Some(_)) => print_json(&with_ambiguous(as_json(&name, &outcome), &opened.ambiguous))?,
        _ => print_note(&format!("{DIM}{}{DIM:#}", as_text(&outcome, false))),
    }
    note_losses(&losses, "`turnkeep convert --condense` with --report FILE lists them all");
    Ok(exit(&outcome))
}

/// How many exchanges stay where nothing is said: Lucee's program condenses all that it keeps.
fn usual(target: &Target) -> usize {
    if target.codec.spec().id == "lucee.session" { 0 } else { KEEP }
}

/// Applies the policies, and condenses last if that is asked for.
pub(super) fn applied(
    condensing: &CondenseArgs,
    pipeline: Pipeline,
    archive: &mut Archive,
    target: &Target,
) -> turnkeep_model::Result<Vec<Loss>> {
    if !condensing.condense {
        return pipeline.apply_to(archive);
    }
    let (by, settings) = (named(&condensing.by)?, settings(&condensing.extent, usual(target)));
    let (losses, outcome) = if pipeline.is_empty() {
        reduce(archive, &settings, &*by)
    } else {
        let step = Summarising { by, settings, told: Arc::default() };
        let told = step.told.clone();
        let losses = pipeline.then(step).apply_to(archive)?;
        let outcome = told.lock().unwrap_or_else(PoisonError::into_inner).take();
        (losses, outcome.unwrap_or(Outcome::Nothing(policy::NothingToCondense::Kept)))
    };
    match &outcome {
        Outcome::Condensed(_) => {}
        Outcome::Nothing(_) | Outcome::Failed(_) => {
            print_note(&format!("{YELLOW}{}{YELLOW:#}", as_text(&outcome, false)));
        }
    }
    Ok(losses)
}

/// Condensing as the last step of a pipeline, whoever summarises.
struct Summarising {
    by: Arc<dyn Summariser>,
    settings: Settings,
    /// What became of the last session.
    told: Arc<Mutex<Option<Outcome>>>,
}

impl Policy for Summarising {
    fn apply(&self, session: &mut Session) -> turnkeep_model::Result<Vec<Loss>> {
        let outcome = block_on(summarise(session, &*self.by, &self.settings, &*Ports::default().clock));
        let losses = match &outcome {
            Outcome::Condensed(made) => made.apply(session),
            Outcome::Nothing(_) | Outcome::Failed(_) => Vec::new(),
        };
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        Ok(losses)
    }
}

/// Condenses every session; what became of the main one is told.
fn reduce(archive: &mut Archive, settings: &Settings, by: &dyn Summariser) -> (Vec<Loss>, Outcome) {
    let mut losses = Vec::new();
    let mut told = Outcome::Nothing(policy::NothingToCondense::Kept);
    for index in 0..archive.sessions.len() {
        let prefix = archive.prefix(index);
        let Some(session) = archive.sessions.get_mut(index) else { continue };
        let outcome = block_on(summarise(session, by, settings, &*Ports::default().clock));
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
        Outcome::Condensed(Condensed { plan, summary, by }) => format!(
            "{word} turns {} to {} ({}, {}): about {} tokens become {}, by {}",
            plan.from,
            plan.to,
            counted(plan.exchanges, "exchange", "exchanges"),
            counted(plan.blocks, "block", "blocks"),
            plan.tokens,
            policy::estimate(&summary.text),
            visible_line(by),
        ),
        Outcome::Nothing(why) => format!("nothing to condense: {why}"),
        Outcome::Failed(why) => format!("not condensed, the session is as it was: {}", visible_line(why)),
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
            ("summary_tokens", policy::estimate(&made.summary.text).into()),
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
