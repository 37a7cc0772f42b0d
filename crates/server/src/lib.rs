#![doc = include_str!("../README.md")]

mod accept;
mod api;
mod app;
pub mod auth;
mod broadcasting;
pub mod config;
mod control;
pub mod live;
mod ops;
mod page;
mod problem;
pub mod pusher;
mod rest;
mod runs;
mod server;
mod sse;
mod sweep;
mod tenant;
mod viewer;

pub use control::Control;
pub use ops::{Log, LogLine};
pub use problem::Problem;
pub use server::{Reach, Server, StopHandle, serve_blocking};
pub use tenant::{Tenant, TenantName, control_url, open_private, store_url};
