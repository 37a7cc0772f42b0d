//! An agent that works on a device's sources and reads many logs.

use super::super::talk::{Corrected, Dice, Domain, Stated};

pub(super) const DOMAIN: Domain = Domain { name: "firmware", filler, prose, code, tool, corrected };

const PARTS: [&str; 14] = [
    "bootloader",
    "uart",
    "flash",
    "watchdog",
    "radio",
    "accelerometer",
    "display",
    "charger",
    "crypto",
    "timer",
    "codec",
    "sensor",
    "usb",
    "fuel_gauge",
];

fn filler(dice: &mut Dice) -> String {
    let a = dice.pick(&[
        "Let me check the next file.",
        "I'll run the tests again.",
        "The build is clean on my side.",
        "I looked at step 3 of the list and it is done.",
        "Next I will go through the remaining warnings.",
        "Could you have another look at it?",
        "That compiles, so we can go on.",
        "Please continue with the refactoring.",
    ]);
    let b = dice.pick(&[
        "It reads the register and waits until the bit is set, as the manual describes.",
        "Nothing in there surprised me, the code does what its comments say.",
        "The naming is a bit odd, although one gets used to it after a while.",
        "There is one more place where the same pattern is used, and it can stay.",
        "I kept the behaviour as it was and only moved lines around.",
        "The helper at the top could go, but it does no harm either.",
    ]);
    format!("{a} {b}")
}

fn prose(dice: &mut Dice) -> Stated {
    let part = dice.pick(&PARTS);
    match dice.below(5) {
        0 => {
            let file = format!("drivers/{part}/{}.c", dice.pick(&["irq", "init", "dma", "fifo", "power"]));
            Stated::new(format!("The race is in {file}, in the second branch."), file)
        }
        1 => {
            let rate = format!("{} kHz", dice.between(13, 980));
            Stated::new(format!("On the {part} bus we must not go above {rate}."), rate)
        }
        2 => {
            let name = format!("{part}_{}", dice.pick(&["suspend", "resume", "flush", "probe"]));
            Stated::new(format!("The customer calls `{name}` from an interrupt."), name)
        }
        3 => {
            let ticket = format!("FW-{}", dice.between(1000, 9999));
            Stated::new(format!("This was reported as {ticket} last year."), ticket)
        }
        _ => {
            let who = dice.pick(&["Anneliese", "Bogdan", "Cheng", "Dimitra", "Emeka", "Farida"]);
            Stated::new(format!("Every change to the {part} needs a review by {who}."), format!("review by {who}"))
        }
    }
}

fn code(dice: &mut Dice) -> Stated {
    let part = dice.pick(&PARTS);
    let value = format!("0x{:04X}", dice.between(4096, 65_535));
    let line = format!("#define {}_BASE {value}", part.to_uppercase());
    Stated::new(
        format!(
            "#include <stdint.h>\n#include \"{part}.h\"\n\n{line}\n\nstatic void reset(void) {{\n    write_register(base, 0);\n    wait_ready(base);\n    return;\n}}"
        ),
        value,
    )
}

fn tool(dice: &mut Dice) -> Stated {
    let mut lines = Vec::new();
    for _ in 0..6 {
        lines.push(format!("12:0{}:{} INFO {} ready", dice.below(10), dice.between(10, 60), dice.pick(&PARTS)));
    }
    let at = dice.below(6);
    let crash = format!("0x{:08x}", dice.between(1 << 28, 1 << 30));
    lines.insert(
        at,
        format!("12:0{}:{} ERROR {} hard fault at {crash}", dice.below(10), dice.between(10, 60), dice.pick(&PARTS)),
    );
    Stated::new(lines.join("\n"), crash)
}

fn corrected(dice: &mut Dice, n: usize) -> Corrected {
    // No two corrections are about the same.
    let part = format!("{} {}", ["main", "spare", "left"][n / 5 / PARTS.len()], PARTS[n / 5 % PARTS.len()]);
    match n % 3 {
        0 => {
            let (old, new) = (dice.between(100, 400), dice.between(401, 900));
            Corrected {
                first: format!("The {part} draws {old} microamps asleep."),
                stale: format!("The {part} draws {old} microamps"),
                later: Stated::new(
                    format!("Measured again: the {part} actually draws {new} microamps asleep."),
                    new.to_string(),
                ),
            }
        }
        1 => {
            let (old, new) = (
                format!("v{}.{}", dice.between(1, 4), dice.below(20)),
                format!("v{}.{}", dice.between(5, 9), dice.below(20)),
            );
            Corrected {
                first: format!("We ship {old} of the {part} image."),
                stale: format!("We ship {old} of the {part}"),
                later: Stated::new(format!("Scratch that, we ship {new} of the {part} image."), new),
            }
        }
        _ => {
            let name = part.replace(' ', "_");
            let (old, new) = (dice.between(10, 49), dice.between(50, 99));
            Corrected {
                first: format!("{name}_retries is {old}."),
                stale: format!("{name}_retries is {old}"),
                later: Stated::new(format!("I changed {name}_retries from {old} to {new}."), format!("{new}")),
            }
        }
    }
}
