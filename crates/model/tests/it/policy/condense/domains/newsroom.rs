//! Journalists: no code to speak of, quotations, sums, and sources who change their story. Written last; nothing was adjusted to it.

use super::super::talk::{Corrected, Dice, Domain, Stated};

pub(super) const DOMAIN: Domain = Domain { name: "newsroom", filler, prose, code, tool, corrected };

const TOWNS: [&str; 14] = [
    "Harrowgate",
    "Bellmere",
    "Tarn Valley",
    "Oakridge",
    "Port Ellis",
    "Greymouth",
    "Saltburn",
    "Kestrel Point",
    "Lower Wick",
    "Ashford Mills",
    "Dunmore",
    "Eastleigh Park",
    "Foxcombe",
    "Millbrook",
];
const TOPICS: [&str; 10] =
    ["budget", "school", "harbour", "hospital", "stadium", "bridge", "library", "tramway", "festival", "market"];

fn filler(dice: &mut Dice) -> String {
    let a = dice.pick(&[
        "Readers like it when",
        "I would say",
        "There is always a chance that",
        "My editor keeps asking whether",
        "Off the record,",
        "One could argue that",
        "At the end of the day",
    ]);
    let b = dice.pick(&[
        "the story opens with a person",
        "we let the quotes breathe",
        "the picture tells half of it",
        "somebody else already has the same angle",
        "a shorter piece does the job",
        "the headline is decided at the last minute",
        "people skim the middle part",
    ]);
    let c = dice.pick(&[
        "as we have seen before",
        "if the space allows it",
        "at least in the weekend edition",
        "no matter what the other papers do",
        "even on a slow day",
        "which is fair enough",
        "and I can live with that",
    ]);
    format!("{a} {b}, {c}.")
}

fn prose(dice: &mut Dice) -> Stated {
    let (town, topic) = (dice.pick(&TOWNS), dice.pick(&TOPICS));
    match dice.below(5) {
        0 => {
            let sum = format!("{}.{} million", dice.between(2, 90), dice.between(1, 9));
            Stated::new(format!("The {topic} in {town} swallowed {sum} so far."), sum)
        }
        1 => {
            let name = format!(
                "{} {}",
                dice.pick(&["Eleanor", "Marcus", "Imogen", "Tobias", "Ruth", "Callum"]),
                dice.pick(&["Penhaligon", "Strand", "Abara", "Voss", "Lindgren", "McAllister"])
            );
            Stated::new(format!("Our source for the {topic} piece is {name}."), name)
        }
        2 => {
            let address = format!(
                "{}@{}.example",
                dice.pick(&["press", "desk", "tips", "mayor"]),
                town.to_lowercase().replace(' ', "")
            );
            Stated::new(format!("Send the questions about the {topic} to {address} first."), address)
        }
        3 => Stated::new(
            format!("We will never print the names of minors in the {topic} case from {town}."),
            format!("names of minors in the {topic} case from {town}"),
        ),
        _ => {
            let votes = format!("{} to {}", dice.between(21, 60), dice.between(3, 20));
            Stated::new(format!("The council of {town} voted {votes} for it."), format!("voted {votes}"))
        }
    }
}

fn code(dice: &mut Dice) -> Stated {
    let slug = format!("{}-{}", dice.pick(&TOPICS), dice.between(100, 999));
    Stated::new(format!("title: Draft\nslug: {slug}\nlayout: feature\nimages:\n  - cover.jpg\nembargo: none"), slug)
}

fn tool(dice: &mut Dice) -> Stated {
    let case = format!("{}/{}", dice.between(100, 999), dice.between(19, 26));
    Stated::new(
        format!(
            "The archive has one match.\nFiled in the regional court under case number {case}.\nThe documents can be read in the reading room.\nCopies take a few days.\nThere is no fee for the press."
        ),
        case,
    )
}

fn corrected(dice: &mut Dice, n: usize) -> Corrected {
    let town = TOWNS[n / 5 % TOWNS.len()];
    let what = ["flood", "strike", "fire"][n / 5 / TOWNS.len()];
    let (old, new) = (dice.between(110, 480), dice.between(500, 990));
    match n % 3 {
        0 => Corrected {
            first: format!("The {what} in {town} left {old} people without power."),
            stale: format!("The {what} in {town} left {old} people"),
            later: Stated::new(
                format!("Update from the police: the {what} in {town} left {new} people without power."),
                new.to_string(),
            ),
        },
        1 => Corrected {
            first: format!("About the {what} in {town}: damages come to {old} thousand."),
            stale: format!("damages come to {old} thousand"),
            later: Stated::new(
                format!("About the {what} in {town}: damages come to {new} thousand, not {old}."),
                new.to_string(),
            ),
        },
        _ => Corrected {
            first: format!("The hearing on the {what} in {town} takes place in hall {old}."),
            stale: format!("The hearing on the {what} in {town} takes place in hall {old}"),
            later: Stated::new(
                format!("The hearing on the {what} in {town} was moved to hall {new}."),
                new.to_string(),
            ),
        },
    }
}
