//! What recording and resuming cost beside the store and the encoder alone.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pollster::block_on;
use turnkeep_codec::{EncodeOptions, Target};
use turnkeep_model::event::Effect;
use turnkeep_model::{Archive, Author, Block, CallId, Json, Seq, Session, SessionId, ToolCall, fold};
use turnkeep_runtime::port::{Answer, Deltas, FnTool, Identity, Model, ModelError, Request, ToolOutput};
use turnkeep_runtime::{Agent, Ports, Recorder, Tools, criteria};
use turnkeep_store::{BoxFuture, Durability, Store, StoreExt};

use crate::race::clocked;
use crate::report::{Bound, Report, Row};
use crate::{Outcome, prose, random, sessions, store};

/// Turns of the run that is recorded.
const STEPS: u64 = 400;

/// Turns of a long session.
const LONG: usize = 5_000;

/// Everything that is measured of the runtime.
pub(crate) fn all(report: &mut Report, scratch: &Path) -> Outcome<()> {
    recording(report, scratch)?;
    resuming(report, scratch)?;
    folding(report)?;
    moments(report)
}

/// A model that calls a tool in every answer but the last, and says something of ordinary length.
struct Talker {
    asked: AtomicU64,
    text: String,
}

impl Model for Talker {
    fn identity(&self) -> Identity {
        Identity { model: Some("talker".into()), ..Identity::default() }
    }

    fn answer<'a>(&'a self, _: Request<'a>, _: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let n = self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answer = Answer::text(self.text.as_str());
        if n + 1 < STEPS {
            let call = ToolCall {
                call: CallId::given(format!("call_{n}")),
                name: "look".into(),
                arguments: format!("{{\"n\":{n}}}"),
            };
            answer.blocks.push(Block::new(Author::Assistant, call));
        }
        Box::pin(async move { Ok(answer) })
    }
}

fn agent() -> Outcome<Agent> {
    let mut random = random::Random::new(7);
    let text = prose::paragraphs(&mut random, 600);
    let result = prose::listing(&mut random, 1200);
    let look = FnTool::new("look", "Looks.", Json::Null, Effect::Pure, move |_, _| {
        let output = ToolOutput::text(result.as_str());
        Box::pin(async move { Ok(output) })
    });
    let rules: Vec<Arc<dyn criteria::Criterion>> =
        vec![Arc::new(criteria::steps_limit(u32::MAX)), Arc::new(criteria::tool_call_presence())];
    let model = Arc::new(Talker { asked: AtomicU64::new(0), text });
    Ok(Agent::new(model).with_tools(Tools::new([Arc::new(look) as _])?).with_criteria(rules))
}

/// Measures an agent's run against appending the same batches without one.
fn recording(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let id = SessionId::new("bench");
    let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..5 {
        let recorded = store::open(&store::fresh(scratch, "recorded.db"), Durability::Process)?;
        let agent = agent()?;
        let session = Session { id: Some(id.clone()), ..agent.session() };
        let ((), cpu, _) = clocked(|| {
            block_on(async {
                let mut recorder = Recorder::create(recorded.clone(), session, Ports::default()).await?;
                agent.run(&mut recorder, "go").await?;
                Ok(())
            })
        })?;
        ours = ours.min(cpu);
        let journal = block_on(recorded.journal(&id))?;
        let plain = store::open(&store::fresh(scratch, "appended.db"), Durability::Process)?;
        let ((), cpu, _) = clocked(|| {
            let mut at = Seq::START;
            for batch in &journal.batches {
                at = block_on(plain.append(&id, at, batch))?;
            }
            Ok(())
        })?;
        theirs = theirs.min(cpu);
    }
    report.measured(Row::time("record a run of 400 turns / its appends alone", ours, theirs, Bound::AtMost(1.5)));
    Ok(())
}

fn long_session() -> Session {
    Session { turns: sessions::turns(LONG).collect(), ..Session::default() }
}

/// Encodes a session as the next request of a wire.
fn encode(session: &Session) -> Outcome<usize> {
    let target = Target::parse("openai.chat")?;
    let mut options = EncodeOptions::default();
    options.as_request = true;
    Ok(target.codec.encode(&Archive::from(session.clone()), &options)?.bytes.len())
}

/// Measures the way from a stored session to its next request against loading and encoding it.
fn resuming(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let id = SessionId::new("long");
    let kept = store::open(&store::fresh(scratch, "long.db"), Durability::Process)?;
    let mut session = long_session();
    session.id = Some(id.clone());
    session.turns.push(turnkeep_model::Turn {
        blocks: vec![Block::text(Author::User, "go on").in_message(u32::MAX / 2)],
        ..Default::default()
    });
    block_on(kept.import(&turnkeep_model::Journal::of(&session)))?;
    let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..4 {
        let (_, cpu, _) = clocked(|| {
            let loaded = block_on(kept.load(&id))?;
            encode(&loaded.session)
        })?;
        theirs = theirs.min(cpu);
        let agent = Agent::new(Arc::new(Encoding(std::sync::Mutex::new(None))));
        let (_, cpu, _) = clocked(|| {
            block_on(async {
                let mut recorder = Recorder::resume(kept.clone(), &id, Ports::default()).await?;
                Ok(agent.resume(&mut recorder).await?)
            })
        })?;
        ours = ours.min(cpu);
    }
    report.measured(Row::time(
        "resume 5,000 turns to the next request / load and encode",
        ours,
        theirs,
        Bound::AtMost(1.3),
    ));
    Ok(())
}

/// A model that makes the request, and then fails, so that the session stays as it is.
struct Encoding(std::sync::Mutex<Option<usize>>);

impl Model for Encoding {
    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn answer<'a>(&'a self, request: Request<'a>, _: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let made = encode(request.session).map_err(|error| ModelError::fatal(error.to_string()));
        if let Ok(mut slot) = self.0.lock() {
            *slot = made.as_ref().ok().copied();
        }
        Box::pin(async move { Err(made.err().unwrap_or_else(|| ModelError::fatal("not asked"))) })
    }
}

/// Measures folding decoded records.
fn folding(report: &mut Report) -> Outcome<()> {
    let store = turnkeep_store::open("memory:")?;
    let agent = agent()?;
    let id = SessionId::new("fold");
    let session = Session { id: Some(id.clone()), ..agent.session() };
    block_on(async {
        let mut recorder = Recorder::create(store.clone(), session, Ports::default()).await?;
        agent.run(&mut recorder, "go").await
    })?;
    let journal = block_on(store.journal(&id))?;
    let records = journal.last().0 as f64;
    let mut best = Duration::MAX;
    for _ in 0..8 {
        let (_, cpu, _) = clocked(|| Ok(fold(&journal)?))?;
        best = best.min(cpu);
    }
    let rate = records / best.as_secs_f64();
    report.measured(Row::number("records folded a second / 500,000", rate, 500_000.0, "", Bound::AtLeast(1.0)));
    Ok(())
}

/// Measures taking a moment of a long and of a short session.
fn moments(report: &mut Report) -> Outcome<()> {
    let taken = |session: Session| -> Outcome<Duration> {
        let store: Arc<dyn Store> = turnkeep_store::open("memory:")?;
        let recorder = block_on(Recorder::create(store, session, Ports::default()))?;
        let start = Instant::now();
        for _ in 0..1000 {
            std::hint::black_box(recorder.savepoint());
        }
        Ok(start.elapsed() / 1000)
    };
    let (long, short) = (taken(long_session())?, taken(Session::default())?);
    report.measured(Row::time("a moment of 5,000 turns / 1 ms", long, Duration::from_millis(1), Bound::AtMost(1.0)));
    let short = short.max(Duration::from_micros(1));
    report.measured(Row::time("a moment of 5,000 turns / of none", long.max(short), short, Bound::AtMost(1.5)));
    Ok(())
}
