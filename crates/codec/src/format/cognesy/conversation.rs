//! From messages and steps to turns.

use std::collections::{HashMap, HashSet};

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Loss, RunId, Session, Turn, TurnId};

use super::FORMAT;
use super::execution::{Lists, TAGS};
use super::map::text;
use super::message::Messages;
use super::step::Step;
use super::step_out::{self, STEP_NOTE};
use super::store::Stored;
use super::style::Style;
use super::words::{self, Generation};
use crate::turns::TurnBuilder;

/// Builds the turns of a conversation.
#[derive(Debug, Default)]
pub(super) struct ConversationBuilder {
    messages: Messages,
    turns: TurnBuilder,
    /// Which step which turn is.
    ties: Vec<(usize, Step)>,
}

/// What the tags of a step on a message name.
struct Tagged {
    step: String,
    run: Option<String>,
}

fn tags_of(message: &Json) -> Option<Tagged> {
    let metadata = message.as_object()?.get("_metadata")?.as_object()?;
    let get = |key: &str| metadata.get(key).and_then(text).filter(|text| !text.is_empty());
    Some(Tagged { step: get("step_id")?, run: get("execution_id") })
}

fn is_assistant(message: &Json) -> bool {
    let role = message.as_object().and_then(|fields| fields.get_str("role"));
    role.as_deref() == Some(Author::Assistant.as_str())
}

impl ConversationBuilder {
    /// The system text that stands before all messages.
    pub(super) fn prompt(&mut self, text: String) {
        let block = Block::text(Author::System, text).in_message(self.messages.ordinal);
        self.messages.ordinal += 1;
        self.turns.push(block);
    }

    /// The next message.
    pub(super) fn message(&mut self, section: &str, message: Json, style: &Style) {
        let blocks = self.read(section, message, style);
        blocks.into_iter().for_each(|block| self.turns.push(block));
    }

    /// The next message, with more to keep on its first block.
    pub(super) fn message_with(&mut self, section: &str, message: Json, style: &Style, dress: impl FnOnce(&mut Block)) {
        let mut blocks = self.read(section, message, style);
        if let Some(first) = blocks.first_mut() {
            dress(first);
        }
        blocks.into_iter().for_each(|block| self.turns.push(block));
    }

    fn read(&mut self, section: &str, message: Json, style: &Style) -> Vec<Block> {
        if is_assistant(&message) {
            self.turns.begin_answer();
        }
        self.messages.read(message, style, section)
    }

    /// All messages of a store, with the steps that made them.
    pub(super) fn all(&mut self, stored: Stored, mut steps: Vec<Step>, style: &Style) {
        if steps.is_empty() {
            return stored.into_iter().for_each(|(section, message)| {
                let tags = tags_of(&message).filter(|_| is_assistant(&message));
                self.message(&section, message, style);
                self.tag(tags);
            });
        }
        let ties = ties(&stored, &steps);
        let lists = Lists::new(stored.iter().map(|(_, message)| message));
        steps.iter_mut().for_each(|step| step.refer(&lists));
        let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
        let mut next = 0;
        for (at, (section, message)) in stored.into_iter().enumerate() {
            let tags = tags_of(&message).filter(|_| is_assistant(&message));
            match ties.get(&at) {
                Some(step) => {
                    self.untied(&mut steps, next..*step);
                    next = next.max(step + 1);
                    let step = steps.get_mut(*step).and_then(Option::take);
                    self.tied(&section, message, style, step);
                }
                None => self.message(&section, message, style),
            }
            self.tag(tags);
        }
        let end = steps.len();
        self.untied(&mut steps, next..end);
    }

    /// A message that a step made.
    fn tied(&mut self, section: &str, message: Json, style: &Style, step: Option<Step>) {
        let mut blocks = self.read(section, message, style);
        let Some(mut step) = step else { return blocks.into_iter().for_each(|block| self.turns.push(block)) };
        let ordinal = self.messages.ordinal.saturating_sub(1);
        let executed = step.executions(&mut blocks, &mut self.messages);
        let (calls, results): (Vec<_>, Vec<_>) = executed.into_iter().unzip();
        let thought = step.reasoning().into_iter();
        for block in thought.chain(blocks).chain(calls) {
            self.turns.push(block.in_message(ordinal));
        }
        self.ties.push((self.turns.place(), step));
        self.results(results);
    }

    /// Steps whose messages the store does not hold.
    fn untied(&mut self, steps: &mut [Option<Step>], range: std::ops::Range<usize>) {
        for step in steps.get_mut(range).unwrap_or_default() {
            if let Some(step) = step.take() {
                self.alone(step);
            }
        }
    }

    fn alone(&mut self, mut step: Step) {
        let executed = step.executions(&mut [], &mut self.messages);
        let (calls, results): (Vec<_>, Vec<_>) = executed.into_iter().unzip();
        let blocks: Vec<Block> = step.reasoning().into_iter().chain(calls).collect();
        if blocks.is_empty() {
            return self.ties.push((self.turns.settle(), step));
        }
        self.turns.begin_answer();
        let ordinal = self.messages.ordinal;
        self.messages.ordinal += 1;
        blocks.into_iter().for_each(|block| self.turns.push(block.in_message(ordinal)));
        self.ties.push((self.turns.place(), step));
        self.results(results);
        self.turns.begin_turn();
    }

    fn results(&mut self, results: Vec<Block>) {
        for block in results {
            self.turns.push(block.in_message(self.messages.ordinal));
            self.messages.ordinal += 1;
        }
    }

    /// A message of an earlier execution still names its step.
    fn tag(&mut self, tags: Option<Tagged>) {
        let Some(tags) = tags else { return };
        let turn = self.turns.current();
        turn.id.get_or_insert_with(|| TurnId::new(tags.step));
        turn.run = turn.run.take().or_else(|| tags.run.map(RunId::new));
    }

    /// The turns, completed with what the steps say.
    pub(super) fn finish(self, session: &mut Session, generation: Generation) -> Vec<Loss> {
        let ConversationBuilder { messages, turns, ties } = self;
        session.turns = turns.finish();
        let run = session.runs.last().and_then(|run| run.id.clone());
        let mut places = Vec::new();
        for (number, (place, step)) in ties.into_iter().enumerate() {
            if let Some(turn) = session.turns.get_mut(place) {
                turn.run = turn.run.take().or_else(|| run.clone());
                step.complete(turn, generation, number + 1);
                places.push(place);
            }
        }
        mark_steps(session, &places, generation);
        if generation == Generation::V2 {
            untag(session);
        }
        messages.losses
    }
}

/// Which message ties which step: by its tags, or by order where there are as many answers as steps.
fn ties(stored: &Stored, steps: &[Step]) -> HashMap<usize, usize> {
    if steps.is_empty() {
        return HashMap::new();
    }
    let by_id: HashMap<&str, usize> =
        steps.iter().enumerate().filter_map(|(at, step)| step.turn.id.as_ref().map(|id| (id.as_str(), at))).collect();
    let mut tied = HashMap::new();
    let mut last = None;
    for (at, (_, message)) in stored.iter().enumerate().filter(|(_, (_, message))| is_assistant(message)) {
        let step = tags_of(message).and_then(|tags| by_id.get(tags.step.as_str()).copied());
        if let Some(step) = step.filter(|step| last.is_none_or(|last| *step > last)) {
            tied.insert(at, step);
            last = Some(step);
        }
    }
    let answers = || stored.iter().enumerate().filter(|(_, (_, message))| is_assistant(message)).map(|(at, _)| at);
    if tied.is_empty() && answers().count() == steps.len() {
        tied = answers().zip(0..).collect();
    }
    tied
}

/// Notes where a turn is a step, or is none, against what one would expect of it.
fn mark_steps(session: &mut Session, steps: &[usize], generation: Generation) {
    let expected: HashSet<usize> = step_out::steps(session, generation).into_iter().collect();
    let steps: HashSet<usize> = steps.iter().copied().collect();
    for (at, turn) in session.turns.iter_mut().enumerate() {
        let is_step = steps.contains(&at);
        let speaks = step_out::says_more(turn, generation);
        let note = match (is_step, expected.contains(&at)) {
            (true, true) if speaks => continue,
            (true, _) => "kept",
            (false, true) => "none",
            (false, false) if !steps.is_empty() && step_out::is_answered(turn) && turn.run.is_none() => "none",
            (false, false) => continue,
        };
        turn.extra.part_mut(generation.part()).spelling.set(STEP_NOTE, note);
    }
}

/// Only states of v2 tag messages.
const V2: &str = "cognesy.state";

/// Takes the tags of their step off messages, where the turn says the same.
fn untag(session: &mut Session) {
    let agent = session.id.as_ref().map(ToString::to_string);
    for turn in &mut session.turns {
        if turn.id.as_ref().is_some_and(|id| !words::is_uuid(id.as_str())) {
            turn.extra.part_mut(V2).spelling.set("ids", "any");
        }
        let Some(tags) = tags(turn, agent.as_deref()) else { continue };
        let mut seen = None;
        for block in turn.blocks.iter_mut().filter(|block| is_output(block)) {
            let first = seen != Some(block.message.ordinal);
            seen = Some(block.message.ordinal);
            if first && !take_tail(&mut block.metadata, &tags) {
                block.message.extra.part_mut(FORMAT).spelling.set("tags", "none");
            }
        }
    }
}

/// Whether a block is of a message that a step made.
pub(super) fn is_output(block: &Block) -> bool {
    let reasoning = matches!(block.body, turnkeep_model::Body::Reasoning(_));
    matches!(block.author, Author::Assistant | Author::Tool) && !super::call::is_of_step(block) && !reasoning
}

/// What a step adds to the metadata of its messages.
pub(super) fn tags(turn: &Turn, agent: Option<&str>) -> Option<Object> {
    let any = turn.extra.spelling(V2, "ids").is_some();
    let id = turn.id.as_ref().map(turnkeep_model::TurnId::as_str).filter(|id| any || words::is_uuid(id))?;
    let mut tags = Object::new();
    let [step, run, own, trace] = TAGS;
    tags.push(step, id);
    if let Some(id) = &turn.run {
        tags.push(run, id.as_str());
    }
    if let Some(agent) = agent {
        tags.push(own, agent);
    }
    if words::step_type(turn) != "final_response" {
        tags.push(trace, true);
    }
    Some(tags)
}

/// Takes `tail` off the end of `metadata`, if it stands there.
fn take_tail(metadata: &mut Object, tail: &Object) -> bool {
    let Some(start) = metadata.len().checked_sub(tail.len()) else { return false };
    if !metadata.iter().skip(start).eq(tail.iter()) {
        return false;
    }
    let mut at = 0;
    metadata.retain(|_, _| {
        at += 1;
        at <= start
    });
    true
}
