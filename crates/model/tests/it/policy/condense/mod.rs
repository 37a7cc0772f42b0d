//! What the summary keeps that nobody is asked for, measured on conversations in which facts were planted.
//!
//! Every domain words its filler and its facts in its own way. `newsroom` was written last, and nothing was adjusted to it.

mod domains;
mod plain;
mod talk;

use std::collections::BTreeMap;

use turnkeep_model::policy::condense::{CondenseSettings, estimate, extract, plan};

use domains::DOMAINS;
use talk::{Domain, Planted, planted};

/// How many conversations of each domain are measured.
const CONVERSATIONS: u64 = 4;

/// What of the planted facts survived.
#[derive(Default)]
struct Survived {
    found: usize,
    all: usize,
}

impl Survived {
    fn count(&mut self, found: bool) {
        self.all += 1;
        self.found += usize::from(found);
    }

    fn share(&self) -> f64 {
        self.found as f64 / self.all.max(1) as f64
    }
}

/// What is said of facts in a domain, by kind and by third of the conversation.
fn measured(domain: &Domain) -> BTreeMap<&'static str, Survived> {
    let mut survived: BTreeMap<&'static str, Survived> = BTreeMap::new();
    for seed in 0..CONVERSATIONS {
        let (session, facts) = planted(domain, seed);
        let plan = plan(&session, &CondenseSettings { keep: 0, budget: None }, &estimate).unwrap();
        let summary = extract(&session.turns, plan.target, &estimate);
        assert!(estimate(&summary) * 4 <= plan.tokens, "{}: more than a quarter is left", domain.name);
        for Planted { kind, third, fact, stale } in facts {
            let found = summary.contains(&fact);
            survived.entry(kind).or_default().count(found);
            survived.entry(["first third", "second third", "last third"][third]).or_default().count(found);
            survived.entry("all").or_default().count(found);
            if let Some(stale) = stale {
                let told = summary.contains(&stale) && !summary.contains(&format!("(earlier) {stale}"));
                survived.entry("correction wins").or_default().count(!told);
            }
        }
    }
    survived
}

/// The table of docs/policies.md comes from here: run with `--nocapture`.
#[test]
fn planted_facts_survive_in_every_kind_and_every_part_of_a_long_conversation() {
    let mut low = Vec::new();
    for domain in DOMAINS {
        for (what, survived) in measured(domain) {
            println!(
                "{:10} {what:16} {:5.1} % ({} of {})",
                domain.name,
                100.0 * survived.share(),
                survived.found,
                survived.all
            );
            let least = if what == "all" || !what.ends_with("third") { 0.95 } else { 0.9 };
            if survived.share() < least {
                low.push(format!("{} {what}: {:.3}", domain.name, survived.share()));
            }
        }
    }
    assert_eq!(low, Vec::<String>::new());
}
