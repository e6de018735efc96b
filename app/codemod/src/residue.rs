//! Remaining code of the source vendor after a port, through any form of import.

mod keys;
mod listed;
mod reach;
mod unaccounted;

pub(crate) use listed::{CHOOSING, COMMANDS, LISTS, LISTS_OF_TARGETS, VARIABLES, needs_vendor};
pub(crate) use reach::Reach;
pub(crate) use unaccounted::{OwnNames, unaccounted};

use crate::condition::cuda_devices;
use crate::definitions::{Definitions, Said};
use crate::machines_device::MachinesDevice;
use crate::messages;
use crate::ported::Severity;
use crate::reached;
use keys::{key_for_cuda, names_for_cuda};
use listed::{HARMLESS, gotten, listed};
use python::names::{Names, called_name, imported_modules};
use python::strings::{joined_string, plain_string};
use python::tree::{Id, ROOT, fields, kinds};
use sorting::SortedMap;
use std::ops::Range;
use training::modes::Region;
use training::program_start::main_block;
use training::{FileView, ProjectFacts};

/// Something that still requires the source vendor.
pub(crate) struct Found {
    pub(crate) range: Range<usize>,
    pub(crate) severity: Severity,
    pub(crate) message: Said,
}

/// All remaining code in a file, in the order of the text. In branch style, code that the target never runs does not
/// count.
pub(crate) fn residue(
    reach: &Reach<'_>,
    project: &ProjectFacts<'_, '_>,
    definitions: &Definitions,
    foreign_modules: &SortedMap<String, String>,
    own_device: Option<&str>,
) -> Vec<Found> {
    // Code under a switch is reached where there is no CUDA: questions for it are as in a program for the target alone.
    let is_switched = project.modes.as_ref().is_some_and(|modes| modes.switch().is_some());
    let branch = reach.guards.is_some() && !is_switched;
    let k = kinds();
    let view = reach.view;
    let index = &view.index;
    let harmless = definitions.names(HARMLESS);
    let mut found: Vec<(Id, Severity, Said)> = listed(reach, project, definitions, own_device);
    if branch {
        // What has no effect here is for the other modes; what works may need a release of its own.
        found.retain(|(_, severity, said)| *severity == Severity::Warning || said.name == "works_here");
    }
    let of_cuda = |name: &str| {
        name.starts_with("torch.cuda.") || matches!(name, "torch.cuda" | "torch.Tensor.cuda" | "torch.nn.Module.cuda")
    };
    let gotten = gotten(view, project).into_iter().filter(|(_, name)| name == "torch.cuda");
    found.extend(gotten.map(|(call, name)| (call, Severity::Warning, messages::cuda_name_left(name))));
    let names = [k.attribute, k.identifier, k.dotted_name];
    for &id in names.iter().flat_map(|kind| index.of_kind(*kind)) {
        // The longest dotted name includes its parts.
        let longer = |p: Id| [k.attribute, k.dotted_name].contains(&index.kind(p));
        if index.parent(id).is_some_and(|p| longer(p) && index.item(p).start == index.item(id).start) {
            continue;
        }
        // `autocast` in `torch.autocast`, and definitions of the program itself where the import fails, are different
        // objects of that name.
        let is_stored = index.is_stored(id);
        if index.is_label(id) || index.item(id).field == fields().name || is_stored && index.kind(id) != k.attribute {
            continue;
        }
        // A choice of types is none, so that such an annotation stays.
        if branch && index.is_in_annotation(id) {
            continue;
        }
        // A name from a star import, undefined in a fragment, or from a function that imports it, is taken literally.
        let as_written = || {
            let name: String = index.text_of(id).split_whitespace().collect();
            name.starts_with("torch.cuda").then_some(name)
        };
        let mut meanings = view.names.meanings(index, id);
        meanings.extend(as_written().filter(|_| meanings.is_empty()));
        let Some(name) = meanings.into_iter().find(|name| of_cuda(name)) else { continue };
        let in_import =
            || index.ancestors(id).any(|a| [k.import_statement, k.import_from_statement].contains(&index.kind(a)));
        if in_import() {
            continue;
        }
        // Told once: a program that sets one often sets many.
        if is_stored || reached::is_replaced(view, id) {
            if reach.has(id) && !found.iter().any(|(.., said)| said.name == "cuda_name_set") {
                found.push((id, Severity::Info, messages::cuda_name_set(name)));
            }
            continue;
        }
        let defines_switch = |around: Id| {
            let switch = project.modes.as_ref().and_then(|modes| modes.switch());
            switch.is_some_and(|switch| index.target(around).is_some_and(|name| index.is_text(name, &switch.name)))
        };
        if index.ancestors(id).any(defines_switch) {
            continue;
        }
        // A query is harmless: there is no CUDA, and the result says so.
        let asks = matches!(
            name.as_str(),
            "torch.cuda.is_available" | "torch.cuda.device_count" | "torch.cuda.is_initialized"
        );
        // A test for a name in a module uses nothing of it.
        let tests = |call: Id| match called_name(index, call) {
            Some("hasattr") => true,
            Some("getattr") => index.parent(call).is_some_and(|around| index.kind(around) == k.comparison_operator),
            _ => false,
        };
        if index.ancestors(id).nth(1).is_some_and(tests) {
            continue;
        }
        // A disabled one has no effect anywhere.
        let off = |call: Id| index.arguments(call).keyword("enabled").is_some_and(|v| index.text_of(v) == "False");
        if name.ends_with(".GradScaler") && index.parent(id).is_some_and(off) {
            continue;
        }
        let (severity, message) = match (asks, branch || asks && reached::may_be_no(view, id)) {
            (true, true) => (Severity::Info, messages::asks_for_cuda_in_a_branch(name)),
            (true, false) => (Severity::Warning, messages::asks_for_cuda(name)),
            (false, _) if harmless.iter().any(|listed| listed.name == name) => {
                (Severity::Info, messages::cuda_name_harmless(name))
            }
            (false, _) => (Severity::Warning, messages::cuda_name_left(name)),
        };
        found.push((id, severity, message));
    }
    // `getattr(net, "cuda")()`
    let is_method =
        |call: &&Id| index.arguments(**call).positional().nth(1).and_then(|n| plain_string(index, n)) == Some("cuda");
    let called = |call: &Id| index.parent(*call).filter(|outer| index.callee(*outer) == Some(*call));
    let methods = view.calls("getattr").iter().filter(is_method).filter_map(called);
    found.extend(methods.map(|call| (call, Severity::Warning, messages::cuda_call_left())));
    for &call in view.calls("is_available").iter().filter(|call| !branch && reached::asks_by_name(view, **call)) {
        let name = index.callee(call).map_or("", |callee| index.text_of(callee));
        found.push(match reached::may_be_no(view, call) {
            true => (call, Severity::Info, messages::asks_for_cuda_in_a_branch(name)),
            false => (call, Severity::Warning, messages::asks_for_cuda(name)),
        });
    }
    if let Some((key, is_lacking)) = key_for_cuda(reach, project, own_device).filter(|_| !branch) {
        found.push(match is_lacking {
            true => (key, Severity::Warning, messages::table_lacks_the_target()),
            false => (key, Severity::Info, messages::key_for_cuda()),
        });
    }
    let named = names_for_cuda(view).filter(|_| !branch);
    found.extend(named.map(|name| (name, Severity::Info, messages::key_for_cuda())));
    // A function of the program may have that name.
    for &call in view.calls("cuda").iter().filter(|call| index.receiver(**call).is_some()) {
        found.push((call, Severity::Warning, messages::cuda_call_left()));
    }
    for (n, binding) in view.names.bindings.iter().enumerate() {
        if of_cuda(&binding.qualified) && index.kind(binding.statement) != k.assignment {
            let message = match view.names.newer_home(n).filter(|home| !of_cuda(home)) {
                Some(general) => messages::cuda_import_for_older(&binding.qualified, general),
                None => messages::cuda_import_left(&binding.qualified),
            };
            found.push((binding.part, Severity::Info, message));
        }
    }
    // Without an alias it binds `torch`.
    for &statement in index.of_kind(k.import_statement) {
        for part in index.children(statement).filter(|part| index.kind(*part) == k.dotted_name) {
            let module: String = index.text_of(part).split_whitespace().collect();
            if of_cuda(&module) {
                found.push((part, Severity::Info, messages::cuda_import_left(&module)));
            }
        }
    }
    let loaders = view.calls("import_module").iter().chain(view.calls("__import__"));
    let loaded =
        loaders.filter_map(|call| Some((*call, plain_string(index, index.arguments(*call).positional().next()?)?)));
    let of_torch = loaded.clone().filter(|(_, module)| of_cuda(module));
    found.extend(of_torch.map(|(call, module)| match index.parent(call).map(|around| index.kind(around)) {
        Some(kind) if kind == k.expression_statement => (call, Severity::Info, messages::cuda_import_left(module)),
        _ => (call, Severity::Warning, messages::cuda_name_left(module.to_owned())),
    }));
    for (at, module) in imported_modules(index).chain(loaded).filter(|(at, _)| !view.is_tried(*at)) {
        let is_compiled = module.ends_with("_cuda") || module.contains("_cuda_");
        if is_compiled && !module.contains('.') && !project.places.contains(module) {
            found.push((at, Severity::Warning, messages::cuda_package_left(module)));
        }
    }
    if !branch {
        // Code that is tried or tested first, or in a function, may be for another machine.
        let at_top = |statement: &Id| index.parent(*statement) == Some(ROOT);
        for (statement, module) in imported_modules(index).filter(|(statement, _)| at_top(statement)) {
            let head = module.split('.').next().unwrap_or_default();
            // The package itself may be in the project.
            let is_own = view.path.split('/').any(|part| part == head);
            if let Some(target) = foreign_modules.get(head).filter(|_| !is_own) {
                found.push((statement, Severity::Warning, messages::other_software_left(head, target)));
            }
        }
    }
    for &wildcard in index.of_kind(k.wildcard_import) {
        let module = Names::wildcard_module(index, wildcard).unwrap_or_default();
        if of_cuda(module) {
            let message = messages::cuda_import_hides_names(module);
            found.push((wildcard, Severity::Warning, message));
        }
    }
    for device in cuda_devices(view) {
        let test = reached::harmless_comparison(view, device);
        found.push(match test.or_else(|| reached::reads_default(view, project, device)) {
            Some(test) => (device, Severity::Info, messages::only_with_cuda(index.text_of(test))),
            None => (device, Severity::Warning, messages::cuda_device_left()),
        });
    }
    let ends = MachinesDevice::read(view, None).ends;
    found.extend(ends.into_iter().map(|id| (id, Severity::Warning, messages::ends_without_cuda(index.text_of(id)))));
    for &string in index.of_kind(k.string).iter().chain(index.of_kind(k.concatenated_string)) {
        // `cpu:gloo,cuda:nccl` names one for each device.
        let is_nccl = |one: &str| one.rsplit(':').next().unwrap_or(one).eq_ignore_ascii_case("nccl");
        let Some(text) = joined_string(index, string) else { continue };
        let compares = |id: &Id| index.kind(*id) == k.comparison_operator;
        let lists = |id: &Id| [k.list, k.tuple, k.set].contains(&index.kind(*id));
        let is_compared = index.ancestors(string).find(|id| !lists(id)).as_ref().is_some_and(compares);
        if text.split(',').any(is_nccl) && !is_compared {
            found.push((string, Severity::Warning, messages::nccl_left()));
        }
        // A device of TensorFlow: `/gpu:0`, `/device:GPU:0`.
        let device = text.strip_prefix('/').and_then(|place| place.rsplit_once(':'));
        let is_gpu = |place: &str| place.rsplit(['/', ':']).next().is_some_and(|kind| kind.eq_ignore_ascii_case("gpu"));
        if device.is_some_and(|(place, number)| is_gpu(place) && number.parse::<u32>().is_ok()) {
            found.push((string, Severity::Warning, messages::cuda_device_left()));
        }
        // A type as a string: `torch.set_default_tensor_type("torch.cuda.FloatTensor")`.
        if text.starts_with("torch.cuda.") && text.ends_with("Tensor") {
            found.push((string, Severity::Warning, messages::cuda_name_left(text.to_string())));
        }
    }
    if let Some(guards) = reach.guards {
        let is_for_others = |id: Id| matches!(guards.region(view, id), Region::Foreign | Region::Vendor { .. });
        // One program asks for CUDA in vain on the target, unless the target has code beside it.
        let asks = |id: Id, message: &Said| {
            message.name == "asks_for_cuda_in_a_branch" && guards.vendor_test(view, id).is_some()
        };
        found.retain(|(id, _, message)| !is_for_others(*id) || asks(*id, message));
    }
    // What only shows how a module of another program is used.
    let shows = main_block(view).filter(|_| view.steps.training.is_empty() && project.is_imported(view));
    for (_, severity, _) in found.iter_mut().filter(|(id, ..)| shows.is_some_and(|main| index.is_within(*id, main))) {
        *severity = Severity::Info;
    }
    found.retain(|(id, ..)| !reached::on_another_system(view, *id));
    found.retain_mut(|(id, severity, message)| {
        let Some(test) = reached::only_with_cuda(view, *id) else { return true };
        let test = index.text_of(test).split_whitespace().collect::<Vec<_>>().join(" ");
        (*severity, *message) = (Severity::Info, messages::only_with_cuda(&test));
        // If a test itself mentions CUDA, the code that it disables needs no message.
        !test.to_ascii_lowercase().contains("cuda")
    });
    sorting::by_key(&mut found, |(id, ..)| (index.item(*id).start, std::cmp::Reverse(index.item(*id).end)));
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

/// Whether an absolute import of this name finds a module of the project: from a folder that is no package itself.
fn is_own_module(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, head: &str) -> bool {
    let folders = view.path.match_indices('/').map(|(at, _)| &view.path[..=at]);
    std::iter::once("").chain(folders).any(|folder| {
        let begins =
            |with: String| project.paths.range(with.clone()..).next().is_some_and(|path| path.starts_with(&with));
        let is_package = project.paths.contains(&format!("{folder}__init__.py"));
        let file = format!("{folder}{head}.py");
        let is_file = file != view.path && project.paths.contains(&file);
        !is_package && (is_file || begins(format!("{folder}{head}/")))
    })
}
