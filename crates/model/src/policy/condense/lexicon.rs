//! Words that say something about the sentence they stand in.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Words that tell of a decision, a rule or a promise.
const DECISIONS: &[&str] = &[
    "agree",
    "agreed",
    "always",
    "approve",
    "approved",
    "beschlossen",
    "choose",
    "chose",
    "chosen",
    "conclusion",
    "confirmed",
    "constraint",
    "deadline",
    "debe",
    "decide",
    "decided",
    "decidido",
    "decision",
    "doit",
    "due",
    "décidé",
    "acordado",
    "entschieden",
    "final",
    "forbidden",
    "goal",
    "important",
    "muss",
    "must",
    "never",
    "policy",
    "prefer",
    "prefers",
    "rejected",
    "remember",
    "renamed",
    "require",
    "required",
    "requires",
    "rule",
    "settled",
    "switch",
    "switched",
];

/// Words that tell of trouble and of what caused it.
const TROUBLE: &[&str] = &[
    "blocked", "broken", "bug", "cause", "caused", "crash", "crashed", "error", "failed", "fails", "failure", "fehler",
    "fix", "fixed", "panic", "timeout",
];

/// Words of courtesy, which carry nothing.
const COURTESY: &[&str] = &[
    "absolutely",
    "awesome",
    "certainly",
    "cheers",
    "course",
    "danke",
    "glad",
    "gracias",
    "great",
    "hallo",
    "happy",
    "hello",
    "hey",
    "hi",
    "merci",
    "ok",
    "okay",
    "perfect",
    "please",
    "sorry",
    "sure",
    "thank",
    "thanks",
    "welcome",
];

/// Words that say that something said before no longer holds.
const CORRECTIONS: &[&str] = &[
    "actually",
    "amend",
    "amended",
    "changed",
    "corrected",
    "correction",
    "korrektur",
    "longer",
    "meant",
    "misspoke",
    "mistake",
    "mistaken",
    "moved",
    "now",
    "obsolete",
    "outdated",
    "overruled",
    "renamed",
    "replaced",
    "reverted",
    "revised",
    "scratch",
    "superseded",
    "supersedes",
    "switched",
    "turns",
    "update",
    "updated",
    "wrong",
];

/// Words after which stands what does not hold, with the word before them where it matters, and within how many words.
pub(super) const DENIALS: &[(&str, &str, usize)] =
    &[("", "not", 3), ("instead", "of", 4), ("rather", "than", 4), ("no", "longer", 5)];

/// Words after which, in a correction, stands what held before.
pub(super) const PAST: &[&str] = &["was", "were", "from", "formerly", "replaces", "replacing"];

/// Numbers that are spelled out.
const NUMERALS: &[&str] = &[
    "dozen",
    "eight",
    "eighteen",
    "eighty",
    "eleven",
    "fifteen",
    "fifty",
    "five",
    "forty",
    "four",
    "fourteen",
    "hundred",
    "million",
    "nine",
    "nineteen",
    "ninety",
    "seven",
    "seventeen",
    "seventy",
    "six",
    "sixteen",
    "sixty",
    "ten",
    "thirteen",
    "thirty",
    "thousand",
    "three",
    "twelve",
    "twenty",
    "two",
];

/// Words that every sentence may have.
const COMMON: &[&str] = &[
    "about", "after", "again", "all", "also", "and", "another", "any", "are", "back", "because", "been", "before",
    "being", "both", "but", "can", "could", "did", "does", "done", "down", "each", "even", "ever", "every", "few",
    "for", "from", "get", "give", "going", "good", "had", "has", "have", "her", "here", "him", "his", "how", "into",
    "its", "just", "keep", "let", "like", "look", "made", "make", "many", "may", "maybe", "might", "more", "most",
    "much", "need", "new", "next", "nor", "not", "now", "off", "one", "only", "other", "our", "out", "over", "own",
    "really", "same", "say", "see", "she", "should", "since", "some", "still", "such", "take", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "thing", "things", "think", "this", "those", "though", "too",
    "use", "very", "was", "way", "well", "were", "what", "when", "where", "which", "while", "who", "why", "will",
    "with", "would", "yes", "yet", "you", "your",
];

/// What a word says about its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Decides = 1,
    Troubles = 2,
    Courts = 4,
    Corrects = 8,
    Counts = 16,
    Common = 32,
}

static ROLES: LazyLock<HashMap<&'static str, u8>> = LazyLock::new(|| {
    let lists = [
        (DECISIONS, Role::Decides),
        (TROUBLE, Role::Troubles),
        (COURTESY, Role::Courts),
        (CORRECTIONS, Role::Corrects),
        (NUMERALS, Role::Counts),
        (COMMON, Role::Common),
    ];
    let mut roles = HashMap::new();
    for (word, role) in lists.iter().flat_map(|(list, role)| list.iter().map(move |word| (*word, *role))) {
        *roles.entry(word).or_default() |= role as u8;
    }
    roles
});

/// Whether a word, in small letters, has a role.
pub(super) fn has(word: &str, role: Role) -> bool {
    ROLES.get(word).is_some_and(|roles| roles & role as u8 != 0)
}

/// Whether a word, in small letters, carries a topic.
pub(super) fn is_topic(word: &str) -> bool {
    const NONE: u8 = Role::Common as u8 | Role::Courts as u8 | Role::Corrects as u8 | Role::Decides as u8;
    word.chars().nth(2).is_some() && ROLES.get(word).is_none_or(|roles| roles & NONE == 0)
}
