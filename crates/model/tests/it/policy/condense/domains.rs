//! The domains.

mod clinic;
mod firmware;
mod newsroom;
mod operations;
mod wedding;

use super::talk::Domain;

pub(super) const DOMAINS: &[Domain] =
    &[operations::DOMAIN, wedding::DOMAIN, firmware::DOMAIN, clinic::DOMAIN, newsroom::DOMAIN];
