//! `turnkeep ask`

use std::io::Read;
use std::time::Instant;

use pollster::block_on;
use turnkeep_model::{Author, Block};
use turnkeep_runner::{Responder, direct};
use turnkeep_runtime::{Agent, Conversation, StopSignal, Stopped, TakeOver};

use super::super::CommandResult;
use super::attach::attached;
use super::compare;
use super::interrupt::Interrupt;
use super::outcome::{Outcome, exit_of, kept_text, print_failure};
use super::printer::{Answers, observer, print_busy};
use super::responder::{responder, tools};
use crate::conversation_args::Ask;
use crate::exit::CliError;
use crate::terminal::{print_json, print_note};

pub(crate) fn ask(args: &Ask) -> CommandResult {
    if args.compare {
        return compare::compare(args);
    }
    let answers = if args.json { Answers::Kept } else { Answers::Printed };
    let responder = responder(&args.agent.model, None, &direct)?.observed(&observer(answers));
    let conversation = conversation(args, &responder)?;
    let began = Instant::now();
    let stopped = asked(&conversation, question(args)?, &Interrupt::watch().arm())?;
    let outcome = Outcome::of(&conversation, &responder.name, stopped.first_turn, stopped, began)?;
    match args.json {
        true => print_json(&outcome.to_json())?,
        false => outcome.print(),
    }
    print_failure(conversation.id(), &outcome.stopped);
    Ok(exit_of(&outcome.stopped))
}

fn conversation(args: &Ask, responder: &Responder) -> Result<Conversation, CliError> {
    let tools = tools(args.agent.tools.as_deref())?;
    let agent = agent(responder, args.system.as_deref()).with_tools(tools).with_store(args.store.open()?);
    let conversation = match args.id.as_str() {
        "new" => agent.begin()?,
        id => stored(&agent, id)?,
    };
    let take_over = if args.take_over { TakeOver::Always } else { TakeOver::IfIdle };
    Ok(conversation.with_take_over(take_over).on_busy(print_busy))
}

/// Who answers, with another system text where one is named.
pub(super) fn agent(responder: &Responder, system: Option<&str>) -> Agent {
    match system {
        Some(system) => responder.agent().with_system(system),
        None => responder.agent(),
    }
}

/// The conversation of a stored session. An id that is not there is a mistake, not a new session.
pub(super) fn stored(agent: &Agent, id: &str) -> Result<Conversation, CliError> {
    let conversation = agent.open(id)?;
    block_on(conversation.last())?;
    Ok(conversation)
}

/// Asks. Where that fails after the question was recorded, it is said that it is there.
pub(super) fn asked(conversation: &Conversation, question: Vec<Block>, stop: &StopSignal) -> Result<Stopped, CliError> {
    let asked = block_on(conversation.ask_until(question, stop));
    if asked.is_err() && conversation.has_recorded_question() {
        print_note(&kept_text(conversation.id()));
    }
    Ok(asked?)
}

/// What is asked: the text, and what is attached.
pub(super) fn question(args: &Ask) -> Result<Vec<Block>, CliError> {
    let mut text = args.text.clone();
    if text == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text)?;
    }
    if text.trim().is_empty() && args.attach.is_empty() {
        return Err(CliError::Usage("there is nothing to ask".into(), "write the question after the session".into()));
    }
    let attached = args.attach.iter().map(|path| attached(path)).collect::<Result<Vec<_>, _>>()?;
    let said = (!text.trim().is_empty()).then(|| Block::text(Author::User, text));
    Ok(attached.into_iter().chain(said).collect())
}
