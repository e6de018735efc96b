//! What the verb asks of a target's guides: messages, Python and names.

use crate::definitions::{BlockShape, MessageShape};

/// The class with what is compiled, and its one instance.
pub(super) const RUNTIME: &str = "step_runtime";
/// The name of that instance.
pub(super) const INSTANCE: &str = "step_instance";
/// Takes the target's part off the command line.
pub(super) const COMMAND_LINE: &str = "read_command_line";
/// The same in the program that starts a project.
pub(super) const ENTRY: &str = "read_command_line_first";
/// The test around what compiling has no need of.
pub(super) const UNLESS_COMPILING: &str = "unless_compiling";
/// Hands the model over.
pub(super) const HAND_OVER: &str = "hand_model_over";
/// Compiles, or begins to run.
pub(super) const START: &str = "compile_or_run";
/// What is called in place of the model.
pub(super) const FORWARD: &str = "forward_pass";
/// The update.
pub(super) const UPDATE: &str = "update";
/// What is called in place of the model where the host evaluates it.
pub(super) const EVALUATE: &str = "evaluate";
/// Brings the weights to the host.
pub(super) const FETCH: &str = "fetch_weights";
/// A loss for each sample becomes one.
pub(super) const MEAN: &str = "mean_loss";
/// Clipping as an argument of the optimizer.
pub(super) const CLIP: &str = "limit_argument";
/// In place of an optimizer that the target lacks.
pub(super) const MISSING: &str = "missing_optimizer";

const fn says(name: &'static str) -> MessageShape {
    MessageShape { name, slots: &[] }
}

const fn quotes(name: &'static str, slots: &'static [&'static str]) -> MessageShape {
    MessageShape { name, slots }
}

const fn writes(name: &'static str, fills: &'static [&'static str]) -> BlockShape {
    BlockShape { name, fills }
}

/// Messages: those of the obstacles of a step and of its turns, and those of the verb itself.
pub(super) const MESSAGES: &[MessageShape] = &[
    says("host_infers"),
    says("compiling_opens_data"),
    says("several_steps"),
    says("lightning_step"),
    quotes("name_taken", &["name"]),
    says("several_processes"),
    // Of a step.
    says("gradients_in_loss"),
    quotes("backward_by_helper", &["helper"]),
    says("loss_handed_in"),
    says("closure"),
    says("several_optimizers"),
    says("no_update"),
    says("backward_not_reached"),
    says("backward_in_no_statement"),
    says("several_backward"),
    says("several_updates"),
    says("mode_unreadable"),
    // Of its turns.
    says("backward_arguments"),
    says("update_result_used"),
    says("no_model_call"),
    says("several_model_calls"),
    says("other_model"),
    says("other_arguments"),
    says("gathered"),
    says("part_under_test"),
    says("other_order"),
    says("weights_touched"),
    says("gradient_read"),
    says("output_no_tensor"),
    says("input_no_tensor"),
    quotes("input_not_of_batch", &["input"]),
    quotes("sequence_first", &["input"]),
    says("no_input"),
    // Of the optimizer, and of where the program starts.
    says("no_optimizer"),
    says("several_optimizers_made"),
    says("optimizer_in_loop"),
    says("optimizer_made_otherwise"),
    says("optimizer_unnamed"),
    quotes("optimizer_missing", &["optimizer"]),
    quotes("optimizer_argument", &["argument"]),
    says("parameter_groups"),
    says("decay_differs"),
    says("rate_missing"),
    says("other_clipping"),
    quotes("clipping_missing", &["optimizer"]),
    says("limit_unknown"),
    says("starts_elsewhere"),
];

/// Blocks of Python.
pub(super) const BLOCKS: &[BlockShape] = &[
    writes(
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
    writes(INSTANCE, &[]),
    writes(COMMAND_LINE, &[]),
    writes(ENTRY, &["module", "imported"]),
    writes(UNLESS_COMPILING, &[]),
    writes(HAND_OVER, &["model"]),
    writes(START, &["optimizer"]),
    writes(FORWARD, &["one_run", "other_modes"]),
    writes(UPDATE, &[]),
    writes(EVALUATE, &[]),
    writes(FETCH, &[]),
    writes(MEAN, &["loss"]),
    writes(CLIP, &["limit"]),
    writes(MISSING, &["optimizer"]),
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
/// Calls that start several processes.
pub(super) const PROCESSES: &str = "several_processes";

/// Lists of names.
pub(super) const NAMES: &[&str] =
    &[OPTIMIZERS, ARGUMENTS, HYPERPARAMETERS, DECAYS, DECAY_DIFFERS, RATE_REQUIRED, CLIPPING, PROCESSES];
