//! Loading what was stored.

use std::thread;

use futures_util::TryStreamExt;
use proptest::prelude::*;
use turnkeep_model::{Batch, Head, Journal, Ledger, Seq, Session, SessionId, Turn, expanded, fold};
use turnkeep_store::{Condensed, ErrorKind, Imported, Query, Sort, Store, StoreExt};

use super::script::{id, said, talk};
use crate::generate;
use crate::home::Home;
use crate::property::for_all;

/// Loading gives the fold of the journal, and its ledger.
pub async fn load_is_the_fold(store: &dyn Store) {
    let session = id("s");
    talk(store, &session, 7).await;

    let loaded = store.load(&session).await.expect("load");

    let journal = store.journal(&session).await.expect("journal");
    let mut told = fold(&journal).expect("the journal folds");
    told.id = Some(session.clone());
    assert_eq!(loaded.session, told);
    assert_eq!((loaded.seq, loaded.ledger), (journal.last(), Ledger::of(&journal)));
    let early = store.load_at(&session, Seq(7)).await.expect("load");
    assert_eq!((early.session.turns.len(), early.seq), (1, Seq(7)));
}

/// A window is the end of what loading gives, with everything that is not turns.
pub async fn windows_are_the_end(store: &dyn Store) {
    let session = id("s");
    let last = talk(store, &session, 90).await;
    store.fork(&session, Seq(last.0 - 6), &id("fork")).await.expect("fork");
    store.append(&id("fork"), Seq(last.0 - 6), &said(Seq(last.0 - 6), "on")).await.expect("append");

    for name in [&session, &id("fork")] {
        let whole = store.load(name).await.expect("load");
        for turns in [0, 1, 5, 89, 90, 200] {
            let window = store.load_window(name, turns).await.expect("window");
            let first = whole.session.turns.len().saturating_sub(turns as usize);
            assert_eq!(Some(&window.head.session.turns[..]), whole.session.turns.get(first..), "{name} {turns}");
            assert_eq!(window.first as usize, first);
            assert_eq!((window.head.seq, &window.head.session.logs), (whole.seq, &whole.session.logs));
            assert_eq!(window.head.turns as usize, whole.session.turns.len());
        }
    }
    if let Some(cache) = store.head_cache() {
        let cached = cache.head(&session).await.expect("head");
        cache.forget().await.expect("forget");
        assert_eq!(cache.head(&session).await.expect("head"), cached);
        let mut told = Head::default();
        for record in store.journal(&session).await.expect("journal").records() {
            told.apply(record.seq, &record.event).expect("the journal folds");
        }
        assert_eq!(cached, told);
    }
}

/// Any journal comes back byte for byte.
pub fn generated_journals_come_back(home: &Home) {
    let store = home.open();
    let number = std::cell::Cell::new(0);
    for_all(40, &generate::journal(), |mut journal| {
        if journal.batches.is_empty() {
            return Ok(());
        }
        number.set(number.get() + 1);
        let session = SessionId::new(format!("s{}", number.get()));
        journal.session = Some(session.clone());
        let back = pollster::block_on(async {
            let imported = store.import(&journal).await?;
            prop_assert_eq!(imported, Imported::New(session.clone()));
            Ok::<Journal, TestCaseError>(store.journal(&session).await?)
        })?;
        let lines = |journal: &Journal| journal.batches.iter().map(Batch::to_line).collect::<Vec<_>>();
        prop_assert_eq!(lines(&back), lines(&journal));
        Ok(())
    });
}

/// The turns that are read one by one are those that the whole journal folds to, with summaries and without.
pub fn turns_come_one_by_one_as_they_fold(home: &Home) {
    let store = home.open();
    let number = std::cell::Cell::new(0);
    for_all(60, &generate::journal(), |mut journal| {
        if journal.batches.is_empty() {
            return Ok(());
        }
        number.set(number.get() + 1);
        let session = SessionId::new(format!("s{}", number.get()));
        journal.session = Some(session.clone());
        let read = async |condensed| {
            let outline = store.outline(&session, condensed).await?;
            let turns: Vec<Turn> = store.turns(&session, &outline).try_collect().await?;
            Ok::<_, TestCaseError>(Session { turns, ..outline.session })
        };
        let (folded, originals) = pollster::block_on(async {
            store.import(&journal).await?;
            Ok::<_, TestCaseError>((read(Condensed::Summary).await?, read(Condensed::Originals).await?))
        })?;
        let named = |told: Session| Session { id: Some(session.clone()), ..told };
        prop_assert_eq!(folded, named(fold(&journal)?));
        prop_assert_eq!(originals, named(expanded(&journal)?));
        Ok(())
    });
}

/// The lines of a stored journal are those that its file has.
pub async fn lines_are_those_of_the_journal(store: &dyn Store) {
    let session = id("s");
    talk(store, &session, 3).await;

    let lines: Vec<String> = store.lines(&session).try_collect().await.expect("lines");

    let journal = store.journal(&session).await.expect("journal");
    let wanted: Vec<String> =
        std::iter::once(journal.head_line()).chain(journal.batches.iter().map(Batch::to_line)).collect();
    assert_eq!(lines, wanted);
    let missing = store.lines(&id("nobody")).try_collect::<Vec<String>>().await.expect_err("there is none");
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

/// The same journal twice is one session; another one under its id is another session.
pub async fn imports_of_one_journal_are_one(store: &dyn Store) {
    let journal = |line: &str, session: Option<&str>| Journal {
        session: session.map(id),
        batches: vec![said(Seq(0), line), said(Seq(1), "more")],
        ..Journal::default()
    };

    let first = store.import(&journal("a", Some("s"))).await.expect("import");
    store.append(&id("s"), Seq(2), &said(Seq(2), "went on")).await.expect("append");
    let again = store.import(&journal("a", Some("s"))).await.expect("import");
    let other = store.import(&journal("b", Some("s"))).await.expect("import");
    let other_again = store.import(&journal("b", Some("s"))).await.expect("import");
    let nameless = store.import(&journal("c", None)).await.expect("import");
    let nameless_again = store.import(&journal("c", None)).await.expect("import");

    assert_eq!((first, again), (Imported::New(id("s")), Imported::Known(id("s"))));
    assert!(matches!(&other, Imported::New(name) if *name != id("s")), "{other:?}");
    assert_eq!(other_again, Imported::Known(other.session().clone()));
    assert_eq!(nameless_again, Imported::Known(nameless.session().clone()));
}

/// Several who import the same journal at once make one session; what has no record is no session.
pub async fn imports_at_once_are_one(store: &dyn Store) {
    let batches: Vec<Batch> = (0..12).map(|at| said(Seq(at), "line")).collect();
    let named = Journal { session: Some(id("s")), batches: batches.clone(), ..Journal::default() };
    let nameless = Journal { batches, ..Journal::default() };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for journal in [&named, &nameless] {
                    pollster::block_on(store.import(journal)).expect("import");
                }
            });
        }
    });

    let empty = store.import(&Journal { session: Some(id("empty")), ..Journal::default() }).await;

    assert_eq!(empty.expect_err("a journal without a record").kind(), ErrorKind::Unsupported);
    let listed = store.list(&Query { sort: Sort::Id, ..Query::default() }).await.expect("list").sessions;
    let unnamed = store.import(&nameless).await.expect("import");
    assert!(matches!(unnamed, Imported::Known(_)), "{unnamed:?}");
    assert_eq!(listed.iter().map(|summary| &summary.id).collect::<Vec<_>>(), [unnamed.session(), &id("s")]);
    assert!(listed.iter().all(|summary| summary.last == Seq(12)), "{listed:?}");
}
