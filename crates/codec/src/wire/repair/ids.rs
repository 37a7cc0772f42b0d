//! Ids and names that a vendor takes.

use std::collections::HashSet;

use turnkeep_model::{Body, CallId, Loss, LossKind};

use super::History;

/// Which call ids a vendor takes.
#[derive(Debug, Clone, Copy)]
pub struct IdRule {
    /// The fewest characters.
    pub shortest: usize,
    /// The most characters.
    pub longest: usize,
    /// Which characters.
    pub legal: fn(char) -> bool,
}

impl IdRule {
    /// Whether the vendor takes an id.
    pub fn takes(&self, id: &str) -> bool {
        (self.shortest..=self.longest).contains(&id.chars().count()) && id.chars().all(self.legal)
    }

    /// A legal id for one that is not: always the same for the same id and try.
    fn legal_for(&self, id: &str, attempt: u32) -> String {
        let digest = base62(fnv(id, attempt));
        let digest: String = digest.chars().chain("0000000000".chars()).collect();
        // No room for a readable part: nine digits are what the strictest vendor asks for.
        if self.longest < 20 {
            return digest.chars().take(self.longest.min(9).max(self.shortest)).collect();
        }
        let clean: String =
            id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(self.longest - 10).collect();
        let clean = if clean.is_empty() { "call" } else { &clean };
        format!("{clean}_{}", digest.chars().take(8).collect::<String>())
    }
}

/// A legal name for a tool, if its own is not: letters, digits, `_` and `-`, at most `longest`.
pub fn legal_name(name: &str, longest: usize) -> Option<String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= longest && name.chars().all(legal) {
        return None;
    }
    let clean: String = name.chars().map(|c| if legal(c) { c } else { '_' }).take(longest.saturating_sub(7)).collect();
    let digest: String = base62(fnv(name, 0)).chars().take(6).collect();
    Some(format!("{clean}_{digest}"))
}

/// Renames calls and their results together. Every call has a result, right after the message it stands in.
pub(super) fn rename(history: &mut History, rule: &IdRule) {
    let given = history.pieces.iter().filter_map(|piece| match &piece.block.body {
        Body::ToolCall(call) => call.call.as_given(),
        _ => None,
    });
    let reserved: HashSet<String> = given.filter(|id| rule.takes(id)).map(str::to_owned).collect();
    let mut taken: HashSet<String> = HashSet::new();
    let mut open: Vec<(CallId, CallId)> = Vec::new();
    let mut renamed: Vec<(usize, CallId)> = Vec::new();
    for (index, piece) in history.pieces.iter().enumerate() {
        match &piece.block.body {
            Body::ToolCall(call) => {
                let id = choose(&call.call, rule, &reserved, &mut taken);
                open.push((call.call.clone(), id.clone()));
                renamed.push((index, id));
            }
            Body::ToolResult(result) => {
                if let Some(at) = open.iter().position(|(old, _)| *old == result.call) {
                    renamed.push((index, open.remove(at).1));
                }
            }
            _ => {}
        }
    }
    for (index, id) in renamed {
        set(history, index, id);
    }
}

fn set(history: &mut History, index: usize, id: CallId) {
    let Some(piece) = history.pieces.get_mut(index) else { return };
    let own = match &mut piece.block.body {
        Body::ToolCall(call) => &mut call.call,
        Body::ToolResult(result) => &mut result.call,
        _ => return,
    };
    if *own != id {
        *own = id;
        history.losses.push(Loss::encode(LossKind::Renamed, piece.at("call"), "the id is not allowed here"));
    }
}

fn choose(own: &CallId, rule: &IdRule, reserved: &HashSet<String>, taken: &mut HashSet<String>) -> CallId {
    if let Some(id) = own.as_given()
        && rule.takes(id)
        && taken.insert(id.to_owned())
    {
        return own.clone();
    }
    let spelled = own.to_string();
    let free = |id: &String| rule.takes(id) && !reserved.contains(id) && !taken.contains(id);
    let id = (0..).map(|attempt| rule.legal_for(&spelled, attempt)).find(free).unwrap_or_default();
    taken.insert(id.clone());
    CallId::given(id)
}

/// FNV-1a: short, well spread and the same everywhere.
fn fnv(text: &str, attempt: u32) -> u64 {
    let bytes = text.bytes().chain(attempt.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn base62(mut value: u64) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut digits = String::new();
    while value > 0 {
        digits.extend(DIGITS.get((value % 62) as usize).map(|digit| char::from(*digit)));
        value /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    const NINE: IdRule = IdRule { shortest: 9, longest: 9, legal: |c| c.is_ascii_alphanumeric() };
    const FORTY: IdRule = IdRule { shortest: 1, longest: 40, legal: |_| true };

    #[test]
    fn made_ids_are_legal_and_do_not_change() {
        for id in ["", "call_1", "functions.Bash:0", &"x".repeat(80), "#3", "ä"] {
            for rule in [NINE, FORTY] {
                let made = rule.legal_for(id, 0);
                assert!(rule.takes(&made), "{made}");
                assert_eq!(made, rule.legal_for(id, 0));
                assert_ne!(made, rule.legal_for(id, 1));
            }
        }
    }

    #[test]
    fn names_keep_what_is_legal_of_them() {
        assert_eq!(legal_name("get_weather", 64), None);
        assert!(legal_name("get weather", 64).unwrap().starts_with("get_weather_"));
        assert_ne!(legal_name("a b", 64), legal_name("a.b", 64));
        assert_eq!(legal_name(&legal_name("", 64).unwrap(), 64), None);
    }
}
