//! How a server is operated: health, metrics, logs.

mod health;
mod log;
mod metrics;
mod observe;

pub(crate) use health::{__path_health, __path_metrics_page, __path_ready, health, metrics_page, ready};
pub use log::{Log, LogLine};
pub(crate) use metrics::{Metrics, OpenStream};
pub(crate) use observe::observe;
