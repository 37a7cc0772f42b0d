//! Takes secrets out of what is written down.

use super::edit::{Edit, edited, split_over_events, whole};
use super::exchange::Chunk;
use crate::scrub::{HIDDEN, Scrubber as Keys};
use crate::transport::{Header, HeaderValue, HttpRequest};

/// Headers that say who asks, in requests and answers.
const SECRET_HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-goog-user-project",
    "cookie",
    "set-cookie",
    "x-amz-security-token",
    "x-amz-account-id",
    "openai-organization",
    "openai-project",
    "anthropic-organization-id",
    "www-authenticate",
];
/// Keys of a query that carry secrets.
const SECRET_QUERIES: &[&str] = &[
    "key",
    "api-key",
    "api_key",
    "apikey",
    "sig",
    "signature",
    "token",
    "access_token",
    "password",
    "x-amz-signature",
    "x-amz-credential",
    "x-amz-security-token",
];

/// Knows the secrets of the requests that passed.
#[derive(Debug, Clone, Default)]
pub(super) struct Scrubber {
    keys: Keys,
}

impl Scrubber {
    /// Learns a secret.
    pub(super) fn learn(&mut self, secret: &str) {
        self.keys.learn(secret);
    }

    /// Learns what a request keeps secret.
    pub(super) fn learn_from(&mut self, request: &HttpRequest) {
        for header in &request.headers {
            match &header.value {
                HeaderValue::Secret(secret) => self.learn(secret.reveal()),
                HeaderValue::Plain(value) if is_secret(&header.name) => self.learn(value),
                HeaderValue::Plain(_) => {}
            }
        }
        let query = request.url.split_once('?').map(|(_, query)| query).unwrap_or_default();
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| is_secret_query(key)).for_each(|(_, value)| self.learn(value));
    }

    pub(super) fn request_headers(&self, headers: &[Header]) -> Vec<(String, String)> {
        let shown = |header: &Header| match &header.value {
            HeaderValue::Plain(value) if !is_secret(&header.name) => self.text(value),
            HeaderValue::Plain(_) | HeaderValue::Secret(_) => HIDDEN.to_owned(),
        };
        headers.iter().map(|header| (header.name.to_lowercase(), shown(header))).collect()
    }

    pub(super) fn answer_headers(&self, headers: &[(String, String)]) -> Vec<(String, String)> {
        let shown = |name: &str, value: &str| if is_secret(name) { HIDDEN.to_owned() } else { self.text(value) };
        headers.iter().map(|(name, value)| (name.to_lowercase(), shown(name, value))).collect()
    }

    /// The address without user, password and secret parts of its query.
    pub(super) fn url(&self, url: &str) -> String {
        let (place, query) = url.split_once('?').map_or((url, None), |(place, query)| (place, Some(query)));
        let mut scrubbed = self.text(&without_user(place));
        if let Some(query) = query {
            let pairs = query.split('&').map(|pair| match pair.split_once('=') {
                Some((key, _)) if is_secret_query(key) => format!("{key}={HIDDEN}"),
                _ => self.text(pair),
            });
            scrubbed.push('?');
            scrubbed.push_str(&pairs.collect::<Vec<_>>().join("&"));
        }
        scrubbed
    }

    pub(super) fn text(&self, text: &str) -> String {
        self.keys.text(text).into_owned()
    }

    pub(super) fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let whole = Chunk { at: 0, bytes: bytes.to_vec() };
        self.chunks(vec![whole]).into_iter().flat_map(|chunk| chunk.bytes).collect()
    }

    /// Chunks without secrets, also without those that two of them, or two events of a stream, share.
    pub(super) fn chunks(&self, chunks: Vec<Chunk>) -> Vec<Chunk> {
        let spellings = self.keys.spellings().iter();
        let chunks = spellings.fold(chunks, |chunks, secret| {
            let hidden = found(secret.as_bytes(), &whole(&chunks)).into_iter();
            let edits = hidden.map(|at| Edit { range: at..at + secret.len(), bytes: HIDDEN.as_bytes().to_vec() });
            edited(chunks, &edits.collect::<Vec<_>>())
        });
        let escaped = self.keys.escaped(&whole(&chunks)).into_iter();
        let edits: Vec<Edit> = escaped.map(|range| Edit { range, bytes: HIDDEN.as_bytes().to_vec() }).collect();
        let chunks = edited(chunks, &edits);
        let edits = split_over_events(&whole(&chunks), &self.keys);
        edited(chunks, &edits)
    }
}

fn found(needle: &[u8], bytes: &[u8]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= needle.len()) {
        let Some(place) = rest.windows(needle.len()).position(|window| window == needle) else { break };
        places.push(at + place);
        at += place + needle.len();
    }
    places
}

fn is_secret(name: &str) -> bool {
    SECRET_HEADERS.iter().any(|secret| secret.eq_ignore_ascii_case(name))
}

fn is_secret_query(key: &str) -> bool {
    SECRET_QUERIES.iter().any(|secret| secret.eq_ignore_ascii_case(key))
}

fn without_user(place: &str) -> String {
    let Some((scheme, rest)) = place.split_once("://") else { return place.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest.get(..end).and_then(|host| host.rfind('@')) {
        Some(at) => format!("{scheme}://{HIDDEN}{}", rest.get(at..).unwrap_or_default()),
        None => place.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubber() -> Scrubber {
        let mut scrubber = Scrubber::default();
        scrubber.learn("Bearer sk-planted/1");
        scrubber
    }

    #[test]
    fn secrets_leave_addresses() {
        let url = "https://me:pw@host/v1/sk-planted/1?key=abc&alt=sse&x=sk-planted%2F1&api-key=q&SIG=z";
        assert_eq!(scrubber().url(url), "https://****@host/v1/****?key=****&alt=sse&x=****&api-key=****&SIG=****");
    }

    #[test]
    fn a_secret_on_the_border_of_chunks_is_found() {
        let chunk = |at: u64, text: &str| Chunk { at, bytes: text.as_bytes().to_vec() };
        let chunks = vec![chunk(1, "a sk-pl"), chunk(2, "ant"), chunk(3, "ed/1 b sk-planted/1"), chunk(4, " c")];
        let expected = vec![chunk(1, "a ****"), chunk(2, ""), chunk(3, " b ****"), chunk(4, " c")];
        assert_eq!(scrubber().chunks(chunks), expected);
    }

    #[test]
    fn a_secret_that_events_share_is_found() {
        let event = |text: &str| format!("data: {{\"id\": \"s\", \"delta\": {{\"text\": \"{text}\"}}}}\n\n");
        let chunk = |at: u64, text: String| Chunk { at, bytes: text.into_bytes() };
        let chunks = vec![chunk(1, event("a sk-pl")), chunk(2, event("ant")), chunk(3, event("ed/1 b"))];
        let clean = |text: &str| format!("data: {{\"id\":\"s\",\"delta\":{{\"text\":\"{text}\"}}}}\n\n");

        let expected = vec![chunk(1, clean("a ")), chunk(2, clean("")), chunk(3, clean("**** b"))];
        assert_eq!(scrubber().chunks(chunks), expected);
    }

    #[test]
    fn a_stream_without_a_secret_is_left_as_it_is() {
        let bytes = b"data: {\"text\": \"a s\"}\n\ndata: {\"text\":  \"k-plan\"}\n\ndata: [DONE]\n\n";

        assert_eq!(scrubber().bytes(bytes), bytes);
    }
}
