//! What a compiled step can't do and no rewriting mends, wherever it stands in the file.

use super::super::asked::asked_for;
use super::{Input, Refusal, is_reached, refuse};
use crate::facts::FileView;
use crate::tree::{fields, kinds};

/// Refuses the first of them that the target comes to.
pub(super) fn obstacles(input: &Input<'_, '_>, view: &FileView<'_>) -> Result<(), Refusal> {
    let f = fields();
    let index = &view.index;
    const SUPPORTED: [&str; 5] = ["SGD", "Adam", "AdamW", "RMSprop", "Optimizer"];
    for &call in index.of_kind(kinds().call) {
        let Some(name) = index.field(call, f.function).and_then(|g| view.names.qualify(index, g)) else { continue };
        if !is_reached(input, view, call) {
            continue;
        }
        let optimizer =
            name.strip_prefix("torch.optim.").filter(|n| !n.contains('.') && n.starts_with(char::is_uppercase));
        let foreign = foreign_optimizer(&name);
        if let Some(kind) = optimizer.filter(|n| !SUPPORTED.contains(n)).or(foreign) {
            return refuse(
                call,
                &format!("the IPU has no {kind}. Take SGD, Adam, AdamW, RMSprop or LAMB, then port again"),
            );
        }
        let several = matches!(
            name.as_str(),
            "torch.nn.parallel.DistributedDataParallel" | "torch.distributed.init_process_group"
        );
        // What is asked for first is off when one process is started.
        let always = !asked_for(view, call);
        if several
            && always
            && input.project.modes.is_none()
            && !input.settings.target.modules.iter().any(|m| m == "popdist")
        {
            return refuse(
                call,
                "this script spreads the model over several devices or processes. Take that out and let the options replicate, or port it to PopDist",
            );
        }
    }
    Ok(())
}

/// An optimizer of another package that PopTorch has no counterpart of (guides/ipu.md#optimizer has those it has).
fn foreign_optimizer(name: &str) -> Option<&str> {
    const KNOWN: [&str; 6] = [
        "timm.optim.Lamb",
        "torch_optimizer.Lamb",
        "apex.optimizers.FusedLAMB",
        "apex.optimizers.FusedAdam",
        "apex.optimizers.FusedSGD",
        "transformers.AdamW",
    ];
    const PACKAGES: [&str; 7] = [
        "timm.optim",
        "torch_optimizer",
        "apex.optimizers",
        "transformers.optimization",
        "bitsandbytes.optim",
        "lion_pytorch",
        "pytorch_optimizer",
    ];
    let (package, kind) = name.rsplit_once('.')?;
    let class = kind.starts_with(|c: char| c.is_ascii_uppercase()) && !kind.contains("Schedule");
    (class && PACKAGES.contains(&package) && !KNOWN.contains(&name)).then_some(kind)
}
