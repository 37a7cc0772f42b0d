//! The automaton that says where to look.

use std::ops::Range;

use aho_corasick::automaton::{Automaton, OverlappingState};
use aho_corasick::dfa::DFA;
use aho_corasick::{Input, MatchKind};

use super::assigned::{self, KEYWORDS};
use super::vendors::{self, Vendor};
use super::{SecretMatch, contact, link};

/// What a literal may be the beginning of.
pub(super) enum Literal {
    Vendor(&'static Vendor),
    Keyword,
    At,
    Scheme,
    Pem,
    Jwt,
    Bearer,
    Basic,
    Telegram,
    Mailchimp,
    Azure,
}

const FIXED: [(&str, Literal); 9] = [
    ("@", Literal::At),
    ("://", Literal::Scheme),
    ("-----begin", Literal::Pem),
    ("eyj", Literal::Jwt),
    ("bearer ", Literal::Bearer),
    ("basic ", Literal::Basic),
    (":aa", Literal::Telegram),
    ("-us", Literal::Mailchimp),
    ("q~", Literal::Azure),
];

/// All literals in one automaton, letters in either case.
pub(super) struct Literals {
    dfa: Option<DFA>,
    literals: Vec<Literal>,
}

impl Literals {
    pub(super) fn new() -> Literals {
        let vendors = vendors::TABLE.iter().map(|vendor| (vendor.prefix, Literal::Vendor(vendor)));
        let keywords = KEYWORDS.iter().map(|(word, _)| (*word, Literal::Keyword));
        let (words, literals): (Vec<&str>, Vec<Literal>) = FIXED.into_iter().chain(vendors).chain(keywords).unzip();
        let mut builder = DFA::builder();
        builder.match_kind(MatchKind::Standard).ascii_case_insensitive(true);
        // So few words always make an automaton.
        Literals { dfa: builder.build(words).ok(), literals }
    }

    /// Visits every place where a literal stands.
    pub(super) fn each(&self, text: &str, mut visit: impl FnMut(&Literal, Range<usize>)) {
        let Some(dfa) = &self.dfa else { return };
        let (input, mut state) = (Input::new(text), OverlappingState::start());
        while dfa.try_find_overlapping(&input, &mut state).is_ok() {
            let Some(hit) = state.get_match() else { break };
            if let Some(literal) = self.literals.get(hit.pattern().as_usize()) {
                visit(literal, hit.range());
            }
        }
    }
}

impl Literal {
    /// The secret that stands at this literal, if one does.
    pub(super) fn check(&self, text: &str, at: Range<usize>) -> Option<SecretMatch> {
        match self {
            Literal::Vendor(vendor) => vendor.check(text, at),
            Literal::Keyword => assigned::check(text, at),
            Literal::At => contact::email(text, at.start),
            Literal::Scheme => link::connection(text, at),
            Literal::Pem => link::private_key(text, at),
            Literal::Jwt => link::jwt(text, at.start),
            Literal::Bearer => link::bearer(text, at.end),
            Literal::Basic => link::basic(text, at),
            Literal::Telegram => vendors::telegram(text, at.start),
            Literal::Mailchimp => vendors::mailchimp(text, at),
            Literal::Azure => vendors::azure(text, at),
        }
    }
}
