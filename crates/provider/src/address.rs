//! Where a request goes.

use std::fmt::Write;

use crate::providers::Provider;

/// Whether an answer arrives piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streaming {
    /// As it is made.
    #[default]
    On,
    /// All at once.
    Off,
}

/// The address of a request. A base without a path gets the usual one of its wire.
pub(crate) fn address(
    provider: &Provider,
    wire: &str,
    base: &str,
    model: &str,
    api_version: Option<&str>,
    streaming: Streaming,
) -> String {
    let base = base.trim_end_matches('/');
    let base =
        if has_path(base) { base.to_owned() } else { format!("{base}{}", usual_path(provider, wire, api_version)) };
    let streams = streaming == Streaming::On;
    let path = match wire {
        "openai.responses" => "/responses".to_owned(),
        "anthropic.messages" => "/messages".to_owned(),
        "gemini.contents" => {
            let name = model.strip_prefix("models/").unwrap_or(model);
            let action = if streams { "streamGenerateContent?alt=sse" } else { "generateContent" };
            format!("/models/{}:{action}", encoded(name))
        }
        "ollama.chat" => "/api/chat".to_owned(),
        "bedrock.converse" => {
            format!("/model/{}/{}", encoded(model), if streams { "converse-stream" } else { "converse" })
        }
        _ => "/chat/completions".to_owned(),
    };
    match api_version {
        Some(version) if provider.name == "azure" && base.ends_with("/openai") => {
            format!("{base}/deployments/{}{path}?api-version={}", encoded(model), encoded(version))
        }
        Some(version) if provider.name == "azure" => format!("{base}{path}?api-version={}", encoded(version)),
        _ => format!("{base}{path}"),
    }
}

fn usual_path(provider: &Provider, wire: &str, api_version: Option<&str>) -> &'static str {
    match (provider.name, wire, api_version) {
        ("azure", _, Some(_)) => "/openai",
        ("azure", _, None) => "/openai/v1",
        ("perplexity", ..) | (_, "ollama.chat" | "bedrock.converse", _) => "",
        (_, "gemini.contents", _) => "/v1beta",
        _ => "/v1",
    }
}

fn has_path(base: &str) -> bool {
    base.split_once("://").map_or(base, |(_, rest)| rest).contains('/')
}

/// The host of an address, with its port where that is not the usual one.
pub(crate) fn host_of(url: &str) -> &str {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let usual = match scheme {
        "https" => ":443",
        "http" => ":80",
        _ => "",
    };
    host.strip_suffix(usual).unwrap_or(host)
}

/// A text as a piece of a path: everything but letters, digits and `-._~` is written in hexadecimal.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(provider: &str, wire: &str, base: &str, model: &str, version: Option<&str>, streaming: Streaming) -> String {
        address(Provider::by_name(provider).unwrap(), wire, base, model, version, streaming)
    }

    #[test]
    fn every_wire_has_its_address() {
        use Streaming::{Off, On};
        let rows = [
            (
                of("openai", "openai.responses", "https://api.openai.com/v1", "m", None, On),
                "https://api.openai.com/v1/responses",
            ),
            (
                of("groq", "openai.chat", "https://api.groq.com/openai/v1/", "m", None, On),
                "https://api.groq.com/openai/v1/chat/completions",
            ),
            (
                of("openai-compatible", "openai.chat", "http://localhost:8000", "m", None, Off),
                "http://localhost:8000/v1/chat/completions",
            ),
            (
                of("anthropic", "anthropic.messages", "https://api.anthropic.com", "m", None, On),
                "https://api.anthropic.com/v1/messages",
            ),
            (
                of("google", "gemini.contents", "https://g.test/v1beta", "models/gemini-3", None, On),
                "https://g.test/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
            ),
            (
                of("google", "gemini.contents", "https://g.test", "gemini-3", None, Off),
                "https://g.test/v1beta/models/gemini-3:generateContent",
            ),
            (of("ollama", "ollama.chat", "http://localhost:11434", "m", None, On), "http://localhost:11434/api/chat"),
            (
                of("bedrock", "bedrock.converse", "https://b.test", "us.anthropic.claude:0", None, On),
                "https://b.test/model/us.anthropic.claude%3A0/converse-stream",
            ),
            (of("bedrock", "bedrock.converse", "https://b.test", "m", None, Off), "https://b.test/model/m/converse"),
            (
                of("azure", "openai.chat", "https://r.test", "gpt 5", Some("2024-10-21"), On),
                "https://r.test/openai/deployments/gpt%205/chat/completions?api-version=2024-10-21",
            ),
            (of("azure", "openai.chat", "https://r.test", "m", None, On), "https://r.test/openai/v1/chat/completions"),
        ];
        for (made, expected) in rows {
            assert_eq!(made, expected);
        }
    }

    #[test]
    fn a_host_is_told_without_the_usual_port() {
        let hosts =
            ["https://a.test/x", "https://a.test:443/x", "http://a.test:8080?y", "http://u:p@a.test"].map(host_of);

        assert_eq!(hosts, ["a.test", "a.test", "a.test:8080", "a.test"]);
    }
}
