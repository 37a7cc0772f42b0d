//! Bearer tokens.
//!
//! A token is `tk_ID_SECRET`. The id finds it and may be shown; of the secret, 256 random bits, only the SHA-256 is stored.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use turnkeep_store::{Error, ErrorKind, Result};

use super::{Scope, random, sha256};
use crate::control::Control;
use crate::tenant::TenantName;

/// The kind of documents that tokens are.
const KIND: &str = "token";

/// How long a token that was looked up is believed: a token that is removed works no longer than this.
const BELIEVED: Duration = Duration::from_secs(2);

/// How many tokens are remembered at once; ids are made up by whoever sends them.
const REMEMBERED: usize = 10_000;

/// What is known of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its id, which may be shown.
    pub id: String,
    /// What people call it; decisions record it.
    pub name: String,
    /// What it allows.
    pub scope: Scope,
    /// Whose sessions it opens.
    pub tenant: TenantName,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Option<Timestamp>,
}

impl Token {
    /// Who works on a loopback server that has no tokens.
    pub(crate) fn local() -> Token {
        Token {
            id: "local".to_owned(),
            name: "local".to_owned(),
            scope: Scope::Admin,
            tenant: TenantName::default(),
            created: Timestamp::UNIX_EPOCH,
            expires: None,
        }
    }
}

/// What a new token is to be.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// What people call it.
    pub name: Option<String>,
    /// What it allows.
    pub scope: Scope,
    /// Whose sessions it opens.
    pub tenant: TenantName,
    /// When it ends.
    pub expires: Option<Timestamp>,
}

/// A token as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    name: String,
    scope: String,
    tenant: String,
    created: String,
    expires: Option<String>,
    sha256: String,
}

impl Stored {
    fn token(&self, id: &str) -> Option<Token> {
        let expires = self.expires.as_ref().map(|time| time.parse()).transpose().ok()?;
        Some(Token {
            id: id.to_owned(),
            name: self.name.clone(),
            scope: self.scope.parse().ok()?,
            tenant: TenantName::new(&self.tenant).ok()?,
            created: self.created.parse().ok()?,
            expires,
        })
    }
}

/// The tokens of a server.
pub struct Tokens {
    control: Control,
    known: Mutex<HashMap<String, LookedUp>>,
    any: Mutex<Option<(Instant, bool)>>,
}

/// When a token was looked up, and what was found.
type LookedUp = (Instant, Option<Arc<Known>>);

struct Known {
    token: Token,
    sha256: String,
}

impl Tokens {
    /// Those that are kept there.
    pub fn new(control: Control) -> Tokens {
        Tokens { control, known: Mutex::default(), any: Mutex::default() }
    }

    /// Makes a token. The text is shown once: only its hash is kept.
    ///
    /// # Errors
    /// What the store says; `Io` where the system has no random numbers.
    pub async fn create(&self, new: NewToken) -> Result<(Token, String)> {
        let no_random = |error| Error::new(ErrorKind::Io, "the system gives no random numbers").because(error);
        let secret = random().map_err(no_random)?;
        let id: String = sha256(&random().map_err(no_random)?).chars().take(12).collect();
        let created = Timestamp::now();
        let stored = Stored {
            name: new.name.unwrap_or_else(|| id.clone()),
            scope: new.scope.to_string(),
            tenant: new.tenant.to_string(),
            created: created.to_string(),
            expires: new.expires.as_ref().map(ToString::to_string),
            sha256: sha256(&secret),
        };
        self.control.create(KIND, &id, &written(&stored)?, None).await?;
        let unreadable = || Error::new(ErrorKind::Corrupt, "the token cannot be read back");
        Ok((stored.token(&id).ok_or_else(unreadable)?, format!("tk_{id}_{secret}")))
    }

    /// Every token, the ended ones too.
    ///
    /// # Errors
    /// What the store says.
    pub async fn list(&self) -> Result<Vec<Token>> {
        let documents = self.control.list(KIND, None).await?;
        let read = |document: &crate::control::Document| {
            serde_json::from_str::<Stored>(document.last()).ok()?.token(&document.key)
        };
        let mut tokens: Vec<Token> = documents.iter().filter_map(read).collect();
        tokens.sort_by(|a, b| a.created.cmp(&b.created).then_with(|| a.id.cmp(&b.id)));
        Ok(tokens)
    }

    /// Removes a token by its id.
    ///
    /// # Errors
    /// `NotFound` where there is none, and what the store says.
    pub async fn remove(&self, id: &str) -> Result<()> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        if self.control.remove(KIND, id).await? {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotFound, "there is no such token").hint("`turnkeep token ls` lists them"))
    }

    /// Whether there is any token at all, or was since the server started.
    ///
    /// # Errors
    /// What the store says.
    pub async fn any(&self) -> Result<bool> {
        let known = *self.any.lock().unwrap_or_else(PoisonError::into_inner);
        // A server that has had a token does not open when the last one is removed.
        if let Some((at, any)) = known
            && (any || at.elapsed() < BELIEVED)
        {
            return Ok(any);
        }
        let any = self.control.any(KIND).await?;
        *self.any.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), any));
        Ok(any)
    }

    /// The token of this text; `None` where it is no token, or has ended.
    ///
    /// # Errors
    /// What the store says.
    pub(crate) async fn verify(&self, text: &str) -> Result<Option<Token>> {
        let Some((id, secret)) = text.strip_prefix("tk_").and_then(|rest| rest.split_once('_')) else {
            return Ok(None);
        };
        // An id is made of hexadecimal digits: nothing else is looked for.
        if id.is_empty() || id.len() > 32 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let Some(known) = self.known(id).await? else {
            return Ok(None);
        };
        let equal: bool = known.sha256.as_bytes().ct_eq(sha256(secret).as_bytes()).into();
        let lasts = known.token.expires.is_none_or(|end| end > Timestamp::now());
        Ok((equal && lasts).then(|| known.token.clone()))
    }

    async fn known(&self, id: &str) -> Result<Option<Arc<Known>>> {
        let remembered = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        if let Some((at, known)) = remembered
            && at.elapsed() < BELIEVED
        {
            return Ok(known);
        }
        let document = self.control.get(KIND, id).await?;
        let stored = document.and_then(|document| serde_json::from_str::<Stored>(document.last()).ok());
        let known = stored.and_then(|stored| Some(Known { token: stored.token(id)?, sha256: stored.sha256 }));
        let known = known.map(Arc::new);
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED {
            all.clear();
        }
        all.insert(id.to_owned(), (Instant::now(), known.clone()));
        Ok(known)
    }
}

fn written(stored: &Stored) -> Result<String> {
    serde_json::to_string(stored)
        .map_err(|error| Error::new(ErrorKind::Io, "the token cannot be written").because(error))
}
