//! Names of channels: from a session's id and back.

use proptest::prelude::*;
use turnkeep_model::{Seq, SessionId};
use turnkeep_runtime::envelope::{Channel, ChannelKind};
use turnkeep_testkit::for_all;

const KINDS: [ChannelKind; 6] = [
    ChannelKind::Public,
    ChannelKind::Private,
    ChannelKind::Presence,
    ChannelKind::Cache,
    ChannelKind::PrivateCache,
    ChannelKind::PresenceCache,
];

#[test]
fn every_id_has_a_name_that_servers_take_and_that_reads_back() {
    let ids = prop_oneof!["\\PC{0,40}", "[A-Za-z0-9_=@,.;/ -]{0,40}", any::<String>()];
    for_all(512, &(ids, prop::sample::select(KINDS.to_vec()), any::<Option<u64>>()), |(id, kind, after)| {
        let channel = Channel::new(kind, &SessionId::new(id.as_str()));
        let name = after.map_or_else(|| channel.to_string(), |after| format!("{channel}@{after}"));
        let is_legal = |c: char| c.is_ascii_alphanumeric() || "_-=@,.;".contains(c);
        prop_assert!(name.len() <= 164 && name.chars().all(is_legal), "{name}");
        let (read, place) = Channel::parse(&name).unwrap();
        prop_assert_eq!(&read, &channel);
        prop_assert_eq!(place, after.map(Seq));
        prop_assert!(read.is_of(&SessionId::new(id.as_str())));
        match read.session() {
            Some(session) => prop_assert_eq!(session.as_str(), id),
            None => prop_assert!(id.len() > 40, "only a long id is a digest"),
        }
        Ok(())
    });
}

#[test]
fn a_plain_id_stands_there_as_it_is() {
    let id = SessionId::new("0195d7c0-7d3e-7000-8000-000000000001");

    assert_eq!(Channel::public(&id).as_str(), "agent.0195d7c0-7d3e-7000-8000-000000000001");
    assert_eq!(Channel::private(&id).as_str(), "private-agent.0195d7c0-7d3e-7000-8000-000000000001");
}

#[test]
fn an_id_too_long_for_a_name_is_a_digest_that_can_be_compared() {
    let long = SessionId::new("x".repeat(300));
    let channel = Channel::public(&long);

    assert!(channel.as_str().starts_with("agent.=h") && channel.as_str().len() < 60);
    assert!(channel.is_of(&long) && !channel.is_of(&SessionId::new("x".repeat(301))));
    assert_eq!(channel.session(), None);
}

#[test]
fn names_that_are_not_ours_are_none() {
    for name in [
        "",
        "agent",
        "agents.x",
        "private-chat.x",
        "agent.=2f",
        "agent.=",
        "agent.a=41",
        "agent.x@",
        "agent.x@01",
        "agent.x@-1",
        "agent.x@1@2",
        "agent.=hAAAA",
        "agent.a b",
    ] {
        assert_eq!(Channel::parse(name), None, "{name}");
    }
}
