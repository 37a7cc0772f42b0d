//! Tests of the formats.

mod geppetto;
