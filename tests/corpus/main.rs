//! Ports every fixture and runs the result.
//!
//! A port is correct if the ported program does the same on its machine as the original on its own. So each test ports
//! a fixture, checks the properties of every port (it compiles, a second port changes nothing, bytes outside the edits
//! are unchanged, line endings, tabs and BOM are kept), compares the text with the golden file next to the fixture, and
//! runs original and port against the stand-ins of `rehearsal/`, whose recorded calls must match.
//!
//! `UPDATE=1 cargo test -p tests --test corpus` rewrites the golden files; review the diff before committing it.

mod compiled;
mod examples;
mod faults;
mod habits;
mod launched;
mod line_ends;
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
