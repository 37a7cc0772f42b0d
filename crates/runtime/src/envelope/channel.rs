//! Names of channels: from a session's id and back.
//!
//! A channel's name holds few characters (`A-Z a-z 0-9 _ - = @ , . ;`) and is short; a session's id is any text. What no
//! name can hold is written as `=` and two hexadecimal digits a byte, as is `@`, behind which a name says where its reader
//! begins. An id that is too long even so stands there as a digest, which cannot be read back: whoever has the id compares.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use turnkeep_model::{Seq, SessionId};

/// How long an encoded id may be: with the longest prefix and a place, the name stays within the 164 characters that every
/// server takes.
const LONGEST: usize = 122;

/// What marks the digest of an id. No encoded byte begins so: its digits are in upper case.
const DIGEST: &str = "=h";

/// The kinds of channels, with how their names begin. One prefix may be the end of another, so the longest is tried first.
const PREFIXES: [(ChannelKind, &str); 6] = [
    (ChannelKind::PresenceCache, "presence-cache-agent."),
    (ChannelKind::PrivateCache, "private-cache-agent."),
    (ChannelKind::Presence, "presence-agent."),
    (ChannelKind::Private, "private-agent."),
    (ChannelKind::Cache, "cache-agent."),
    (ChannelKind::Public, "agent."),
];

/// Who may listen on a channel, and whether it keeps its last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ChannelKind {
    /// Everybody.
    #[default]
    Public,
    /// Those whom an application has authorised.
    Private,
    /// The same, and they see each other.
    Presence,
    /// Everybody, and who comes late gets the last event.
    Cache,
    /// Those who are authorised, and who comes late gets the last event.
    PrivateCache,
    /// The same, and they see each other.
    PresenceCache,
}

impl ChannelKind {
    /// How names of this kind begin.
    pub fn prefix(self) -> &'static str {
        PREFIXES.iter().find(|(kind, _)| *kind == self).map_or("agent.", |(_, prefix)| prefix)
    }
}

/// The name of a channel that tells of one session.
///
/// ```
/// use turnkeep_runtime::envelope::{Channel, ChannelKind};
///
/// let channel = Channel::new(ChannelKind::Private, &"a/b".into());
/// assert_eq!(channel.as_str(), "private-agent.a=2Fb");
/// assert_eq!(Channel::parse("private-agent.a=2Fb@41").unwrap().0.session(), Some("a/b".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Channel {
    kind: ChannelKind,
    name: String,
}

impl Channel {
    /// The channel of a session.
    pub fn new(kind: ChannelKind, session: &SessionId) -> Channel {
        Channel { kind, name: format!("{}{}", kind.prefix(), encode(session)) }
    }

    /// `agent.{id}`: the channel of a session that everybody may hear.
    pub fn public(session: &SessionId) -> Channel {
        Channel::new(ChannelKind::Public, session)
    }

    /// `private-agent.{id}`.
    pub fn private(session: &SessionId) -> Channel {
        Channel::new(ChannelKind::Private, session)
    }

    /// The channel that a name stands for, and the place after which its reader begins (`@41`); `None` where the name is none
    /// of ours.
    pub fn parse(name: &str) -> Option<(Channel, Option<Seq>)> {
        let (kind, prefix) = PREFIXES.iter().find(|(_, prefix)| name.starts_with(prefix))?;
        let (name, after) = match name.split_once('@') {
            None => (name, None),
            Some((name, after)) => (name, Some(place(after)?)),
        };
        let encoded = name.strip_prefix(prefix)?;
        let is_ours = is_digest(encoded) || decode(encoded).is_some_and(|id| encode(&id) == encoded);
        is_ours.then(|| (Channel { kind: *kind, name: name.to_owned() }, after))
    }

    /// Who may listen.
    pub fn kind(&self) -> ChannelKind {
        self.kind
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The session it tells of; `None` where its id was too long for a name.
    pub fn session(&self) -> Option<SessionId> {
        decode(self.name.strip_prefix(self.kind.prefix())?)
    }

    /// Whether it tells of this session.
    pub fn is_of(&self, session: &SessionId) -> bool {
        *self == Channel::new(self.kind, session)
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A place as it is written in a name: digits without a sign or a leading zero.
fn place(text: &str) -> Option<Seq> {
    let place: u64 = text.parse().ok()?;
    (place.to_string() == text).then_some(Seq(place))
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-,.;".contains(&byte)
}

fn encode(session: &SessionId) -> String {
    let mut name = String::new();
    for byte in session.as_str().bytes() {
        match is_plain(byte) {
            true => name.push(char::from(byte)),
            false => name.push_str(&format!("={byte:02X}")),
        }
    }
    if name.len() <= LONGEST {
        return name;
    }
    format!("{DIGEST}{}", URL_SAFE_NO_PAD.encode(Sha256::digest(session.as_str())))
}

fn is_digest(encoded: &str) -> bool {
    let digest = encoded.strip_prefix(DIGEST).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    digest.is_some_and(|bytes| bytes.len() == 32)
}

fn decode(encoded: &str) -> Option<SessionId> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'=' => {
                let (digits, after) = after.split_at_checked(2)?;
                bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
                rest = after;
            }
            plain => {
                bytes.push(plain);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok().map(SessionId::new)
}
