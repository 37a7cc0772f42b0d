//! Tickets: an `EventSource` cannot send a header, so a page buys a ticket with its token and puts it into the URL.
//!
//! A ticket is good once, for a minute, and for one path. That it is good once follows from the compare-and-swap of the control
//! store, on every server that shares it.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use turnkeep_store::{Error, ErrorKind, Result};

use super::{Scope, Token, random, sha256};
use crate::control::Control;
use crate::tenant::TenantName;

/// The kind of documents that tickets are.
pub(crate) const KIND: &str = "ticket";

/// How long a ticket is good.
pub(crate) const LASTS: SignedDuration = SignedDuration::from_secs(60);

#[derive(Serialize, Deserialize)]
struct Stored {
    route: String,
    token: String,
    name: String,
    tenant: String,
    expires: String,
}

/// Makes a ticket for a path. It allows to read, whatever the token allows.
pub(crate) async fn create(control: &Control, token: &Token, route: &str) -> Result<(String, Timestamp)> {
    let text =
        random().map_err(|error| Error::new(ErrorKind::Io, "the system gives no random numbers").because(error))?;
    let now = Timestamp::now();
    let expires = now.checked_add(LASTS).unwrap_or(now);
    let stored = Stored {
        route: route.to_owned(),
        token: token.id.clone(),
        name: token.name.clone(),
        tenant: token.tenant.to_string(),
        expires: expires.to_string(),
    };
    let line = serde_json::to_string(&stored)
        .map_err(|error| Error::new(ErrorKind::Io, "the ticket cannot be written").because(error))?;
    control.create(KIND, &sha256(&text), &line, None).await?;
    Ok((text, expires))
}

/// Uses a ticket up. `None` where it is none, was used, is over, or is for another path.
pub(crate) async fn redeem(control: &Control, text: &str, route: &str) -> Result<Option<Token>> {
    let key = sha256(text);
    let Some(document) = control.get(KIND, &key).await? else {
        return Ok(None);
    };
    let Ok(stored) = serde_json::from_str::<Stored>(document.last()) else {
        return Ok(None);
    };
    // Of two that come at once, one is refused here.
    match control.append(KIND, &key, document.at, "{}", None).await {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::Conflict => return Ok(None),
        Err(error) => return Err(error),
    }
    let lasts = stored.expires.parse::<Timestamp>().is_ok_and(|end| end > Timestamp::now());
    let Some(tenant) = TenantName::new(&stored.tenant).ok().filter(|_| lasts && stored.route == route) else {
        return Ok(None);
    };
    Ok(Some(Token {
        id: stored.token,
        name: stored.name,
        scope: Scope::Read,
        tenant,
        created: Timestamp::now(),
        expires: None,
    }))
}
