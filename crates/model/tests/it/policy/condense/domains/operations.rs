//! People who run services.

use super::super::talk::{Corrected, Dice, Domain, Stated};

pub(super) const DOMAIN: Domain = Domain { name: "operations", filler, prose, code, tool, corrected };

const FIRST: [&str; 12] =
    ["Maria", "Jonas", "Priya", "Tomasz", "Aoife", "Kenji", "Lucía", "Sven", "Nadia", "Omar", "Ingrid", "Paulo"];
const LAST: [&str; 12] = [
    "Lopez",
    "Weber",
    "Raghunathan",
    "Wierzbicki",
    "Brennan",
    "Watanabe",
    "Ferrer",
    "Lindqvist",
    "Haddad",
    "Farouk",
    "Solberg",
    "Moreira",
];
const SYSTEMS: [&str; 16] = [
    "billing",
    "checkout",
    "search",
    "ledger",
    "mailer",
    "inventory",
    "gateway",
    "reporting",
    "signup",
    "archive",
    "pricing",
    "catalog",
    "notifier",
    "scheduler",
    "uploader",
    "metrics",
];

fn filler(dice: &mut Dice) -> String {
    let opens = dice.pick(&[
        "I think",
        "As far as I can see,",
        "In my experience",
        "To be honest,",
        "From what we saw so far,",
        "It seems to me that",
        "Generally speaking,",
        "For what it is worth,",
    ]);
    let what = dice.pick(&[
        "this part of the setup",
        "the way it behaves under load",
        "what the team does on a normal day",
        "the order in which things start",
        "most of the work around it",
        "the usual procedure",
        "the current state of affairs",
        "a change like that",
    ]);
    let does = dice.pick(&[
        "is fine for the moment",
        "could be a little clearer to newcomers",
        "should not worry anyone too much",
        "has grown over the years without much of a plan",
        "works well enough for everybody involved",
        "deserves a closer look at some point",
        "is easy to explain but hard to get right",
        "tends to look worse than it is",
    ]);
    format!("{opens} {what} {does}.")
}

fn person(dice: &mut Dice) -> String {
    format!("{} {}", dice.pick(&FIRST), dice.pick(&LAST))
}

fn prose(dice: &mut Dice) -> Stated {
    let system = dice.pick(&SYSTEMS);
    match dice.below(5) {
        0 => {
            let name = person(dice);
            Stated::new(format!("{name} owns the {system} service."), format!("{name} owns"))
        }
        1 => {
            let port = dice.between(1024, 65000);
            Stated::new(format!("For {system} the port is {port}."), format!("port is {port}"))
        }
        2 => {
            let path = format!("/etc/{system}/{}.toml", dice.pick(&["config", "limits", "routes", "secrets", "cache"]));
            Stated::new(format!("Its settings are in {path}."), path)
        }
        3 => {
            let choice = dice.pick(&["PostgreSQL", "Kafka", "Redis", "S3", "RabbitMQ", "Vault"]);
            Stated::new(format!("We decided that {system} goes onto {choice}."), format!("{system} goes onto {choice}"))
        }
        _ => {
            let days = dice.between(3, 90);
            Stated::new(format!("Backups of {system} are kept for {days} days."), format!("{days} days"))
        }
    }
}

fn code(dice: &mut Dice) -> Stated {
    let (system, value) = (dice.pick(&SYSTEMS), dice.between(100, 9999));
    let line = format!("{}_{} = {value}", system, dice.pick(&["timeout_ms", "pool_size", "max_rows", "batch"]));
    Stated::new(format!("[server]\nenabled = true\nname = \"{system}\"\n{line}\nverbose = false"), line)
}

fn tool(dice: &mut Dice) -> Stated {
    let id = format!("{}-{}", dice.pick(&["dep", "rel", "job", "inc"]), dice.between(10_000, 99_999));
    let host = format!("{}-{}.internal", dice.pick(&SYSTEMS), dice.between(1, 40));
    Stated::new(
        format!(
            "{{\"status\":\"ok\",\"items\":[],\"warnings\":[],\"id\":\"{id}\",\"host\":\"{host}\",\"elapsed\":\"fast\",\"page\":1,\"more\":false}}"
        ),
        if dice.below(2) == 0 { id } else { host },
    )
}

fn corrected(dice: &mut Dice, n: usize) -> Corrected {
    // No two corrections are about the same.
    let system = format!("{}-{}", SYSTEMS[n / 5 % SYSTEMS.len()], ["east", "west", "north"][n / 5 / SYSTEMS.len()]);
    let (old, new) = (dice.between(1024, 30_000), dice.between(30_001, 65_000));
    match n % 3 {
        0 => Corrected {
            first: format!("The {system} cluster listens on {old}."),
            stale: format!("The {system} cluster listens on {old}"),
            later: Stated::new(
                format!("Correction: the {system} cluster listens on {new}, not {old}."),
                new.to_string(),
            ),
        },
        1 => Corrected {
            first: format!("The quota of {system} is {old} requests."),
            stale: format!("The quota of {system} is {old}"),
            later: Stated::new(format!("The quota of {system} is now {new} requests."), new.to_string()),
        },
        _ => {
            let (a, b) = (person(dice), person(dice));
            Corrected {
                first: format!("{a} is on call for {system}."),
                stale: format!("{a} is on call for {system}"),
                later: Stated::new(format!("Actually, {b} is on call for {system}."), b),
            }
        }
    }
}
