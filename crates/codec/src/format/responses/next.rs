//! The next request of any session.

use turnkeep_model::json::Json;
use turnkeep_model::{Loss, Session};

use super::request;
use crate::codec::EncodeOptions;

/// The next request.
pub(super) fn request(session: &Session, options: &EncodeOptions) -> (Json, Vec<Loss>) {
    let blocks: Vec<_> = session.in_message_order().into_iter().map(|(_, _, block)| block).collect();
    (request::write(session, &blocks, options.model.clone()), Vec::new())
}
