//! What a tool answers: parts of a result, or why there is none.

use std::fmt;

use serde::Serialize;
use turnkeep_model::{Data, Json, Media, Part, Text};

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// The answer.
    pub parts: Vec<Part>,
}

impl ToolOutput {
    /// A text.
    pub fn text(text: impl Into<String>) -> ToolOutput {
        ToolOutput { parts: vec![Part::Text(Text { text: text.into() })] }
    }

    /// A JSON value. A string is a text: the model reads it without quotes and escapes.
    pub fn json(json: Json) -> ToolOutput {
        match json.as_str() {
            Some(text) => ToolOutput::text(text),
            None => ToolOutput { parts: vec![Part::Data(Data { json })] },
        }
    }

    /// Anything serde can write. A string is a text, other values are JSON.
    ///
    /// # Errors
    /// Where it cannot be written as JSON.
    pub fn of(value: &impl Serialize) -> std::result::Result<ToolOutput, ToolError> {
        crate::typed::to_json(value).map(ToolOutput::json).map_err(|error| ToolError::failed(error.to_string()))
    }

    /// Bytes: a text if they are UTF-8, else a file.
    pub fn bytes(bytes: Vec<u8>) -> ToolOutput {
        match String::from_utf8(bytes) {
            Ok(text) => ToolOutput::text(text),
            Err(error) => {
                let media = Media {
                    media_type: Some("application/octet-stream".into()),
                    inline: Some(crate::typed::base64(error.as_bytes())),
                    ..Media::default()
                };
                ToolOutput { parts: vec![Part::Media(media)] }
            }
        }
    }
}

/// Why a tool did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolError {
    /// It will not work: the model is told.
    Failed(ToolFailure),
    /// It may work later: it is tried again, if attempts are left. It did not act.
    Retryable(ToolFailure),
    /// It may have acted, and nobody knows.
    Unsure(ToolFailure),
    /// `ToolIdempotencyError`: it cannot safely run again. A person decides, whatever the tool's [`Effect`](turnkeep_model::event::Effect) is.
    Idempotency(ToolFailure),
}

/// What went wrong, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolFailure {
    /// What happened.
    pub message: String,
}

impl ToolError {
    /// It will not work.
    pub fn failed(message: impl Into<String>) -> ToolError {
        ToolError::Failed(ToolFailure { message: message.into() })
    }

    /// It may work later, and did not act.
    pub fn retryable(message: impl Into<String>) -> ToolError {
        ToolError::Retryable(ToolFailure { message: message.into() })
    }

    /// It may have acted, and nobody knows.
    pub fn unsure(message: impl Into<String>) -> ToolError {
        ToolError::Unsure(ToolFailure { message: message.into() })
    }

    /// It cannot safely run again: a person decides.
    pub fn idempotency(message: impl Into<String>) -> ToolError {
        ToolError::Idempotency(ToolFailure { message: message.into() })
    }

    /// What happened.
    pub fn message(&self) -> &str {
        match self {
            ToolError::Failed(failure)
            | ToolError::Retryable(failure)
            | ToolError::Unsure(failure)
            | ToolError::Idempotency(failure) => &failure.message,
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for ToolError {}

/// It will not work, for this reason.
impl From<&str> for ToolError {
    fn from(message: &str) -> ToolError {
        ToolError::failed(message)
    }
}

/// It will not work, for this reason.
impl From<String> for ToolError {
    fn from(message: String) -> ToolError {
        ToolError::failed(message)
    }
}

/// It will not work. Say [`ToolError::retryable`] or [`ToolError::unsure`] where the tool knows better.
impl From<Box<dyn std::error::Error + Send + Sync>> for ToolError {
    fn from(error: Box<dyn std::error::Error + Send + Sync>) -> ToolError {
        ToolError::failed(error.to_string())
    }
}

/// It will not work. Say [`ToolError::retryable`] or [`ToolError::unsure`] where the tool knows better.
impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> ToolError {
        ToolError::failed(error.to_string())
    }
}
