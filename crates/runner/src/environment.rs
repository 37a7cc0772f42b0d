//! What a program sees of the environment.
//!
//! A tool does what a model says. It gets what programs need to run, and nothing that was meant for us: what it prints is
//! recorded, and sent to a vendor.

use std::ffi::OsString;

use turnkeep_provider::endpoint::Endpoints;
use turnkeep_provider::{PROVIDERS, Scrubber, Secret};

/// What every program sees, where it is set.
const USUAL: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    // What programs do not start without on Windows.
    "SystemRoot",
    "SystemDrive",
    "windir",
    "ComSpec",
    "PATHEXT",
    "USERNAME",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ProgramFiles",
    "NUMBER_OF_PROCESSORS",
];

/// Keys of AWS, which several endpoints read.
const AWS: &[&str] = &["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// Words in the name of a variable that holds a secret.
const SECRET_WORDS: &[&str] = &["KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE"];

/// The keys that no tool is given, and that are taken out of what tools say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    variables: Vec<String>,
    scrubber: Scrubber,
}

impl Keys {
    /// The keys of every known vendor and of these endpoints, and what the environment calls a secret. Keys that a
    /// command prints are not asked for.
    pub fn of(endpoints: &Endpoints) -> Keys {
        let vendors = PROVIDERS.iter().map(|provider| provider.key_env).filter(|name| !name.is_empty());
        let variables: Vec<String> =
            vendors.chain(AWS.iter().copied()).map(str::to_owned).chain(endpoints.key_variables()).collect();
        let is_secret = |name: &str| variables.iter().any(|key| is_same(key, name)) || is_called_secret(name);
        let all =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let of_environment = all.filter(|(name, _)| is_secret(name)).map(|(_, value)| Secret::new(value.trim()));
        let secrets: Vec<Secret> = of_environment.chain(endpoints.stored_keys()).collect();
        Keys { scrubber: Scrubber::new(&secrets), variables }
    }

    /// Whether a variable holds the key of an endpoint.
    pub fn holds(&self, name: &str) -> bool {
        self.variables.iter().any(|key| is_same(key, name))
    }

    /// Takes keys out of what a tool says.
    pub(crate) fn scrubbed(&self, bytes: Vec<u8>) -> Vec<u8> {
        match std::str::from_utf8(&bytes) {
            Ok(text) if !self.scrubber.finds(text) => bytes,
            Ok(text) => self.scrubber.text(text).into_owned().into_bytes(),
            // What is no text may still hold one.
            Err(_) => bytes.utf8_chunks().fold(Vec::new(), |mut out, chunk| {
                out.extend_from_slice(self.scrubber.text(chunk.valid()).as_bytes());
                out.extend_from_slice(chunk.invalid());
                out
            }),
        }
    }
}

/// A variable that a manifest gives to a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variable {
    /// As our own environment has it, if it does.
    Passed(String),
    /// With this value.
    Set(String, String),
}

/// What a program is given: the usual, and what its manifest names.
pub(crate) fn environment(named: &[Variable]) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &str| {
        let is_named = named.iter().any(|one| matches!(one, Variable::Passed(own) if is_same(own, name)));
        is_named || name.starts_with("LC_") || USUAL.iter().any(|usual| is_same(usual, name))
    };
    let passed = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed));
    let set = named.iter().filter_map(|one| match one {
        Variable::Set(name, value) => Some((name.into(), value.into())),
        Variable::Passed(_) => None,
    });
    passed.chain(set).collect()
}

/// Whether two names mean one variable: Windows does not tell large letters from small ones.
fn is_same(a: &str, b: &str) -> bool {
    if cfg!(windows) { a.eq_ignore_ascii_case(b) } else { a == b }
}

fn is_called_secret(name: &str) -> bool {
    name.split('_').any(|word| SECRET_WORDS.iter().any(|secret| secret.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_by_a_word_of_its_name() {
        for name in ["OPENAI_API_KEY", "GITHUB_TOKEN", "db_password", "CLIENT_SECRET_2"] {
            assert!(is_called_secret(name), "{name}");
        }
        for name in ["KEYBOARD", "TOKENIZERS_PARALLELISM", "PATH", "MONKEY"] {
            assert!(!is_called_secret(name), "{name}");
        }
    }

    #[test]
    fn the_keys_of_every_vendor_are_known() {
        let keys = Keys::of(&Endpoints::default());

        assert!(["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY"].iter().all(|name| keys.holds(name)));
        assert!(!keys.holds("GITHUB_TOKEN"));
    }
}
