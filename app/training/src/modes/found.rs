//! Where a project names its compute modes: in an enum, here or in a missing file, or in strings.

use super::{ModeKind, Modes, Use, is_mode, is_vendor};
use crate::view::FileView;
use python::names::dotted;
use python::tree::{Id, fields, kinds};
use sorting::{SortedMap, SortedSet};
use std::cell::RefCell;

/// What an expression is compared with.
#[derive(Default)]
struct Literals {
    members: SortedSet<String>,
    /// Some test is true for `"cuda"`, a device of PyTorch's.
    names_device: bool,
    /// Some test is true for the vendor's mode alone.
    singles_out: bool,
    /// Some test decides about code for CUDA.
    decides: bool,
}

/// An enum class whose members are compute modes.
pub(super) fn mode_enum(view: &FileView<'_>, listed: &[String]) -> Option<Id> {
    let k = kinds();
    view.index.of_kind(k.class_definition).iter().copied().find(|class| {
        let is_enum = view.index.class(*class).is_some_and(|class| {
            class.bases().ids().any(|b| {
                let text = view.index.text_of(b);
                matches!(text.rsplit('.').next(), Some("Enum" | "IntEnum" | "StrEnum" | "Flag" | "IntFlag"))
            })
        });
        let members = enum_members(view, *class);
        is_enum
            && members.iter().any(|(name, _)| is_vendor(name))
            && members.iter().any(|(name, _)| is_mode(name, listed) && !is_vendor(name))
    })
}

/// An enum that is compared with (`mode == ComputeMode.GPU`) but defined in a missing file: its name, and whether its
/// members are in capitals.
fn foreign_enum(views: &[&FileView<'_>]) -> Option<(String, bool)> {
    for view in views {
        for &comparison in view.index.of_kind(kinds().comparison_operator) {
            for side in view.index.parts(comparison) {
                let Some((owner, member)) = dotted(&view.index, side).and_then(|t| t.rsplit_once('.')) else {
                    continue;
                };
                let class = owner.rsplit('.').next().unwrap_or(owner);
                let imported = view.names.bindings.iter().any(|b| b.qualified.rsplit('.').next() == Some(class));
                if is_vendor(member) && imported && class.starts_with(|c: char| c.is_ascii_uppercase()) {
                    return Some((class.to_owned(), member.chars().all(|c| !c.is_lowercase())));
                }
            }
        }
    }
    None
}

/// The functions of a project that mention CUDA, by name.
fn functions_for_cuda<'t>(views: &[&FileView<'t>]) -> SortedSet<&'t str> {
    let of_view = |view: &&FileView<'t>| {
        let functions = view.index.of_kind(kinds().function_definition).iter();
        functions.filter(|id| view.index.text_of(**id).contains("cuda")).map(|id| view.name_of(*id)).collect::<Vec<_>>()
    };
    views.iter().flat_map(of_view).collect()
}

/// The expressions of a project that PyTorch is given as devices: `x.to(place)`, `torch.device(place)`, `device=place`.
fn given_as_devices<'t>(views: &[&FileView<'t>]) -> SortedSet<&'t str> {
    let of_view = |view: &&FileView<'t>| {
        let index = &view.index;
        let first = |call: &Id| index.arguments(*call).positional().next();
        let placed = ["to", "device"].into_iter().flat_map(|name| view.calls(name)).filter_map(first);
        let arguments = index.of_kind(kinds().keyword_argument).iter();
        let named = arguments.filter(|id| index.field(**id, fields().name).is_some_and(|n| index.is_text(n, "device")));
        let named = named.filter_map(|id| index.field(*id, fields().value));
        // A member of an enum has it as its value.
        let text = |id| index.text_of(id).trim_end_matches(".value");
        placed.chain(named).map(text).collect::<Vec<_>>()
    };
    views.iter().flat_map(of_view).collect()
}

/// Whether the code that a test decides about mentions CUDA, or calls what does.
fn decides_about_cuda(view: &FileView<'_>, test: Id, functions: &SortedSet<&str>) -> bool {
    let k = kinds();
    let decides = [k.if_statement, k.conditional_expression];
    let Some(decided) = view.index.ancestors(test).find(|id| decides.contains(&view.index.kind(*id))) else {
        return false;
    };
    let mut words = view.index.text_of(decided).split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word.contains("cuda") || functions.contains(word))
}

/// Members of an enum class: name and assignment.
pub fn enum_members<'t>(view: &FileView<'t>, class: Id) -> Vec<(&'t str, Id)> {
    let k = kinds();
    let Some(body) = view.index.body(class) else { return Vec::new() };
    view.index
        .children(body)
        .filter(|s| view.index.kind(*s) == k.expression_statement)
        .filter_map(|s| view.index.parts(s).next())
        .filter(|a| view.index.kind(*a) == k.assignment)
        .filter_map(|a| view.index.target(a).map(|l| (view.index.text_of(l), a)))
        .collect()
}

impl Modes {
    pub(crate) fn collect(views: &[&FileView<'_>], target: &str, listed: &[String]) -> Option<Self> {
        let found = views.iter().find_map(|v| mode_enum(v, listed).map(|c| (v, c)));
        let (kind, target) = if let Some((view, class)) = &found {
            let class = *class;
            let upper =
                enum_members(view, class).iter().any(|(n, _)| is_vendor(n) && n.chars().all(|c| !c.is_lowercase()));
            let target = if upper { target.to_ascii_uppercase() } else { target.to_ascii_lowercase() };
            (ModeKind::Enum(view.name_of(class).to_owned()), target)
        } else if let Some((class, upper)) = foreign_enum(views) {
            (ModeKind::Enum(class), if upper { target.to_ascii_uppercase() } else { target.to_ascii_lowercase() })
        } else {
            (ModeKind::Strings, target.to_ascii_lowercase())
        };
        let elsewhere = matches!(kind, ModeKind::Enum(_)) && found.is_none();
        let mut modes = Self {
            kind,
            target,
            listed: listed.to_vec(),
            expressions: SortedMap::new(),
            elsewhere,
            turns: RefCell::default(),
        };
        let functions = functions_for_cuda(views);
        let mut literals: SortedMap<String, Literals> = SortedMap::new();
        for view in views {
            let k = kinds();
            for &comparison in view.index.of_kind(k.comparison_operator) {
                let Some((expression, members)) = modes.comparison(&view.index, comparison) else { continue };
                let class = view.class_of(comparison).map_or("", |c| view.name_of(c));
                let text = view.index.text_of(expression);
                let seen = literals.entry(text.to_owned()).or_default();
                seen.singles_out |= members.iter().all(|m| is_vendor(m));
                seen.decides |= functions.is_empty() || decides_about_cuda(view, comparison, &functions);
                seen.names_device |= members.iter().any(|m| m.eq_ignore_ascii_case("cuda"));
                seen.members.extend(members.iter().map(|m| m.to_ascii_lowercase()));
                let uses = modes.expressions.entry(text.to_owned()).or_default();
                match uses.iter_mut().find(|u| u.path == view.path && u.class == class) {
                    Some(u) => u.count += 1,
                    None => uses.push(Use { path: view.path.to_owned(), class: class.to_owned(), count: 1 }),
                }
            }
        }
        // What PyTorch is given is a device.
        let devices = given_as_devices(views);
        let are_compared = !modes.expressions.is_empty();
        modes.expressions.retain(|text, _| !devices.contains(text.trim_end_matches(".value")));
        if modes.kind == ModeKind::Strings {
            // `if args.accelerator == "gpu": … elif args.accelerator == "cpu":` is a chain of modes. A value that is
            // compared with "cuda" is a PyTorch device, and the chain works again once the device is renamed; a test
            // `in ("cpu", "gpu")` does not distinguish modes, and where a buffer is kept is none.
            modes.expressions.retain(|text, _| {
                let seen = &literals[text];
                let is_device = text.ends_with(".type") || seen.names_device;
                !is_device && seen.singles_out && seen.members.len() >= 2 && seen.decides
            });
        }
        let is_sure = matches!(modes.kind, ModeKind::Enum(_)) && !are_compared;
        (is_sure || !modes.expressions.is_empty()).then_some(modes)
    }
}
