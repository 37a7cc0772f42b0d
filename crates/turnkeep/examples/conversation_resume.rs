//! An evaluation is left in the middle of a tool call; its snapshot is a file, and another process resumes from it.
//!
//! `cargo run --example conversation_resume`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use turnkeep::prelude::*;
use turnkeep::runtime::Ports;
use turnkeep::runtime::compat::weakincentives::{
    ConversationState, Prompt, PromptResponse, ResumeFrom, Template, enable_conversation_recording, evaluate,
};
use turnkeep::runtime::slices::query;
use turnkeep::{Snapshot, WinkJson};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

// Save checkpoint
fn save_checkpoint(session: &Recorder, path: &Path) -> Outcome<()> {
    let snapshot = session.snapshot();
    fs::write(path, snapshot.to_wink_json()?.0)?;
    Ok(())
}

// Resume from checkpoint
async fn resume_evaluation<O: DeserializeOwned>(
    adapter: &Agent,
    prompt: &dyn Prompt,
    checkpoint_path: &Path,
) -> Outcome<PromptResponse<O>> {
    let (snapshot, _) = Snapshot::from_wink_json(&fs::read_to_string(checkpoint_path)?)?;

    let mut session = Recorder::restore(turnkeep::store::open("memory:")?, snapshot, Ports::default()).await?;

    let Some(state) = query::<ConversationState>(session.session())?.pop() else {
        return Err("No conversation state in checkpoint".into());
    };

    Ok(evaluate(adapter, prompt, &mut session, ResumeFrom::State(&state)).await?)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct File {
    /// Below the root of the project.
    path: String,
}

/// An agent that reads a file, which the first process cannot.
fn adapter(reads: bool) -> Outcome<Agent> {
    let read = move |file: File, call: ToolContext| async move {
        match reads {
            true => Ok(format!("fn main() {{}} // {} (resumed: {})", file.path, call.is_resume)),
            false => Err(ToolError::idempotency("the disk is gone")),
        }
    };
    let calls = Answer::calling("c1", "read", r#"{"path":"a.rs"}"#);
    Ok(Agent::builder()
        .model(Script::new("scripted", vec![calls, Answer::text("It looks good.")]))
        .tool(tool("read", "Reads a file.", read).pure())
        .build()?)
}

fn main() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let (checkpoint, prompt) = (folder.path().join("review.json"), Template::new("code", "review", "Review a.rs."));
    pollster::block_on(async {
        let first = adapter(false)?;
        let store = turnkeep::store::open("memory:")?;
        let mut session = Recorder::create(store, first.session(), Ports::default()).await?;
        enable_conversation_recording(&mut session).await?;
        let left: PromptResponse<String> = evaluate(&first, &prompt, &mut session, ResumeFrom::Nothing).await?;
        println!("left: {} call waits", left.stopped.waiting.len());
        save_checkpoint(&session, &checkpoint)?;

        let response: PromptResponse<String> = resume_evaluation(&adapter(true)?, &prompt, &checkpoint).await?;
        println!("resumed: {}", response.into_output()?);
        Ok(())
    })
}
