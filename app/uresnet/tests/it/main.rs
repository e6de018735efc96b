//! The network from outside: its results, and the properties of its plans.

mod golden;
mod plan;
