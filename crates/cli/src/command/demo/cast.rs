//! The agent of the demo: a scripted model, a charge that must happen once, and a slow look-up.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use turnkeep_codec::Input;
use turnkeep_file::OpenOptions;
use turnkeep_model::event::Effect;
use turnkeep_model::{Author, Block, Json, Session, SessionId};
use turnkeep_runtime::port::{CallInfo, FnTool, Found, Probe, ToolContext, ToolError, ToolOutput};
use turnkeep_runtime::{Agent, Ports, Recorder, Script, Tools};
use turnkeep_store::{BoxFuture, Store, open};

use super::super::CommandResult;
use crate::exit::{CliError, Exit};

const SCRIPT: &str = include_str!("../../../demo/agent.turnkeep.yaml");

/// Where the demo keeps its files.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    folder: PathBuf,
}

impl Scene {
    pub(super) fn new(folder: &Path) -> Scene {
        Scene { folder: folder.to_owned() }
    }

    pub(super) fn url(&self) -> String {
        if cfg!(feature = "sqlite") {
            format!("sqlite:{}", self.folder.join("sessions.db").display())
        } else {
            format!("file:{}", self.folder.join("sessions").display())
        }
    }

    pub(super) fn store(&self) -> Result<Arc<dyn Store>, CliError> {
        Ok(open(&self.url())?)
    }

    fn bank(&self) -> PathBuf {
        self.folder.join("bank.jsonl")
    }

    /// What the bank has on its books: a line a charge.
    pub(super) fn charges(&self) -> Vec<String> {
        std::fs::read_to_string(self.bank()).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

pub(super) fn session() -> SessionId {
    SessionId::new("demo")
}

/// Whether a process is the one that will be killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Killed,
    Resumed,
}

/// Plays one process of the demo: the first begins the session and hangs in its tools, the next goes on.
pub(super) fn play(folder: &Path) -> CommandResult {
    let scene = Scene::new(folder);
    let store = scene.store()?;
    block_on(async {
        let begun = turnkeep_store::StoreExt::last(&*store, &session()).await.is_ok();
        if begun {
            let agent = agent(&scene, "beta-2", Life::Resumed)?;
            let mut recorder = Recorder::resume(store, &session(), Ports::default()).await?;
            agent.resume(&mut recorder).await?;
        } else {
            let agent = agent(&scene, "alpha-1", Life::Killed)?;
            let title = Some("An order that must be charged once".to_owned());
            let opened = Session { id: Some(session()), title, ..agent.session() };
            let mut recorder = Recorder::create(store, opened, Ports::default()).await?;
            agent.run(&mut recorder, question()?).await?;
        }
        Ok(Exit::Ok)
    })
}

fn script() -> Result<Session, CliError> {
    let opened = OpenOptions::default().decode(Input::new(SCRIPT.as_bytes()).named("agent.turnkeep.yaml"))?;
    Ok(opened.session().cloned().unwrap_or_default())
}

fn question() -> Result<String, CliError> {
    let script = script()?;
    let asked = script.blocks().find(|(_, block): &(usize, &Block)| block.author == Author::User);
    Ok(asked.and_then(|(_, block)| block.body.as_text()).unwrap_or_default().to_owned())
}

/// What repeating a tool of the demo would do.
pub(super) fn effect(tool: &str) -> Option<Effect> {
    match tool {
        "charge" => Some(Effect::Once),
        "delivery" => Some(Effect::Pure),
        _ => None,
    }
}

fn agent(scene: &Scene, model: &str, life: Life) -> Result<Agent, CliError> {
    let tools = Tools::new([Arc::new(charge(scene, life)) as _, Arc::new(delivery(life)) as _])?;
    Ok(Agent::new(Arc::new(Script::of(&script()?).named(model))).with_tools(tools))
}

#[derive(serde::Deserialize)]
struct Charge {
    order: u64,
    amount: String,
}

#[derive(serde::Deserialize)]
struct Delivery {
    order: u64,
}

fn schema(text: &str) -> Json {
    turnkeep_model::json::parse(text).map(turnkeep_model::json::Node::into_json).unwrap_or_default()
}

/// Charges a card. The bank books it at once; in the process that is killed, its answer never arrives.
fn charge(scene: &Scene, life: Life) -> FnTool {
    let parameters = schema(
        r#"{"type":"object","properties":{"order":{"type":"integer"},"amount":{"type":"string"}},"required":["order","amount"]}"#,
    );
    let bank = scene.bank();
    let work = move |charge: Charge, brief: CallInfo| {
        book(&bank, &charge, &brief.key).map_err(|error| ToolError::failed(error.to_string()))?;
        hang(life);
        Ok(format!("charged {} EUR for order {}", charge.amount, charge.order))
    };
    FnTool::blocking("charge", "Charges the customer's card.", parameters, Effect::Once, work)
        .with_probe(Bank { file: scene.bank() })
}

fn book(bank: &Path, charge: &Charge, key: &str) -> std::io::Result<()> {
    let line = format!("{{\"key\":\"{key}\",\"order\":{},\"amount\":\"{}\"}}\n", charge.order, charge.amount);
    std::fs::OpenOptions::new().create(true).append(true).open(bank)?.write_all(line.as_bytes())
}

/// Looks at the bank's books, without charging.
struct Bank {
    file: PathBuf,
}

impl Probe for Bank {
    fn probe<'a>(&'a self, _: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, Result<Found, ToolError>> {
        let books = std::fs::read_to_string(&self.file).unwrap_or_default();
        let booked =
            books.lines().find(|line| line.contains(&format!("\"key\":\"{}\"", context.key))).map(str::to_owned);
        Box::pin(async move {
            Ok(match booked {
                Some(line) => Found::Done(ToolOutput::text(format!("the bank has it on its books: {line}"))),
                None => Found::NotDone,
            })
        })
    }
}

/// Looks up when an order ships; slow, and harmless to repeat.
fn delivery(life: Life) -> FnTool {
    let parameters = schema(r#"{"type":"object","properties":{"order":{"type":"integer"}},"required":["order"]}"#);
    let work = move |delivery: Delivery, _: CallInfo| {
        hang(life);
        Ok(format!("order {} ships on Thursday", delivery.order))
    };
    FnTool::blocking("delivery", "Looks up when an order ships.", parameters, Effect::Pure, work)
}

/// The process that is killed never hears back. It ends by itself if nobody kills it.
fn hang(life: Life) {
    if life == Life::Killed {
        std::thread::sleep(Duration::from_secs(60));
    }
}
