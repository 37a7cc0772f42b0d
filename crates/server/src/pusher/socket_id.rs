//! The id of a connection.

use std::fmt;
use std::str::FromStr;

/// The id of a connection: two numbers with a dot between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SocketId {
    first: u64,
    second: u64,
}

impl SocketId {
    /// The id made of these random bits.
    pub fn from_bits(bits: u64) -> SocketId {
        SocketId { first: bits >> 32, second: bits & 0xFFFF_FFFF }
    }
}

impl fmt::Display for SocketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.first, self.second)
    }
}

/// A text that is no id of a connection.
#[derive(Debug, PartialEq, Eq)]
pub struct NoSocketId;

impl FromStr for SocketId {
    type Err = NoSocketId;

    fn from_str(text: &str) -> Result<SocketId, NoSocketId> {
        let (first, second) = text.split_once('.').ok_or(NoSocketId)?;
        Ok(SocketId { first: number(first)?, second: number(second)? })
    }
}

/// Digits only: `+1` is a number for `parse`, and would be a second spelling of an id.
fn number(text: &str) -> Result<u64, NoSocketId> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().map_err(|_| NoSocketId) } else { Err(NoSocketId) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_two_numbers_and_comes_back() {
        let id = SocketId::from_bits(0x0000_0007_0000_0009);

        assert_eq!(id.to_string(), "7.9");
        assert_eq!("7.9".parse(), Ok(id));
    }

    #[test]
    fn other_texts_are_no_ids() {
        for text in ["", "1", ".", "1.", ".1", "1.2.3", "+1.2", "a.b", "1.2:private-x", "99999999999999999999.1"] {
            assert_eq!(text.parse::<SocketId>(), Err(NoSocketId), "{text}");
        }
    }
}
