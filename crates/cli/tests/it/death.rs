//! Commands that die while a model answers or a tool runs: every command that asks, every way to die.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use turnkeep_testkit::Home;

use crate::place::{Place, Ran};
use crate::vendor::{Does, Vendor};

/// How a process dies.
const DEATHS: [(&str, Signal); 3] = [("SIGKILL", Signal::KILL), ("SIGTERM", Signal::TERM), ("Ctrl-C", Signal::INT)];

/// The kinds of stores that can be tested here; those that cannot are named.
fn schemes() -> Vec<&'static str> {
    let mut schemes = vec!["file", "sqlite"];
    if !cfg!(feature = "postgres") {
        eprintln!("skipped: postgres (built without the feature `postgres`)");
        return schemes;
    }
    match Home::missing("postgres") {
        None => schemes.push("postgres"),
        Some(why) => eprintln!("skipped: postgres ({why})"),
    }
    schemes
}

/// A command that asks a model.
struct Entry {
    name: &'static str,
    /// The command; `STORE` and `ID` are filled in.
    command: &'static str,
    /// What is typed.
    typed: &'static str,
    /// The question that is asked.
    question: &'static str,
    /// Whether a session has to be there before.
    needs: Needs,
    /// Whether the answer is printed while it arrives.
    prints: Prints,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Prints {
    WhileItArrives,
    AtTheEnd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// A session that was answered.
    Answered,
    /// A session whose question was not answered.
    Unanswered,
}

const ENTRIES: [Entry; 7] = [
    Entry {
        name: "`ask new`",
        command: "ask new what? --endpoint test --tools tools.yaml --store STORE",
        typed: "",
        question: "what?",
        needs: Needs::Nothing,
        prints: Prints::WhileItArrives,
    },
    Entry {
        name: "`ask ID`",
        command: "ask ID what? --endpoint test --tools tools.yaml --store STORE",
        typed: "",
        question: "what?",
        needs: Needs::Answered,
        prints: Prints::WhileItArrives,
    },
    Entry {
        name: "`ask ID`, where a question is open",
        command: "ask ID more? --endpoint test --tools tools.yaml --store STORE",
        typed: "",
        question: "more?",
        needs: Needs::Unanswered,
        prints: Prints::WhileItArrives,
    },
    Entry {
        name: "`chat`",
        command: "chat --endpoint test --tools tools.yaml --store STORE",
        typed: "what?\n",
        question: "what?",
        needs: Needs::Nothing,
        prints: Prints::WhileItArrives,
    },
    Entry {
        name: "`chat ID`",
        command: "chat ID --endpoint test --tools tools.yaml --store STORE",
        typed: "what?\n",
        question: "what?",
        needs: Needs::Answered,
        prints: Prints::WhileItArrives,
    },
    Entry {
        name: "`resume ID`",
        command: "resume ID --endpoint test --tools tools.yaml --store STORE",
        typed: "",
        question: "first?",
        needs: Needs::Unanswered,
        prints: Prints::AtTheEnd,
    },
    Entry {
        name: "`run FIXTURE`",
        command: "run fixture.yaml --endpoint test --tools tools.yaml --out out --store STORE",
        typed: "",
        question: "what?",
        needs: Needs::Nothing,
        prints: Prints::AtTheEnd,
    },
];

const FIXTURE: &str = "turn:\n  blocks:\n    - {kind: user, role: user, payload: {text: 'what?'}}\n";

/// A tool that books, and ends when it is told to.
const TOOLS: &str = "tools:\n  - name: charge\n    command: 'echo \"$TURNKEEP_KEY\" >> book; \
                     until [ -e end ] || [ ! -e book ]; do sleep 0.1; done; echo charged'\n    effect: once\n";

struct Scene {
    place: Place,
    vendor: Vendor,
    home: Home,
}

impl Scene {
    fn new(scheme: &str, plan: &[Does]) -> Scene {
        let vendor = Vendor::new(plan);
        let place = Place::new().with("turnkeep.toml", vendor.config()).with("tools.yaml", TOOLS).with("book", "");
        Scene { place: place.with("fixture.yaml", FIXTURE), vendor, home: Home::new(scheme) }
    }

    /// Lets the tool end.
    fn end_tool(&self) {
        std::fs::write(self.place.path("end"), "").unwrap();
    }

    fn run(&self, words: &str) -> Ran {
        let child = self.start(words, "");
        Ran::from(child.wait_with_output().unwrap())
    }

    fn start(&self, words: &str, typed: &str) -> Child {
        let words = words.replace("STORE", &self.home.url());
        let mut command = self.place.command(&words);
        command.env("TURNKEEP_TEST_KEY", "sk-test").env("TURNKEEP_CONFIG_HOME", self.place.path("none"));
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(typed.as_bytes());
        child
    }

    /// The id of the only session.
    fn id(&self) -> String {
        let listed = self.run("ls --json --store STORE").ends(0).out;
        let ids: Vec<&str> = listed.split(r#""id": ""#).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(ids.len(), 1, "{listed}");
        ids[0].to_owned()
    }

    /// What has to be there before; says the id.
    fn prepare(&self, needs: Needs) -> String {
        match needs {
            Needs::Nothing => return String::new(),
            Needs::Answered => drop(self.run("ask new first? --endpoint test --store STORE").ends(0)),
            Needs::Unanswered => drop(self.run("ask new first? --endpoint test --store STORE").ends(1)),
        }
        self.id()
    }

    /// The conversation as a chat request would send it.
    fn export(&self, id: &str) -> String {
        self.run(&format!("export {id} --to openai.chat --store STORE")).ends(0).out
    }

    fn booked(&self) -> usize {
        self.place.text("book").lines().count()
    }

    fn wait_until_booked(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        while self.booked() == 0 {
            assert!(Instant::now() < end, "the tool never ran");
            std::thread::yield_now();
        }
    }
}

fn first_answer(needs: Needs) -> Vec<Does> {
    match needs {
        Needs::Nothing => vec![],
        Needs::Answered => vec![Does::Say("fine")],
        Needs::Unanswered => vec![Does::Refuse(400)],
    }
}

/// Reads what the command prints up to this.
fn wait_for_output(child: &mut Child, wanted: &str) {
    let mut read = Vec::new();
    let mut bytes = BufReader::new(child.stdout.take().unwrap()).bytes();
    while !read.ends_with(wanted.as_bytes()) {
        read.push(bytes.next().unwrap().unwrap());
    }
    // The pipe stays open, so that the command can go on printing.
    std::mem::forget(bytes);
}

/// Reads what the command says on standard error up to a line that holds this.
fn wait_for_line(child: &mut Child, words: &str) {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains(words)), "it never said `{words}`");
    // The pipe stays open, so that the command can go on.
    std::mem::forget(lines);
}

fn kill(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Dies while the model answers. A command that prints at the end does not tell when something has arrived, so it dies again
/// until something had.
fn dies_in_an_answer(entry: &Entry, scheme: &str, signal: Signal) -> String {
    const KEPT: &str = "question kept, with what had arrived; `resume` asks it";
    const TRIES: usize = 10;
    let tries = if entry.prints == Prints::AtTheEnd && signal != Signal::KILL { TRIES } else { 1 };
    match (0..tries).map(|_| dies_once_in_an_answer(entry, scheme, signal)).find(|kept| *kept) {
        Some(_) => KEPT.into(),
        None => "question kept; `resume` asks it".into(),
    }
}

/// Dies while the model answers. Afterwards the question is there once, and `resume` asks it; says whether what had arrived
/// of the answer is there, too.
fn dies_once_in_an_answer(entry: &Entry, scheme: &str, signal: Signal) -> bool {
    let scene = Scene::new(scheme, &[first_answer(entry.needs), vec![Does::Hang]].concat());
    let before = scene.prepare(entry.needs);
    let mut child = scene.start(&entry.command.replace("ID", &before), entry.typed);
    scene.vendor.wait_until_it_hangs();
    match entry.prints {
        Prints::WhileItArrives => wait_for_output(&mut child, "It is"),
        // Another command takes long enough for this one to read on.
        Prints::AtTheEnd => drop(scene.id()),
    }
    kill(&child, signal);
    let ended = Ran::from(child.wait_with_output().unwrap());
    let id = scene.id();
    let what = format!("{} {scheme} {signal:?}: {ended:?}", entry.name);

    assert_eq!(scene.export(&id).matches(entry.question).count(), 1, "{what}");
    let shown = scene.run(&format!("show {id} --store STORE")).ends(0).out;
    // Whatever was printed is kept, unless nothing could be done any more.
    let (kept, is_shown) = (shown.contains("It is"), entry.prints == Prints::WhileItArrives);
    assert!(kept || !is_shown || signal == Signal::KILL, "{what}: {shown}");
    if signal != Signal::KILL {
        assert!(ended.err.contains("unanswered"), "{what}");
    }
    let resumed = scene.run(&format!("resume {id} --endpoint test --store STORE")).ends(0);
    assert_eq!(resumed.out, "done\n", "{what}");
    let request = scene.vendor.requests().pop().unwrap();
    assert_eq!(request.matches(entry.question).count(), 1, "{what}: {request}");
    assert!(!request.contains("It is"), "{what}: {request}");
    kept
}

/// Dies while a `once` tool runs, after it acted. Afterwards nothing repeats it until a person has said what became of it.
fn dies_in_a_tool(entry: &Entry, scheme: &str, signal: Signal) -> String {
    let scene = Scene::new(scheme, &[first_answer(entry.needs), vec![Does::Call]].concat());
    let before = scene.prepare(entry.needs);
    let mut child = scene.start(&entry.command.replace("ID", &before), entry.typed);
    scene.wait_until_booked();
    kill(&child, signal);
    if signal != Signal::KILL {
        // The first signal waits for the tool; the second does not.
        wait_for_line(&mut child, "stopping");
        kill(&child, signal);
    }
    let ended = Ran::from(child.wait_with_output().unwrap());
    let id = scene.id();
    let what = format!("{} {scheme} {signal:?}: {ended:?}", entry.name);

    let resume = format!("resume {id} --endpoint test --tools tools.yaml --store STORE");
    scene.run(&resume).ends(8);
    scene.run(&format!("resolve {id} c1 --done charged --store STORE")).ends(0);
    assert_eq!(scene.run(&resume).ends(0).out, "done\n", "{what}");
    assert_eq!(scene.booked(), 1, "{what}");
    "acted once; a person says what became of the call".into()
}

/// Is asked to stop while a `once` tool runs: it waits for the tool and keeps what it did, so nobody has to be asked.
fn stops_after_a_tool(entry: &Entry, scheme: &str, signal: Signal) -> String {
    let scene = Scene::new(scheme, &[first_answer(entry.needs), vec![Does::Call]].concat());
    let before = scene.prepare(entry.needs);
    let mut child = scene.start(&entry.command.replace("ID", &before), entry.typed);
    scene.wait_until_booked();
    kill(&child, signal);
    wait_for_line(&mut child, "a tool that runs is waited for");
    let asked = scene.vendor.requests().len();
    scene.end_tool();
    let ended = Ran::from(child.wait_with_output().unwrap());
    let id = scene.id();
    let what = format!("{} {scheme} {signal:?}: {ended:?}", entry.name);

    // Nothing was asked after the signal, and the result was there for the next to ask.
    assert_eq!(scene.vendor.requests().len(), asked, "{what}");
    let resumed = scene.run(&format!("resume {id} --endpoint test --tools tools.yaml --store STORE")).ends(0);
    assert_eq!(resumed.out, "done\n", "{what}");
    assert!(scene.vendor.requests().pop().unwrap().contains("charged"), "{what}");
    assert_eq!(scene.booked(), 1, "{what}");
    "waits for the tool; its result is kept, and `resume` goes on".into()
}

type Dies = fn(&Entry, &str, Signal) -> String;

/// A moment of death: its name, what happens, and the signals that are tried.
type Moment = (&'static str, Dies, &'static [(&'static str, Signal)]);

const MOMENTS: [Moment; 3] = [
    ("in an answer", dies_in_an_answer, &DEATHS),
    (
        "in a `once` tool",
        dies_in_a_tool,
        &[("SIGKILL", Signal::KILL), ("SIGTERM, twice", Signal::TERM), ("Ctrl-C, twice", Signal::INT)],
    ),
    ("in a `once` tool", stops_after_a_tool, &[("SIGTERM", Signal::TERM), ("Ctrl-C", Signal::INT)]),
];

/// Runs every command, every way to die, in every store, and makes the table of `docs/crash.md` from what happened.
#[test]
fn no_command_loses_a_question_or_repeats_an_effect() {
    let schemes = schemes();
    let mut table = String::from("| command | killed | by | what is there afterwards |\n|---|---|---|---|\n");
    for entry in &ENTRIES {
        for (moment, dies, signals) in MOMENTS {
            let died = |scheme: &str| signals.iter().map(|(_, signal)| dies(entry, scheme, *signal)).collect();
            let outcomes: Vec<Vec<String>> = std::thread::scope(|scope| {
                let running: Vec<_> = schemes.iter().map(|scheme| scope.spawn(move || died(scheme))).collect();
                running.into_iter().map(|died| died.join().unwrap()).collect()
            });
            outcomes.iter().for_each(|other| assert_eq!(*other, outcomes[0], "{}: stores differ", entry.name));
            for ((by, _), outcome) in signals.iter().zip(&outcomes[0]) {
                let _ = writeln!(table, "| {} | {moment} | {by} | {outcome} |", entry.name);
            }
        }
    }
    turnkeep_testkit::golden_section("docs/crash.md", "commands", &table);
}

#[test]
fn two_questions_at_once_are_both_kept_and_answered() {
    for store in schemes() {
        let scene = Scene::new(store, &[Does::Say("fine")]);
        let id = scene.prepare(Needs::Answered);
        let asks: Vec<Child> =
            (0..4).map(|n| scene.start(&format!("ask {id} q{n}? --endpoint test --store STORE"), "")).collect();
        let ended: Vec<Ran> = asks.into_iter().map(|ask| Ran::from(ask.wait_with_output().unwrap())).collect();

        for (n, ran) in ended.iter().enumerate() {
            assert_eq!(ran.code, 0, "{store} q{n}: {ran:?}");
            // Whoever answered it, the one who asked is shown the answer.
            assert!(ran.out.ends_with("done\n"), "{store} q{n}: {ran:?}");
        }
        let conversation = scene.export(&id);
        for n in 0..4 {
            assert_eq!(conversation.matches(&format!("q{n}?")).count(), 1, "{store}: {conversation}");
        }
        assert_eq!(scene.run(&format!("resume {id} --store STORE")).ends(0).out, "nothing is left to do\n");
    }
}

#[test]
fn two_runs_of_a_fixture_at_once_are_two_sessions_and_acted_once_each() {
    for store in schemes() {
        let scene = Scene::new(store, &[]);
        // What a script says follows from the history it is sent, so that each run hears the same.
        let script = "turnkeep_script: 1\nanswers:\n  - calls: [{name: charge, arguments: {}, id: c1}]\n  - done\n";
        std::fs::write(scene.place.path("script.yaml"), script).unwrap();
        scene.end_tool();
        let run = |out: &str| {
            format!("run fixture.yaml --script script.yaml --tools tools.yaml --out {out} --json --store STORE")
        };
        let runs = ["one", "two"].map(|out| scene.start(&run(out), ""));
        let ended = runs.map(|child| Ran::from(child.wait_with_output().unwrap()).ends(0).out);

        let ids = ended.each_ref().map(|out| out.split(r#""session": ""#).nth(1).unwrap().split('"').next().unwrap());
        assert!(ids[0] != ids[1] && ids.iter().all(|id| id.starts_with("fixture-")), "{ids:?}");
        for id in ids {
            assert_eq!(scene.run(&format!("resume {id} --store STORE")).ends(0).out, "nothing is left to do\n");
        }
        let mut keys: Vec<String> = scene.place.text("book").lines().map(str::to_owned).collect();
        keys.sort();
        let mut expected = ids.map(|id| format!("{id}/c1"));
        expected.sort();
        assert_eq!(keys, expected);
    }
}

#[test]
fn a_session_that_a_run_of_a_fixture_has_is_left_to_it() {
    let scene = Scene::new("sqlite", &[Does::Hang]);
    let mut run = scene.start("run fixture.yaml --endpoint test --out out --store STORE", "");
    scene.vendor.wait_until_it_hangs();
    let id = scene.id();

    let refused = scene.run(&format!("resume {id} --endpoint test --store STORE")).ends(5);

    assert!(refused.err.contains("runs the session") && refused.err.contains("--take-over"), "{refused:?}");
    kill(&run, Signal::KILL);
    run.wait().unwrap();
    assert_eq!(scene.run(&format!("resume {id} --endpoint test --store STORE")).ends(0).out, "done\n");
}

#[test]
fn a_session_that_another_process_runs_is_left_to_it() {
    let scene = Scene::new("sqlite", &[Does::Hang]);
    let mut first = scene.start("ask new first? --endpoint test --store STORE", "");
    scene.vendor.wait_until_it_hangs();
    let id = scene.id();

    let refused = scene.run(&format!("resume {id} --endpoint test --store STORE")).ends(5);
    let mut second = scene.start(&format!("ask {id} second? --endpoint test --store STORE"), "");
    wait_for_line(&mut second, "the question is recorded");
    let taken = scene.run(&format!("ask {id} third? --endpoint test --take-over --store STORE")).ends(0);

    assert!(refused.err.contains("runs the session") && refused.err.contains("--take-over"), "{refused:?}");
    assert_eq!(taken.out, "done\n");
    kill(&first, Signal::KILL);
    first.wait().unwrap();
    Ran::from(second.wait_with_output().unwrap()).ends(0);
    let conversation = scene.export(&id);
    for question in ["first?", "second?", "third?"] {
        assert_eq!(conversation.matches(question).count(), 1, "{conversation}");
    }
}

#[test]
fn a_question_that_was_refused_stays_and_is_sent_with_the_next() {
    let scene = Scene::new("file", &[Does::Refuse(400)]);

    let refused = scene.run("ask new one? --endpoint test --store STORE").ends(1);
    let id = scene.id();
    let next = scene.run(&format!("ask {id} two? --endpoint test --store STORE")).ends(0);

    assert!(refused.err.contains(&format!("`turnkeep resume {id}` asks it again")), "{refused:?}");
    assert_eq!(next.out, "done\n");
    let request = scene.vendor.requests().pop().unwrap();
    assert!(request.contains("one?") && request.contains("two?"), "{request}");
}

#[test]
fn a_comparison_on_a_session_that_died_in_a_call_acts_for_none_of_its_forks() {
    let scene = Scene::new("file", &[Does::Call]);
    let child = scene.start("ask new pay --endpoint test --tools tools.yaml --store STORE", "");
    scene.wait_until_booked();
    kill(&child, Signal::KILL);
    child.wait_with_output().unwrap();
    let id = scene.id();

    scene.run(&format!("ask {id} again? --endpoint test,test --compare --tools tools.yaml --store STORE")).ends(8);

    assert_eq!(scene.booked(), 1);
}

#[test]
fn a_plan_with_tools_says_of_a_once_call_of_another_program_that_it_waits() {
    let scene = Scene::new("file", &[]);
    let session = r#"{"turnkeep":1,"sessions":[{"id":"s2","turns":[{"blocks":[{"author":"user","type":"text","text":"pay"},{"author":"assistant","message":{"ordinal":1},"type":"tool_call","call":"c1","name":"charge","arguments":"{}"}]}]}]}"#;
    std::fs::write(scene.place.path("open.json"), session).unwrap();
    scene.run("import open.json --store STORE").ends(0);

    let planned = scene.run("resume s2 --tools tools.yaml --store STORE").ends(8);

    assert!(planned.out.contains("may have acted, and is not repeated"), "{planned:?}");
}

#[test]
fn a_refusal_because_a_tool_is_missing_says_that_the_question_is_kept() {
    let scene = Scene::new("file", &[Does::Call]);
    let child = scene.start("ask new pay --endpoint test --tools tools.yaml --store STORE", "");
    scene.wait_until_booked();
    kill(&child, Signal::KILL);
    child.wait_with_output().unwrap();
    let id = scene.id();
    scene.run(&format!("resolve {id} c1 --retry --store STORE")).ends(0);

    let refused = scene.run(&format!("ask {id} and? --endpoint test --store STORE")).ends(9);

    assert!(refused.err.contains("the question is kept, unanswered"), "{refused:?}");
    assert_eq!(scene.export(&id).matches("and?").count(), 1);
}
