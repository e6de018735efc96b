//! Tests of the whole that run no training: the rules of the workspace, generated inputs, and ports of single texts.

mod coverage;
mod explained;
mod frozen;
#[path = "../fuzz/fuzz.rs"]
mod fuzz;
mod habits;
mod licences;
mod line_ends;
mod refused;
mod rooms;
mod series;
mod vendors;
mod xpu;
