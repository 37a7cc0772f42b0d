//! A session that several processes want to ask something at once.

use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_model::{Session, SessionId};
use turnkeep_runtime::port::{Answer, Liveness, Processes};
use turnkeep_runtime::{Acquired, Agent, Input, Ports, Recorder, TakeOver};
use turnkeep_store::{Store, StoreExt};
use turnkeep_testkit::Home;

use crate::kit::{history, schemes, script};
use crate::mortal::later;

/// Processes that a test names, of which these live.
struct Named {
    own: &'static str,
    alive: Arc<Mutex<Vec<&'static str>>>,
}

impl Processes for Named {
    fn own(&self) -> Option<String> {
        Some(self.own.to_owned())
    }

    fn liveness(&self, process: &str) -> Liveness {
        match self.alive.lock().unwrap().contains(&process) {
            true => Liveness::Alive,
            false => Liveness::Gone,
        }
    }
}

fn ports_of(own: &'static str, alive: &Arc<Mutex<Vec<&'static str>>>) -> Ports {
    Ports { processes: Arc::new(Named { own, alive: alive.clone() }), ..later() }
}

fn id() -> SessionId {
    SessionId::new("s")
}

fn acquire(store: &Arc<dyn Store>, said: Option<&str>, ports: Ports, over: TakeOver) -> Acquired {
    block_on(Recorder::acquire(store.clone(), &id(), said.map(Input::from), ports, over)).unwrap()
}

fn here(taken: Acquired) -> Box<Recorder> {
    match taken {
        Acquired::Here(recorder) => recorder,
        Acquired::Elsewhere(busy) => panic!("{busy:?}"),
    }
}

fn begun(store: &Arc<dyn Store>, ports: Ports) -> Recorder {
    let session = Session { id: Some(id()), ..Session::default() };
    block_on(Recorder::create_asking(store.clone(), session, "one?", ports)).unwrap()
}

#[test]
fn a_process_that_lives_keeps_its_run_and_answers_what_others_ask() {
    for scheme in schemes() {
        let (home, alive) = (Home::new(scheme), Arc::new(Mutex::new(vec!["a", "b"])));
        let store = home.open();
        let mut first = begun(&store, ports_of("a", &alive));

        let second = acquire(&store, Some("two?"), ports_of("b", &alive), TakeOver::IfIdle);
        let agent = Agent::new(script(vec![Answer::text("one"), Answer::text("two")]));
        let stopped = block_on(agent.resume(&mut first)).unwrap();

        assert!(matches!(&second, Acquired::Elsewhere(busy) if busy.run.process.as_deref() == Some("a")), "{scheme}");
        assert!(matches!(stopped.text.as_deref(), Some("one" | "two")), "{scheme}");
        let asked = history(&block_on(store.load(&id())).unwrap().session);
        assert!(asked.iter().any(|line| line.ends_with("user: two?")), "{scheme} {asked:?}");
    }
}

#[test]
fn a_process_that_died_is_followed_by_the_next_and_both_questions_are_asked() {
    for scheme in schemes() {
        let (home, alive) = (Home::new(scheme), Arc::new(Mutex::new(vec!["a", "b"])));
        let store = home.open();
        drop(begun(&store, ports_of("a", &alive)));
        alive.lock().unwrap().retain(|process| *process != "a");

        let mut second = here(acquire(&store, Some("two?"), ports_of("b", &alive), TakeOver::IfIdle));
        block_on(Agent::new(script(vec![Answer::text("both")])).resume(&mut second)).unwrap();

        let asked = history(&block_on(store.load(&id())).unwrap().session);
        assert_eq!(asked, ["0 user: one?", "0 user: two?", "0 assistant: both"], "{scheme}");
    }
}

#[test]
fn whoever_is_told_to_takes_over_and_the_other_is_fenced() {
    let (home, alive) = (Home::new("memory"), Arc::new(Mutex::new(vec!["a", "b"])));
    let store = home.open();
    let mut first = begun(&store, ports_of("a", &alive));

    here(acquire(&store, Some("two?"), ports_of("b", &alive), TakeOver::Always));
    let fenced = block_on(Agent::new(script(vec![Answer::text("late")])).resume(&mut first)).unwrap_err();

    assert_eq!(fenced.name(), Some("Fenced"));
}

#[test]
fn a_fork_of_a_session_that_runs_is_not_busy() {
    let (home, alive) = (Home::new("memory"), Arc::new(Mutex::new(vec!["a", "b"])));
    let store = home.open();
    let first = begun(&store, ports_of("a", &alive));
    let child = SessionId::new("fork");
    block_on(store.fork(&id(), first.seq(), &child)).unwrap();

    let asked = Some(Input::from("two?"));
    let forked = Recorder::acquire(store.clone(), &child, asked, ports_of("b", &alive), TakeOver::IfIdle);

    here(block_on(forked).unwrap());
}

#[test]
fn of_many_that_ask_at_once_one_runs_the_session_and_no_words_are_lost() {
    for scheme in schemes() {
        let (home, alive) = (Home::new(scheme), Arc::new(Mutex::new(vec!["p0", "p1", "p2", "p3", "p4", "p5"])));
        let store = home.open();
        let mut first = begun(&store, ports_of("p0", &alive));
        block_on(Agent::new(script(vec![Answer::text("one")])).resume(&mut first)).unwrap();
        let names = ["p1", "p2", "p3", "p4", "p5"];

        let runners = std::thread::scope(|scope| {
            let asked = names.map(|name| {
                let (store, ports) = (store.clone(), ports_of(name, &alive));
                scope.spawn(move || match acquire(&store, Some(name), ports, TakeOver::IfIdle) {
                    Acquired::Here(_) => 1,
                    Acquired::Elsewhere(_) => 0,
                })
            });
            asked.into_iter().map(|asked| asked.join().unwrap()).sum::<u32>()
        });

        assert_eq!(runners, 1, "{scheme}");
        let said = history(&block_on(store.load(&id())).unwrap().session);
        for name in names {
            let times = said.iter().filter(|line| line.ends_with(&format!("user: {name}"))).count();
            assert_eq!(times, 1, "{scheme} {said:?}");
        }
    }
}
