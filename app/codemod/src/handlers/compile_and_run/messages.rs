//! The definitions that the verb needs from a target's guides: messages, Python and names.

use super::super::named_loss::{SCALED_STEP, SCALED_UPDATE};
use crate::definitions::{BlockShape, messages};

/// The class for the compiled program, and its only instance.
pub(super) const RUNTIME: &str = "step_runtime";
/// The name of that instance.
pub(super) const INSTANCE: &str = "step_instance";
/// Removes the target's part from the command line, in the program that starts a project.
pub(super) const ENTRY: &str = "read_command_line_first";
/// The test around code that compiling does not need.
pub(super) const UNLESS_COMPILING: &str = "unless_compiling";
/// Clipping as an argument of the optimizer.
pub(super) const CLIP: &str = "limit_argument";
/// Tells the program the arguments that every step passes alike.
pub(super) const BIND: &str = "bind_arguments";
/// Replaces an optimizer that the target lacks.
pub(super) const MISSING: &str = "missing_optimizer";

messages! {
    no_torch_import();
    clipping_missing(optimizer);
    compiling_opens_data();
    constant_unknown(value);
    decay_differs();
    host_infers();
    lightning_step();
    limit_unknown();
    name_taken(name);
    optimizer_argument(argument);
    optimizer_missing(optimizer);
    optimizer_unnamed();
    other_clipping();
    parameter_groups();
    rate_missing();
    several_models();
    several_processes();
    shapes_differ(inputs);
    starts_elsewhere();
}

/// Blocks of Python.
pub(super) const BLOCKS: &[BlockShape] = &[
    BlockShape::new(
        RUNTIME,
        &[
            "one_run",
            "other_modes",
            "clips",
            "drops",
            "called_directly",
            "adopts",
            "binds",
            "named",
            "names",
            "torch",
            "program",
            "hyperparameters",
            "input",
            "input.option",
            "input.sizes",
            "input.dtype",
            "shaped",
        ],
    ),
    BlockShape::new(INSTANCE, &[]),
    BlockShape::new(ENTRY, &["other_modes", "module", "imported"]),
    BlockShape::new(UNLESS_COMPILING, &["switched", "switch"]),
    BlockShape::new(CLIP, &["limit"]),
    BlockShape::new(BIND, &["arguments"]),
    BlockShape::new(MISSING, &["optimizer"]),
    SCALED_STEP,
    SCALED_UPDATE,
];

/// The optimizers that the target has, each with its counterpart.
pub(super) const OPTIMIZERS: &str = "optimizers";
/// `SGD.lr`: their positional arguments, in order, and then the named ones; a comment marks one that the target lacks.
pub(super) const ARGUMENTS: &str = "optimizer_arguments";
/// Arguments that only say how a GPU computes the update.
pub(super) const HINTS: &str = "optimizer_hints";
/// The values that are passed with every update.
pub(super) const HYPERPARAMETERS: &str = "hyperparameters";
/// The default weight decay of an optimizer.
pub(super) const DECAYS: &str = "default_weight_decay";
/// Optimizers whose weight decay has a different meaning on the target.
pub(super) const DECAY_DIFFERS: &str = "optimizers_without_decay";
/// Optimizers that require a rate.
pub(super) const RATE_REQUIRED: &str = "optimizers_with_rate";
/// Optimizers that clip gradients.
pub(super) const CLIPPING: &str = "clipping_optimizers";
/// The call that runs the model in a ported trainer of a project with compute modes.
pub(super) const RUNS_MODEL: &str = "runs_model";
/// The call that compiles in one.
pub(super) const COMPILES: &str = "compiles";
/// The call that takes over a model and an optimizer that another file creates.
pub(super) const ADOPTS: &str = "adopts";
/// The call that brings the weights to the host.
pub(super) const FETCHES: &str = "fetches";
/// Calls that start several processes.
pub(super) const PROCESSES: &str = "several_processes";

/// Lists of names.
pub(super) const NAMES: &[&str] = &[
    OPTIMIZERS,
    ARGUMENTS,
    HINTS,
    HYPERPARAMETERS,
    DECAYS,
    DECAY_DIFFERS,
    RATE_REQUIRED,
    CLIPPING,
    RUNS_MODEL,
    COMPILES,
    ADOPTS,
    FETCHES,
    PROCESSES,
];
