//! Who may listen: whoever shows a token of the app's tenant.

use futures_util::future::{BoxFuture, ready};
use serde_json::json;

use crate::auth::{Scope, Token};
use crate::pusher::{AuthorizeRequest, Authorizer, Grant, PresenceUser};

/// Grants what a token allows; the layer before the route has checked it.
pub(super) struct TokenHolders;

impl Authorizer for TokenHolders {
    fn authorize<'a>(&'a self, request: AuthorizeRequest<'a>) -> BoxFuture<'a, Option<Grant>> {
        let token = request.extensions.get::<Token>().filter(|token| token.scope >= Scope::Read);
        Box::pin(ready(token.map(grant)))
    }
}

fn grant(token: &Token) -> Grant {
    let user = PresenceUser { id: token.id.clone(), info: json!({ "name": token.name }) };
    Grant { tenant: token.tenant.as_str().to_owned(), user: Some(user) }
}
