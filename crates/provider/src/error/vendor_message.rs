//! What an answer that is none tells.

use std::time::Duration;

use jiff::Timestamp;
use turnkeep_model::json::{Json, Object};

use super::kind::ProviderErrorKind;

/// What a vendor says of an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct VendorMessage {
    /// Its words.
    pub(crate) message: String,
    /// Its class or code of the error.
    pub(crate) class: Option<String>,
}

impl VendorMessage {
    /// What a body says of an error, if it says so. Vendors word it differently.
    pub(crate) fn of_body(body: &Json) -> Option<VendorMessage> {
        match body {
            Json::Object(body) => VendorMessage::of_object(body),
            // Gemini wraps the error of a stream in a list.
            Json::Array(items) => items.iter().find_map(VendorMessage::of_body),
            _ => None,
        }
    }

    fn of_object(body: &Object) -> Option<VendorMessage> {
        match body.get("error") {
            Some(Json::Object(error)) => return Some(VendorMessage::of_error(error)),
            Some(Json::String(text)) => return Some(VendorMessage::words(text.to_str_lossy())),
            _ => {}
        }
        match body.get("detail").or_else(|| body.get("errors")) {
            Some(Json::String(text)) => return Some(VendorMessage::words(text.to_str_lossy())),
            Some(Json::Array(items)) => {
                let first = items.first().and_then(Json::as_object)?;
                let text = first.get_str("msg").or_else(|| first.get_str("message"))?;
                return Some(VendorMessage::words(text));
            }
            _ => {}
        }
        let message = ["message", "Message"].iter().find_map(|key| body.get_str(key))?;
        let class = ["__type", "type", "code"].iter().find_map(|key| body.get_str(key));
        Some(VendorMessage { message: message.into_owned(), class: class.map(std::borrow::Cow::into_owned) })
    }

    fn of_error(error: &Object) -> VendorMessage {
        let text = |key: &str| error.get_str(key).map(std::borrow::Cow::into_owned);
        let number = || error.get("code").and_then(Json::as_number).map(ToString::to_string);
        let class = ["code", "type", "status"].iter().find_map(|key| text(key).filter(|word| !word.is_empty()));
        let message = text("message").or_else(|| text("msg")).unwrap_or_default();
        VendorMessage { message, class: class.or_else(number) }
    }

    fn words(text: impl Into<String>) -> VendorMessage {
        VendorMessage { message: text.into(), class: None }
    }

    /// What an event of a stream, or an answer that should be one, says of an error.
    pub(crate) fn of_event(event: &Json) -> Option<VendorMessage> {
        let event = event.as_object()?;
        match event.get("error") {
            Some(Json::Object(error)) => return Some(VendorMessage::of_error(error)),
            Some(Json::String(text)) => return Some(VendorMessage::words(text.to_str_lossy())),
            _ => {}
        }
        match event.get("type") {
            Some(Json::String(kind)) if kind.is("error") => return Some(VendorMessage::of_error(event)),
            Some(Json::String(kind)) if kind.is("response.failed") => {
                let error = event.get("response")?.as_object()?.get("error")?.as_object();
                return Some(error.map(VendorMessage::of_error).unwrap_or_default());
            }
            _ => {}
        }
        // Bedrock names an event after its exception.
        let (name, payload) = event.iter().next().filter(|_| event.len() == 1)?;
        let name = name.to_str_lossy();
        let message = || payload.as_object().and_then(|payload| payload.get_str("message")).unwrap_or_default();
        name.ends_with("Exception")
            .then(|| VendorMessage { message: message().into_owned(), class: Some(name.to_string()) })
    }

    /// What kind of error it is, where the vendor's words say more than the status.
    pub(crate) fn refined(&self, kind: ProviderErrorKind) -> ProviderErrorKind {
        let class = self.class.as_deref().unwrap_or_default();
        match kind {
            ProviderErrorKind::Invalid | ProviderErrorKind::RequestTooLarge if self.is_overflow() => {
                ProviderErrorKind::ContextOverflow
            }
            _ if class == "overloaded_error" => ProviderErrorKind::Overloaded,
            // A quota that is used up does not come back by waiting.
            ProviderErrorKind::RateLimited if class == "insufficient_quota" => ProviderErrorKind::Unpaid,
            kind => kind,
        }
    }

    /// Whether the history is longer than the model can read, in the words of the vendors.
    fn is_overflow(&self) -> bool {
        const WORDS: &[&str] = &[
            "prompt is too long",
            "input tokens exceeded",
            "exceeds the context window",
            "maximum context length",
            "too many tokens: size limit",
            "total length of all messages is too long",
            "prompt too long",
            "exceeds the available context size",
            "input token count",
            "input is too long",
        ];
        let message = self.message.to_lowercase();
        self.class.as_deref() == Some("context_length_exceeded") || WORDS.iter().any(|words| message.contains(words))
    }

    /// Whether the vendor has forgotten something that the request refers to.
    pub(crate) fn is_forgotten(&self) -> bool {
        let message = self.message.to_lowercase();
        let names = ["previous response", "conversation with id", "container", "previous_response_id"];
        let gone = ["not found", "expired", "no longer", "does not exist", "cannot be used"];
        self.class.as_deref() == Some("previous_response_not_found")
            || names.iter().any(|name| message.contains(name)) && gone.iter().any(|word| message.contains(word))
    }
}

/// How long a `retry-after` wants us to wait: seconds, or a date.
pub(crate) fn retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_seconds_or_a_date() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();

        assert_eq!(retry_after("7", now), Some(Duration::from_secs(7)));
        assert_eq!(retry_after(" 0.5 ", now), Some(Duration::from_millis(500)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(Duration::from_secs(37)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:48:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
        assert_eq!(retry_after("-3", now), None);
    }

    #[test]
    fn vendors_word_their_errors_differently() {
        let told = |text: &str| VendorMessage::of_body(&turnkeep_model::json::parse(text).unwrap().into_json());
        let say = |message: &str, class: Option<&str>| {
            Some(VendorMessage { message: message.to_owned(), class: class.map(str::to_owned) })
        };

        assert_eq!(told(r#"{"error":{"message":"m","type":"t","code":null}}"#), say("m", Some("t")));
        assert_eq!(
            told(r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#),
            say("m", Some("overloaded_error"))
        );
        assert_eq!(
            told(r#"[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]"#),
            say("m", Some("INVALID_ARGUMENT"))
        );
        assert_eq!(told(r#"{"error":"m"}"#), say("m", None));
        assert_eq!(told(r#"{"message":"m","__type":"ValidationException"}"#), say("m", Some("ValidationException")));
        assert_eq!(told(r#"{"detail":[{"loc":["body"],"msg":"m"}]}"#), say("m", None));
        assert_eq!(told(r#"{"detail":"m"}"#), say("m", None));
        assert_eq!(told(r#"{"choices":[]}"#), None);
    }
}
