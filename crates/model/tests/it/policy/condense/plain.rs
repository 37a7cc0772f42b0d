//! Short conversations, each about one promise.

use turnkeep_model::policy::condense::{CondenseSettings, estimate, extract, plan};
use turnkeep_model::{Author, Block, Session, Turn};

fn exchange(n: u32, asked: &str, answered: &str) -> Turn {
    let blocks = vec![
        Block::text(Author::User, asked).in_message(2 * n),
        Block::text(Author::Assistant, answered).in_message(2 * n + 1),
    ];
    Turn { blocks, ..Turn::default() }
}

fn condensed(turns: Vec<Turn>) -> String {
    let session = Session { turns, ..Session::default() };
    let plan = plan(&session, &CondenseSettings { keep: 0, budget: None }, &estimate).unwrap();
    extract(&session.turns, plan.target, &estimate)
}

#[test]
fn decisions_of_every_age_are_kept() {
    let turn = |n: u32| {
        let asked = format!("What should we do about topic number {n}, in your opinion?");
        exchange(n, &asked, &format!("We decided to use approach {n} for topic {n}, since it is the simplest of them."))
    };

    let summary = condensed((1..=30).map(turn).collect());

    let lost: Vec<u32> = (1..=30).filter(|n| !summary.contains(&format!("approach {n} for topic {n},"))).collect();
    assert_eq!(lost, Vec::<u32>::new(), "{summary}");
}

#[test]
fn plain_facts_are_kept() {
    let filler = "I see what you mean, and it is good to have that out in the open before we go any further with it.";
    let facts = ["It reads /etc/app/config.toml.", "The port is 8443.", "Maria Lopez owns the exporter."];
    let turns =
        facts.iter().zip(0..).map(|(fact, n)| exchange(n, &format!("{fact} Anyway, how are things going?"), filler));

    let summary = condensed(turns.collect());

    assert_eq!(facts.map(|fact| summary.contains(fact)), [true; 3], "{summary}");
}

#[test]
fn a_correction_wins_and_what_else_was_said_stays() {
    let turns = vec![
        exchange(
            0,
            "The port is 8443. The host db7.internal listens on 5432.",
            "Understood, I will note all of that down for later.",
        ),
        exchange(1, "How do we go on from here?", "Let us go on with the next point on the list, then."),
        exchange(2, "Correction: the port is 9443, not 8443.", "Thanks, I will use that from now on for everything."),
        exchange(3, "Now db7.internal listens on 6543.", "That is good to know, and I will keep it in mind."),
    ];

    let summary = condensed(turns);

    assert!(summary.contains("Correction: the port is 9443, not 8443."), "{summary}");
    assert!(!summary.contains("The port is 8443."), "{summary}");
    assert!(summary.contains("6543") && !summary.contains("5432"), "{summary}");
}
