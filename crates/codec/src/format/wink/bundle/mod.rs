//! `wink.bundle`: everything about one run, as a folder or a zip file. Reading only.

mod codec;
mod files;
mod manifest;
mod session;
mod unzip;

pub(in crate::format) use codec::BundleCodec;
