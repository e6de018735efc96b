//! What is left of the source vendor after a port, through any form of import.

use crate::condition::cuda_devices;
use crate::facts::modes::Region;
use crate::facts::{FileView, ProjectFacts};
use crate::ledger::keyword;
use crate::order::sort_by_key;
use crate::pattern::plain_string;
use crate::ported::Severity;
use crate::tree::{Id, kinds};
use std::ops::Range;

/// Something that still asks for the source vendor.
pub(crate) struct Found {
    pub(crate) range: Range<usize>,
    pub(crate) severity: Severity,
    pub(crate) message: String,
}

/// Everything left in a file, in the order of the text. In branch style, what the target never runs does not count.
pub(crate) fn residue(view: &FileView<'_>, project: &ProjectFacts, branch: bool) -> Vec<Found> {
    let k = kinds();
    let index = &view.index;
    let mut found: Vec<(Id, Severity, String)> = Vec::new();
    for &id in index.of_kind(k.attribute).iter().chain(index.of_kind(k.identifier)) {
        // The longest dotted name speaks for its parts.
        if index.parent(id).is_some_and(|p| index.kind(p) == k.attribute && index.item(p).start == index.item(id).start)
        {
            continue;
        }
        let in_import =
            index.ancestors(id).any(|a| [k.import_statement, k.import_from_statement].contains(&index.kind(a)));
        if in_import
            || index
                .parent(id)
                .is_some_and(|p| index.kind(p) == k.keyword_argument && index.children(p).next() == Some(id))
        {
            continue;
        }
        let Some(name) = view.names.qualify(index, id) else { continue };
        if !(name == "torch.cuda" || name.starts_with("torch.cuda.")) {
            continue;
        }
        // Asking is harmless: there is no CUDA, and the answer says so.
        let asks = matches!(
            name.as_str(),
            "torch.cuda.is_available" | "torch.cuda.device_count" | "torch.cuda.is_initialized"
        );
        // One that is off does nothing anywhere.
        let off = |call: Id| keyword(view, call, "enabled").is_some_and(|v| index.text_of(v) == "False");
        if name.ends_with(".GradScaler") && index.parent(id).is_some_and(off) {
            continue;
        }
        let (severity, message) = if asks && branch {
            (
                Severity::Info,
                format!("`{name}` asks for an NVIDIA GPU; on the target the answer is no, and nothing is to be done"),
            )
        } else if asks {
            let why = "look at what depends on it";
            (Severity::Warning, format!("`{name}` asks for an NVIDIA GPU, and the answer is no: {why}"))
        } else {
            (Severity::Warning, format!("`{name}` is left: it needs CUDA. Replace it or keep it off the target's path"))
        };
        found.push((id, severity, message));
    }
    for &call in view.calls("cuda") {
        found.push((call, Severity::Warning, "`.cuda()` is left: it moves to an NVIDIA GPU. Leave it out, or move to the target's device by `.to(device)`".to_owned()));
    }
    for binding in &view.names.bindings {
        let vendor = binding.qualified == "torch.cuda" || binding.qualified.starts_with("torch.cuda.");
        if vendor && index.kind(binding.statement) != k.assignment {
            let message = format!(
                "`{}` is still imported, which does no harm without CUDA: leave it, or take it out when nothing reads it",
                binding.qualified
            );
            found.push((binding.part, Severity::Info, message));
        }
    }
    for &wildcard in index.of_kind(k.wildcard_import) {
        let module = index.parent(wildcard).and_then(|s| index.field(s, crate::tree::fields().module_name));
        let module = module.map_or("", |m| index.text_of(m));
        if module == "torch.cuda" || module.starts_with("torch.cuda.") {
            let message =
                format!("`from {module} import *` hides which names are CUDA's: import them by name and port again");
            found.push((wildcard, Severity::Warning, message));
        }
    }
    for device in cuda_devices(view) {
        found.push((device, Severity::Warning, "this string names a CUDA device: write the target's, or `\"cpu\"` where the target has none, unless only a GPU comes here"
            .to_owned()));
    }
    for &string in index.of_kind(k.string) {
        if plain_string(index.text, index.item(string).node) == Some("nccl") {
            found.push((
                string,
                Severity::Warning,
                "`nccl` is NVIDIA's communication library: name the target's, or `gloo`".to_owned(),
            ));
        }
    }
    if branch && let Some(modes) = &project.modes {
        found.retain(|(id, ..)| !matches!(modes.region(index, *id), Region::Foreign | Region::Vendor { .. }));
    }
    sort_by_key(&mut found, |(id, ..)| (index.item(*id).start, std::cmp::Reverse(index.item(*id).end)));
    let mut out: Vec<Found> = Vec::new();
    for (id, severity, message) in found {
        let range = index.range(id);
        if out.last().is_some_and(|f| f.range.end >= range.end && f.range.start <= range.start) {
            continue;
        }
        out.push(Found { range, severity, message });
    }
    out
}
