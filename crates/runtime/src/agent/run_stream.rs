//! A run as a stream of what happens in it.
//!
//! The stream drives the run: it needs no task and no executor of its own, and dropping it ends the run where it stands,
//! like any other death. What it gives comes from the journal and the hub through a [`Tail`], so a slow reader misses
//! pieces of text and never a record.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::future::{Either, FutureExt, select};
use futures_util::stream::unfold;
use turnkeep_model::{Batch, Block, Body, CallId, Event, Outcome, Session, ToolCall};
use turnkeep_store::BoxFuture;

use super::{Agent, Stopped};
use crate::acquire::BusyRun;
use crate::envelope::result_text;
use crate::error::Result;
use crate::input::Input;
use crate::port::Delta;
use crate::recorder::Recorder;
use crate::stop::StopSignal;
use crate::tail::{Tail, TailItem};

/// What happens in a run.
///
/// [`RunStream`] shows how they arrive.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunEvent {
    /// Another process runs the session. What was said is recorded for it, and its answer is waited for.
    Waiting(Box<BusyRun>),
    /// A piece of the answer's text. It is shown, not kept: the block that is recorded has the whole text.
    Text(String),
    /// A piece of the model's thinking.
    Reasoning(String),
    /// The answer broke off, and is asked for again: the pieces since the last block are void.
    Interrupted,
    /// A block is recorded: something said, thought, called or returned.
    Block(Box<Block>),
    /// A tool is about to run.
    ToolStarted {
        /// The call.
        call: CallId,
        /// The tool.
        tool: String,
        /// What it is called with, as the model wrote it.
        arguments: String,
    },
    /// A tool has run.
    ToolFinished {
        /// The call.
        call: CallId,
        /// The tool.
        tool: String,
        /// How it ended.
        outcome: Outcome,
        /// What it answered.
        text: String,
    },
    /// The run ended. Nothing follows.
    Stopped(Box<Stopped>),
}

/// What happens in a run, until it ends: [`Conversation::stream`](crate::Conversation::stream).
///
/// ```
/// use turnkeep_runtime::port::Answer;
/// use turnkeep_runtime::{Agent, RunEvent, Script};
///
/// # pollster::block_on(async {
/// let script = Script::new("a model", vec![Answer::text("Hello!")]);
/// let agent = Agent::builder().model(script).store("memory:").build()?;
///
/// let mut run = agent.open("s1")?.stream("Are you there?");
/// let mut heard = String::new();
/// while let Some(event) = run.next().await {
///     if let RunEvent::Text(piece) = event? {
///         heard.push_str(&piece);
///     }
/// }
///
/// assert_eq!(heard, "Hello!");
/// # Ok::<(), turnkeep_runtime::Error>(())
/// # }).unwrap();
/// ```
pub struct RunStream {
    events: Pin<Box<dyn Stream<Item = Result<RunEvent>> + Send>>,
    stop: StopSignal,
}

impl Stream for RunStream {
    type Item = Result<RunEvent>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.as_mut().poll_next(context)
    }
}

impl std::fmt::Debug for RunStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunStream").field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl RunStream {
    /// The next thing that happens; `None` once the run has ended and that was told.
    pub async fn next(&mut self) -> Option<Result<RunEvent>> {
        futures_util::StreamExt::next(&mut self.events).await
    }

    /// A way to ask this run to stop. The stream goes on until the run has recorded that it did.
    pub fn stop_signal(&self) -> StopSignal {
        self.stop.clone()
    }

    /// A run that begins when the stream is first polled. `stop` stops it.
    pub(crate) fn opening(
        stop: StopSignal,
        opening: impl Future<Output = Result<OpenedRun>> + Send + 'static,
    ) -> RunStream {
        let state = Following { opening: Some(Box::pin(opening)), run: None, tail: None, calls: Calls::default() };
        let events = unfold((state, VecDeque::new()), |(mut state, mut queue)| async move {
            loop {
                if let Some(event) = queue.pop_front() {
                    return Some((event, (state, queue)));
                }
                queue.extend(state.advance().await?);
            }
        });
        RunStream { events: Box::pin(events), stop }
    }
}

impl Agent {
    /// As [`Agent::run`], as a stream of what happens. It ends with [`RunEvent::Stopped`], or with an error.
    pub fn stream(&self, recorder: Recorder, input: impl Into<Input>) -> RunStream {
        self.stream_recorder(recorder, Some(input.into()))
    }

    /// As [`Agent::resume`], as a stream of what happens.
    pub fn resume_stream(&self, recorder: Recorder) -> RunStream {
        self.stream_recorder(recorder, None)
    }

    fn stream_recorder(&self, recorder: Recorder, input: Option<Input>) -> RunStream {
        let stop = StopSignal::default();
        let agent = self.stopped_by(&stop);
        let run = |mut recorder: Recorder| -> BoxFuture<'static, Result<Stopped>> {
            Box::pin(async move {
                match input {
                    Some(input) => agent.run(&mut recorder, input).await,
                    None => agent.resume(&mut recorder).await,
                }
            })
        };
        let opened = OpenedRun::here(recorder, run);
        RunStream::opening(stop, async { Ok(opened) })
    }
}

/// A run that can be followed.
pub(crate) struct OpenedRun {
    busy: Option<Box<BusyRun>>,
    tail: Tail,
    calls: Calls,
    run: BoxFuture<'static, Result<Stopped>>,
}

impl OpenedRun {
    /// A run of this process.
    pub(crate) fn here(
        recorder: Recorder,
        run: impl FnOnce(Recorder) -> BoxFuture<'static, Result<Stopped>>,
    ) -> OpenedRun {
        let (store, hub) = (recorder.store().clone(), &recorder.ports().hub);
        let tail = Tail::from_end(store, hub, recorder.id(), recorder.seq());
        let calls = Calls::open_in(recorder.session());
        OpenedRun { busy: None, tail, calls, run: run(recorder) }
    }

    /// A run of another process, which `run` waits for.
    pub(crate) fn elsewhere(
        busy: Box<BusyRun>,
        tail: Tail,
        session: &Session,
        run: BoxFuture<'static, Result<Stopped>>,
    ) -> OpenedRun {
        OpenedRun { busy: Some(busy), tail, calls: Calls::open_in(session), run }
    }
}

struct Following {
    opening: Option<BoxFuture<'static, Result<OpenedRun>>>,
    run: Option<BoxFuture<'static, Result<Stopped>>>,
    tail: Option<Tail>,
    calls: Calls,
}

type Told = Vec<Result<RunEvent>>;

impl Following {
    /// Goes on until something happens; `None` after the end.
    async fn advance(&mut self) -> Option<Told> {
        if let Some(opening) = self.opening.take() {
            return match opening.await {
                Ok(opened) => Some(self.begin(opened)),
                Err(error) => Some(vec![Err(error)]),
            };
        }
        let run = self.run.take()?;
        let Some(tail) = &mut self.tail else {
            return Some(self.end(run.await).await);
        };
        let heard = match select(run, Box::pin(tail.next())).await {
            Either::Left((ended, _)) => Err(ended),
            Either::Right((item, run)) => {
                self.run = Some(run);
                Ok(item)
            }
        };
        match heard {
            Err(ended) => Some(self.end(ended).await),
            Ok(Ok(Some(item))) => Some(self.calls.tell(&item).into_iter().map(Ok).collect()),
            // Nothing more is heard, or the store cannot be read: the run itself says how it ends.
            Ok(Ok(None) | Err(_)) => {
                self.tail = None;
                Some(Vec::new())
            }
        }
    }

    fn begin(&mut self, opened: OpenedRun) -> Told {
        let OpenedRun { busy, tail, calls, run } = opened;
        (self.tail, self.calls, self.run) = (Some(tail), calls, Some(run));
        busy.map(|busy| Ok(RunEvent::Waiting(busy))).into_iter().collect()
    }

    /// What was recorded and not told yet, and how the run ended.
    async fn end(&mut self, ended: Result<Stopped>) -> Told {
        let mut told = Vec::new();
        if let Some(mut tail) = self.tail.take() {
            while let Some(Ok(Some(item))) = tail.next().now_or_never() {
                told.extend(self.calls.tell(&item).into_iter().map(Ok));
            }
            // Where the subscription lagged, the rest is in the store.
            if tail.look().await.is_ok() {
                while let Some(batch) = tail.take_read() {
                    told.extend(self.calls.batch(&batch).into_iter().map(Ok));
                }
            }
        }
        told.push(ended.map(|stopped| RunEvent::Stopped(Box::new(stopped))));
        told
    }
}

/// The calls of a session, by id: the records of a call name neither its tool nor its arguments.
#[derive(Default)]
struct Calls(HashMap<CallId, ToolCall>);

impl Calls {
    fn open_in(session: &Session) -> Calls {
        let open = session.open_calls().into_iter();
        Calls(open.map(|call| (call.call.clone(), call.clone())).collect())
    }

    fn tell(&mut self, item: &TailItem) -> Vec<RunEvent> {
        match item {
            TailItem::Batch(batch) => self.batch(batch),
            TailItem::Delta(Delta::Text(text)) => vec![RunEvent::Text(text.clone())],
            TailItem::Delta(Delta::Reasoning(text)) => vec![RunEvent::Reasoning(text.clone())],
            TailItem::Delta(_) => Vec::new(),
        }
    }

    fn batch(&mut self, batch: &Batch) -> Vec<RunEvent> {
        batch.events.iter().flat_map(|entry| self.event(&entry.event, batch)).collect()
    }

    fn event(&mut self, event: &Event, batch: &Batch) -> Option<RunEvent> {
        match event {
            Event::BlockAdded(added) => {
                if let Body::ToolCall(call) = &added.block.body {
                    self.0.insert(call.call.clone(), call.clone());
                }
                Some(RunEvent::Block(Box::new(added.block.clone())))
            }
            Event::ModelFailed(_) => Some(RunEvent::Interrupted),
            Event::ToolIntended(intended) => {
                let (tool, arguments) = self.named(&intended.call);
                Some(RunEvent::ToolStarted { call: intended.call.clone(), tool, arguments })
            }
            Event::ToolSettled(settled) => {
                let (tool, _) = self.named(&settled.call);
                let (call, outcome) = (settled.call.clone(), settled.outcome.clone());
                Some(RunEvent::ToolFinished { tool, outcome, text: result_in(batch, &call), call })
            }
            _ => None,
        }
    }

    fn named(&self, call: &CallId) -> (String, String) {
        self.0.get(call).map(|call| (call.name.clone(), call.arguments.clone())).unwrap_or_default()
    }
}

/// What a call answered: its result is recorded in the batch that settles it.
fn result_in(batch: &Batch, call: &CallId) -> String {
    let result = batch.events.iter().find_map(|entry| match &entry.event {
        Event::BlockAdded(added) => match &added.block.body {
            Body::ToolResult(result) if result.call == *call => Some(result_text(&result.parts)),
            _ => None,
        },
        _ => None,
    });
    result.unwrap_or_default()
}
