//! Side-state that tools change: typed values in the journal, rolled back and resumed with the session.
//!
//! `cargo run --example slices`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use turnkeep::prelude::*;
use turnkeep::runtime::slices::{Op, Reducers};

/// One thing to do.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Todo {
    title: String,
    #[serde(default)]
    is_done: bool,
}

impl SliceItem for Todo {
    const NAME: &'static str = "todos";
}

/// What a tool tells of; the reducer says what becomes of the list.
#[derive(Deserialize, JsonSchema)]
struct Finished {
    title: String,
}

async fn add(todo: Todo, call: ToolContext) -> Result<String, ToolError> {
    let title = todo.title.clone();
    call.slices.dispatch(todo);
    Ok(format!("added {title}"))
}

async fn finish(finished: Finished, call: ToolContext) -> Result<String, ToolError> {
    let title = finished.title.clone();
    call.slices.dispatch(finished);
    Ok(format!("finished {title}"))
}

fn tick(todos: &[Todo], finished: &Finished) -> Result<Op<Todo>, String> {
    let ticked = |todo: &Todo| Todo { is_done: todo.is_done || todo.title == finished.title, ..todo.clone() };
    Ok(Op::Replace(todos.iter().map(ticked).collect()))
}

fn agent(url: &str) -> turnkeep::Result<Agent> {
    let answers = vec![
        Answer::calling("c1", "add", r#"{"title":"pack"}"#),
        Answer::calling("c2", "add", r#"{"title":"travel"}"#),
        Answer::calling("c3", "finish", r#"{"title":"pack"}"#),
        Answer::text("Packed."),
    ];
    Agent::builder()
        .model(Script::new("scripted", answers))
        .tool(tool("add", "Adds something to do.", add).once())
        .tool(tool("finish", "Says that something is done.", finish).once())
        .reducers(Reducers::default().on(tick))
        .store(url)
        .build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> turnkeep::Result<()> {
    let folder = tempfile::tempdir()?;
    let url = format!("file:{}", folder.path().display());
    agent(&url)?.open("trip")?.ask("I am packing for a trip.").await?;

    // Another agent, as in another process: the list is in the journal.
    let trip = agent(&url)?.open("trip")?;
    for todo in trip.slice::<Todo>().await? {
        println!("[{}] {}", if todo.is_done { 'x' } else { ' ' }, todo.title);
    }
    Ok(())
}
