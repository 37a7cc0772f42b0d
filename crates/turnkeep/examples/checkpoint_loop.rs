//! A loop over requests with checkpoint files: its process dies in the middle of a tool call, and the next one goes on.
//!
//! `cargo run --example checkpoint_loop`: the program starts itself as the process that dies.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use turnkeep::runtime::compat::weakincentives::{LoopDefinition, MainLoop, Prompt, Template};
use turnkeep::runtime::port::{Answer, ToolContext, ToolError, tool};
use turnkeep::runtime::{Agent, Checkpoint, CheckpointHandler, Error, Ports, Result, Script, UserRequest};
use turnkeep::store::BoxFuture;
use turnkeep::{ErrorKind, Snapshot, WinkJson};

#[derive(Clone)]
struct ReviewRequest {
    id: String,
    file: String,
}

impl UserRequest for ReviewRequest {
    fn id(&self) -> String {
        self.id.clone()
    }
}

struct FileCheckpointHandler {
    dir: PathBuf,
}

impl CheckpointHandler<ReviewRequest> for FileCheckpointHandler {
    fn load<'a>(&'a self, request: &'a ReviewRequest) -> BoxFuture<'a, Result<Option<Checkpoint>>> {
        Box::pin(async move {
            let path = self.dir.join(format!("{}.json", request.id));
            if path.exists() {
                let text = fs::read_to_string(path).map_err(io)?;
                let (snapshot, _) = Snapshot::from_wink_json(&text).map_err(Error::snapshot_restore)?;
                return Ok(Some(Checkpoint { snapshot }));
            }
            Ok(None)
        })
    }

    fn save<'a>(&'a self, request: &'a ReviewRequest, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let path = self.dir.join(format!("{}.json", request.id));
            fs::write(path, snapshot.to_wink_json()?.0).map_err(io)
        })
    }

    fn clear<'a>(&'a self, request: &'a ReviewRequest) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let path = self.dir.join(format!("{}.json", request.id));
            if path.exists() { fs::remove_file(path).map_err(io) } else { Ok(()) }
        })
    }
}

fn io(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, error.to_string()).because(error).hint("check the folder of the checkpoints")
}

struct CodeReviewLoop;

impl LoopDefinition for CodeReviewLoop {
    type Request = ReviewRequest;
    type Output = String;

    fn create_prompt(&self, request: &ReviewRequest) -> Box<dyn Prompt> {
        Box::new(Template::new("code", "review", "Review {file}.").with("file", &request.file))
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Comment {
    /// What is said.
    text: String,
}

/// An agent that posts a comment. Keyed: the outside world tells a repetition by the key.
fn adapter(dies: bool) -> Result<Agent> {
    let post = move |comment: Comment, call: ToolContext| async move {
        if dies {
            std::process::abort();
        }
        Ok::<_, ToolError>(format!("posted {:?} under {} (resumed: {})", comment.text, call.key, call.is_resume))
    };
    let calls = Answer::calling("c1", "post", r#"{"text":"nice"}"#);
    Agent::builder()
        .model(Script::new("scripted", vec![calls, Answer::text("Reviewed.")]))
        .tool(tool("post", "Posts a comment.", post).keyed())
        .build()
}

fn review(folder: &Path, dies: bool) -> std::result::Result<String, Box<dyn std::error::Error>> {
    let store = turnkeep::store::open(&format!("file:{}", folder.join("sessions").display()))?;
    let looping = MainLoop::new(CodeReviewLoop, adapter(dies)?, store, Ports::default())
        .with_checkpoints(Arc::new(FileCheckpointHandler { dir: folder.to_owned() }));

    let request = ReviewRequest { id: "review-7".into(), file: "a.rs".into() };
    Ok(pollster::block_on(looping.execute(&request))?.into_output()?)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    if let Some(folder) = std::env::args().nth(1) {
        review(Path::new(&folder), true)?;
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let status = Command::new(std::env::current_exe()?).arg(folder.path()).status()?;
    println!("the first process ended: {status}");
    println!("its checkpoint is there: {}", folder.path().join("review-7.json").exists());
    println!("the second process: {}", review(folder.path(), false)?);
    println!("its checkpoint is there: {}", folder.path().join("review-7.json").exists());
    Ok(())
}
