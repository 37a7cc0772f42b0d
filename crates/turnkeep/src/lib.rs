#![doc = include_str!("../../../README.md")]

mod wink;

pub use turnkeep_codec as codec;
pub use turnkeep_file as file;
pub use turnkeep_model as model;
#[cfg(feature = "http")]
pub use turnkeep_provider as provider;
pub use turnkeep_runtime as runtime;
pub use turnkeep_store as store;

pub use turnkeep_codec::format::lucee;
pub use turnkeep_codec::{Encoded, Target};
pub use turnkeep_file::{
    OpenOptions, Opened, ToArchive, decode, decode_from, encode, encode_to, open, save_packed, save_session as save,
};
pub use turnkeep_model::{
    Archive, Author, Block, Body, CallId, Change, Effort, Error, ErrorKind, Journal, Json, Loss, LossKind, Options,
    Result, Session, SessionId, Snapshot, Turn, diff, fold,
};
pub use wink::{WinkJson, WinkSnapshots};
