//! What the verb asks of a target's guides: messages, Python and names.

use crate::definitions::{BlockShape, MessageShape};

/// The statement that imports the target's software.
pub(super) const IMPORT: &str = "step_import";
/// What a ported step needs of the file: a file that defines these is ported.
pub(super) const DEFINITIONS: &str = "step_definitions";

const fn says(name: &'static str) -> MessageShape {
    MessageShape { name, slots: &[] }
}

const fn quotes(name: &'static str, slots: &'static [&'static str]) -> MessageShape {
    MessageShape { name, slots }
}

const fn writes(name: &'static str, fills: &'static [&'static str]) -> BlockShape {
    BlockShape { name, fills }
}

/// Messages: those of the obstacles of a step, and those of the verb itself.
pub(super) const MESSAGES: &[MessageShape] = &[
    says("several_steps"),
    says("gradients_in_loss"),
    quotes("backward_by_helper", &["helper"]),
    says("loss_handed_in"),
    says("step_elsewhere"),
    quotes("optimizer_missing", &["optimizer"]),
    quotes("other_optimizer", &["optimizer"]),
    says("several_processes"),
    says("backward_not_reached"),
    says("backward_in_no_statement"),
    says("several_backward"),
    says("several_updates"),
    says("mode_unreadable"),
    says("closure"),
    says("gradient_read"),
    quotes("carried_state", &["name"]),
    says("several_optimizers"),
    says("no_update"),
    says("no_torch_import"),
    says("accumulation_unclear"),
    says("loader_elsewhere"),
    says("count_unknown"),
    says("update_after_epoch"),
    says("batch_cut"),
    says("own_reader"),
    says("micro_batch_numbered"),
    says("loss_without_name"),
    says("model_call_elsewhere"),
    says("control_flow_before_loss"),
    says("number_before_loss"),
    says("conditional_update"),
    says("skipped_update"),
    says("output_read_before_loss"),
    says("self_as_whole"),
    says("method_not_followed"),
    says("model_not_found"),
    says("no_batch_input"),
    quotes("input_learns", &["call"]),
    quotes("changing_value", &["name"]),
    quotes("output_object", &["name"]),
    quotes("output_under_test", &["name"]),
    says("output_used_at_once"),
    says("other_clipping"),
    quotes("clipping_missing", &["optimizer"]),
    says("limit_unknown"),
    says("no_place"),
    quotes("batch_divided", &["batch", "number"]),
];

/// Blocks of Python.
pub(super) const BLOCKS: &[BlockShape] = &[
    writes(IMPORT, &["other_modes"]),
    writes(
        DEFINITIONS,
        &[
            "other_modes",
            "infers",
            "trains",
            "tells_rates",
            "opts",
            "accumulation",
            "module",
            "attributes",
            "attribute",
            "attribute.name",
            "parameters",
            "body",
            "results",
            "loss",
        ],
    ),
    writes("step_call", &["set_limit", "parts", "results", "loss", "arguments", "share", "number", "number.name"]),
    writes("step_accumulation", &["opts", "count", "sums"]),
    writes("step_limit", &["tested", "test", "optimizer", "limit"]),
    writes("limit_argument", &["tested", "test", "limit"]),
    writes("step_rate", &["optimizer"]),
    writes("other_rate", &["optimizer"]),
    writes("infers", &["model"]),
    writes("release", &["from_inference"]),
    writes("require_software", &[]),
    writes("one_micro_batch", &["turns"]),
];

/// Lists of names: of the options in the program, of optimizers and their packages, of calls that start several processes.
pub(super) const NAMES: &[&str] =
    &["options", "optimizers", "clipping_optimizers", "other_optimizers", "optimizer_packages", "several_processes"];

#[cfg(test)]
mod tests {
    use super::MESSAGES;

    /// The words between quotes behind `start` in a text.
    fn quoted<'t>(text: &'t str, start: &str) -> impl Iterator<Item = &'t str> {
        text.split(start).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next())
    }

    #[test]
    fn every_obstacle_of_a_step_has_a_message() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../training/src/step");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let mut found = 0;
        for path in files.chain([format!("{folder}.rs").into()]) {
            let text = std::fs::read_to_string(&path).unwrap();
            for name in quoted(&text, "obstacle(").chain(quoted(&text, "Obstacle::new(")) {
                assert!(MESSAGES.iter().any(|m| m.name == name), "{}: {name}", path.display());
                found += 1;
            }
        }
        assert!(found > 30, "only {found} obstacles were found");
    }
}
