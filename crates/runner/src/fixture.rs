//! What is run.

use turnkeep_model::{Archive, Block, Error, ErrorKind, Json, Result, Session, Turn};

/// A conversation to go on with, and what is said next.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixture {
    /// What the files of its run are named by.
    pub name: String,
    /// The conversation so far. Where it ends with a question, that is answered first.
    pub session: Session,
    /// What is said afterwards, one after the other.
    pub followups: Vec<Vec<Block>>,
}

impl Fixture {
    /// The fixture that a file holds: a turn document, one with follow-ups, or any other session.
    ///
    /// # Errors
    /// `NotFound` where there is no session in it.
    pub fn of(name: &str, mut archive: Archive) -> Result<Fixture> {
        let index = archive.main as usize;
        if archive.sessions.get(index).is_none() {
            return Err(Error::new(ErrorKind::NotFound, "the file holds no session").hint("name a file that holds one"));
        }
        let mut session = archive.sessions.swap_remove(index);
        let (followups, turns) = session.turns.into_iter().partition::<Vec<Turn>, _>(is_followup);
        session.turns = turns;
        let followups = followups.into_iter().map(|turn| turn.blocks).collect();
        Ok(Fixture { name: name.to_owned(), session, followups })
    }
}

fn is_followup(turn: &Turn) -> bool {
    turn.extra.spelling("geppetto", "followup").is_some_and(|spelled| *spelled == Json::Bool(true))
}
