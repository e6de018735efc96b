//! The definitions that the verb needs from a target's guides: messages, Python and names.

use super::super::named_loss::{SCALED_STEP, SCALED_UPDATE};
use crate::definitions::{BlockShape, OWN_NAMES, messages};

/// The statement that imports the target's software.
pub(super) const IMPORT: &str = "step_import";
/// The definitions that a ported step adds to the file: a file with these is ported.
pub(super) const DEFINITIONS: &str = "step_definitions";
/// The class that joins the batches of a loader of another file into those of a whole step.
pub(super) const JOINS: &str = "joins_batches";
/// The module of one step.
pub(super) const CLASS: &str = "step_class";

messages! {
    accumulates_alone();
    batch_divided(batch, number);
    clipping_missing(optimizer);
    left_early(loader, count);
    limit_unknown();
    no_place();
    no_torch_import();
    optimizer_missing(optimizer);
    other_clipping();
    optimizer_by_helper(helper);
    other_optimizer(optimizer);
    several_processes();
    step_elsewhere();
    rest_of_epoch(count);
    takes_turns();
    updates_counted(old, new);
}

/// Blocks of Python.
pub(super) const BLOCKS: &[BlockShape] = &[
    BlockShape::new(IMPORT, &["other_modes", "switched"]),
    BlockShape::new(
        DEFINITIONS,
        &[
            "other_modes",
            "may_lack",
            "several",
            "infers",
            "releases",
            "freezes",
            "tells_rates",
            "carries",
            "joins",
            "torch",
            "accumulation",
            "class",
            "classes",
        ],
    ),
    BlockShape::new(
        CLASS,
        &[
            "class",
            "module",
            "attributes",
            "attribute",
            "attribute.name",
            "tensor",
            "parameters",
            "body",
            "results",
            "loss",
        ],
    ),
    BlockShape::new(
        "step_call",
        &[
            "set_limit",
            "parts",
            "results",
            "loss",
            "arguments",
            "share",
            "batch",
            "fixed",
            "state",
            "state.name",
            "number",
            "number.name",
        ],
    ),
    BlockShape::new("step_accumulation", &["count", "sums", "once"]),
    BlockShape::new("step_limit", &["tested", "test", "optimizer", "limit"]),
    BlockShape::new("limit_argument", &["tested", "test", "limit"]),
    BlockShape::new("unknown_norm", &["full"]),
    BlockShape::new("step_rate", &["optimizer"]),
    BlockShape::new("weights_changed", &[]),
    BlockShape::new("other_rate", &["optimizer"]),
    BlockShape::new("infers", &["model"]),
    BlockShape::new("release", &["from_inference"]),
    BlockShape::new("require_software", &[]),
    BlockShape::new("one_micro_batch", &["turns"]),
    SCALED_STEP,
    SCALED_UPDATE,
];

/// Lists of names: that the port uses, of optimizers and their packages, of calls that start several processes.
pub(super) const NAMES: &[&str] = &[
    OWN_NAMES,
    JOINS,
    "optimizers",
    "clipping_optimizers",
    "other_optimizers",
    "optimizer_packages",
    "several_processes",
];
