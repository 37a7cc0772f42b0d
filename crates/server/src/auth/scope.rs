//! What a token allows.

use std::fmt;
use std::str::FromStr;

/// What a token allows. Each allows what those before it allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Read and follow sessions.
    Read,
    /// Make, change and delete sessions.
    Write,
    /// Run sessions: that spends money and starts programs. Decide about calls.
    Run,
    /// Erase from journals, and read the metrics of the server.
    Admin,
}

impl Scope {
    /// Every scope, the least first.
    pub const ALL: [Scope; 4] = [Scope::Read, Scope::Write, Scope::Run, Scope::Admin];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Write => "write",
            Scope::Run => "run",
            Scope::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(word: &str) -> Result<Scope, String> {
        let found = Scope::ALL.into_iter().find(|scope| scope.as_str() == word);
        found.ok_or_else(|| "a scope is one of read, write, run and admin".to_owned())
    }
}
