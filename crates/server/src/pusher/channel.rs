//! Names of channels: who may listen, whether the last event is kept, and which session it tells of.

use std::sync::Arc;

/// How long a name may be.
pub const LONGEST: usize = 200;

/// Who may listen on a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Everybody.
    Public,
    /// Those with a signature.
    Private,
    /// Those with a signature, who see each other.
    Presence,
    /// Those with a signature and a key of their own: events pass through as they are.
    Encrypted,
}

/// Whether the last event of a channel is kept for those who come late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cache {
    /// It is.
    Last,
    /// It is not.
    None,
}

/// How names begin, the longest first: one prefix begins with another.
const PREFIXES: &[(&str, Access, Cache)] = &[
    ("private-encrypted-cache-", Access::Encrypted, Cache::Last),
    ("private-encrypted-", Access::Encrypted, Cache::None),
    ("private-cache-", Access::Private, Cache::Last),
    ("presence-cache-", Access::Presence, Cache::Last),
    ("private-", Access::Private, Cache::None),
    ("presence-", Access::Presence, Cache::None),
    ("cache-", Access::Public, Cache::Last),
    ("", Access::Public, Cache::None),
];

/// What stands before the id of a session.
const AGENT: &str = "agent.";

/// A channel, as its name describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    name: Arc<str>,
    /// How much of the name is left without `@41`.
    base: usize,
    /// Where the id of the session begins.
    session: Option<usize>,
    after: Option<u64>,
    access: Access,
    cache: Cache,
}

impl Channel {
    /// The channel of this name; `None` where no channel can be called so.
    pub fn parse(name: &str) -> Option<Channel> {
        let fits = (1..=LONGEST).contains(&name.len()) && name.bytes().all(is_legal);
        let (prefix, access, cache) = PREFIXES.iter().find(|(prefix, ..)| name.starts_with(prefix)).filter(|_| fits)?;
        let rest = name.strip_prefix(prefix).filter(|rest| !rest.is_empty())?;
        let plain =
            Channel { name: name.into(), base: name.len(), session: None, after: None, access: *access, cache: *cache };
        let Some(id) = rest.strip_prefix(AGENT).filter(|_| *access != Access::Encrypted) else { return Some(plain) };
        let (id, after) = split_place(id);
        let session = prefix.len() + AGENT.len();
        Some(Channel { session: (!id.is_empty()).then_some(session), base: session + id.len(), after, ..plain })
    }

    /// The whole name, as the client said it.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The name without the place to begin at: all who listen there hear the same.
    pub fn base(&self) -> &str {
        self.name.get(..self.base).unwrap_or(&self.name)
    }

    /// The name of the session it tells of, in the spelling of channels.
    pub fn session(&self) -> Option<&str> {
        self.session.and_then(|start| self.name.get(start..self.base))
    }

    /// The record after which the reader begins: 41 in `private-agent.x@41`.
    pub fn after(&self) -> Option<u64> {
        self.after
    }

    /// Who may listen.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Whether a signature is needed to listen.
    pub fn is_guarded(&self) -> bool {
        self.access != Access::Public
    }

    /// Whether listeners see each other.
    pub fn is_presence(&self) -> bool {
        self.access == Access::Presence
    }

    /// Whether its last event is kept.
    pub fn is_cache(&self) -> bool {
        self.cache == Cache::Last
    }
}

fn is_legal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-=@,.;".contains(&byte)
}

/// Takes `@41` off an id. Another spelling of a number is not a place, so that a place has one name.
fn split_place(id: &str) -> (&str, Option<u64>) {
    let place = id.rsplit_once('@').and_then(|(id, place)| {
        let number: u64 = place.parse().ok()?;
        (number.to_string() == place).then_some((id, number))
    });
    place.map_or((id, None), |(id, number)| (id, Some(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_says_who_listens_and_what_is_kept() {
        let table = [
            ("news", Access::Public, Cache::None),
            ("cache-news", Access::Public, Cache::Last),
            ("private-news", Access::Private, Cache::None),
            ("private-cache-news", Access::Private, Cache::Last),
            ("presence-room", Access::Presence, Cache::None),
            ("presence-cache-room", Access::Presence, Cache::Last),
            ("private-encrypted-x", Access::Encrypted, Cache::None),
            ("private-encrypted-cache-x", Access::Encrypted, Cache::Last),
            ("privates", Access::Public, Cache::None),
            ("cached", Access::Public, Cache::None),
        ];
        for (name, access, cache) in table {
            let channel = Channel::parse(name).unwrap();

            assert_eq!((channel.access(), channel.cache, channel.session()), (access, cache, None), "{name}");
            assert_eq!(channel.base(), name);
        }
    }

    #[test]
    fn names_that_no_channel_has_are_refused() {
        let long = "a".repeat(LONGEST + 1);
        for name in
            ["", "a b", "a/b", "a:b", "#server-to-user-1", "å", "private-", "presence-", "cache-", long.as_str()]
        {
            assert_eq!(Channel::parse(name), None, "{name}");
        }
        assert!(Channel::parse(&"a".repeat(LONGEST)).is_some());
    }

    #[test]
    fn the_name_of_a_session_may_say_where_to_begin() {
        let table = [
            ("agent.x", Some("x"), None, "agent.x"),
            ("private-agent.x@41", Some("x"), Some(41), "private-agent.x"),
            ("presence-agent.a=2Fb@0", Some("a=2Fb"), Some(0), "presence-agent.a=2Fb"),
            ("private-agent.a@b@7", Some("a@b"), Some(7), "private-agent.a@b"),
            ("private-agent.x@041", Some("x@041"), None, "private-agent.x@041"),
            ("private-agent.x@-1", Some("x@-1"), None, "private-agent.x@-1"),
            ("private-agent.x@", Some("x@"), None, "private-agent.x@"),
            ("private-agent.@4", None, Some(4), "private-agent."),
            (
                "private-agent.x@99999999999999999999",
                Some("x@99999999999999999999"),
                None,
                "private-agent.x@99999999999999999999",
            ),
            ("private-encrypted-agent.x@4", None, None, "private-encrypted-agent.x@4"),
            ("private-news@4", None, None, "private-news@4"),
        ];
        for (name, session, after, base) in table {
            let channel = Channel::parse(name).unwrap();

            assert_eq!((channel.session(), channel.after(), channel.base()), (session, after, base), "{name}");
        }
    }
}
