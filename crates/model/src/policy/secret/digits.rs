//! Numbers of people: payment cards, bank accounts and phones.

use std::ops::Range;

use super::{SecretKind, SecretMatch};

/// No number that is looked for has digits further apart.
const STRIDE: usize = 4;

/// Finds the numbers of a text.
pub(super) fn each(text: &str, found: &mut Vec<SecretMatch>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if !byte.is_ascii_digit() {
            at += STRIDE;
            continue;
        }
        let span = span(bytes, at);
        check(text, span.clone(), found);
        at = span.end.max(at) + 1;
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'.' | b'(' | b')' | b'/' | b'+')
}

/// The digits around a place and what groups them, from the first digit, `+` or `(` to the last digit.
fn span(bytes: &[u8], at: usize) -> Range<usize> {
    const LONGEST: usize = 64;
    let back = bytes.iter().take(at).rev().take(LONGEST).take_while(|byte| is_part(**byte)).count();
    let ahead = bytes.iter().skip(at).take(LONGEST).take_while(|byte| is_part(**byte)).count();
    let within = |range: Range<usize>| bytes.get(range).unwrap_or_default();
    let lead = within(at - back..at)
        .iter()
        .take_while(|byte| !byte.is_ascii_digit() && **byte != b'+' && **byte != b'(')
        .count();
    let tail = within(at..at + ahead).iter().rev().take_while(|byte| !byte.is_ascii_digit()).count();
    at - back + lead..at + ahead - tail
}

/// One group of digits, and the bytes between it and the one before.
struct Group<'a> {
    range: Range<usize>,
    gap: &'a str,
}

fn check(text: &str, span: Range<usize>, found: &mut Vec<SecretMatch>) {
    let count = text.get(span.clone()).map_or(0, |part| part.bytes().filter(u8::is_ascii_digit).count());
    if count < 8 {
        return;
    }
    let groups = groups(text, span.clone());
    let mut first = 0;
    while first < groups.len() {
        let rest = groups.get(first..).unwrap_or_default();
        let told = [(card(text, rest), SecretKind::Card), (phone(text, rest), SecretKind::Phone)];
        let told = told.into_iter().find_map(|(taken, kind)| taken.map(|(range, taken)| (range, taken, kind)));
        match told {
            Some((range, taken, kind)) => {
                found.push(SecretMatch { range, kind });
                first += taken;
            }
            None => first += 1,
        }
    }
    if let Some(range) = iban(text, span) {
        found.push(SecretMatch { range, kind: SecretKind::Iban });
    }
}

fn groups(text: &str, span: Range<usize>) -> Vec<Group<'_>> {
    let bytes = text.as_bytes();
    let (mut groups, mut at, mut last) = (Vec::new(), span.start, span.start);
    while at < span.end {
        let length = bytes.iter().take(span.end).skip(at).take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            at += 1;
            continue;
        }
        groups.push(Group { range: at..at + length, gap: text.get(last..at).unwrap_or_default() });
        at += length;
        last = at;
    }
    groups
}

/// Whether a number may stand here: no letter, digit or point joins it.
fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let before = text.as_bytes().iter().take(range.start).next_back();
    let mut after = text.as_bytes().iter().skip(range.end);
    let next = after.next();
    let goes_on =
        next.is_some_and(|byte| matches!(byte, b'.' | b'-' | b'/')) && after.next().is_some_and(u8::is_ascii_digit);
    super::begins(text, range.start)
        && !before.is_some_and(|byte| matches!(byte, b'.' | b'_' | b'-' | b'+' | b'/' | b'#' | b'$'))
        && super::ends(text, range.end)
        && next != Some(&b'_')
        && !goes_on
}

/// A card whose number begins with these groups, and how many of them it takes.
fn card(text: &str, groups: &[Group<'_>]) -> Option<(Range<usize>, usize)> {
    const SHAPES: [&[usize]; 10] =
        [&[13], &[14], &[15], &[16], &[19], &[4, 4, 4, 4], &[4, 4, 4, 4, 3], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 1]];
    let fits = |shape: &&[usize]| {
        let sizes = groups.iter().take(shape.len()).map(|group| group.range.len());
        let gaps: Vec<&str> = groups.iter().take(shape.len()).skip(1).map(|group| group.gap).collect();
        let same = gaps.windows(2).all(|pair| matches!(pair, [a, b] if a == b));
        sizes.eq(shape.iter().copied()) && same && gaps.iter().all(|gap| matches!(*gap, " " | "-"))
    };
    let shape = SHAPES.iter().filter(|shape| fits(shape)).max_by_key(|shape| shape.len())?;
    let range = groups.first()?.range.start..groups.get(shape.len() - 1)?.range.end;
    let digits: Vec<u8> = text.get(range.clone())?.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0').collect();
    (issued(&digits) && luhn(&digits) && stands_alone(text, &range)).then_some((range, shape.len()))
}

/// Whether a JSON number is the number of a card.
pub(in crate::policy) fn is_card(number: &str) -> bool {
    let digits: Vec<u8> = number.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0').collect();
    digits.len() == number.len() && issued(&digits) && luhn(&digits)
}

/// Whether a network issues numbers like this.
fn issued(digits: &[u8]) -> bool {
    let head = |length: usize| digits.iter().take(length).fold(0_u32, |sum, digit| sum * 10 + u32::from(*digit));
    let varied = digits.iter().any(|digit| Some(digit) != digits.last());
    let (two, three, four) = (head(2), head(3), head(4));
    varied
        && match digits.len() {
            13 => head(1) == 4,
            14 => matches!(two, 36 | 38 | 39) || (300..=305).contains(&three),
            15 => matches!(two, 34 | 37),
            16 => {
                head(1) == 4
                    || (51..=55).contains(&two)
                    || (2221..=2720).contains(&four)
                    || four == 6011
                    || two == 65
                    || (644..=649).contains(&three)
                    || (3528..=3589).contains(&four)
                    || two == 62
            }
            19 => head(1) == 4 || two == 62 || four == 6011,
            _ => false,
        }
}

fn luhn(digits: &[u8]) -> bool {
    let weigh = |(place, digit): (usize, &u8)| match (place % 2, digit * 2) {
        (0, _) => u32::from(*digit),
        (_, double) if double > 9 => u32::from(double - 9),
        (_, double) => u32::from(double),
    };
    digits.iter().rev().enumerate().map(weigh).sum::<u32>() % 10 == 0
}

/// A phone number that begins with these groups: with its country's code, or written as in North America.
fn phone(text: &str, groups: &[Group<'_>]) -> Option<(Range<usize>, usize)> {
    let first = groups.first()?;
    let plus = first.range.start.checked_sub(1).filter(|at| text.as_bytes().get(*at) == Some(&b'+'));
    match plus {
        Some(start) => international(text, start, groups),
        None => national(text, groups),
    }
}

fn international(text: &str, start: usize, groups: &[Group<'_>]) -> Option<(Range<usize>, usize)> {
    let joins =
        |group: &&Group<'_>| matches!(group.gap, " " | "-" | "." | "/" | " (" | ") " | ")" | "(" | "-(" | ")-" | " - ");
    let taken = 1 + groups.iter().skip(1).take_while(joins).count();
    let mut digits = 0;
    let sizes = groups.iter().take(taken).map(|group| group.range.len());
    let taken = sizes
        .take_while(|size| {
            digits += size;
            digits <= 15
        })
        .count();
    let digits: usize = groups.iter().take(taken).map(|group| group.range.len()).sum();
    let end = groups.get(taken.checked_sub(1)?)?.range.end;
    let code = text.as_bytes().get(start + 1).is_some_and(|byte| *byte != b'0');
    let least = if taken == 1 { 10 } else { 8 };
    let before = start.checked_sub(1).and_then(|at| text.as_bytes().get(at));
    let joined = before.is_some_and(|byte| matches!(byte, b'+' | b'.' | b')'));
    // A line of a patch begins with `+` too: there only a grouped number counts.
    let free = super::begins(text, start) && !joined && (before != Some(&b'\n') || taken > 1);
    let free = free && (before.is_some() || taken > 1 || digits >= 11);
    (code && digits >= least && free && super::ends(text, end)).then_some((start..end, taken))
}

fn national(text: &str, groups: &[Group<'_>]) -> Option<(Range<usize>, usize)> {
    let sizes: Vec<usize> = groups.iter().take(4).map(|group| group.range.len()).collect();
    let lead = match sizes.as_slice() {
        [1, 3, 3, 4] if text.get(groups.first()?.range.clone()) == Some("1") => 1,
        [3, 3, 4, ..] => 0,
        _ => return None,
    };
    let (area, office, line) = (groups.get(lead)?, groups.get(lead + 1)?, groups.get(lead + 2)?);
    let real =
        |group: &Group<'_>| text.as_bytes().get(group.range.start).is_some_and(|byte| (b'2'..=b'9').contains(byte));
    let bracket = area.range.start.checked_sub(1).filter(|at| text.as_bytes().get(*at) == Some(&b'('));
    let joined = match (office.gap, line.gap) {
        ("-", "-") | (".", ".") => bracket.is_none(),
        (") " | ")" | ")-", "-" | " " | ".") => bracket.is_some(),
        _ => false,
    };
    let start = if lead == 1 { groups.first()?.range.start } else { bracket.unwrap_or(area.range.start) };
    let range = start..line.range.end;
    (joined && real(area) && real(office) && stands_alone(text, &range)).then_some((range, lead + 3))
}

/// The account number around these digits, if its country, length and checksum are right.
fn iban(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let earliest = span.start.saturating_sub(14);
    let opens = |at: &usize| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|more| bytes.get(at + more).copied().unwrap_or_default());
        a.is_ascii_uppercase()
            && b.is_ascii_uppercase()
            && c.is_ascii_digit()
            && d.is_ascii_digit()
            && super::begins(text, *at)
    };
    (earliest..span.end).filter(opens).find_map(|at| account(text, at))
}

fn account(text: &str, at: usize) -> Option<Range<usize>> {
    let country = text.get(at..at + 2)?;
    let length = LENGTHS
        .iter()
        .find(|(length, countries)| *length > 0 && countries.contains(&country))
        .map(|(length, _)| *length)?;
    let (mut end, mut number) = (at, Vec::with_capacity(length));
    while number.len() < length {
        let byte = *text.as_bytes().get(end)?;
        match byte {
            b' ' | b'-' if number.len() % 4 == 0 && !number.is_empty() => {}
            byte if byte.is_ascii_uppercase() || byte.is_ascii_digit() => number.push(byte),
            _ => return None,
        }
        end += 1;
    }
    let turned = number.iter().skip(4).chain(number.iter().take(4));
    let rest = turned.fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        letter => (rest * 100 + u32::from(letter - b'A') + 10) % 97,
    });
    (rest == 1 && super::ends(text, end)).then_some(at..end)
}

/// How long the account numbers of countries are.
#[rustfmt::skip]
const LENGTHS: &[(usize, &[&str])] = &[
    (15, &["NO"]), (16, &["BE"]), (18, &["DK", "FI", "FO", "GL", "NL", "SD", "FK"]), (19, &["MK", "SI"]), (20, &["AT", "BA", "EE", "KZ", "LT", "LU", "XK", "MN"]),
    (21, &["CH", "HR", "LI", "LV"]), (22, &["BG", "BH", "CR", "DE", "GB", "GE", "IE", "ME", "RS", "VA"]), (23, &["AE", "GI", "IL", "IQ", "TL", "OM", "SO"]),
    (24, &["AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG"]), (25, &["LY", "PT", "ST"]), (26, &["IS", "TR"]), (27, &["BI", "DJ", "FR", "GR", "IT", "MC", "MR", "SM"]),
    (28, &["AL", "AZ", "BY", "CY", "DO", "GT", "HU", "LB", "NI", "PL", "SV"]), (29, &["BR", "EG", "PS", "QA", "UA"]), (30, &["JO", "KW", "MU", "YE"]), (31, &["MT", "SC"]), (32, &["LC"]), (33, &["RU"]),
];
