//! The scanner, measured on a labelled set: shapes of secrets filled from a fixed seed, among ordinary chat and code.

use std::path::{Path, PathBuf};

use turnkeep_model::policy::{SecretKind, SecretMatch, scan};

/// How often every shape is filled.
const ROUNDS: usize = 40;

/// SplitMix64: the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.next() as usize % words.len()]
    }

    fn letters(&mut self, alphabet: &str, count: usize) -> String {
        let bytes = alphabet.as_bytes();
        (0..count).map(|_| char::from(bytes[self.next() as usize % bytes.len()])).collect()
    }
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";
const NAMES: &[&str] = &["ada", "grace", "linus", "barbara", "edsger", "margaret", "donald", "ken"];
const HOSTS: &[&str] = &["example.com", "db.example.org", "mail.example.net", "corp.example.co.uk", "example.io"];

/// A shape, filled.
fn fill(shape: &str, random: &mut Random) -> String {
    let (mut text, mut rest) = (String::new(), shape);
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        match after.split_once('}').and_then(|(field, tail)| Some((filled(field, random)?, tail))) {
            Some((value, tail)) => {
                text.push_str(&value);
                rest = tail;
            }
            // A brace of the text itself.
            None => {
                text.push('{');
                rest = after;
            }
        }
    }
    (text + rest).replace("\\n", "\n").replace("\\\n", "\\n")
}

fn filled(field: &str, random: &mut Random) -> Option<String> {
    if let Some(letter) = field.strip_prefix('^') {
        return Some(letter.to_owned());
    }
    let parts: Vec<&str> = field.split(':').collect();
    let alnum = format!("{LOWER}{UPPER}{DIGITS}");
    let alphabet = match parts[0] {
        "name" => return Some(random.pick(NAMES).to_owned()),
        "host" => return Some(random.pick(HOSTS).to_owned()),
        "card" => return Some(card(parts[1], parts[2].parse().ok()?, parts.get(3).copied().unwrap_or(""), random)),
        "iban" => return Some(iban(&parts, random)),
        "A" => alnum,
        "a" => format!("{LOWER}{DIGITS}"),
        "U" => format!("{UPPER}{DIGITS}"),
        "L" => UPPER.to_owned(),
        "h" => "0123456789abcdef".to_owned(),
        "d" => DIGITS.to_owned(),
        "w" => format!("{alnum}_-"),
        "b" => format!("{alnum}+/"),
        "p" => {
            let count: usize = parts[1].parse().ok()?;
            let word = random.letters(&format!("{LOWER}{UPPER}{DIGITS}"), count - 4);
            return Some(
                format!("{word}{}{}", random.letters("!*~", 1), random.letters("a1b2c3d4", 1))
                    + &random.letters(DIGITS, 2),
            );
        }
        _ => return None,
    };
    let count: usize = parts.get(1)?.parse().ok()?;
    // What vendors make is random but ends in no sign that a sentence would end in.
    let body = random.letters(&alphabet, count - 1);
    let last = alphabet.replace(['-', '_', '+', '/'], "");
    Some(body + &random.letters(&last, 1))
}

fn card(head: &str, length: usize, gap: &str, random: &mut Random) -> String {
    let body = format!("{head}{}", random.letters(DIGITS, length - 1 - head.len()));
    let check = (0..10).find(|check| luhn(&format!("{body}{check}"))).unwrap();
    let number = format!("{body}{check}");
    if gap.is_empty() {
        return number;
    }
    let groups: Vec<&str> = number.as_bytes().chunks(4).map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.join(gap)
}

fn luhn(number: &str) -> bool {
    let digit = |(place, byte): (usize, u8)| match (place % 2, u32::from(byte - b'0')) {
        (1, digit) if digit > 4 => digit * 2 - 9,
        (1, digit) => digit * 2,
        (_, digit) => digit,
    };
    number.bytes().rev().enumerate().map(digit).sum::<u32>() % 10 == 0
}

fn iban(parts: &[&str], random: &mut Random) -> String {
    let (country, length) = (parts[1], parts[2].parse::<usize>().unwrap());
    let bank = parts.get(3).filter(|part| part.len() == 4).copied().unwrap_or("");
    let spaced = parts.last() == Some(&" ");
    let account = format!("{bank}{}", random.letters(DIGITS, length - bank.len()));
    let value = |text: &str| {
        text.bytes().fold(0_u32, |rest, byte| match byte {
            b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
            letter => (rest * 100 + u32::from(letter - b'A') + 10) % 97,
        })
    };
    let check = 98 - value(&format!("{account}{country}00"));
    let number = format!("{country}{check:02}{account}");
    if !spaced {
        return number;
    }
    let groups: Vec<&str> = number.as_bytes().chunks(4).map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.join(" ")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn shapes() -> Vec<(SecretKind, String)> {
    let text = std::fs::read_to_string(root().join("fixtures/secrets/shapes.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let (kind, shape) = line.split_once('\t').unwrap();
            (SecretKind::from_word(kind).unwrap(), shape.to_owned())
        })
        .collect()
}

/// Sentences that a secret stands in.
const FRAMES: &[(&str, &str)] = &[
    ("", ""),
    ("Here it is: ", ""),
    ("Use ", " for now, please."),
    ("curl -H \"", "\" /v1/things"),
    ("value: ", "\nnext: line"),
    ("(", ")"),
    ("first line\n", "\nlast line"),
];

/// Whether some of the secrets found is of this kind and stands where the shape was put.
fn is_found(found: &[SecretMatch], kind: SecretKind, at: std::ops::Range<usize>) -> bool {
    found.iter().any(|secret| secret.kind == kind && secret.range.start < at.end && at.start < secret.range.end)
}

#[test]
fn secrets_are_found() {
    let mut random = Random(7);
    let (mut planted, mut missed) = (0, Vec::new());
    for (kind, shape) in shapes() {
        for round in 0..ROUNDS {
            let secret = fill(&shape, &mut random);
            let (before, after) = FRAMES[round % FRAMES.len()];
            let text = format!("{before}{secret}{after}");
            let found = scan(&text);
            planted += 1;
            if !is_found(&found, kind, before.len()..before.len() + secret.len()) {
                missed.push(format!("{kind}: {shape} as {text:?}: {found:?}"));
            }
        }
    }

    let recall = 1.0 - missed.len() as f64 / f64::from(planted);
    eprintln!("recall {:.2} % of {planted} secrets of {} shapes", recall * 100.0, shapes().len());
    assert!(recall >= 0.99, "{recall}: {:#?}", &missed[..missed.len().min(40)]);
}

/// Every text of ours that people or programs wrote: sources, documents, recorded sessions.
fn ordinary() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in
        ["crates", "benches", "xtask", "docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    {
        collect(&root().join(folder), &mut files);
    }
    files.sort();
    files
}

fn collect(path: &Path, files: &mut Vec<(String, String)>) {
    if path.is_dir() {
        let mut entries: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        return entries.iter().for_each(|entry| collect(entry, files));
    }
    let name = path.display().to_string();
    // What tests the scanner is full of what looks like secrets.
    let is_own = ["src/policy", "it/policy", "policies.md"].iter().any(|own| name.contains(own));
    let is_text = path.extension().is_some_and(|end| ["rs", "md", "toml", "py"].iter().any(|text| end == *text));
    if let Some(text) = (is_text && !is_own).then(|| std::fs::read_to_string(path).ok()).flatten() {
        files.push((name, text));
    }
}

#[test]
fn ordinary_text_is_left_alone() {
    let (mut bytes, mut wrong) = (0, Vec::new());
    for (name, text) in ordinary() {
        bytes += text.len();
        wrong.extend(scan(&text).into_iter().map(|found| (name.clone(), found.kind, text[found.range].to_owned())));
    }

    let rate = wrong.len() as f64 / (bytes as f64 / 100_000.0);
    eprintln!("{} false positives in {bytes} bytes: {rate:.3} per 100 kB", wrong.len());
    assert!(bytes > 2_000_000, "{bytes} bytes are not enough to judge");
    assert!(rate < 1.0, "{rate}: {wrong:#?}");
}

#[test]
fn secrets_in_json_that_is_a_text_are_found_past_its_escapes() {
    let mut random = Random(3);
    for (kind, shape) in shapes().into_iter().filter(|(_, shape)| !shape.contains('"') && !shape.contains('\\')) {
        let secret = fill(&shape, &mut random);
        let text = format!(r#"{{"log":"first\n{secret}\nlast\t{secret}"}}"#);

        let found = scan(&text);

        assert!(found.iter().filter(|found| found.kind == kind).count() >= 2, "{kind}: {shape} in {text}: {found:?}");
        for found in found {
            assert!(!text[..found.range.start].ends_with('\\'), "{text} is cut in an escape at {found:?}");
        }
    }
}
