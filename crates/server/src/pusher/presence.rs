//! Who is on a presence channel. A user with several connections is one member.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::app::Limits;
use super::frame::quote;

/// A user, as the signed data of a subscription tells of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Who it is.
    pub user: Arc<str>,
    /// What the others are told, as JSON.
    pub info: Arc<str>,
}

#[derive(Deserialize)]
struct ChannelData<'a> {
    #[serde(borrow)]
    user_id: &'a RawValue,
    #[serde(borrow)]
    user_info: Option<&'a RawValue>,
}

impl Member {
    /// Reads `channel_data`. An id is a text or a number.
    pub fn parse(data: &str, limits: &Limits) -> Option<Member> {
        let data: ChannelData<'_> = serde_json::from_str(data).ok()?;
        let raw = data.user_id.get();
        let user = match serde_json::from_str::<String>(raw) {
            Ok(text) => text,
            Err(_) => serde_json::from_str::<serde_json::Number>(raw).ok()?.to_string(),
        };
        let info = data.user_info.map_or("null", RawValue::get);
        let fits = !user.is_empty() && user.len() <= limits.user_id && info.len() <= limits.user_info;
        fits.then(|| Member { user: user.into(), info: info.into() })
    }

    /// The data of `pusher_internal:member_added`.
    pub(super) fn added(&self) -> String {
        format!(r#"{{"user_id":{},"user_info":{}}}"#, quote(&self.user), self.info)
    }

    /// The data of `pusher_internal:member_removed`.
    pub(super) fn removed(user: &str) -> String {
        format!(r#"{{"user_id":{}}}"#, quote(user))
    }
}

/// Whether a connection changed who is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It was the first, or the last, of its user.
    Member,
    /// Its user has others.
    Connection,
}

/// There is no room for another user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

/// The users of a channel, each with how many connections they have.
#[derive(Debug, Default)]
pub(super) struct Members {
    users: BTreeMap<Arc<str>, (Arc<str>, usize)>,
}

impl Members {
    pub(super) fn join(&mut self, member: &Member, most: usize) -> Result<Change, Full> {
        if let Some((_, connections)) = self.users.get_mut(&member.user) {
            *connections += 1;
            return Ok(Change::Connection);
        }
        if self.users.len() >= most {
            return Err(Full);
        }
        self.users.insert(member.user.clone(), (member.info.clone(), 1));
        Ok(Change::Member)
    }

    pub(super) fn leave(&mut self, user: &str) -> Change {
        match self.users.get_mut(user) {
            Some((_, connections)) if *connections > 1 => {
                *connections -= 1;
                Change::Connection
            }
            _ => {
                self.users.remove(user);
                Change::Member
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.users.len()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.users.keys().map(AsRef::as_ref)
    }

    /// The data of a subscription that succeeded.
    pub(super) fn to_json(&self) -> String {
        let ids: Vec<String> = self.ids().map(quote).collect();
        let hash: Vec<String> = self.users.iter().map(|(id, (info, _))| format!("{}:{info}", quote(id))).collect();
        let (count, ids, hash) = (self.len(), ids.join(","), hash.join(","));
        format!(r#"{{"presence":{{"count":{count},"ids":[{ids}],"hash":{{{hash}}}}}}}"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(data: &str) -> Option<Member> {
        Member::parse(data, &Limits::default())
    }

    #[test]
    fn the_id_of_a_user_is_a_text_or_a_number() {
        let named = |user: &str, info: &str| Some(Member { user: user.into(), info: info.into() });

        assert_eq!(member(r#"{"user_id":10,"user_info":{"name":"A"}}"#), named("10", r#"{"name":"A"}"#));
        assert_eq!(member(r#"{"user_id":"7"}"#), named("7", "null"));
        for data in
            ["", "{}", "[]", r#"{"user_id":null}"#, r#"{"user_id":""}"#, r#"{"user_id":{}}"#, r#"{"user_id":true}"#]
        {
            assert_eq!(member(data), None, "{data}");
        }
    }

    #[test]
    fn what_is_told_of_a_user_has_a_limit() {
        let long = "x".repeat(1025);

        assert_eq!(member(&format!(r#"{{"user_id":"{}"}}"#, "x".repeat(129))), None);
        assert_eq!(member(&format!(r#"{{"user_id":"7","user_info":"{long}"}}"#)), None);
    }

    #[test]
    fn a_user_with_two_connections_is_one_member() {
        let (a, b) =
            (member(r#"{"user_id":"7","user_info":{"name":"A"}}"#).unwrap(), member(r#"{"user_id":8}"#).unwrap());
        let mut members = Members::default();

        assert_eq!(
            [members.join(&a, 2), members.join(&a, 2), members.join(&b, 2)],
            [Ok(Change::Member), Ok(Change::Connection), Ok(Change::Member)]
        );
        assert_eq!(members.to_json(), r#"{"presence":{"count":2,"ids":["7","8"],"hash":{"7":{"name":"A"},"8":null}}}"#);
        assert_eq!(members.join(&member(r#"{"user_id":9}"#).unwrap(), 2), Err(Full));
        assert_eq!(
            [members.leave("7"), members.leave("7"), members.leave("8")],
            [Change::Connection, Change::Member, Change::Member]
        );
        assert_eq!(members.len(), 0);
    }
}
