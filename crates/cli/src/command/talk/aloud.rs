//! A model whose answer is seen while it comes.

use std::sync::{Arc, Mutex, PoisonError};

use turnkeep_runtime::port::{Answer, Delta, Deltas, Identity, Model, ModelError, Request};
use turnkeep_store::BoxFuture;

use crate::terminal::{DIM, print};

/// A model that is heard while it answers.
pub(super) struct Aloud {
    pub(super) inner: Arc<dyn Model>,
}

impl Model for Aloud {
    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn answer<'a>(&'a self, request: Request<'a>, deltas: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let voice = Voice { heard: Mutex::new(Heard::Nothing), further: deltas };
            let answer = self.inner.answer(request, &voice).await;
            voice.end(answer.as_ref().ok());
            answer
        })
    }
}

/// What was heard last: thinking and text are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heard {
    Nothing,
    Thinking,
    Text,
}

struct Voice<'a> {
    heard: Mutex<Heard>,
    further: &'a dyn Deltas,
}

impl Deltas for Voice<'_> {
    fn delta(&self, delta: Delta) {
        match &delta {
            Delta::Text(text) => self.say(Heard::Text, text),
            Delta::Reasoning(text) => self.say(Heard::Thinking, text),
            _ => {}
        }
        self.further.delta(delta);
    }
}

impl Voice<'_> {
    fn say(&self, kind: Heard, text: &str) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let turned = if *heard != Heard::Nothing && *heard != kind { "\n\n" } else { "" };
        *heard = kind;
        // Nobody may be reading any more; the answer is recorded all the same.
        let _ = match kind {
            Heard::Thinking => print(&format!("{turned}{DIM}{text}{DIM:#}")),
            Heard::Text | Heard::Nothing => print(&format!("{turned}{text}")),
        };
    }

    /// What came in one piece is said at its end.
    fn end(&self, answer: Option<&Answer>) {
        let heard = *self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard != Heard::Text {
            let texts = answer.into_iter().flat_map(|answer| &answer.blocks).filter_map(|block| block.body.as_text());
            texts.for_each(|text| self.say(Heard::Text, text));
        }
        let heard = *self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard != Heard::Nothing {
            let _ = print("\n");
        }
    }
}
