//! Analysis of training programs, independent of any accelerator: which names are the model, the optimizer, the loader
//! ([`roles`]); where it trains and validates ([`steps`]); how the project selects its compute mode ([`modes`]); how
//! many samples an optimizer step sees ([`ledger`]); and what a launch has to know about its programs
//! ([`run_facts`](mod@run_facts)).
//!
//! [`FileView`] describes one file, [`ProjectFacts`] all files together.

#[cfg(test)]
#[macro_use]
extern crate pretty_assertions;

mod by_hand;
pub mod classes;
pub mod collate;
mod computing;
mod counted;
pub mod counting;
pub mod evaluation;
mod figure;
pub mod files;
mod from_training;
pub mod given;
mod gradients;
pub mod keras;
pub mod keras_batches;
pub mod keras_data;
pub mod keras_layers;
pub mod keras_steps;
mod kinds;
pub mod ledger;
mod loading;
pub mod masks;
pub mod model_inputs;
pub mod modes;
pub mod module_methods;
pub mod program_start;
mod programs;
pub mod project;
pub mod rates;
mod reach;
pub mod readers;
pub mod requirements;
pub mod roles;
pub mod run_facts;
pub mod settings;
pub mod shared_loaders;
pub mod step;
pub mod steps;
pub mod target;
mod training_loader;
pub mod turn;
pub mod unmoved;
pub mod unused;
mod value;
mod view;
pub mod words;

pub use by_hand::updated_by_hand;
pub use from_training::{comes_from_training, is_read_later};
pub use gradients::only_decides_on_gradients;
pub use kinds::Kinds;
pub use ledger::{Quantity, Words};
pub use programs::{files_of_programs, starts_of};
pub use project::{FileInProject, ProjectFacts};
pub use rates::sets_a_rate;
pub use run_facts::{
    CommandLine, Join, JoinedBy, Place, Program, RunFacts, RunRole, RunSetting, SettingKind, run_facts,
    run_facts_of_views,
};
pub use step::{Obstacle, TrainingStep};
pub use target::TargetFacts;
pub use unused::Unused;
pub use view::FileView;

#[cfg(test)]
mod marked;
