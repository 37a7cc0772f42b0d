//! Where a request goes.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use turnkeep_codec::wire::{Contract, Delivery};

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

impl From<Streaming> for Delivery {
    fn from(streaming: Streaming) -> Delivery {
        match streaming {
            Streaming::On => Delivery::Stream,
            Streaming::Off => Delivery::Whole,
        }
    }
}

impl From<Delivery> for Streaming {
    fn from(delivery: Delivery) -> Streaming {
        match delivery {
            Delivery::Stream => Streaming::On,
            Delivery::Whole => Streaming::Off,
        }
    }
}

/// The address of a request. A base without a path gets the usual one of its wire.
pub(crate) fn address(
    provider: &Provider,
    contract: &Contract,
    base: &str,
    model: &str,
    api_version: Option<&str>,
    streaming: Streaming,
) -> String {
    let base = base.trim_end_matches('/');
    let base =
        if has_path(base) { base.to_owned() } else { format!("{base}{}", usual_path(provider, contract, api_version)) };
    let path = path(contract.route.path(streaming.into()), model);
    match api_version {
        Some(version) if provider.name == "azure" && base.ends_with("/openai") => {
            format!("{base}/deployments/{}{path}?api-version={}", encoded(model), encoded(version))
        }
        Some(version) if provider.name == "azure" => format!("{base}{path}?api-version={}", encoded(version)),
        _ => format!("{base}{path}"),
    }
}

/// The path of a request, with its model where the wire names it there. Google's names may begin with the folder that
/// they stand in.
fn path(pattern: &str, model: &str) -> String {
    let Some((before, after)) = pattern.split_once('*') else { return pattern.to_owned() };
    let name = model.strip_prefix(before.trim_start_matches('/')).unwrap_or(model);
    format!("{before}{}{after}", encoded(name))
}

/// What a path of a wire, with or without a model in it, was made from: the base before it and the model.
pub(crate) fn apart<'a>(url: &'a str, pattern: &str) -> Option<(&'a str, Option<String>)> {
    let Some((before, after)) = pattern.split_once('*') else { return Some((url.strip_suffix(pattern)?, None)) };
    let (base, model) = url.strip_suffix(after)?.rsplit_once(before)?;
    Some((base, Some(decoded(model))))
}

fn usual_path(provider: &Provider, contract: &Contract, api_version: Option<&str>) -> &'static str {
    match (provider.name, api_version) {
        ("azure", Some(_)) => "/openai",
        ("azure", None) => "/openai/v1",
        ("perplexity", _) => "",
        _ => contract.route.base,
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
    utf8_percent_encode(text, BEYOND_UNRESERVED).to_string()
}

/// Every byte but the unreserved ones of RFC 3986.
const BEYOND_UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A piece of a path as it was before it was encoded; what is no escape stays as it is.
pub(crate) fn decoded(piece: &str) -> String {
    percent_decode_str(piece).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(provider: &str, wire: &str, base: &str, model: &str, version: Option<&str>, streaming: Streaming) -> String {
        let contract = turnkeep_codec::format::wire(wire).unwrap().contract();
        address(Provider::by_name(provider).unwrap(), contract, base, model, version, streaming)
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
