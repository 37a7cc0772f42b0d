//! `turnkeep ask`

use std::io::Read;
use std::time::Instant;

use turnkeep_model::{Author, Block, Json, Session, SessionId, Status, StopReason, Usage};
use turnkeep_runtime::{Stopped, WaitingFor};

use super::super::Ending;
use super::answering::{Answering, nothing, tools};
use super::attach::attached;
use super::compare;
use super::interrupt::Interrupt;
use super::session::{Heard, Talk};
use crate::exit::{Exit, Stop};
use crate::report::{object, say_losses, text_or_null};
use crate::talk_args::Ask;
use crate::terminal::{DIM, complain_of, print_json, say};
use crate::visible::visible;

pub(crate) fn ask(args: &Ask) -> Ending {
    if args.compare {
        return compare::compare(args);
    }
    let answering = Answering::of(&args.with.who, None, &nothing)?;
    let tools = tools(args.with.tools.as_deref())?;
    let store = args.place.open()?;
    let mut talk = match args.id.as_str() {
        "new" => Talk::new(store, answering, tools, args.system.clone()),
        id => Talk::stored(store, SessionId::new(id), answering, tools)?.taking_over(args.take_over),
    };
    let heard = if args.json { Heard::Silently } else { Heard::Aloud };
    let began = Instant::now();
    let before = talk.session()?.turns.len();
    let stopped = talk.ask(question(args)?, heard, &Interrupt::watch().arm())?;
    let session = talk.session()?;
    let told = Told { session: &session, before, stopped: &stopped, seconds: began.elapsed().as_secs_f64() };
    if args.json {
        print_json(&told.to_json(&talk))?;
    } else {
        say(&told.line(&talk));
        say_losses(&talk.losses(), &format!("`turnkeep tail {}` lists them all", talk.id));
        told.waiting(talk.id.as_str()).iter().for_each(|line| say(line));
    }
    tell_failure(&talk, &stopped);
    Ok(ending(&stopped))
}

/// Says why there is no answer, and what is kept.
pub(crate) fn tell_failure(talk: &Talk, stopped: &Stopped) {
    let kept = talk.unanswered(stopped);
    match (&stopped.status, &kept) {
        (Status::Failed(failed), _) => {
            complain_of(&format!("the model did not answer: {}", failed.error), kept.as_deref());
        }
        (_, Some(kept)) => say(&format!("stopped; {kept}")),
        _ => {}
    }
}

/// What is asked: the text, and what is attached.
pub(super) fn question(args: &Ask) -> Result<Vec<Block>, Stop> {
    let mut text = args.text.clone();
    if text == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text)?;
    }
    if text.trim().is_empty() && args.attach.is_empty() {
        return Err(Stop::Usage("there is nothing to ask".into(), "write the question after the session".into()));
    }
    let attached = args.attach.iter().map(|path| attached(path)).collect::<Result<Vec<_>, _>>()?;
    let said = (!text.trim().is_empty()).then(|| Block::text(Author::User, text));
    Ok(attached.into_iter().chain(said).collect())
}

/// How an exchange went.
pub(super) struct Told<'a> {
    pub(super) session: &'a Session,
    /// How many turns there were before.
    pub(super) before: usize,
    pub(super) stopped: &'a Stopped,
    pub(super) seconds: f64,
}

impl Told<'_> {
    /// What the exchange used.
    pub(super) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        self.session.turns.iter().skip(self.before).for_each(|turn| usage.add(&turn.usage));
        usage
    }

    pub(super) fn to_json(&self, talk: &Talk) -> Json {
        let usage = self.usage();
        let count = |count: Option<u64>| count.map_or(Json::Null, Json::from);
        let waiting = self.stopped.waiting.iter().map(|waiting| waiting.call.to_string().into()).collect();
        object([
            ("session", talk.id.as_str().into()),
            ("endpoint", talk.answering.name.as_str().into()),
            ("status", self.stopped.status.kind().into()),
            ("text", text_or_null(self.stopped.text.as_deref())),
            ("input_tokens", count(usage.input)),
            ("output_tokens", count(usage.output)),
            ("cost", usage.cost.map_or(Json::Null, |cost| cost.to_string().into())),
            ("seconds", turnkeep_model::Number::from_f64((self.seconds * 1e3).round() / 1e3).into()),
            ("waiting", Json::Array(waiting)),
            ("losses", crate::report::losses(&talk.losses())),
        ])
    }

    /// The session, and what the exchange took.
    pub(super) fn line(&self, talk: &Talk) -> String {
        let usage = self.usage();
        let mut parts = vec![format!("session {}", visible(talk.id.as_str())), talk.answering.name.clone()];
        if let (Some(input), Some(output)) = (usage.input, usage.output) {
            parts.push(format!("{input} + {output} tokens"));
        }
        parts.extend(usage.cost.map(|cost| format!("cost {cost}")));
        parts.push(format!("{:.1} s", self.seconds));
        format!("{DIM}{}{DIM:#}", parts.join(" · "))
    }

    /// What a person has to do.
    pub(super) fn waiting(&self, id: &str) -> Vec<String> {
        let line = |waiting: &turnkeep_runtime::Waiting| match waiting.what {
            WaitingFor::Consent => format!("{} waits: turnkeep approve | deny {id} {}", waiting.tool, waiting.call),
            WaitingFor::Outcome => {
                format!(
                    "{} may have acted: turnkeep resolve {id} {} --retry | --done R | --skip",
                    waiting.tool, waiting.call
                )
            }
        };
        self.stopped.waiting.iter().map(line).collect()
    }
}

pub(crate) fn ending(stopped: &Stopped) -> Exit {
    match &stopped.status {
        Status::WaitingForHuman(_) => Exit::NeedsHuman,
        Status::Failed(_) => Exit::Failed,
        _ if stopped.reason == Some(StopReason::UserRequested) => Exit::Interrupted,
        _ => Exit::Ok,
    }
}
