//! Launch scripts from outside: requests in, plans, scripts and problems out.

// Its `assert_eq!` shows a difference of texts by lines.
#[macro_use]
extern crate pretty_assertions;

mod combinations;
mod refused;
