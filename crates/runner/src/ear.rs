//! The pieces in which answers arrive, kept: a journal has none of them.

use std::sync::{Arc, Mutex, PoisonError};

use turnkeep_codec::format::geppetto::Piece;
use turnkeep_runtime::port::{Answer, Delta, Deltas, Identity, Model, ModelError, Request};
use turnkeep_store::BoxFuture;

/// Hears what models answer, piece by piece.
#[derive(Clone, Default)]
pub(crate) struct Ear {
    heard: Arc<Mutex<Vec<Vec<Piece>>>>,
}

impl Ear {
    /// The model, heard.
    pub(crate) fn at(&self, inner: Arc<dyn Model>) -> Arc<dyn Model> {
        Arc::new(Heard { inner, ear: self.clone() })
    }

    /// One list of pieces for every time that a model was asked.
    pub(crate) fn heard(&self) -> Vec<Vec<Piece>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn asked(&self) {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(Vec::new());
    }

    fn hear(&self, delta: &Delta) {
        let piece = match delta {
            Delta::Text(text) => Piece::Text(text.clone()),
            Delta::Reasoning(text) => Piece::Reasoning(text.clone()),
            Delta::Arguments { index, text } => Piece::Arguments { index: *index, text: text.clone() },
            _ => return,
        };
        if let Some(last) = self.heard.lock().unwrap_or_else(PoisonError::into_inner).last_mut() {
            last.push(piece);
        }
    }
}

/// A model with an ear at it.
struct Heard {
    inner: Arc<dyn Model>,
    ear: Ear,
}

impl Model for Heard {
    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn answer<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, std::result::Result<Answer, ModelError>> {
        self.ear.asked();
        Box::pin(async move {
            let passing = Passing { deltas, ear: &self.ear };
            self.inner.answer(request, &passing).await
        })
    }
}

/// Hears pieces, and passes them on.
struct Passing<'a> {
    deltas: &'a dyn Deltas,
    ear: &'a Ear,
}

impl Deltas for Passing<'_> {
    fn delta(&self, delta: Delta) {
        self.ear.hear(&delta);
        self.deltas.delta(delta);
    }
}
