//! The tape: what is recorded, what is left to replay, and the file it is kept in.

use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Error, ErrorKind, Result};

use super::content::{Content, Keep};
use super::differ;
use super::exchange::{Answer, Asked, Exchange};
use super::file::{self, Origin, Recording};
use super::scrub::Scrubber;
use crate::secret::Secret;
use crate::transport::{HttpRequest, TransportError, TransportErrorKind};

/// What a cassette does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Records everything anew.
    Record,
    /// Answers from the recording only.
    Replay,
    /// Answers from the recording, and records what is not in it.
    ReplayOrRecord,
    /// Does nothing.
    Off,
}

/// How fast a recording is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// As fast as it can be read.
    #[default]
    Fast,
    /// With the times between chunks that were recorded.
    Recorded,
}

/// The recording of a run.
#[derive(Debug)]
pub struct Tape {
    mode: Mode,
    pace: Pace,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    file: Option<File>,
    scrubber: Scrubber,
    exchanges: Vec<(Exchange, Use)>,
    /// The number of the next request.
    next: u64,
    clock: VecDeque<String>,
    last_time: Option<String>,
    ids: VecDeque<String>,
    session: Option<String>,
    waited: Vec<u64>,
    waits: u64,
    /// What the ports gave and the file does not hold yet.
    pending: Recording,
    broken: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Fresh,
    Used,
}

/// What a tape says to a request.
pub(super) enum Played {
    /// It was recorded.
    Answer(Answer),
    /// It goes to the other transport, and is recorded under this number.
    Live(u64, Asked),
    /// It goes to the other transport.
    Off,
}

impl Tape {
    /// Opens the tape at `path`. `secrets` are hidden wherever they come up; so are those that requests carry.
    ///
    /// # Errors
    /// Where the file cannot be read or made; `NotFound` where there is nothing to replay; `Unsupported` where a file of
    /// another program would be written to.
    pub fn open(path: &Path, mode: Mode, secrets: &[Secret]) -> Result<Tape> {
        let recording = match mode {
            Mode::Replay => file::read(path)?,
            Mode::ReplayOrRecord if path.exists() => file::read(path)?,
            Mode::Record | Mode::ReplayOrRecord | Mode::Off => Recording::default(),
        };
        let file = match mode {
            Mode::Record => Some(file::begin(path)?),
            Mode::ReplayOrRecord if recording.origin == Origin::Vcr => {
                return Err(Error::new(ErrorKind::Unsupported, "cassettes of go-vcr are only replayed")
                    .file(path.display().to_string())
                    .hint("record to another file"));
            }
            Mode::ReplayOrRecord if path.exists() => Some(file::reopen(path)?),
            Mode::ReplayOrRecord => Some(file::begin(path)?),
            Mode::Replay | Mode::Off => None,
        };
        Ok(Tape { mode, pace: Pace::default(), state: Mutex::new(State::new(recording, file, secrets)) })
    }

    /// The same tape, replayed at another pace.
    #[must_use]
    pub fn at_pace(mut self, pace: Pace) -> Tape {
        self.pace = pace;
        self
    }

    /// What it does.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) fn pace(&self) -> Pace {
        self.pace
    }

    /// The id of the session that was recorded, if the recording says it. The keys of its calls are made from it, and a
    /// tool may repeat its key: a replay under another id would not ask the same.
    pub fn session(&self) -> Option<String> {
        self.state().session.clone()
    }

    /// Records the id of the session.
    pub fn keep_session(&self, id: &str) {
        if matches!(self.mode, Mode::Record | Mode::ReplayOrRecord) {
            self.state().write("session", id.into());
        }
    }

    /// What was asked, in order.
    pub(super) fn requests(&self) -> Vec<Asked> {
        self.state().exchanges.iter().map(|(exchange, _)| exchange.asked.clone()).collect()
    }

    /// How many recorded exchanges no request has asked for.
    pub fn unused(&self) -> usize {
        self.state().exchanges.iter().filter(|(_, used)| *used == Use::Fresh).count()
    }

    /// Writes down what the ports gave since the last exchange.
    ///
    /// # Errors
    /// `Io` where something of the recording could not be written.
    pub fn finish(&self) -> Result<()> {
        let mut state = self.state();
        state.flush();
        match &state.broken {
            Some(why) => Err(Error::new(ErrorKind::Io, format!("the cassette could not be written: {why}"))),
            None => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is recorded for a request.
    pub(super) fn play(&self, request: &HttpRequest) -> std::result::Result<Played, TransportError> {
        if self.mode == Mode::Off {
            return Ok(Played::Off);
        }
        let mut state = self.state();
        if let Some(why) = &state.broken {
            let message = format!("the cassette could not be written: {why}");
            return Err(TransportError { kind: TransportErrorKind::Request, message });
        }
        let asked = state.asked(request);
        if self.mode != Mode::Record
            && let Some((exchange, used)) = state
                .exchanges
                .iter_mut()
                .find(|(exchange, used)| *used == Use::Fresh && exchange.asked.is_same(&asked))
        {
            *used = Use::Used;
            return Ok(Played::Answer(exchange.answer.clone()));
        }
        if self.mode == Mode::Replay {
            let message = differ::told(&asked, state.exchanges.iter().map(|(exchange, _)| exchange));
            return Err(TransportError { kind: TransportErrorKind::Mismatch, message });
        }
        let number = state.next;
        state.next += 1;
        Ok(Played::Live(number, asked))
    }

    /// Keeps what came of a request.
    pub(super) fn keep(&self, number: u64, asked: Asked, answer: Answer) {
        let mut state = self.state();
        let answer = state.scrubbed(answer);
        let exchange = Exchange { number, asked, answer };
        state.flush();
        state.write("exchange", exchange.to_json());
    }

    /// The next time of the recording, or one from `live` that is recorded.
    pub(super) fn time(&self, live: impl FnOnce() -> String) -> String {
        let mut state = self.state();
        if let Some(time) = state.clock.pop_front() {
            state.last_time = Some(time.clone());
            return time;
        }
        match (self.mode, &state.last_time) {
            // A replay that goes on longer than its recording stands still.
            (Mode::Replay, Some(last)) => last.clone(),
            (Mode::Replay | Mode::Off, _) => live(),
            (Mode::Record | Mode::ReplayOrRecord, _) => {
                let time = live();
                state.pending.clock.push(time.clone());
                time
            }
        }
    }

    /// The next id of the recording, or one from `live` that is recorded.
    pub(super) fn id(&self, live: impl FnOnce() -> String) -> String {
        let mut state = self.state();
        if let Some(id) = state.ids.pop_front() {
            return id;
        }
        let id = live();
        if matches!(self.mode, Mode::Record | Mode::ReplayOrRecord) {
            state.pending.ids.push(id.clone());
        }
        id
    }

    /// Begins a wait: its number, and what is recorded of it.
    pub(super) fn wait(&self) -> (u64, Wait) {
        let mut state = self.state();
        let number = state.waits;
        state.waits += 1;
        let wait = match self.mode {
            Mode::Off => Wait::Live,
            Mode::Record => Wait::Live,
            Mode::ReplayOrRecord if state.clock.is_empty() => Wait::Live,
            Mode::Replay | Mode::ReplayOrRecord if state.waited.contains(&number) => Wait::Over,
            Mode::Replay | Mode::ReplayOrRecord => Wait::Never,
        };
        (number, wait)
    }

    /// A wait came to its end.
    pub(super) fn waited(&self, number: u64) {
        if matches!(self.mode, Mode::Record | Mode::ReplayOrRecord) {
            self.state().pending.waited.push(number);
        }
    }
}

/// What is recorded of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Nothing: it is waited for.
    Live,
    /// It came to its end.
    Over,
    /// What it limited came first.
    Never,
}

impl Drop for Tape {
    fn drop(&mut self) {
        self.state().flush();
    }
}

impl State {
    fn new(recording: Recording, file: Option<File>, secrets: &[Secret]) -> State {
        let mut scrubber = Scrubber::default();
        secrets.iter().for_each(|secret| scrubber.learn(secret.reveal()));
        let next = recording.exchanges.iter().map(|exchange| exchange.number + 1).max().unwrap_or_default();
        State {
            file,
            scrubber,
            next,
            exchanges: recording.exchanges.into_iter().map(|exchange| (exchange, Use::Fresh)).collect(),
            clock: recording.clock.into(),
            ids: recording.ids.into(),
            session: recording.session,
            waited: recording.waited,
            ..State::default()
        }
    }

    /// The request as it is recorded and compared.
    fn asked(&mut self, request: &HttpRequest) -> Asked {
        self.scrubber.learn_from(request);
        let body = Content::of(&self.scrubber.bytes(&request.body), Keep::Value);
        Asked {
            method: request.method,
            url: self.scrubber.url(&request.url),
            headers: self.scrubber.request_headers(&request.headers),
            digest: Some(body.digest()),
            body,
        }
    }

    fn scrubbed(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Failed(mut error) => {
                error.message = self.scrubber.text(&error.message);
                Answer::Failed(error)
            }
            Answer::RecordedAnswer(mut came) => {
                came.headers = self.scrubber.answer_headers(&came.headers);
                came.chunks = self.scrubber.chunks(came.chunks);
                Answer::RecordedAnswer(came)
            }
        }
    }

    /// Writes down what the ports gave.
    fn flush(&mut self) {
        let Recording { clock, ids, waited, .. } = std::mem::take(&mut self.pending);
        let texts = |texts: Vec<String>| Json::Array(texts.into_iter().map(Json::from).collect());
        let numbers = Json::Array(waited.into_iter().map(Json::from).collect());
        let lists = [("clock", texts(clock)), ("ids", texts(ids)), ("waited", numbers)];
        let lists = lists.into_iter().filter(|(_, list)| list.as_array().is_some_and(|list| !list.is_empty()));
        let document: Object = lists.collect();
        if !document.is_empty() {
            self.append(&document.into());
        }
    }

    fn write(&mut self, key: &str, value: Json) {
        self.append(&Json::Object([(key, value)].into_iter().collect()));
    }

    fn append(&mut self, document: &Json) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file::append(file, document) {
            self.broken = Some(error.to_string());
        }
    }
}
