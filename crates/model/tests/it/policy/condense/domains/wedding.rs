//! Two people who plan a feast, and look nothing up in a terminal.

use super::super::talk::{Corrected, Dice, Domain, Stated};

pub(super) const DOMAIN: Domain = Domain { name: "wedding", filler, prose, code, tool, corrected };

const PEOPLE: [&str; 14] = [
    "Inès Moreau",
    "Gerhard Huber",
    "Chiara Bellini",
    "Tante Hedwig",
    "Father Dominic",
    "Rosalind Achebe",
    "Milan Kovač",
    "Yuki Tanaka",
    "Beatrix Vane",
    "Samuel Okafor",
    "Greta Nyström",
    "Hamid Rezaei",
    "Carmen Ibáñez",
    "Duncan Fraser",
];
const THINGS: [&str; 14] = [
    "flowers",
    "cake",
    "band",
    "chapel",
    "tables",
    "invitations",
    "rings",
    "shuttle",
    "photographer",
    "dinner",
    "tent",
    "speeches",
    "candles",
    "seating",
];

fn filler(dice: &mut Dice) -> String {
    let a = dice.pick(&[
        "Oh, I love how",
        "You know,",
        "My mother always said that",
        "Everyone keeps telling us that",
        "I was wondering whether",
        "It would be lovely if",
        "Somehow",
        "We both feel that",
    ]);
    let b = dice.pick(&[
        "this whole thing",
        "the weather in that season",
        "the mood in the family",
        "all of the little things",
        "the garden behind the house",
        "the afternoon before the big day",
        "the music people like",
        "the colour of the napkins",
    ]);
    let c = dice.pick(&[
        "comes together by itself in the end",
        "makes people smile whenever it comes up",
        "is a topic for a long walk",
        "will sort itself out",
        "matters less than people believe",
        "keeps changing from one day to the next",
        "feels like something out of a film",
        "could go either way",
    ]);
    format!("{a} {b} {c}.")
}

fn prose(dice: &mut Dice) -> Stated {
    let thing = dice.pick(&THINGS);
    match dice.below(5) {
        0 => {
            let who = dice.pick(&PEOPLE);
            Stated::new(format!("{who} takes care of the {thing}."), format!("{who} takes care of the {thing}"))
        }
        1 => {
            let price = dice.between(120, 4800);
            Stated::new(format!("They want {price} euros for the {thing}."), format!("{price} euros"))
        }
        2 => {
            let day = format!("{} {}", dice.between(2, 29), dice.pick(&["May", "June", "July", "August", "September"]));
            Stated::new(format!("The deposit for the {thing} has to be there by {day}."), day)
        }
        3 => {
            let what = dice.pick(&[
                "lanterns",
                "a string quartet",
                "an open bar",
                "fireworks",
                "a printed menu",
                "a second dessert",
                "confetti",
            ]);
            Stated::new(format!("We agreed to leave out {what} because of the {thing}."), format!("leave out {what}"))
        }
        _ => {
            let count = dice.between(12, 99);
            Stated::new(format!("There will be {count} guests at the {thing} rehearsal."), format!("{count} guests"))
        }
    }
}

fn code(dice: &mut Dice) -> Stated {
    let (thing, amount) = (dice.pick(&THINGS), dice.between(150, 9000));
    let line = format!("| {thing} | {} | {amount} |", dice.pick(&["booked", "open", "paid", "asked"]));
    Stated::new(format!("| what | state | euros |\n|---|---|---|\n{line}\n| total | open | soon |"), amount.to_string())
}

fn tool(dice: &mut Dice) -> Stated {
    let (house, phone) = (
        dice.pick(&["Lindenhof", "Seeblick", "Villa Rosa", "Mühlenstube", "Castello Bianco", "Alte Post"]),
        dice.between(200_000, 999_999),
    );
    Stated::new(
        format!(
            "Search results for venues near the lake.\nAll of the places below can be visited on weekdays.\n{house}, telephone 0043 {phone}, has a terrace.\nPlease ask the office for opening hours.\nResults may be out of date."
        ),
        phone.to_string(),
    )
}

fn corrected(dice: &mut Dice, n: usize) -> Corrected {
    // No two corrections are about the same.
    let thing = format!("{} {}", ["red", "white", "golden"][n / 5 / THINGS.len()], THINGS[n / 5 % THINGS.len()]);
    match n % 3 {
        0 => {
            let (old, new) = (dice.between(100, 450), dice.between(451, 999));
            Corrected {
                first: format!("The {thing} will cost us {old} euros."),
                stale: format!("The {thing} will cost us {old}"),
                later: Stated::new(format!("I was wrong, the {thing} will cost us {new} euros."), new.to_string()),
            }
        }
        1 => {
            let (a, b) = (dice.pick(&PEOPLE[..7]), dice.pick(&PEOPLE[7..]));
            Corrected {
                first: format!("The {thing} come from {a}."),
                stale: format!("The {thing} come from {a}"),
                later: Stated::new(format!("The {thing} no longer come from {a}, {b} brings them."), b),
            }
        }
        _ => {
            let (old, new) = (dice.between(2, 14), dice.between(15, 29));
            Corrected {
                first: format!("We pick up the {thing} on {old} June."),
                stale: format!("We pick up the {thing} on {old} June"),
                later: Stated::new(
                    format!("They moved it: we pick up the {thing} on {new} July instead of {old} June."),
                    format!("{new} July"),
                ),
            }
        }
    }
}
