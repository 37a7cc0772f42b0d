//! What a handler asks for: someone who may do this, and the tenant they work in.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};

use super::{Scope, Token};
use crate::app::App;
use crate::problem::Problem;
use crate::tenant::Tenant;

/// Someone who may do what the handler does. The store of their tenant is the only one in reach.
pub(crate) struct Caller<N> {
    pub(crate) token: Token,
    pub(crate) tenant: Arc<Tenant>,
    needs: PhantomData<N>,
}

/// What a handler needs.
pub(crate) trait Needs: Send + Sync {
    const SCOPE: Scope;
}

macro_rules! needs {
    ($($name:ident $scope:ident,)*) => {
        $(
            #[doc = concat!("Needs the scope `", stringify!($scope), "`.")]
            pub(crate) struct $name;
            impl Needs for $name {
                const SCOPE: Scope = Scope::$scope;
            }
        )*
    };
}

needs! { ToRead Read, ToWrite Write, ToRun Run, ToAdmin Admin, }

impl<N: Needs> FromRequestParts<Arc<App>> for Caller<N> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Caller<N>, Problem> {
        let missing = || Problem::new(StatusCode::UNAUTHORIZED, "no_token", "a token is needed");
        let token = parts.extensions.get::<Token>().ok_or_else(missing)?.clone();
        if token.scope < N::SCOPE {
            let challenge = format!("Bearer realm=\"turnkeep\", error=\"insufficient_scope\", scope=\"{}\"", N::SCOPE);
            return Err(Problem::new(StatusCode::FORBIDDEN, "scope", "the token does not allow this")
                .hint(format!("use a token of the scope `{}`", N::SCOPE))
                .with(header::WWW_AUTHENTICATE, challenge));
        }
        let tenant = app.tenants.of(&token).await?;
        Ok(Caller { token, tenant, needs: PhantomData })
    }
}
