//! Listing.

use turnkeep_model::event::SessionChanged;
use turnkeep_model::{Json, Object, Seq, Status};
use turnkeep_store::{Query, Sort, Store, StoreExt};

use super::script::{batch, id, said, talk};

/// Going from page to page shows every session once, though others come, change and go meanwhile.
pub async fn paging_is_stable(store: &dyn Store) {
    for sort in [Sort::Updated, Sort::Created, Sort::Id] {
        for n in 0..10 {
            let mut first = said(Seq(0), "a");
            first.time = said(Seq(n), "").time;
            store.append(&id(&format!("{sort:?}{n}")), Seq::START, &first).await.expect("append");
        }
        let mut query = Query { sort, limit: 3, ..Query::default() };
        let mut seen: Vec<String> = Vec::new();
        loop {
            let page = store.list(&query).await.expect("list");
            assert!(page.sessions.len() <= 3);
            seen.extend(page.sessions.into_iter().map(|summary| summary.id.to_string()));
            disturb(store, sort, &seen).await;
            match page.next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
        let mut old: Vec<&String> = seen.iter().filter(|id| id.starts_with(&format!("{sort:?}"))).collect();
        if sort != Sort::Id {
            old.reverse();
        }
        let wanted: Vec<String> = (0..10).map(|n| format!("{sort:?}{n}")).collect();
        assert_eq!(old, wanted.iter().collect::<Vec<_>>(), "{sort:?}");
    }
}

/// One page holds every session, where that is asked for, and more than a database takes as a number.
pub async fn one_page_can_hold_every_session(store: &dyn Store) {
    let wanted: Vec<String> = (0..120).map(|n| format!("s{n:03}")).collect();
    for name in &wanted {
        store.append(&id(name), Seq::START, &said(Seq::START, "a")).await.expect("append");
    }

    let query = Query { sort: Sort::Id, limit: usize::MAX, ..Query::default() };
    let page = store.list(&query).await.expect("list");

    let listed: Vec<&str> = page.sessions.iter().map(|summary| summary.id.as_str()).collect();
    assert_eq!((listed, page.next), (wanted.iter().map(String::as_str).collect(), None));
}

/// Listing by metadata goes from page to page, and finds every session that matches once.
pub async fn metadata_is_listed_page_by_page(store: &dyn Store) {
    for n in 0..20u64 {
        let mut metadata = Object::new();
        metadata.set("odd", n % 2 == 1);
        let changed = SessionChanged { metadata: Some(metadata), ..SessionChanged::default() };
        let name = id(&format!("s{n:02}"));
        store.append(&name, Seq::START, &batch(Seq::START, vec![changed.into()])).await.expect("append");
    }
    let odd = |metadata: &Object| metadata.get("odd") == Some(&Json::Bool(true));
    let mut query = Query { sort: Sort::Id, limit: 3, ..Query::default() };
    let mut pages: Vec<Vec<String>> = Vec::new();
    loop {
        let page = store.list_by_metadata(&query, &odd).await.expect("list");
        pages.push(page.sessions.iter().map(|summary| summary.id.to_string()).collect());
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    let wanted: [&[&str]; 4] = [&["s01", "s03", "s05"], &["s07", "s09", "s11"], &["s13", "s15", "s17"], &["s19"]];
    assert_eq!(pages, wanted);
}

/// Someone comes, someone who was seen changes, and someone who came before goes. Where the order is not that of
/// changes, one who was not seen yet changes, too.
async fn disturb(store: &dyn Store, sort: Sort, seen: &[String]) {
    let name = |round: usize| id(&format!("new-{sort:?}-{round}"));
    store.append(&name(seen.len()), Seq::START, &said(Seq(50), "n").renumbered()).await.expect("append");
    if seen.len() > 3 {
        store.delete(&name(seen.len().saturating_sub(3))).await.ok();
    }
    let own: Vec<&String> = seen.iter().filter(|id| id.starts_with(&format!("{sort:?}"))).collect();
    let mut changed: Vec<String> = own.last().map(|id| (*id).clone()).into_iter().collect();
    if sort != Sort::Updated {
        changed.extend((0..10).map(|n| format!("{sort:?}{n}")).find(|id| !seen.contains(id)));
    }
    for session in changed.iter().map(|changed| id(changed)) {
        let last = store.last(&session).await.expect("last");
        let mut change = said(last, "changed");
        change.time = said(Seq(55), "").time;
        store.append(&session, last, &change).await.expect("append");
    }
}

trait Renumbered {
    fn renumbered(self) -> Self;
}

impl Renumbered for turnkeep_model::Batch {
    fn renumbered(mut self) -> Self {
        self.seq = Seq(1);
        self
    }
}

/// A listing shows what the journal says: title, labels, status, counts and times.
pub async fn summaries_follow_the_journal(store: &dyn Store) {
    let session = id("s");
    let last = talk(store, &session, 2).await;
    let changed = SessionChanged {
        title: Some("renamed".to_owned()),
        status: Some(Status::Completed(Default::default())),
        tags: Some(vec![("a".to_owned(), "b".to_owned())]),
        ..SessionChanged::default()
    };
    store.append(&session, last, &batch(last, vec![changed.into()])).await.expect("append");

    let summary = store.summary(&session).await.expect("summary");

    assert_eq!(summary.title.as_deref(), Some("renamed"));
    assert_eq!(summary.status.as_deref(), Some("completed"));
    assert_eq!(summary.tags, [("a".to_owned(), "b".to_owned())]);
    assert_eq!((summary.last, summary.turns, summary.blocks), (last.next(), 2, 6));
    assert_eq!(summary.updated - summary.created, 13_000);
    let lines = store.journal(&session).await.expect("journal").batches;
    assert_eq!(summary.bytes, lines.iter().map(|batch| batch.to_line().len() as u64).sum::<u64>());
}

/// Every filter gives the sessions whose summaries it describes.
pub async fn filters_agree_with_summaries(store: &dyn Store) {
    for name in ["Apple pie", "apple tree", "pear"] {
        talk(store, &id(name), 1).await;
    }
    store.fork(&id("pear"), Seq(1), &id("graft")).await.expect("fork");
    let tag = |key: &str, value: Option<&str>| Query {
        tags: vec![(key.to_owned(), value.map(str::to_owned))],
        ..Query::default()
    };
    let table = [
        (Query { text: Some("APPLE".to_owned()), ..Query::default() }, vec!["Apple pie", "apple tree"]),
        (Query { parent: Some(id("pear")), ..Query::default() }, vec!["graft"]),
        (Query { id: Some(id("pear")), ..Query::default() }, vec!["pear"]),
        (Query { status: Some("failed".to_owned()), ..Query::default() }, vec![]),
        (tag("team", Some("pear")), vec!["graft", "pear"]),
        (tag("kind", None), vec!["Apple pie", "apple tree", "graft", "pear"]),
        (tag("kind", Some("x")), vec![]),
        (Query { before: Some(0), ..Query::default() }, vec![]),
        (Query { since: Some(0), ..Query::default() }, vec!["Apple pie", "apple tree", "graft", "pear"]),
    ];

    for (query, wanted) in table {
        let page = store.list(&Query { sort: Sort::Id, ..query.clone() }).await.expect("list");
        let found: Vec<&str> = page.sessions.iter().map(|summary| summary.id.as_str()).collect();
        assert_eq!(found, wanted, "{query:?}");
    }
}
