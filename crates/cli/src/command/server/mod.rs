//! `turnkeep serve` and `turnkeep token`

mod serve;
mod token;

pub(crate) use serve::serve;
pub(crate) use token::token;
