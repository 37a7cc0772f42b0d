//! Asking so that a question which nobody answers adds nothing.

use turnkeep_model::status::Completed;
use turnkeep_model::{Event, Session, Status, StopReason, absorb};

use super::ask::{Asked, Given};
use super::drive::{Drive, answer_turn};
use super::outcome::Stopped;
use super::settings::Agent;
use crate::error::{Error, Result};
use crate::human::{self, Input};
use crate::plan::Plan;
use crate::recorder::Recorder;

impl Agent {
    /// Asks as the user. Unlike [`Agent::run`], which records the question first, this records it with its answer: where
    /// the model does not answer, or is stopped, the conversation stays as it was. Where calls are open, they come first,
    /// and the question is recorded as [`Agent::run`] does.
    ///
    /// # Errors
    /// Those of [`Agent::run`], and [`Error::model`] where the model did not answer.
    pub async fn inquire(&self, recorder: &mut Recorder, input: impl Into<Input>) -> Result<Stopped> {
        let input = input.into();
        let mut aside = recorder.session().clone();
        for event in human::saying(recorder.state(), &input, &recorder.now()) {
            absorb(&mut aside, event)?;
        }
        let mut drive = Drive::new(self, recorder);
        if !matches!(drive.plan_of(&aside), Plan::Ask) {
            return self.run(recorder, input).await;
        }
        drive.check_tools()?;
        drive.adopt_tools().await?;
        drive.inquire(&input, &aside).await
    }
}

impl Drive<'_> {
    async fn inquire(mut self, input: &Input, aside: &Session) -> Result<Stopped> {
        let mut failed = Vec::new();
        let turn = answer_turn(aside);
        match self.ask_aside(aside, turn, &mut failed).await {
            Asked::Answered(given) => {
                let given = self.question(input, turn, failed, given).await?;
                match self.answered(turn, given).await? {
                    Some(stopped) => Ok(stopped),
                    None => self.run().await,
                }
            }
            Asked::Failed(refused) => {
                self.recorder.record(failed).await?;
                self.stop(Status::from(Completed {}), Some(StopReason::Error), Vec::new()).await?;
                Err(Error::model(&refused.reason()))
            }
            Asked::Stopped => self.stop(Status::from(Completed {}), Some(StopReason::UserRequested), Vec::new()).await,
        }
    }

    /// Records the question, and that it was asked.
    async fn question(
        &mut self,
        input: &Input,
        turn: u32,
        failed: Vec<Event>,
        given: Box<Given>,
    ) -> Result<Box<Given>> {
        let choice = self.pace.choice(self.recorder.ledger());
        let pace = self.pace;
        self.recorder
            .record_with(|state, recorder| {
                let mut events = human::saying(state, input, &recorder.now());
                events.extend(choice.clone());
                events.extend(failed.clone());
                events.push(pace.asking(&state.session, turn, 1, 1));
                Ok(events)
            })
            .await?;
        self.asked = Some(turn);
        Ok(given.recorded_at(self.recorder.seq()))
    }
}
