//! Finding what was said, in stores that can search.

use futures_util::FutureExt;
use turnkeep_model::Seq;
use turnkeep_store::{SearchQuery, Store};

use super::script::{answer, found, id, tell, turn_with};

fn at(session: &str, seq: u64) -> (String, u64) {
    (session.to_owned(), seq)
}

/// What was said is found as soon as it was appended: whole words in any case, with or without their accents, and the
/// beginning of the last one.
pub async fn what_was_said_is_found(store: &dyn Store) {
    if store.search().is_none() {
        return;
    }
    let last = tell(store, &id("a"), Seq::START, "The quick brown Fox, na\u{ef}vely").await;
    answer(store, &id("a"), last, "jumps over the lazy dog\0").await;
    tell(store, &id("b"), Seq::START, "A slow fox").await;

    for (text, places) in [
        ("fox", vec![at("a", 1), at("b", 1)]),
        ("FOX quick", vec![at("a", 1)]),
        ("naive", vec![at("a", 1)]),
        ("la", vec![at("a", 2)]),
        ("' | 'fox' <-> \\", vec![at("a", 1), at("b", 1)]),
        ("\" OR *", vec![]),
        ("wolf", vec![]),
    ] {
        assert_eq!(found(store, text).await, places, "{text:?}");
    }
}

/// An index is caught up in steps of many sessions. Whoever stops in between loses nothing, and what is told never
/// exceeds what there was to do.
pub async fn an_index_is_caught_up_in_steps(store: &dyn Store) {
    let Some(search) = store.search() else {
        return;
    };
    for n in 0..40 {
        tell(store, &id(&format!("s{n:02}")), Seq::START, "a needle in every session").await;
    }
    drop(search.catch_up(&mut |_| {}).now_or_never());

    let mut steps = Vec::new();
    search.catch_up(&mut |indexed| steps.push(indexed)).await.expect("catch up");

    assert!(steps.len() <= 2, "{steps:?}");
    assert!(steps.iter().all(|step| step.done <= step.all && step.all <= 40), "{steps:?}");
    let asked = SearchQuery { text: "needle".to_owned(), limit: usize::MAX, ..SearchQuery::default() };
    assert_eq!(search.search(&asked).await.expect("search").len(), 40);
}

/// A hit shows some of the text around the words, and where in it they stand; one of many is shown where one is asked for.
pub async fn hits_show_the_words_where_they_stand(store: &dyn Store) {
    let Some(search) = store.search() else {
        return;
    };
    let long = format!("{} needle {}", "before ".repeat(50), "after ".repeat(50));
    let last = tell(store, &id("a"), Seq::START, &long).await;
    answer(store, &id("a"), last, "jumps over the lazy dog\0").await;
    tell(store, &id("b"), Seq::START, "a needle and a lazy thread").await;

    for (text, cut) in [("needle", true), ("lazy", false)] {
        let asked = SearchQuery { text: text.to_owned(), session: Some(id("a")), limit: 1 };
        let hits = search.search(&asked).await.expect("search");
        let [hit] = &hits[..] else { panic!("{hits:?}") };
        let marked: Vec<Option<&str>> = hit.marks.iter().map(|mark| hit.snippet.get(mark.clone())).collect();
        assert_eq!((hit.session.as_str(), marked), ("a", vec![Some(text)]), "{hit:?}");
        let ends = (hit.snippet.starts_with('\u{2026}'), hit.snippet.ends_with('\u{2026}'));
        assert_eq!(ends, (cut, cut), "{hit:?}");
    }
}

/// What is deleted is found no more; what forks share is found under them, once their parent is gone.
pub async fn what_is_deleted_is_found_no_more(store: &dyn Store) {
    if store.search().is_none() {
        return;
    }
    let last = tell(store, &id("a"), Seq::START, "shared word").await;
    answer(store, &id("a"), last, "own word").await;
    store.fork(&id("a"), Seq(1), &id("fork")).await.expect("fork");
    assert_eq!(found(store, "word").await, [at("a", 1), at("a", 2)]);

    store.delete(&id("a")).await.expect("delete");
    assert_eq!(found(store, "word").await, [at("fork", 1)]);

    store.delete(&id("fork")).await.expect("delete");
    assert_eq!(found(store, "word").await, []);
}

/// Any text is a query: signs mean nothing, and a query without words finds nothing.
pub async fn any_text_can_be_searched_for(store: &dyn Store) {
    if store.search().is_none() {
        return;
    }
    let text = "Ünïcode don't \"AND\" near(x) 50% naïve 日本語 emoji\u{1F600} C++ a_b tab\there";
    store.append(&id("s"), Seq::START, &turn_with(Seq(0), text)).await.expect("append");

    for text in
        ["unicode", "ÜNÏCODE", "don't", "\"and\"", "AND", "NEAR(x)", "near", "naive", "日本語", "c++", "a_b", "50%"]
    {
        assert_eq!(found(store, text).await.len(), 1, "{text:?}");
    }
    for text in ["", " ", "\"", "'", "*", "^", "-", "()", "\0", "\u{1F600}", "wolf", "and OR wolf", "NOT unicode2"] {
        assert_eq!(found(store, text).await, [], "{text:?}");
    }
    // Whatever they mean, they are no errors.
    for text in
        ["\"unicode", "unicode*", "unicode -naive", "text:unicode", "{x y}:z", "a\0b", "(unicode", "&|!<->", "\\"]
    {
        found(store, text).await;
    }
    found(store, &"word ".repeat(20_000)).await;
    found(store, &"x".repeat(1_000_000)).await;
}
