//! Ports every fixture and runs what came out.
//!
//! A port is right when the ported program does on its machine what the original did on its own. So each test ports a
//! fixture, checks what holds for every port (it compiles, a second port changes nothing, bytes outside the edits are
//! the original's, line endings, tabs and BOM stay), compares the text with the golden file beside the fixture, and runs
//! original and port against the stand-ins of `rehearsal/`, whose recorded calls must tell the same story.
//!
//! `UPDATE=1 cargo test -p tests --test corpus` writes the golden files anew; read the diff before committing it.

mod compiled;
mod examples;
mod faults;
mod habits;
mod launched;
mod machine;
mod project;
mod python_tests;
mod refused;
mod scripts;
mod server;
mod sound;
mod story;
mod targets;
mod twins;
mod xpu;
