//! `turnkeep chat`

use std::path::Path;
use std::time::Instant;

use turnkeep_model::{Author, Block, Body, Session, SessionId};
use turnkeep_runtime::human::Judgement;
use turnkeep_runtime::{Stopped, Waiting, WaitingFor};

use super::super::Ending;
use super::answering::{Answering, nothing, tools};
use super::ask::{Told, tell_failure};
use super::attach::attached;
use super::editor::{Editor, Typed};
use super::interrupt::Interrupt;
use super::session::{Heard, Talk};
use crate::exit::{Exit, Stop};
use crate::page::Page;
use crate::report::say_losses;
use crate::talk_args::{Chat, Who};
use crate::terminal::{BOLD, CYAN, DIM, complain, print, say, width};
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

pub(crate) fn chat(args: &Chat) -> Ending {
    let answering = Answering::of(&args.with.who, None, &nothing)?;
    let tools = tools(args.with.tools.as_deref())?;
    let store = args.place.open()?;
    let talk = match &args.id {
        None => Talk::new(store, answering, tools, args.system.clone()),
        Some(id) => Talk::stored(store, SessionId::new(id.as_str()), answering, tools)?.taking_over(args.take_over),
    };
    let session = talk.session()?;
    let mut editor = Editor::open(questions(&session))?;
    let mut chat = Chatting { talk, attached: Vec::new(), interrupt: Interrupt::watch() };
    if editor.is_terminal() {
        chat.greet(&session);
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
                Err(stop) => complain(&stop),
            },
        }
    }
    chat.leave();
    Ok(Exit::Ok)
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
    talk: Talk,
    attached: Vec<Block>,
    interrupt: Interrupt,
}

impl Chatting {
    fn greet(&self, session: &Session) {
        let name = visible(&self.talk.answering.name);
        say(&format!("{BOLD}{name}{BOLD:#} {DIM}· /help says what you can type{DIM:#}"));
        let last = session.turns.iter().rev().flat_map(|turn| turn.blocks.iter().rev());
        if let Some(text) = last.filter_map(|block| block.body.as_text()).next() {
            let turns = crate::terminal::counted(session.turns.len(), "turn", "turns");
            say(&format!("{DIM}{turns} so far; the last ended with: {}{DIM:#}", shortened(text, 60)));
        }
    }

    fn leave(&self) {
        if self.talk.is_stored() {
            say(&format!("{DIM}go on with: turnkeep chat {}{DIM:#}", visible(self.talk.id.as_str())));
        }
    }

    fn take(&mut self, text: &str, editor: &mut Editor) -> Result<Goes, Stop> {
        let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        match word {
            "/quit" | "/exit" => return Ok(Goes::Home),
            "/help" => print(HELP)?,
            "/show" => {
                let mut page = Page::new(width());
                page.session(&self.talk.session()?, "");
                print(&page.finish())?;
            }
            "/attach" => {
                self.attached.push(attached(Path::new(rest.trim()))?);
                say(&format!("{DIM}goes with the next message{DIM:#}"));
            }
            "/endpoint" => self.change(rest.trim())?,
            "/retry" if self.talk.is_stored() => self.exchange(None, editor)?,
            "/retry" => say("nothing was asked yet"),
            word if word.starts_with('/') && !text.contains('\n') && rest.is_empty() => {
                say(&format!("there is no {}; /help lists what there is", visible(word)));
            }
            _ => {
                let mut blocks = std::mem::take(&mut self.attached);
                blocks.push(Block::text(Author::User, text));
                self.exchange(Some(blocks), editor)?;
            }
        }
        Ok(Goes::On)
    }

    fn change(&mut self, name: &str) -> Result<(), Stop> {
        let who = Who { endpoint: Some(name.to_owned()), script: None };
        self.talk.answering = Answering::of(&who, None, &nothing)?;
        say(&format!("{BOLD}{}{BOLD:#} answers from here on", visible(&self.talk.answering.name)));
        Ok(())
    }

    /// Asks, or goes on with what was not answered, shows the answer, and has the person decide about calls that wait.
    fn exchange(&mut self, blocks: Option<Vec<Block>>, editor: &mut Editor) -> Result<(), Stop> {
        let (began, before) = (Instant::now(), self.talk.session()?.turns.len());
        let stop = self.interrupt.arm();
        let asked = match blocks {
            Some(blocks) => self.talk.ask(blocks, Heard::Aloud, &stop),
            None => self.talk.resume(Heard::Aloud, &stop),
        };
        self.interrupt.disarm();
        let mut stopped = asked?;
        if stop.is_asked() {
            // What was heard of the answer ends in the middle of a line.
            print("\n")?;
            say(&format!("{DIM}stopped; the question stays unanswered (/retry asks again){DIM:#}"));
            return Ok(());
        }
        while self.decided(&stopped, editor)? {
            let stop = self.interrupt.arm();
            let went_on = self.talk.resume(Heard::Aloud, &stop);
            self.interrupt.disarm();
            stopped = went_on?;
        }
        let session = self.talk.session()?;
        let told = Told { session: &session, before, stopped: &stopped, seconds: began.elapsed().as_secs_f64() };
        say(&told.line(&self.talk));
        let more = format!("`turnkeep tail {}` lists them all", self.talk.id);
        say_losses(&self.talk.losses(), &more);
        told.waiting(self.talk.id.as_str()).iter().for_each(|line| say(line));
        tell_failure(&self.talk, &stopped);
        Ok(())
    }

    /// Whether the person decided about every call that waits for consent.
    fn decided(&self, stopped: &Stopped, editor: &mut Editor) -> Result<bool, Stop> {
        let waits = |waiting: &&Waiting| waiting.what == WaitingFor::Consent;
        let waiting: Vec<&Waiting> = stopped.waiting.iter().filter(waits).collect();
        if waiting.is_empty() || waiting.len() < stopped.waiting.len() {
            return Ok(false);
        }
        for waiting in waiting {
            say(&format!("{CYAN}{}{CYAN:#} {}", visible(&waiting.tool), shortened(&self.arguments(waiting)?, 200)));
            let judgement = match editor.read("  may it? [y/N] ")? {
                Typed::Text(text) if matches!(text.trim(), "y" | "Y" | "yes") => Judgement::approve(),
                Typed::Text(_) | Typed::Nothing => Judgement::deny("a person said no"),
                Typed::End => return Ok(false),
            };
            self.talk.decide(&waiting.call, &judgement)?;
        }
        Ok(true)
    }

    fn arguments(&self, waiting: &Waiting) -> Result<String, Stop> {
        let session = self.talk.session()?;
        let found = session.blocks().find_map(|(_, block)| match &block.body {
            Body::ToolCall(call) if call.call == waiting.call => Some(call.arguments.to_string()),
            _ => None,
        });
        Ok(found.unwrap_or_default())
    }
}
