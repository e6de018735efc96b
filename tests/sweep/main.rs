//! Ports many files of other people in every way and looks at each port: `cargo xtask corpus` starts it.
//!
//! A pool of processes does the work, one job at a time each, since a stack that overflows or a port that hangs takes its process
//! along ([`pool`]). A process ports a text to every target in both styles, checks what has to hold for any port
//! ([`examine`]), asks CPython ([`cpython`]) and git ([`patches`]), which know nothing of the engine, and answers with the faults it saw. The
//! faults are sorted by what they are, the smallest file of each sort is cut down to a few lines ([`shrink`]), and a table
//! says how often what happened ([`table`]).
//!
//! It is an example of the package `tests`, so `cargo test` compiles it.

mod arguments;
mod cpython;
mod examine;
mod faults;
mod memory;
mod patches;
mod pool;
mod report;
mod run;
mod shrink;
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
