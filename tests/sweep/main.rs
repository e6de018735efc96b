//! Ports many third-party files in every way and checks each port: `cargo xtask corpus` starts it.
//!
//! The work is done by a pool of processes, with one job at a time each, since a stack overflow or a port that hangs
//! affects its whole process ([`pool`]). A process ports a text to every target in both styles, checks the required
//! properties ([`tests::examine`]), queries CPython ([`tests::cpython`]) and git ([`tests::patches`]), which are independent of the engine,
//! and returns the faults that it found. The faults are classified, the smallest file of each class is minimized to a
//! few lines ([`tests::shrink`]), and a table has the counts ([`table`]).
//!
//! It is an example of the package `tests`, so `cargo test` compiles it.

mod arguments;
mod memory;
mod pool;
mod report;
mod run;
mod table;
mod worker;

use arguments::Arguments;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = Arguments::read().and_then(|arguments| match arguments.verb.as_str() {
        "worker" => worker::work(&arguments.python).map(|()| true),
        "corpus" => run::run(&arguments),
        verb => Err(format!("no such verb: {verb}")),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("sweep: {error}");
            ExitCode::from(2)
        }
    }
}
