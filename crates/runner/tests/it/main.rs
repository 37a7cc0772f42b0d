//! Tests of the runner.

mod shell;
