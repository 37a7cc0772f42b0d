//! An agent that dies anywhere, and is resumed: every write and every wait of a turn with three parallel calls, of consent
//! from another process and of a fork is a point of death, for every effect, every policy and every store.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::Session;
use turnkeep_runtime::Recorder;
use turnkeep_store::{Store, open};
use turnkeep_testkit::Home;

use crate::kit::{ports, schemes};
use crate::mortal::{
    Case, Death, Ledgerbook, Mortal, STORIES, agent_of, cases, check, go_on_with, id, later, live, recover, script,
};

/// Dies at this point of a life, if it has one, and lets the next process go on. Says whether it died.
fn dies_at(at: usize, case: Case, scheme: &str) -> bool {
    let home = Home::new(scheme);
    let (store, book) = (home.open(), Ledgerbook(home.folder().join("book")));
    let what = format!("{scheme} {case:?} dead at {at}");
    let death = Death::at(at);
    let agent = agent_of(case, script(), &book, &death);
    let mortal: Arc<dyn Store> = Arc::new(Mortal(store.clone(), death.clone()));
    if let Some(stopped) = block_on(death.survive(live(case, mortal, &agent, &later))) {
        check(case, &store, &book, &stopped, &what);
        return false;
    }
    // What is in memory has to stay there; everything else is opened by the next process.
    let store = if scheme == "memory" { store } else { home.open() };
    after(case, &store, &book, &what);
    true
}

/// A later process goes on, and everything is as it must be.
fn after(case: Case, store: &Arc<dyn Store>, book: &Ledgerbook, what: &str) {
    let agent = agent_of(case, script(), book, &Death::never());
    let stopped = block_on(recover(case, store.clone(), &agent, book, &later));
    check(case, store, book, &stopped, what);
}

/// Cancels a run at this point, if it has one, and goes on with the same recorder. Says whether it was cancelled.
pub(crate) fn cancel_and_go_on(at: usize, case: Case, scheme: &str) -> bool {
    let home = Home::new(scheme);
    let (store, book) = (home.open(), Ledgerbook(home.folder().join("book")));
    let death = Death::at(at + 2);
    let agent = agent_of(case, script(), &book, &death);
    let session = Session { id: Some(id()), ..agent.session() };
    block_on(Recorder::create(store.clone(), session, later())).unwrap();
    // Taking the session up passes two points that are not part of the run.
    let mortal: Arc<dyn Store> = Arc::new(Mortal(store.clone(), death.clone()));
    let mut recorder = block_on(Recorder::resume(mortal, &id(), later())).unwrap();
    let what = format!("{scheme} {case:?} cancelled at {at}");
    let stopped = block_on(death.survive(agent.run(&mut recorder, "go")));
    let cancelled = stopped.is_none();
    let stopped = match stopped {
        Some(stopped) => stopped.unwrap(),
        None => block_on(go_on_with(&mut recorder, "go", &agent, &book, &later)),
    };
    check(case, &store, &book, &stopped, &what);
    cancelled
}

/// How many points of death the life of a case has.
fn points(case: Case) -> usize {
    (0..).find(|at| !dies_at(*at, case, "memory")).unwrap_or_default()
}

#[test]
fn dies_at_every_point_in_memory() {
    let mut table = String::from("| calls | cases | points of death |\n|---|---|---|\n");
    let mut all = 0;
    for story in STORIES {
        let lengths: Vec<usize> = cases().filter(|case| case.story == story).map(points).collect();
        let sum: usize = lengths.iter().sum();
        table.push_str(&format!("| {} | {} | {sum} |\n", story.entry(), lengths.len()));
        all += sum;
    }

    assert!(all >= 1000, "{all}");
    turnkeep_testkit::golden_section("docs/crash.md", "library", &table);
}

#[test]
fn dies_in_every_store() {
    for scheme in schemes() {
        // Every case at a few points, others in each store.
        for (case, round) in cases().zip(0..) {
            let died = (round % 7..).step_by(if scheme == "memory" { 13 } else { 17 });
            let died = died.take_while(|at| dies_at(*at, case, scheme)).count();
            assert!(died >= 1, "{scheme} {case:?}");
        }
    }
}

const CHILD: &str = "TURNKEEP_CHILD_AT";

#[test]
#[ignore = "the test below starts it"]
fn the_child() {
    let word = |name: &str| std::env::var(name).unwrap();
    let (at, case): (usize, usize) = (word(CHILD).parse().unwrap(), word("TURNKEEP_CHILD_CASE").parse().unwrap());
    let (case, book) = (cases().nth(case).unwrap(), Ledgerbook(PathBuf::from(word("TURNKEEP_CHILD_BOOK"))));
    let death = Death::really_at(at);
    let agent = agent_of(case, script(), &book, &death);
    let store = open(&word("TURNKEEP_CHILD_URL")).unwrap();
    block_on(live(case, Arc::new(Mortal(store, death)), &agent, &ports));
}

/// Starts a process that is killed with SIGKILL at a point, and says whether it was.
fn is_killed(home: &Home, book: &Ledgerbook, case: usize, at: usize) -> bool {
    use std::os::unix::process::ExitStatusExt;
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::the_child", "--ignored", "--nocapture"])
        .env(CHILD, at.to_string())
        .env("TURNKEEP_CHILD_CASE", case.to_string())
        .env("TURNKEEP_CHILD_BOOK", &book.0)
        .env("TURNKEEP_CHILD_URL", home.url())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success() || status.signal() == Some(9), "{status}");
    !status.success()
}

#[test]
fn processes_are_killed_at_points_and_resumed_in_new_ones() {
    let schemes: Vec<&str> = schemes().into_iter().filter(|scheme| *scheme != "memory").collect();
    let cases: Vec<Case> = cases().collect();
    let lengths: Vec<usize> = cases.iter().map(|case| points(*case)).collect();
    for round in 0..turnkeep_testkit::kills(60) as usize {
        // Steps that share no divisor with what they walk over meet every case in every store, each at other points.
        let index = round * 7 % cases.len();
        let at = (round * 17 + round / cases.len() * 5) % lengths[index];
        let scheme = schemes[round % schemes.len()];
        let home = Home::new(scheme);
        let book = Ledgerbook(home.folder().join("book"));
        let what = format!("{scheme} {:?} killed at {at}", cases[index]);

        assert!(is_killed(&home, &book, index, at), "{what}: it lived");

        after(cases[index], &home.open(), &book, &what);
    }
}
