//! A vendor that plays from a script.
//!
//! [`Scripted`] is a [`Transport`](crate::Transport) that reads a vendor's requests and answers as the vendor would:
//! streamed or whole, with its ids and counts, its errors and its failures. A request whose history breaks a rule of
//! the wire gets the vendor's own words for it. The n-th answer of a conversation is the script's n-th, counted from
//! the history in the request, so it is the same in every process. The file is described in `docs/scripted.md`.

mod asked;
mod fields;
mod read;
mod refuse;
mod script;
mod vendor;

use std::sync::Arc;

use turnkeep_model::{Error, ErrorKind, Result};

use crate::model::WireModel;
use crate::providers::{PROVIDERS, Provider};

pub use script::{Failure, Matcher, Pauses, Said, Script, Signatures, When};
pub use vendor::Scripted;

/// A vendor's model that plays a script, as `docs/scripted.md` describes it: what an agent is tested with offline.
///
/// ```
/// let model = turnkeep_provider::scripted::model("anthropic.messages", "turnkeep_script: 1\nanswers: [Hello!]")?;
/// # Ok::<_, turnkeep_model::Error>(())
/// ```
///
/// # Errors
/// Where the script cannot be read, or no vendor speaks the wire.
pub fn model(wire: &str, script: &str) -> Result<WireModel> {
    let script = Script::parse(script.as_bytes(), "the script")?;
    let (id, dialect) = wire.split_once(':').map_or((wire, None), |(id, dialect)| (id, Some(dialect)));
    let name = script.model.clone().unwrap_or_else(|| "scripted".to_owned());
    let model = WireModel::new(vendor_of(id)?, name, Arc::new(Scripted::new(wire, script)?))?;
    let model = model.named("scripted").with_wire(id)?;
    Ok(match dialect {
        Some(dialect) => model.with_dialect(dialect),
        None => model,
    })
}

/// The vendor that a wire is known by. Many speak the chat wire of the first one, which has another wire of its own.
fn vendor_of(wire: &str) -> Result<&'static Provider> {
    let own = PROVIDERS.iter().find(|provider| provider.wire == wire && provider.dialect.is_none());
    own.or_else(|| PROVIDERS.first()).ok_or_else(|| {
        let what = format!("no vendor speaks `{wire}`");
        Error::new(ErrorKind::Unsupported, what).hint("name one of the wires, such as `openai.chat`")
    })
}
