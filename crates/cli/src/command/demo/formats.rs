//! `turnkeep demo --formats`: a bundled session goes to other formats and back, and nothing goes missing unannounced.

use std::fmt::Write;

use turnkeep_codec::{Input, Target};
use turnkeep_file::{OpenOptions, Opened};
use turnkeep_model::{Change, Loss, Result};

use super::super::{CommandResult, diff};
use crate::args::Demo;
use crate::exit::Exit;
use crate::page::Page;
use crate::tally::{Tally, line};
use crate::terminal::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, counted, print, width};
use crate::visible::shortened;

const NAME: &str = "weather.turnkeep.yaml";
const BUNDLED: &str = include_str!("../../../demo/weather.turnkeep.yaml");

/// The formats that the session goes to and comes back from.
const TARGETS: &[&str] = &["turnkeep.jsonl", "geppetto.turn"];

/// How many losses and how much of a written file are shown.
const SHOWN: usize = 6;

/// What a way there and back gave.
struct Journey {
    target: &'static str,
    bytes: Vec<u8>,
    losses: Vec<Loss>,
    changes: Vec<Change>,
}

pub(crate) fn run(args: &Demo) -> CommandResult {
    if let Some(path) = &args.save {
        turnkeep_file::save(path, BUNDLED.as_bytes())?;
    }
    let opened = OpenOptions::default().decode(Input::new(BUNDLED.as_bytes()).named(NAME))?;
    let mut text = String::new();
    tell_reading(&opened, &mut text);
    for (index, target) in TARGETS.iter().enumerate() {
        tell_journey(index + 2, &travel(&opened, target)?, &mut text);
    }
    tell_next(args, &mut text);
    print(&text)?;
    Ok(Exit::Ok)
}

fn travel(opened: &Opened, target: &'static str) -> Result<Journey> {
    let encoded = turnkeep_file::encode(opened, target)?;
    let mut returning = OpenOptions::default();
    returning.from = Some(Target::parse(target)?.codec);
    let back = returning.decode(Input::new(&encoded.bytes))?;
    let losses = encoded.losses.into_iter().chain(back.losses.iter().cloned()).collect();
    Ok(Journey { target, bytes: encoded.bytes, losses, changes: diff::compare(opened, &back) })
}

fn heading(number: usize, title: &str, text: &mut String) {
    let _ = writeln!(text, "\n{BOLD}{CYAN}{number}.{CYAN:#} {BOLD}{title}{BOLD:#}\n");
}

fn tell(sentence: &str, text: &mut String) {
    for line in textwrap::wrap(sentence, width()) {
        let _ = writeln!(text, "{line}");
    }
}

fn tell_reading(opened: &Opened, text: &mut String) {
    tell("turnkeep keeps the sessions of LLM agents, and tells you what it could not keep.", text);
    heading(1, "Read a session", text);
    let why = opened.guess.as_ref().map(|guess| guess.why.as_str()).unwrap_or_default();
    let found = format!(
        "A session is bundled with this program, as a file of {} bytes. Nobody said which format it is: it was \
         recognised as `{}`, because {why}. This is the conversation in it:\n",
        BUNDLED.len(),
        opened.format
    );
    tell(&found, text);
    let mut page = Page::new(width());
    opened.session().into_iter().for_each(|session| page.session(session, opened.format));
    text.push_str(&page.finish());
}

fn tell_journey(number: usize, journey: &Journey, text: &mut String) {
    let Journey { target, bytes, losses, changes } = journey;
    heading(number, &format!("Convert it to {target}, and back"), text);
    tell(&format!("Written as `{target}` it has {} bytes, and begins like this:\n", bytes.len()), text);
    for line in String::from_utf8_lossy(bytes).lines().take(SHOWN) {
        let _ = writeln!(text, "  {DIM}{}{DIM:#}", shortened(line, width().saturating_sub(2)));
    }
    text.push('\n');
    tell_losses(losses, text);
    tell_changes(losses, changes, text);
}

fn tell_losses(losses: &[Loss], text: &mut String) {
    if losses.is_empty() {
        tell("The loss report is empty: this format holds all of it.", text);
        return;
    }
    let total = counted(losses.len(), "loss", "losses");
    let _ = writeln!(text, "The loss report names {YELLOW}{total}{YELLOW:#} ({}):", Tally::of(losses).kinds());
    for loss in losses.iter().take(SHOWN) {
        let _ = writeln!(text, "  {}", shortened(&line(loss), width().saturating_sub(2)));
    }
    if losses.len() > SHOWN {
        let _ = writeln!(text, "  {DIM}… and {} more{DIM:#}", losses.len() - SHOWN);
    }
}

fn tell_changes(losses: &[Loss], changes: &[Change], text: &mut String) {
    let told = |change: &&Change| losses.iter().any(|loss| loss.covers(&change.at));
    let untold: Vec<Change> = changes.iter().filter(|change| !told(change)).cloned().collect();
    match (changes.len(), untold.len()) {
        (0, _) => {
            let _ = writeln!(text, "{GREEN}Read back, it equals the original in every place.{GREEN:#}");
        }
        (all, 0) => {
            let differs = counted(all, "place", "places");
            let _ =
                writeln!(text, "{GREEN}Read back, it differs in {differs}, and the report names every one.{GREEN:#}");
        }
        (all, untold_count) => {
            let differs = counted(all, "place", "places");
            let _ = writeln!(text, "{RED}Read back, it differs in {differs}; {untold_count} of them untold:{RED:#}");
            text.push_str(&diff::as_text(&untold));
        }
    }
}

fn tell_next(args: &Demo, text: &mut String) {
    let _ = writeln!(text, "\n{BOLD}What to type next{BOLD:#}\n");
    let file = args.save.as_ref().map_or_else(|| "demo.yaml".to_owned(), |path| path.display().to_string());
    let save = ("turnkeep demo --save demo.yaml".to_owned(), "To keep this session as a file:");
    let steps = [
        (format!("turnkeep show {file}"), "To read it:"),
        (format!("turnkeep convert {file} --to turnkeep:pretty -o demo.json"), "To convert it:"),
        (format!("turnkeep diff {file} demo.json"), "To compare the two:"),
        ("turnkeep formats".to_owned(), "To see what else can be read and written:"),
    ];
    for (command, why) in args.save.is_none().then_some(save).into_iter().chain(steps) {
        let _ = writeln!(text, "{DIM}{why}{DIM:#}\n  {GREEN}{command}{GREEN:#}");
    }
    let _ = writeln!(text, "\n{DIM}From a checkout, `cargo run --release --` stands for `turnkeep`.{DIM:#}");
}
