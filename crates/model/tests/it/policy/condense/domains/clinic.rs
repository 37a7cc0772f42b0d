//! A ward and its paperwork: long sentences, dates and doses everywhere, and filler with numbers and names in it.

use super::super::talk::{Corrected, Dice, Domain, Stated};

pub(super) const DOMAIN: Domain = Domain { name: "clinic", filler, prose, code, tool, corrected };

const PEOPLE: [&str; 12] = [
    "Dr. Okonkwo",
    "Sister Agnes",
    "Mr. Delacroix",
    "Mrs. Petrova",
    "Dr. Halvorsen",
    "Nurse Adeyemi",
    "Mr. Quigley",
    "Mrs. Tanizaki",
    "Dr. Szymański",
    "Mr. Oyelowo",
    "Mrs. Brandt",
    "Nurse Castellanos",
];
const DRUGS: [&str; 14] = [
    "metoprolol",
    "warfarin",
    "heparin",
    "insulin",
    "ramipril",
    "digoxin",
    "lithium",
    "amoxicillin",
    "prednisone",
    "furosemide",
    "morphine",
    "phenytoin",
    "levodopa",
    "cisplatin",
];

fn filler(dice: &mut Dice) -> String {
    let when = dice.pick(&[
        "On most mornings",
        "During the late shift",
        "After the round",
        "In the first 2 hours",
        "On a Monday",
        "Before lunch",
        "Towards the end of the week",
        "Whenever there is time",
    ]);
    let who = dice.pick(&[
        "the team on the second floor",
        "one of the students",
        "whoever is at the desk",
        "the people from the pharmacy",
        "the night staff",
        "a colleague from the ward next door",
    ]);
    let does = dice.pick(&[
        "goes through the charts and tidies them up",
        "makes a round of calls that rarely lead anywhere",
        "checks that the trolleys are where they belong",
        "writes a short note for the others to read",
        "has a look at the beds by the window",
        "waits for the lift longer than anyone would like",
    ]);
    let why = dice.pick(&[
        "which is how it has been done for years",
        "and nobody minds that very much",
        "although there were plans to do it differently",
        "so that the rest of the day can begin",
        "because it keeps everyone calm",
        "and that is that",
    ]);
    format!("{when} {who} {does}, {why}.")
}

fn prose(dice: &mut Dice) -> Stated {
    let (who, drug) = (dice.pick(&PEOPLE), dice.pick(&DRUGS));
    match dice.below(5) {
        0 => {
            let dose = format!("{} mg", dice.between(2, 95) * 5);
            Stated::new(
                format!("I should add that {who} gets {dose} of {drug} with breakfast, as far as the chart goes."),
                dose,
            )
        }
        1 => {
            let room = format!("room {}", dice.between(101, 480));
            Stated::new(format!("You will find {who} in {room}, on the left when you come out of the lift."), room)
        }
        2 => Stated::new(format!("{who} is allergic to {drug}."), format!("{who} is allergic to {drug}")),
        3 => {
            let date = format!("2026-0{}-{}", dice.between(2, 9), dice.between(10, 28));
            Stated::new(
                format!("The next appointment for the {drug} levels was set for {date} by the outpatient desk."),
                date,
            )
        }
        _ => Stated::new(
            format!("It was agreed in the meeting that {drug} is never to be given on an empty stomach here."),
            format!("{drug} is never to be given"),
        ),
    }
}

fn code(dice: &mut Dice) -> Stated {
    let drug = dice.pick(&DRUGS);
    let (low, high) = (dice.between(11, 49), dice.between(150, 990));
    Stated::new(
        format!(
            "def alert(patient):\n    # checked every hour\n    if patient.drug == \"{drug}\":\n        return {low} < patient.level < {high}\n    return None"
        ),
        format!("{low} < patient.level < {high}"),
    )
}

fn tool(dice: &mut Dice) -> Stated {
    let value = format!("{}.{}", dice.between(2, 19), dice.below(10));
    let sample = format!("S{}{}", dice.pick(&["A", "K", "T"]), dice.between(40_000, 99_000));
    Stated::new(
        format!(
            "sample: {sample}\nstate: final\nunit: mmol\nflags: none\npotassium: {value}\ncomment: none\nreleased: yes"
        ),
        sample,
    )
}

fn corrected(dice: &mut Dice, n: usize) -> Corrected {
    let drug = DRUGS[n / 5 % DRUGS.len()];
    let bed = ["north", "south", "garden"][n / 5 / DRUGS.len()];
    let (old, new) = (dice.between(100, 400), dice.between(410, 900));
    match n % 3 {
        0 => Corrected {
            first: format!("The {drug} stock of the {bed} wing stands at {old} ampoules."),
            stale: format!("The {drug} stock of the {bed} wing stands at {old}"),
            later: Stated::new(
                format!(
                    "Please note that the {drug} stock of the {bed} wing was counted wrong and stands at {new} ampoules."
                ),
                new.to_string(),
            ),
        },
        1 => Corrected {
            first: format!("Orders of {drug} for the {bed} wing go to extension {old}."),
            stale: format!("Orders of {drug} for the {bed} wing go to extension {old}"),
            later: Stated::new(
                format!("Orders of {drug} for the {bed} wing go to extension {new} instead of {old} as of today."),
                new.to_string(),
            ),
        },
        _ => Corrected {
            first: format!("In the {bed} wing the limit for {drug} is {old} units."),
            stale: format!("In the {bed} wing the limit for {drug} is {old}"),
            later: Stated::new(
                format!("In the {bed} wing the limit for {drug} has been changed to {new} units."),
                new.to_string(),
            ),
        },
    }
}
