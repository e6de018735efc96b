//! What the verb asks of a target's guides: messages, Python and names.

use super::super::named_loss::{SCALED_STEP, SCALED_UPDATE};
use crate::definitions::{BlockShape, messages};

/// The class with what is compiled, and its one instance.
pub(super) const RUNTIME: &str = "step_runtime";
/// The name of that instance.
pub(super) const INSTANCE: &str = "step_instance";
/// Takes the target's part off the command line, in the program that starts a project.
pub(super) const ENTRY: &str = "read_command_line_first";
/// The test around what compiling has no need of.
pub(super) const UNLESS_COMPILING: &str = "unless_compiling";
/// Clipping as an argument of the optimizer.
pub(super) const CLIP: &str = "limit_argument";
/// In place of an optimizer that the target lacks.
pub(super) const MISSING: &str = "missing_optimizer";

messages! {
    clipping_missing(optimizer);
    compiling_opens_data();
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
    several_processes();
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
    BlockShape::new(UNLESS_COMPILING, &[]),
    BlockShape::new(CLIP, &["limit"]),
    BlockShape::new(MISSING, &["optimizer"]),
    SCALED_STEP,
    SCALED_UPDATE,
];

/// The optimizers that the target has, each with what it becomes.
pub(super) const OPTIMIZERS: &str = "optimizers";
/// `SGD.lr`: the arguments that they take by place, in their order, and then those by name; a remark says that the target lacks one.
pub(super) const ARGUMENTS: &str = "optimizer_arguments";
/// What is handed over with every update.
pub(super) const HYPERPARAMETERS: &str = "hyperparameters";
/// The weight decay of an optimizer that names none.
pub(super) const DECAYS: &str = "default_weight_decay";
/// Optimizers whose weight decay means another thing on the target.
pub(super) const DECAY_DIFFERS: &str = "optimizers_without_decay";
/// Optimizers that have to be given a rate.
pub(super) const RATE_REQUIRED: &str = "optimizers_with_rate";
/// Optimizers that clip gradients.
pub(super) const CLIPPING: &str = "clipping_optimizers";
/// The call that runs the model in a ported trainer of a project with compute modes.
pub(super) const RUNS_MODEL: &str = "runs_model";
/// The call that compiles in one.
pub(super) const COMPILES: &str = "compiles";
/// Calls that start several processes.
pub(super) const PROCESSES: &str = "several_processes";

/// Lists of names.
pub(super) const NAMES: &[&str] = &[
    OPTIMIZERS,
    ARGUMENTS,
    HYPERPARAMETERS,
    DECAYS,
    DECAY_DIFFERS,
    RATE_REQUIRED,
    CLIPPING,
    RUNS_MODEL,
    COMPILES,
    PROCESSES,
];
