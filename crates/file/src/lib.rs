//! Session files: reading within limits, atomic saving, directory walks.
//!
//! This is the only room that touches the file system on behalf of the codecs. It refuses nothing that a codec would
//! accept and decides nothing that a codec decides; it gets bytes in and out safely, and says which file an error is of.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `sqlite` | formats that are SQLite databases |
//! | `html` | sessions as one self-contained page |
//! | `zip` | debug bundles of weakincentives |
//! | `zstd` | compressed documents |

mod convert;
mod name;
mod open;
mod read;
mod save;
mod source;
mod turn;
mod walk;
mod write;

pub use convert::{ConvertOptions, convert};
pub use name::output_name;
pub use turnkeep_codec::Conversion;

pub use open::{OpenOptions, Opened, decode, decode_from, open};
pub use read::{DEFAULT_MAX_BYTES, Limits, read, read_from, read_stdin};
pub use save::{Saving, make_directory, save};
pub use source::{Packed, Source, is_bundle};
pub use turn::{load_turn_json, load_turn_yaml, save_turn_json, save_turn_yaml};
pub use walk::walk;
pub use write::{ToArchive, encode, encode_to, save_packed, save_session, target_for};
