//! Times as Python's `datetime` reads and writes them.

/// What `datetime.fromisoformat` makes of a text, written by `isoformat`. A time without a zone is taken to be UTC, as
/// the original does with the times of a snapshot.
pub(super) fn isoformat(text: &str) -> Option<String> {
    let (date, rest) = date(text)?;
    // Whatever single character stands between the date and the time.
    let mut rest = rest.chars();
    if rest.next().is_none() {
        return Some(format!("{date}T00:00:00+00:00"));
    }
    let (clock, zone) = split_zone(rest.as_str());
    Some(format!("{date}T{}{}", time(clock)?, offset(zone)?))
}

fn date(text: &str) -> Option<(String, &str)> {
    if matches!(text.as_bytes(), [_, _, _, _, b'-', b'W', ..] | [_, _, _, _, b'W', ..]) {
        return week(text);
    }
    let (digits, length) = match text.as_bytes() {
        [_, _, _, _, b'-', _, _, b'-', ..] => {
            (format!("{}{}{}", text.get(..4)?, text.get(5..7)?, text.get(8..10)?), 10)
        }
        _ => (text.get(..8)?.to_owned(), 8),
    };
    let number = |from: usize, to: usize| plain_number(digits.get(from..to)?);
    let date = jiff::civil::Date::new(
        i16::try_from(number(0, 4)?).ok().filter(|year| *year > 0)?,
        i8::try_from(number(4, 6)?).ok()?,
        i8::try_from(number(6, 8)?).ok()?,
    );
    Some((date.ok()?.to_string(), text.get(length..)?))
}

/// `2026-W09-7` or `2026W097`, the day being Monday where there is none.
fn week(text: &str) -> Option<(String, &str)> {
    let year = i16::try_from(plain_number(text.get(..4)?)?).ok().filter(|year| *year > 0)?;
    let dashed = text.as_bytes().get(4) == Some(&b'-');
    let rest = text.get(if dashed { 6 } else { 5 }..)?;
    let week = i8::try_from(plain_number(rest.get(..2)?)?).ok()?;
    let rest = rest.get(2..)?;
    let day = if dashed { rest.strip_prefix('-') } else { Some(rest) };
    let day = day.and_then(|day| Some((plain_number(day.get(..1)?)?, day.get(1..)?)));
    let (day, rest) = day.unwrap_or((1, rest));
    let weekday = jiff::civil::Weekday::from_monday_one_offset(i8::try_from(day).ok()?).ok()?;
    let date = jiff::civil::ISOWeekDate::new(year, week, weekday).ok()?.date();
    Some((date.to_string(), rest))
}

fn plain_number(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

fn split_zone(text: &str) -> (&str, &str) {
    match text.find(['+', '-', 'Z', 'z']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    }
}

/// The time of day: hours, perhaps minutes and seconds, perhaps a fraction.
fn time(text: &str) -> Option<String> {
    let (clock, fraction) = match text.find(['.', ',']) {
        Some(at) => (text.get(..at)?, Some(text.get(at + 1..)?)),
        None => (text, None),
    };
    let parts = clock_parts(clock)?;
    let [hours, minutes, seconds] = fill(&parts);
    if hours > 23 || minutes > 59 || seconds > 59 || (fraction.is_some() && parts.len() < 3) {
        return None;
    }
    Some(format!("{hours:02}:{minutes:02}:{seconds:02}{}", micros(fraction)?))
}

/// The two-digit numbers of `12:30:45` or `123045`.
fn clock_parts(text: &str) -> Option<Vec<u32>> {
    let pieces: Vec<&str> = if text.contains(':') {
        text.split(':').collect()
    } else {
        (0..text.len()).step_by(2).map(|at| text.get(at..at + 2).unwrap_or("")).collect()
    };
    let numbers = pieces.iter().map(|piece| plain_number(piece).filter(|_| piece.len() == 2));
    let numbers: Vec<u32> = numbers.collect::<Option<_>>()?;
    (1..=3).contains(&numbers.len()).then_some(numbers)
}

fn fill(parts: &[u32]) -> [u32; 3] {
    let part = |index: usize| parts.get(index).copied().unwrap_or(0);
    [part(0), part(1), part(2)]
}

/// The fraction cut to microseconds, with its point; nothing where it is zero.
fn micros(fraction: Option<&str>) -> Option<String> {
    let Some(fraction) = fraction else { return Some(String::new()) };
    if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let six: String = fraction.chars().chain("000000".chars()).take(6).collect();
    Some(if six == "000000" { String::new() } else { format!(".{six}") })
}

fn offset(zone: &str) -> Option<String> {
    let Some(sign) = zone.chars().next() else { return Some("+00:00".to_owned()) };
    let rest = zone.get(1..).unwrap_or_default();
    if matches!(sign, 'Z' | 'z') {
        return (rest.is_empty() && sign == 'Z').then(|| "+00:00".to_owned());
    }
    let [hours, minutes, seconds] = fill(&clock_parts(rest)?);
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let sign = if hours + minutes + seconds == 0 { '+' } else { sign };
    let seconds = if seconds > 0 { format!(":{seconds:02}") } else { String::new() };
    Some(format!("{sign}{hours:02}:{minutes:02}{seconds}"))
}

#[cfg(test)]
mod tests {
    use super::isoformat;

    #[test]
    fn reads_what_python_reads() {
        let cases = [
            ("2026-03-01T12:00:00", Some("2026-03-01T12:00:00+00:00")),
            ("2026-03-01T12:00:00Z", Some("2026-03-01T12:00:00+00:00")),
            ("2026-03-01", Some("2026-03-01T00:00:00+00:00")),
            ("20260301T123045", Some("2026-03-01T12:30:45+00:00")),
            ("2026-03-01 12:30:45.5+02:00", Some("2026-03-01T12:30:45.500000+02:00")),
            ("2026-03-01T12:30:45.1234567-05:30", Some("2026-03-01T12:30:45.123456-05:30")),
            ("2026-03-01T12", Some("2026-03-01T12:00:00+00:00")),
            ("2026-W09-7", Some("2026-03-01T00:00:00+00:00")),
            ("2026W097T12:30", Some("2026-03-01T12:30:00+00:00")),
            ("2026-W09", Some("2026-02-23T00:00:00+00:00")),
            ("2026-W54-1", None),
            ("2026-W09-8", None),
            ("yesterday", None),
            ("2026-02-30", None),
            ("2026-03-01T25:00:00", None),
            ("2026-03-01T12:00:00+", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(isoformat(text).as_deref(), expected, "{text}");
        }
    }
}
