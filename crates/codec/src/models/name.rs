//! Names of models, as hosts spell them.

/// Regions that stand before the names of models on Bedrock.
const REGIONS: &[&str] = &["us", "us-gov", "eu", "apac", "jp", "au", "ca", "sa", "global"];

/// A model's name as patterns may spell it.
pub(super) struct Names {
    /// In small letters, without region, path, tag and date of a host.
    whole: String,
    /// The same without the maker's name before it, as in `anthropic.claude-…`.
    bare: String,
}

impl Names {
    pub(super) fn of(model: &str) -> Names {
        let model = model.to_ascii_lowercase().replace("%3a", ":").replace("%2f", "/");
        let model = model.rsplit('/').next().unwrap_or_default();
        let model = model.strip_prefix("ft:").unwrap_or(model);
        let model = model.split([':', '@']).next().unwrap_or_default();
        let whole = match model.split_once('.') {
            Some((region, rest)) if REGIONS.contains(&region) => rest,
            _ => model,
        };
        // OpenRouter and Copilot spell versions of Claude with a dot.
        let whole = if whole.contains("claude") { dashed(whole) } else { whole.to_owned() };
        let bare = match whole.split_once('.') {
            Some((maker, rest)) if maker.chars().all(|c| c.is_ascii_alphabetic() || c == '_') => rest.to_owned(),
            _ => whole.clone(),
        };
        Names { whole, bare }
    }

    /// Whether one of the patterns fits.
    pub(super) fn fit(&self, patterns: &[&str]) -> bool {
        patterns.iter().any(|pattern| fits(&self.bare, pattern) || fits(&self.whole, pattern))
    }
}

/// The name with a dash for every dot between digits.
fn dashed(name: &str) -> String {
    let bytes = name.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let dash = |(at, c): (usize, char)| match c {
        '.' if is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1)) => '-',
        other => other,
    };
    name.char_indices().map(dash).collect()
}

/// Whether a name is what a pattern says, in which `*` stands for anything.
fn fits(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(name) = name.strip_prefix(start) else { return false };
    if rest.is_empty() {
        return true;
    }
    let starts = name.char_indices().map(|(at, _)| at).chain([name.len()]);
    starts.filter_map(|at| name.get(at..)).any(|tail| fits(tail, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(model: &str) -> (String, String) {
        let Names { whole, bare } = Names::of(model);
        (whole, bare)
    }

    #[test]
    fn hosts_additions_are_cut_off() {
        let pair = |whole: &str, bare: &str| (whole.to_owned(), bare.to_owned());
        assert_eq!(names("eu.amazon.nova-lite-v1:0"), pair("amazon.nova-lite-v1", "nova-lite-v1"));
        assert_eq!(names("deepseek.r1-v1:0"), pair("deepseek.r1-v1", "r1-v1"));
        assert_eq!(names("models/gemini-2.5-flash"), pair("gemini-2.5-flash", "gemini-2.5-flash"));
        assert_eq!(names("ft:gpt-4o-mini:acme::abc"), pair("gpt-4o-mini", "gpt-4o-mini"));
        assert_eq!(names("qwen3:4b"), pair("qwen3", "qwen3"));
        assert_eq!(names("gpt-5.1"), pair("gpt-5.1", "gpt-5.1"));
        assert_eq!(names(""), pair("", ""));
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(fits("gpt-5", "gpt-5*") && fits("gpt-5-mini", "gpt-5*") && !fits("gpt-4", "gpt-5*"));
        assert!(fits("gemini-2.5-flash-image", "gemini-*-image*") && !fits("gemini-2.5-flash", "gemini-*-image*"));
        assert!(fits("qwen3", "qwen3") && !fits("qwen3-coder", "qwen3"));
    }
}
