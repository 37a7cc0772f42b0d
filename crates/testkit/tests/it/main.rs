//! The laws find codecs that break them.

mod liars;
