//! Programs for several devices of PyTorch: which tests ask for one, and which expressions hold the chosen one.

use super::Guards;
use crate::condition::is_cuda_device;
use crate::reached::{left_without_cuda, means_cuda};
use guide::TorchDevice;
use python::edit::{Splice, spliced};
use python::names::dotted;
use python::origins::Place;
use python::strings::{plain_string, requote};
use python::tree::{Id, kinds};
use training::modes::{Region, initialised};
use training::{FileView, ProjectFacts};

/// How many names are followed to a value.
const DEPTH: u8 = 3;

/// A test itself, not a name for its result: that means any accelerator after the port.
const DIRECTLY: u8 = 1;

/// The target as a device beside others.
pub(crate) struct ByDevice<'a> {
    /// PyTorch's `device.type`.
    pub(crate) kind: &'a str,
    /// Python that is true where there is such a device.
    available: &'a str,
}

/// What an expression holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// A `torch.device`.
    Device,
    /// The name of one, such as `"cuda:0"`.
    Name,
}

impl<'a> ByDevice<'a> {
    /// The target of a port, if it is such a device in this release.
    pub(crate) fn of(device: Option<&'a TorchDevice>, sdk: &str) -> Option<Self> {
        let device = device?;
        Some(Self { kind: &device.kind, available: device.available_in(sdk)? })
    }

    /// The test for such a device in the style of a file.
    pub(crate) fn available(&self, view: &FileView<'_>) -> String {
        requote(self.available, view.layout.quote)
    }

    /// Python for the device on which the program runs, in front of a node: what it chose, if that can be read there.
    pub(crate) fn device_at(&self, view: &FileView<'_>, project: &ProjectFacts<'_, '_>, at: Id) -> String {
        let quote = view.layout.quote;
        chosen_at(view, project, at).map_or_else(
            || format!("{quote}{}{quote} if {} else {quote}cuda{quote}", self.kind, self.available(view)),
            |(text, _)| text.to_owned(),
        )
    }

    /// Whether a test is true for the target alone.
    fn asks_target(&self, view: &FileView<'_>, test: Id) -> bool {
        let (k, index) = (kinds(), &view.index);
        let kind = index.kind(test);
        let text = index.text_of(test);
        if text == self.available(view) {
            return true;
        }
        if kind == k.parenthesized_expression {
            return index.parts(test).next().is_some_and(|inner| self.asks_target(view, inner));
        }
        if kind == k.boolean_operator {
            let mut parts = index.parts(test);
            return operator(view, test) == "and" && parts.any(|part| self.asks_target(view, part));
        }
        if kind == k.comparison_operator {
            // `device.type == "xpu"`, `"xpu" in device`; `device.type in ("cuda", "xpu")` is no question for the target alone.
            let is_target = |side: Id| self.names(view, side, |kind| kind == self.kind);
            return match operator(view, test) {
                "==" => index.parts(test).any(is_target),
                "in" => index.parts(test).next().is_some_and(is_target),
                _ => false,
            };
        }
        if kind == k.call {
            let asks = format!("torch.{}.is_available", self.kind);
            let begins =
                index.arguments(test).positional().next().is_some_and(|a| self.names(view, a, |t| t == self.kind));
            if begins && python::names::called_name(index, test) == Some("startswith") {
                return true;
            }
            let is_attribute =
                index.arguments(test).positional().nth(1).is_some_and(|a| self.names(view, a, |t| t == self.kind));
            return index.callee(test).is_some_and(|callee| {
                view.names.stands_for(index, callee, &asks) || index.is_text(callee, "hasattr") && is_attribute
            });
        }
        false
    }

    /// Whether a test is false for the target: `device.type != "xpu"`, `not torch.xpu.is_available()`.
    fn denies_target(&self, view: &FileView<'_>, test: Id) -> bool {
        let (k, index) = (kinds(), &view.index);
        if index.kind(test) == k.not_operator {
            return index.parts(test).next().is_some_and(|inner| self.asks_target(view, inner));
        }
        index.kind(test) == k.comparison_operator
            && operator(view, test) == "!="
            && index.parts(test).any(|side| self.names(view, side, |kind| kind == self.kind))
    }

    /// Whether a string names a device of a type: `"xpu:0"`.
    fn names(&self, view: &FileView<'_>, id: Id, is_type: impl Fn(&str) -> bool) -> bool {
        plain_string(&view.index, id).is_some_and(|text| is_type(text.split(':').next().unwrap_or(text)))
    }

    /// Whether a test compares with a device that is neither the target nor the source vendor's.
    fn asks_another(&self, view: &FileView<'_>, test: Id) -> bool {
        let index = &view.index;
        let is_other =
            |kind: &str| ["cpu", "mps", "xpu", "hpu", "npu", "xla", "mlu", "musa"].contains(&kind) && kind != self.kind;
        index.kind(test) == kinds().comparison_operator
            && operator(view, test) == "=="
            && index.parts(test).any(|side| self.names(view, side, is_other))
    }

    /// A test for CUDA as one for the target, or for either of the two.
    fn asked(&self, view: &FileView<'_>, test: Id, or_cuda: bool) -> Option<String> {
        let (k, index) = (kinds(), &view.index);
        let kind = index.kind(test);
        let inner = |own: &dyn Fn(Id) -> Option<String>| {
            let edits =
                index.parts(test).filter_map(|part| Some(Splice { range: index.range(part), text: own(part)? }));
            spliced(index.text, index.range(test), edits.collect())
        };
        if kind == k.parenthesized_expression || kind == k.boolean_operator {
            let part = |part: Id| if means_cuda(view, part, DIRECTLY) { self.asked(view, part, or_cuda) } else { None };
            return Some(inner(&part));
        }
        let quote = view.layout.quote;
        let either = format!("({quote}cuda{quote}, {quote}{}{quote})", self.kind);
        if or_cuda && kind == k.comparison_operator && operator(view, test) == "==" {
            // `device.type == "cuda"`
            let sides: Vec<Id> = index.parts(test).collect();
            let asked = sides.iter().find(|side| !is_cuda_device(view, **side))?;
            let named = sides.iter().find_map(|side| plain_string(index, *side))?;
            return (named == "cuda").then(|| format!("{} in {either}", index.text_of(*asked)));
        }
        if kind == k.comparison_operator && index.parts(test).any(|side| is_cuda_device(view, side)) && !or_cuda {
            let side = |side: Id| is_cuda_device(view, side).then(|| index.text_of(side).replace("cuda", self.kind));
            return Some(inner(&side));
        }
        if kind == k.call
            && index.callee(test).is_some_and(|c| view.names.stands_for(index, c, "torch.cuda.is_available"))
        {
            let joined = index
                .parent(test)
                .is_some_and(|p| index.kind(p) == k.boolean_operator || index.kind(p) == k.not_operator);
            let asked = if or_cuda {
                format!("{} or {}", index.text_of(test), self.available(view))
            } else {
                self.available(view)
            };
            let compound = [" and ", " or "].iter().any(|word| asked.contains(word));
            return Some(if joined && compound { format!("({asked})") } else { asked });
        }
        if kind == k.call && !or_cuda {
            return Some(index.text_of(test).replace("cuda", self.kind));
        }
        if kind == k.attribute && index.text_of(test).ends_with(".is_cuda") {
            let owner = index.owner(test).map(|owner| index.text_of(owner))?;
            let asked = if or_cuda { format!("in {either}") } else { format!("== {quote}{}{quote}", self.kind) };
            return Some(format!("{owner}.device.type {asked}"));
        }
        None
    }
}

impl Guards for ByDevice<'_> {
    fn region(&self, view: &FileView<'_>, id: Id) -> Region {
        let (k, index) = (kinds(), &view.index);
        let mut vendor = None;
        for ancestor in index.ancestors(id) {
            let kind = index.kind(ancestor);
            // A test for either of the two is done.
            if kind == k.boolean_operator && index.parts(ancestor).any(|part| self.asks_target(view, part)) {
                return Region::Foreign;
            }
            let [yes, test, no] = if kind == k.conditional_expression {
                let mut parts = index.parts(ancestor);
                [(); 3].map(|()| parts.next())
            } else if kind == k.if_statement || kind == k.elif_clause {
                [index.consequence(ancestor), index.condition(ancestor), None]
            } else {
                continue;
            };
            let Some(test) = test else { continue };
            let within = |arm: Option<Id>| arm.is_some_and(|arm| index.is_within(id, arm));
            // A test for CUDA stays: its code gets a branch for the target. So does one for the target.
            let is_done = || self.asks_target(view, test) || self.denies_target(view, test);
            if within(Some(test)) && (means_cuda(view, test, DIRECTLY) || is_done()) {
                return Region::Foreign;
            }
            let is_else = kind == k.if_statement && !within(yes) && !index.is_within(id, test);
            if within(yes) {
                if self.asks_target(view, test) {
                    return Region::Target;
                }
                if self.asks_another(view, test) || self.denies_target(view, test) {
                    return Region::Foreign;
                }
                if means_cuda(view, test, DIRECTLY) {
                    let chain =
                        if kind == k.elif_clause { index.parent(ancestor).unwrap_or(ancestor) } else { ancestor };
                    vendor = Some(Region::Vendor { clause: ancestor, chain });
                }
            } else if within(no) || is_else {
                let mut earlier = std::iter::once(ancestor).chain(
                    index.children(ancestor).filter(|c| index.kind(*c) == k.elif_clause && index.item(*c).next <= id),
                );
                let asks = |clause: Id| {
                    let test = if kind == k.conditional_expression { Some(test) } else { index.condition(clause) };
                    test.is_some_and(|test| self.asks_target(view, test))
                };
                if earlier.any(asks) {
                    return Region::Foreign;
                }
            }
        }
        vendor.unwrap_or_else(|| if left_without_cuda(view, id).is_some() { Region::Unclear } else { Region::Open })
    }

    fn has_target_branch(&self, view: &FileView<'_>, chain: Id) -> bool {
        let (k, index) = (kinds(), &view.index);
        if index.kind(chain) == k.conditional_expression {
            let mut parts = index.parts(chain);
            let other = parts.nth(2).filter(|other| index.kind(*other) == k.conditional_expression);
            return other.is_some_and(|other| {
                index.parts(other).nth(1).is_some_and(|test| self.asks_target(view, test))
                    || self.has_target_branch(view, other)
            });
        }
        std::iter::once(chain)
            .chain(index.children(chain).filter(|c| index.kind(*c) == k.elif_clause))
            .filter_map(|clause| index.condition(clause))
            .any(|test| self.asks_target(view, test))
    }

    fn excludes_target(&self, view: &FileView<'_>, test: Id) -> bool {
        self.asks_another(view, test)
    }

    fn retarget(&self, view: &FileView<'_>, test: Id) -> Option<String> {
        self.asked(view, test, false).or_else(|| Some(self.available(view)))
    }

    fn either(&self, view: &FileView<'_>, test: Id) -> Option<String> {
        self.asked(view, test, true)
    }

    fn retargeted(&self, code: &str) -> String {
        code.to_owned()
    }

    fn guard_at(&self, view: &FileView<'_>, project: &ProjectFacts<'_, '_>, id: Id) -> Option<String> {
        let quote = view.layout.quote;
        Some(match chosen_at(view, project, id) {
            Some((text, Held::Device)) => format!("{text}.type == {quote}{}{quote}", self.kind),
            Some((text, Held::Name)) => format!("torch.device({text}).type == {quote}{}{quote}", self.kind),
            None => self.available(view),
        })
    }

    fn is_agnostic(&self) -> bool {
        true
    }
}

/// The text between the operands of an operator.
fn operator<'t>(view: &FileView<'t>, node: Id) -> &'t str {
    let index = &view.index;
    let parts: Vec<Id> = index.parts(node).collect();
    let [left, right] = parts.as_slice() else { return "" };
    index.text.get(index.range(*left).end..index.range(*right).start).map_or("", str::trim)
}

/// The expression that holds the chosen device where a node is evaluated: a local name before an attribute of `self`
/// before one of the file.
fn chosen_at<'t>(view: &FileView<'t>, project: &ProjectFacts<'_, '_>, at: Id) -> Option<(&'t str, Held)> {
    let (k, index) = (kinds(), &view.index);
    let function = view.function_of(at);
    let start = index.item(at).start;
    let mut best: Option<(u8, &str, Held)> = None;
    let mut consider = |rank: u8, text: &'t str, held: Held| {
        // Of an attribute that is assigned twice, the less certain kind counts.
        match &mut best {
            Some((known, other, kind)) if *known == rank && *other == text => {
                if held == Held::Name {
                    *kind = held;
                }
            }
            Some((known, ..)) if *known <= rank => {}
            _ => best = Some((rank, text, held)),
        }
    };
    for assignment in index.assignments() {
        let Some((target, value)) = assignment.target().zip(assignment.value()) else { continue };
        let Some(text) = dotted(index, target) else { continue };
        let Some(held) = held(view, value, DEPTH) else { continue };
        let (from, head) = (view.function_of(assignment.id()), text.split('.').next().unwrap_or(text));
        let before = index.item(assignment.id()).end <= start;
        if head == "self" {
            let class = |id| view.class_of(id).map(|class| view.name_of(class));
            let is_own = class(assignment.id()).zip(class(at)).is_some_and(|(a, b)| project.classes.related(a, b));
            let is_method =
                function.is_some_and(|f| view.name_of(f) != "__init__" || initialised(view, f, at, &text[5..]));
            if is_own && is_method {
                consider(1, text, held);
            }
        } else if from.is_some() {
            if from == function && before && text == head {
                consider(0, text, held);
            }
        } else if function.is_some() || before {
            let hidden = function.is_some_and(|f| view.binds(f, head));
            // A name of the main block is no name of the module when another file imports it.
            let is_top = view.binds_at_top(head, start, function.is_some());
            if !hidden && is_top {
                consider(2, text, held);
            }
        }
    }
    let mut around = index.ancestors(at).filter(|a| index.kind(*a) == k.function_definition);
    let parameters = around.by_ref().filter_map(|f| index.function(f)).flat_map(|f| f.parameters());
    for parameter in parameters {
        let id = std::iter::once(parameter.id)
            .chain(index.children(parameter.id))
            .find(|id| index.is_text(*id, parameter.name));
        if id.is_some_and(|id| project.role(view, id) == Some(training::roles::Role::Device)) {
            let id = id.unwrap_or(parameter.id);
            consider(0, parameter.name, if is_given_devices(view, project, id) { Held::Device } else { Held::Name });
        }
    }
    best.map(|(_, text, held)| (text, held))
}

/// Whether every value of a parameter is made by `torch.device`.
fn is_given_devices(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, id: Id) -> bool {
    let Some(file) = project.origins.number(&view.file) else { return false };
    let given = project.origins.origins(Place { file, id });
    !given.is_empty()
        && given.iter().all(|origin| {
            let (file, id) = (&project.origins.files()[origin.place.file], origin.place.id);
            origin.is_whole()
                && file.index.callee(id).is_some_and(|c| file.names.stands_for(&file.index, c, "torch.device"))
        })
}

/// Whether a value is a device or the name of one.
fn held(view: &FileView<'_>, value: Id, depth: u8) -> Option<Held> {
    let (k, index) = (kinds(), &view.index);
    if depth == 0 {
        return None;
    }
    let kind = index.kind(value);
    if kind == k.call {
        let callee = index.callee(value)?;
        let makes = ["torch.device", "torch.accelerator.current_accelerator"];
        return makes.iter().any(|make| view.names.stands_for(index, callee, make)).then_some(Held::Device);
    }
    if kind == k.parenthesized_expression {
        return held(view, index.parts(value).next()?, depth);
    }
    if kind == k.conditional_expression {
        let parts: Vec<Id> = index.parts(value).collect();
        let [yes, _, no] = parts.as_slice() else { return None };
        let (yes, no) = (held(view, *yes, depth)?, held(view, *no, depth)?);
        return Some(if yes == no { yes } else { Held::Name });
    }
    if is_cuda_device(view, value) || matches!(plain_string(index, value), Some("cpu" | "mps" | "xpu" | "hpu")) {
        return Some(Held::Name);
    }
    let name = dotted(index, value)?;
    let mut given =
        index.assignments_to(name).filter(|a| a.id() < value).filter_map(|a| held(view, a.value()?, depth - 1));
    let first = given.next()?;
    given.all(|other| other == first).then_some(first)
}
