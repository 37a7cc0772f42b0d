//! A vendor's model, over any transport.

mod answer;
mod ask;
mod reading;
mod request;
mod settings;
mod wait;

pub use request::Prepared;
pub use settings::{Payload, Timeouts, WireModel};

use turnkeep_runtime::port::{Answer, Deltas, Identity, Model, ModelError, Request};
use turnkeep_store::BoxFuture;

impl Model for WireModel {
    fn identity(&self) -> Identity {
        Identity {
            provider: Some(self.provider.name.to_owned()),
            api: Some(self.wire.spec().id.to_owned()),
            model: Some(self.model.clone()),
            account: self.account.clone(),
            defaults: self.defaults.clone(),
        }
    }

    fn answer<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, std::result::Result<Answer, ModelError>> {
        Box::pin(async move { self.ask(request, deltas).await.map_err(ModelError::from) })
    }
}
