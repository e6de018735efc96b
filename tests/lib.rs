//! What the tests of the whole share: the properties of every port, CPython's opinion of a text, the faults of a port
//! with their smallest cases. The tests themselves are the targets in Cargo.toml.

pub mod cpython;
pub mod examine;
pub mod faults;
pub mod patches;
pub mod shrink;
pub mod sound;
