//! Sentences, clauses and lines: the pieces of which a summary is made.

/// The longest piece that counts as one sentence, in characters.
const LONGEST: usize = 320;

/// A sentence longer than this is taken clause by clause, in bytes.
const LONG: usize = 64;

/// The shortest clause and the shortest piece of a line of data, in bytes.
const SHORTEST: usize = 24;

/// How a unit is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As people talk.
    Prose,
    /// As code, configuration, data and logs are.
    Data,
}

/// The smallest piece of a text that is kept or not, and how it is written: a sentence or a clause, a line of code, a few fields of data.
pub(super) fn units(text: &str) -> Vec<(&str, Form)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        } else if fenced || is_data(line) {
            found.extend(fields(trimmed).into_iter().map(|piece| (piece, Form::Data)));
        } else {
            found.extend(sentences(line).into_iter().flat_map(clauses).map(|piece| (piece, Form::Prose)));
        }
    }
    found
}

/// Whether a line is code, configuration, data or a log rather than prose.
fn is_data(line: &str) -> bool {
    let trimmed = line.trim();
    let words = trimmed.split_whitespace().count();
    let first = trimmed.split_whitespace().next().unwrap_or_default();
    let is_key =
        first.strip_suffix(':').is_some_and(|key| key.chars().all(|c| c.is_lowercase() || c == '_' || c == '-'));
    let is_dated = first.len() > 7 && first.bytes().filter(u8::is_ascii_digit).count() * 2 > first.len();
    trimmed.starts_with(['{', '[', '}', '|', '<', '+', '@'])
        || trimmed.ends_with(['{', '}', ';'])
        || trimmed.contains(" = ")
        || trimmed.contains("=>")
        || (words < 3 && trimmed.contains('='))
        || (is_key && words < 5)
        || (is_dated && words > 2)
}

/// A line of data, cut behind commas outside of texts where it is long.
fn fields(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in line.char_indices() {
        let ends = match c {
            _ if escaped => false,
            '"' => {
                quoted = !quoted;
                false
            }
            ',' => !quoted && at - start >= SHORTEST,
            _ => at - start >= LONGEST && c == ' ',
        };
        escaped = c == '\\' && !escaped;
        if ends {
            found.push(line.get(start..=at).unwrap_or_default());
            start = at + c.len_utf8();
        }
    }
    found.push(line.get(start..).unwrap_or_default());
    found.into_iter().map(str::trim).filter(|piece| piece.chars().any(char::is_alphanumeric)).collect()
}

/// A sentence, or its clauses where it is long.
fn clauses(sentence: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = sentence;
    while sentence.len() > LONG
        && let Some((clause, more)) = clause(rest)
    {
        found.push(clause.trim());
        rest = more.trim_start();
    }
    found.push(rest);
    found
}

/// The first clause of a sentence, and what follows it.
fn clause(sentence: &str) -> Option<(&str, &str)> {
    const JOINTS: &[&str] = &[
        "; ",
        ", and ",
        ", but ",
        ", so ",
        ", which ",
        ", because ",
        ", since ",
        ", while ",
        ", although ",
        " - ",
        " — ",
    ];
    let from = sentence.ceil_char_boundary(SHORTEST);
    let ends = JOINTS.iter().filter_map(|joint| Some(from + sentence.get(from..)?.find(joint)? + 1)).min();
    ends.and_then(|end| sentence.split_at_checked(end)).filter(|(_, more)| more.len() > SHORTEST)
}

/// The sentences of a text: ends of lines end one, and so does a full stop, a question or an exclamation mark before a space.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line.trim();
        while !rest.is_empty() {
            let (sentence, more) = rest.split_at(end_of(rest));
            if sentence.chars().any(char::is_alphanumeric) {
                found.push(sentence.trim());
            }
            rest = more.trim_start();
        }
    }
    found
}

/// Where the first sentence of a line ends.
fn end_of(line: &str) -> usize {
    let mut before = ' ';
    let mut count = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        count += 1;
        let next = chars.peek().map(|(_, next)| *next);
        let end = at + c.len_utf8();
        let stops = match c {
            '。' | '！' | '？' => true,
            // "e.g. this" and "J. Smith" go on.
            '.' => next.is_none_or(char::is_whitespace) && !is_initial(line.get(..at).unwrap_or_default()),
            '!' | '?' => next.is_none_or(char::is_whitespace),
            ' ' => count > LONGEST,
            // A word that begins where the line is too long belongs to the next part.
            _ if count > LONGEST && !before.is_alphanumeric() => return at,
            _ => false,
        };
        if stops {
            return end;
        }
        before = c;
    }
    line.len()
}

/// Words that end with a full stop in the middle of a sentence.
const ABBREVIATIONS: &[&str] =
    &["al", "approx", "ca", "cf", "dr", "fig", "mr", "mrs", "ms", "mt", "no", "nr", "prof", "sr", "st", "vs"];

/// Whether what stands before a full stop is one letter, or an abbreviation.
fn is_initial(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let letters = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let one = letters.chars().count() == 1 && letters.chars().all(char::is_alphabetic);
    let known = ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(letters)) && letters != "no";
    one || known
        || (letters.contains('.') && letters.chars().all(|c| c.is_alphabetic() || c == '.') && letters.len() < 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_they_end() {
        let text = "It failed at 3.5 s, e.g. in J. Smith's run. Why? See src/main.rs.\n- one\n\n---\n二。三";

        assert_eq!(
            sentences(text),
            ["It failed at 3.5 s, e.g. in J. Smith's run.", "Why?", "See src/main.rs.", "- one", "二。", "三"]
        );
    }

    #[test]
    fn a_line_without_an_end_is_cut_at_words() {
        let long = "word ".repeat(200);

        let found = sentences(&long);

        assert_eq!(found.iter().map(|part| part.split_whitespace().count()).sum::<usize>(), 200);
        assert!(found.iter().all(|part| part.chars().count() <= LONGEST + "word ".len()));
    }

    #[test]
    fn code_and_data_are_taken_by_lines_and_fields() {
        let text = "Set it so:\n```toml\nport = 8443 # not. this\n```\n{\"build\":\"b-4821, final\",\"state\":\"green and well\",\"took\":12}";

        assert_eq!(
            units(text),
            [
                ("Set it so:", Form::Prose),
                ("port = 8443 # not. this", Form::Data),
                ("{\"build\":\"b-4821, final\",", Form::Data),
                ("\"state\":\"green and well\",", Form::Data),
                ("\"took\":12}", Form::Data),
            ]
        );
    }

    #[test]
    fn a_long_sentence_is_taken_clause_by_clause() {
        let text = "I looked at this for quite a while yesterday in the evening, and the staging port is 8443, which nobody had written down anywhere, but now you know about it too.";

        let found: Vec<&str> = units(text).into_iter().map(|(unit, _)| unit).collect();

        assert!(found.contains(&"and the staging port is 8443,"), "{found:?}");
        assert_eq!(found.join(" "), text);
    }
}
