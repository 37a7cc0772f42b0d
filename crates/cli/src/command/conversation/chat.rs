//! `turnkeep chat`

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pollster::block_on;
use turnkeep_model::{Author, Block, Body, Session};
use turnkeep_runner::{Observer, Responder, direct};
use turnkeep_runtime::human::ConsentDecision;
use turnkeep_runtime::{Conversation, StopSignal, Stopped, TakeOver, Tools, Waiting, WaitingFor};

use super::super::CommandResult;
use super::ask::{agent, asked, stored};
use super::attach::attached;
use super::editor::{Editor, Typed};
use super::interrupt::Interrupt;
use super::outcome::{Outcome, print_failure};
use super::printer::{Answers, observer, print_busy};
use super::responder::{responder, tools};
use crate::conversation_args::{Chat, ModelArgs};
use crate::exit::{CliError, Exit};
use crate::page::Page;
use crate::terminal::{BOLD, CYAN, DIM, print, print_error, print_note, width};
use crate::visible::{shortened, visible};

const HELP: &str = "\
  /attach FILE     send a file with the next message
  /endpoint NAME   go on with another model
  /retry           ask again what was not answered
  /show            print the conversation
  /help            print this
  /quit            leave; Ctrl-D does too
A line that ends with \\ goes on in the next one, as does a block between ``` lines.
Ctrl-C stops an answer. The question stays, and what had arrived is kept as interrupted; /retry asks again.
";

pub(crate) fn chat(args: &Chat) -> CommandResult {
    let observer = observer(Answers::Printed);
    let responder = responder(&args.agent.model, None, &direct)?.observed(&observer);
    let tools = tools(args.agent.tools.as_deref())?;
    let store = args.store.open()?;
    let agent = agent(&responder, args.system.as_deref()).with_tools(tools.clone()).with_store(store);
    let conversation = match &args.id {
        None => agent.begin()?,
        Some(id) => stored(&agent, id)?,
    };
    let take_over = if args.take_over { TakeOver::Always } else { TakeOver::IfIdle };
    let conversation = conversation.with_take_over(take_over).on_busy(print_busy);
    let session = so_far(&conversation)?;
    let greeting = greeting(&session);
    let mut editor = Editor::open(questions(&session))?;
    let interrupt = Interrupt::watch();
    let mut chat = Chatting { conversation, responder, observer, tools, attached: Vec::new(), interrupt };
    if editor.is_terminal() {
        chat.greet(greeting);
    }
    loop {
        let prompt = if editor.is_terminal() { "\u{203a} " } else { "" };
        match editor.read(prompt)? {
            Typed::End => break,
            Typed::Nothing => {}
            Typed::Text(text) => match chat.take(&text, &mut editor) {
                Ok(Goes::On) => {}
                Ok(Goes::Home) => break,
                // A talk outlives a question that went wrong.
                Err(error) => print_error(&error),
            },
        }
    }
    chat.leave();
    Ok(Exit::Ok)
}

/// The session; an empty one where nothing was said yet.
fn so_far(conversation: &Conversation) -> Result<Arc<Session>, CliError> {
    match block_on(conversation.is_stored())? {
        true => Ok(block_on(conversation.session())?),
        false => Ok(Arc::default()),
    }
}

/// Where a session that is gone on with stands.
fn greeting(session: &Session) -> Option<String> {
    let last = session.turns.iter().rev().flat_map(|turn| turn.blocks.iter().rev());
    let text = last.filter_map(|block| block.body.as_text()).next()?;
    let turns = crate::terminal::counted(session.turns.len(), "turn", "turns");
    Some(format!("{DIM}{turns} so far; the last ended with: {}{DIM:#}", shortened(text, 60)))
}

/// What the user said so far.
fn questions(session: &Session) -> impl Iterator<Item = String> {
    let said = session.blocks().filter_map(|(_, block)| match &block.body {
        Body::Text(text) if block.author == Author::User => Some(text.text.clone()),
        _ => None,
    });
    said.collect::<Vec<_>>().into_iter()
}

/// Whether the talk goes on.
enum Goes {
    On,
    Home,
}

struct Chatting {
    conversation: Conversation,
    responder: Responder,
    observer: Arc<dyn Observer>,
    tools: Tools,
    attached: Vec<Block>,
    interrupt: Interrupt,
}

impl Chatting {
    fn greet(&self, so_far: Option<String>) {
        let name = visible(&self.responder.name);
        print_note(&format!("{BOLD}{name}{BOLD:#} {DIM}· /help says what you can type{DIM:#}"));
        so_far.iter().for_each(|line| print_note(line));
    }

    fn leave(&self) {
        if block_on(self.conversation.is_stored()).unwrap_or_default() {
            print_note(&format!("{DIM}go on with: turnkeep chat {}{DIM:#}", visible(self.conversation.id().as_str())));
        }
    }

    fn take(&mut self, text: &str, editor: &mut Editor) -> Result<Goes, CliError> {
        let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        match word {
            "/quit" | "/exit" => return Ok(Goes::Home),
            "/help" => print(HELP)?,
            "/show" => {
                let mut page = Page::new(width());
                let session = so_far(&self.conversation)?;
                page.session(&session, "");
                print(&page.finish())?;
            }
            "/attach" => {
                self.attached.push(attached(Path::new(rest.trim()))?);
                print_note(&format!("{DIM}goes with the next message{DIM:#}"));
            }
            "/endpoint" => self.change(rest.trim())?,
            "/retry" if block_on(self.conversation.is_stored())? => self.exchange(None, editor)?,
            "/retry" => print_note("nothing was asked yet"),
            word if word.starts_with('/') && !text.contains('\n') && rest.is_empty() => {
                print_note(&format!("there is no {}; /help lists what there is", visible(word)));
            }
            _ => {
                let mut blocks = std::mem::take(&mut self.attached);
                blocks.push(Block::text(Author::User, text));
                self.exchange(Some(blocks), editor)?;
            }
        }
        Ok(Goes::On)
    }

    fn change(&mut self, name: &str) -> Result<(), CliError> {
        let model = ModelArgs { endpoint: Some(name.to_owned()), script: None };
        self.responder = responder(&model, None, &direct)?.observed(&self.observer);
        let agent = self.responder.agent().with_tools(self.tools.clone());
        self.conversation = self.conversation.clone().with_agent(agent);
        print_note(&format!("{BOLD}{}{BOLD:#} answers from here on", visible(&self.responder.name)));
        Ok(())
    }

    /// Asks, or goes on with what was not answered, shows the answer, and has the person decide about calls that wait.
    fn exchange(&mut self, blocks: Option<Vec<Block>>, editor: &mut Editor) -> Result<(), CliError> {
        let (began, stop) = (Instant::now(), self.interrupt.arm());
        let ended = match blocks {
            Some(blocks) => asked(&self.conversation, blocks, &stop),
            None => self.resume(&stop),
        };
        self.interrupt.disarm();
        let mut stopped = ended?;
        let first_turn = stopped.first_turn;
        if stop.is_asked() {
            // What was heard of the answer ends in the middle of a line.
            print("\n")?;
            print_note(&format!("{DIM}stopped; the question stays unanswered (/retry asks again){DIM:#}"));
            return Ok(());
        }
        while self.decided(&stopped, editor)? {
            let stop = self.interrupt.arm();
            let ended = self.resume(&stop);
            self.interrupt.disarm();
            stopped = ended?;
        }
        let outcome = Outcome::of(&self.conversation, &self.responder.name, first_turn, stopped, began)?;
        outcome.print();
        print_failure(self.conversation.id(), &outcome.stopped);
        Ok(())
    }

    fn resume(&self, stop: &StopSignal) -> Result<Stopped, CliError> {
        Ok(block_on(self.conversation.resume_until(stop))?)
    }

    /// Whether the person decided about every call that waits for consent.
    fn decided(&self, stopped: &Stopped, editor: &mut Editor) -> Result<bool, CliError> {
        let waits = |waiting: &&Waiting| waiting.what == WaitingFor::Consent;
        let waiting: Vec<&Waiting> = stopped.waiting.iter().filter(waits).collect();
        if waiting.is_empty() || waiting.len() < stopped.waiting.len() {
            return Ok(false);
        }
        for waiting in waiting {
            print_note(&format!("{CYAN}{}{CYAN:#} {}", visible(&waiting.tool), shortened(&waiting.arguments, 200)));
            let judgement = match editor.read("  may it? [y/N] ")? {
                Typed::Text(text) if matches!(text.trim(), "y" | "Y" | "yes") => ConsentDecision::approve(),
                Typed::Text(_) | Typed::Nothing => ConsentDecision::deny("a person said no"),
                Typed::End => return Ok(false),
            };
            block_on(self.conversation.decide(&waiting.call, &judgement))?;
        }
        Ok(true)
    }
}
