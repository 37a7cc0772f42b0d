//! The kinds of documents that a wire is spoken in.

use turnkeep_model::json::Json;

/// What a document of a wire is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What is sent.
    Request,
    /// What is answered.
    Response,
    /// Both, as `{"request": …, "response": …}`.
    Exchange,
    /// What is answered, piece by piece.
    Stream,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 4] = [Kind::Request, Kind::Response, Kind::Exchange, Kind::Stream];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Request => "request",
            Kind::Response => "response",
            Kind::Exchange => "exchange",
            Kind::Stream => "stream",
        }
    }

    /// The kind of a word.
    pub fn from_word(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// The bodies of a document: at least one of the two is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parts {
    /// What was sent.
    pub request: Option<Json>,
    /// What was answered.
    pub response: Option<Json>,
}
