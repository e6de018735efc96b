//! The engine from outside: programs in, ported programs and messages out. Each file is about one subject.

// Its `assert_eq!` shows a difference of texts by lines.
#[macro_use]
extern crate pretty_assertions;

mod agnostic;
mod annotation;
mod bytes;
mod command_line;
mod comments;
mod compute_modes;
mod devices;
mod evaluation;
mod explained;
mod gaudi_bridge;
mod guides;
mod imports;
mod invalid_python;
mod keras;
mod libraries;
mod loaders;
mod many_processes;
mod matching;
mod mixed_precision;
mod new_files;
mod notebooks;
mod placement;
mod ports;
mod processes;
mod programs;
mod python_versions;
mod reached;
mod recipe_language;
mod rejected;
mod requirements;
mod simplification;
mod software;
mod step;
