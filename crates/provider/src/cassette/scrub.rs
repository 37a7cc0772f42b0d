//! Takes secrets out of what is written down.

use super::exchange::Chunk;
use crate::transport::{Header, HeaderValue, HttpRequest};

/// What stands where a secret stood.
const HIDDEN: &str = "****";
/// Shorter texts are no secrets, and would be found everywhere.
const SHORTEST: usize = 4;

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

/// Knows secrets in the spellings they may have in a body or an address.
#[derive(Debug, Clone, Default)]
pub(super) struct Scrubber {
    spellings: Vec<String>,
}

impl Scrubber {
    /// Learns a secret.
    pub(super) fn learn(&mut self, secret: &str) {
        let bare = ["Bearer ", "Basic "].iter().find_map(|scheme| secret.strip_prefix(scheme)).unwrap_or(secret);
        if bare.len() < SHORTEST {
            return;
        }
        let escaped = turnkeep_model::Json::from(bare).to_text();
        let spellings = [bare.to_owned(), escaped.trim_matches('"').to_owned(), percent(bare)];
        self.spellings.extend(spellings);
        // The longest first: a secret may be part of another.
        self.spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
        self.spellings.dedup();
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
        self.spellings.iter().fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }

    pub(super) fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let whole = Chunk { at: 0, bytes: bytes.to_vec() };
        self.chunks(vec![whole]).into_iter().flat_map(|chunk| chunk.bytes).collect()
    }

    /// Chunks without secrets, also without those that two of them share: such a chunk ends where the secret does.
    pub(super) fn chunks(&self, chunks: Vec<Chunk>) -> Vec<Chunk> {
        self.spellings.iter().fold(chunks, |chunks, secret| without(secret.as_bytes(), chunks))
    }
}

fn without(secret: &[u8], mut chunks: Vec<Chunk>) -> Vec<Chunk> {
    let whole: Vec<u8> = chunks.iter().flat_map(|chunk| chunk.bytes.iter().copied()).collect();
    let places: Vec<usize> = found(secret, &whole);
    if places.is_empty() {
        return chunks;
    }
    let mut at = 0;
    for chunk in &mut chunks {
        let (from, to) = (at, at + chunk.bytes.len());
        at = to;
        chunk.bytes = scrubbed(&whole, (from, to), &places, secret.len());
    }
    chunks
}

/// What is left between two places: a secret is hidden in the chunk where it begins.
fn scrubbed(whole: &[u8], (from, to): (usize, usize), places: &[usize], length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut at = from;
    for place in places.iter().copied().filter(|place| place + length > from && *place < to) {
        bytes.extend_from_slice(whole.get(at..place.max(at)).unwrap_or_default());
        if place >= from {
            bytes.extend_from_slice(HIDDEN.as_bytes());
        }
        at = place + length;
    }
    bytes.extend_from_slice(whole.get(at.min(to)..to).unwrap_or_default());
    bytes
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

fn percent(text: &str) -> String {
    let spelled = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(spelled).collect()
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
}
