//! Programs for several devices of PyTorch: which tests ask for one, and what each becomes.

use super::Guards;
use super::chosen_device::{DEPTH, chosen_at};
use crate::condition::{asks_any_device, is_cuda_device};
use crate::reached::{left_without_cuda, means_cuda, mentions, tests_for, tests_for_others};
use guide::TorchDevice;
use python::edit::{Splice, spliced};
use python::names::Binding;
use python::refactor::settled;
use python::source::words;
use python::strings::{plain_string, requote};
use python::tree::{Id, Tree, kinds};
use training::modes::Region;
use training::project::has_part;
use training::words::DEVICE_TYPES;
use training::{FileView, ProjectFacts};

/// A test itself, not a name for its result: that means any accelerator after the port.
const DIRECTLY: u8 = 1;

/// The target as a device beside others.
pub(crate) struct ByDevice<'a> {
    /// PyTorch's `device.type`.
    pub(crate) kind: &'a str,
    /// Python that is true where there is such a device.
    available: &'a str,
}

impl<'a> ByDevice<'a> {
    /// The target of a port, if it is such a device in this release.
    pub(crate) fn of(device: Option<&'a TorchDevice>, sdk: &str) -> Option<Self> {
        let device = device?;
        Some(Self { kind: &device.kind, available: device.available_in(sdk)? })
    }

    /// The first test for the target in a file that selects more than an error.
    pub(crate) fn own_test(&self, view: &FileView<'_>) -> Option<Id> {
        let (k, index) = (kinds(), &view.index);
        let ends = |body: Id| index.parts(body).last().is_some_and(|last| index.kind(last) == k.raise_statement);
        let clauses = [k.if_statement, k.elif_clause, k.conditional_expression];
        let clauses = clauses.into_iter().flat_map(|kind| index.of_kind(kind)).copied();
        let serving = clauses.filter(|clause| !index.consequence(*clause).is_some_and(ends));
        serving.filter_map(|clause| index.condition(clause)).filter(|test| self.asks_target(view, *test)).min()
    }

    /// The test for such a device in the style of a file.
    pub(crate) fn available(&self, view: &FileView<'_>) -> String {
        self.available_as(view, view.layout.quote)
    }

    /// The same in front of a node.
    fn available_at(&self, view: &FileView<'_>, at: Id) -> String {
        self.available_as(view, view.quote_at(at))
    }

    /// In a file that imports PyTorch under another name, with that name.
    fn available_as(&self, view: &FileView<'_>, quote: char) -> String {
        let text = requote(self.available, quote);
        let mut imported =
            view.names.bindings.iter().filter(|b| b.qualified == "torch" && b.scope.is_none()).peekable();
        let Some(Binding { local, .. }) = imported.peek().filter(|_| view.names.is_free("torch")) else { return text };
        let edits = words(&text, "torch").map(|range| Splice { range, text: local.clone() });
        spliced(&text, 0..text.len(), edits.collect())
    }

    /// Python for the device on which the program runs, in front of a node: what it chose, if that can be read there and is
    /// the first card or all that a process has.
    pub(crate) fn device_at(&self, view: &FileView<'_>, project: &ProjectFacts<'_, '_>, at: Id) -> String {
        let quote = view.quote_at(at);
        match chosen_at(view, project, at) {
            Some((text, held)) if !held.has_index => in_quotes(text, quote),
            _ => {
                let guard = self.test_at(view, project, at);
                format!("{quote}{}{quote} if {guard} else {quote}cuda{quote}", self.kind)
            }
        }
    }

    /// The test for the target in front of a node.
    fn test_at(&self, view: &FileView<'_>, project: &ProjectFacts<'_, '_>, at: Id) -> String {
        let quote = view.quote_at(at);
        let Some((text, held)) = chosen_at(view, project, at) else { return self.available_at(view, at) };
        let text = in_quotes(text, quote);
        let device = if held.is_name { format!("torch.device({text})") } else { text };
        format!("{device}.type == {quote}{}{quote}", self.kind)
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
            return view.index.operator(test) == "and" && parts.any(|part| self.asks_target(view, part));
        }
        if kind == k.comparison_operator {
            // `device.type == "xpu"`, `"xpu" in device`; `device.type in ("cuda", "xpu")` is no question for the target alone.
            let is_target = |side: Id| self.names(view, side, |kind| kind == self.kind);
            return match view.index.operator(test) {
                "==" => index.parts(test).any(is_target),
                "in" => index.parts(test).next().is_some_and(is_target),
                ">" => index.text_of(test).starts_with(&format!("torch.{}.device_count()", self.kind)),
                _ => false,
            };
        }
        // `HAS_XPU = torch.xpu.is_available()`
        if kind == k.identifier || kind == k.attribute {
            let is_test = |value: Id| ![k.identifier, k.attribute].contains(&index.kind(value));
            let asks = |value: Id| is_test(value) && self.asks_target(view, value);
            let mut given = index.assignments_to(text).peekable();
            return given.peek().is_some() && given.all(|a| a.value().is_some_and(asks));
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
            // `is_xpu_available()` of a library
            let by_name = |callee: &str| callee.ends_with("available") && has_part(callee, self.kind);
            return index.callee(test).is_some_and(|callee| {
                view.names.stands_for(index, callee, &asks)
                    || index.kind(callee) == k.identifier && by_name(index.text_of(callee))
                    || index.is_text(callee, "hasattr") && is_attribute
            });
        }
        false
    }

    /// Whether a test is true wherever there is the target.
    fn holds_on_target(&self, view: &FileView<'_>, test: Id) -> bool {
        let (k, index) = (kinds(), &view.index);
        if ![k.parenthesized_expression, k.boolean_operator].contains(&index.kind(test)) {
            // One of several devices, or more.
            let counts_several = index.operator(test) == ">" && !index.text_of(test).ends_with('0');
            return self.asks_target(view, test) && !counts_several;
        }
        let holds = |part| self.holds_on_target(view, part);
        if index.operator(test) == "or" { index.parts(test).any(holds) } else { index.parts(test).all(holds) }
    }

    /// Whether a test is false for the target: `device.type != "xpu"`, `not torch.xpu.is_available()`.
    fn denies_target(&self, view: &FileView<'_>, test: Id) -> bool {
        let (k, index) = (kinds(), &view.index);
        if index.kind(test) == k.not_operator {
            return index.parts(test).next().is_some_and(|inner| self.asks_target(view, inner));
        }
        index.kind(test) == k.comparison_operator
            && view.index.operator(test) == "!="
            && index.parts(test).any(|side| self.names(view, side, |kind| kind == self.kind))
    }

    /// Whether an `if` above or below another, with only such between them, asks for the target what that one asks for CUDA,
    /// and does for it what that one does.
    fn is_asked_beside(&self, view: &FileView<'_>, chain: Id) -> bool {
        let (k, index) = (kinds(), &view.index);
        let Some(asked) = index.condition(chain).and_then(|test| self.asked(view, test, false)) else { return false };
        let block = index.parent(chain).filter(|_| index.kind(chain) == k.if_statement);
        let statements: Vec<Id> = block.into_iter().flat_map(|block| index.parts(block)).collect();
        let is_if = |statement: &&Id| index.kind(**statement) == k.if_statement;
        let mut runs = statements.split(|statement| !is_if(&statement));
        let asks = |other: &Id| index.condition(*other).is_some_and(|test| index.is_text(test, &asked));
        runs.any(|run| {
            run.contains(&chain) && run.iter().any(|other| asks(other) && self.does_the_same(view, chain, *other))
        })
    }

    /// Whether the body of an `if` for the target does what that of one for CUDA does: it has the counterpart of each of its calls
    /// of `torch.cuda` or, without such calls, the same code with the target's name.
    fn does_the_same(&self, view: &FileView<'_>, vendors: Id, targets: Id) -> bool {
        let (k, index) = (kinds(), &view.index);
        let (Some(vendors), Some(targets)) = (index.consequence(vendors), index.consequence(targets)) else {
            return false;
        };
        let called = |within: Id, module: &str| -> Vec<String> {
            let names = index.of_kind_in(k.call, within).iter().filter_map(|call| view.qualified(*call));
            names.filter_map(|name| name.strip_prefix(module).map(str::to_owned)).collect()
        };
        let (asked, there) = (called(vendors, "torch.cuda."), called(targets, &format!("torch.{}.", self.kind)));
        match asked.is_empty() {
            true => index.is_text(targets, &index.text_of(vendors).replace("cuda", self.kind)),
            false => asked.iter().all(|name| there.contains(name)),
        }
    }

    /// Whether a test turns something away that CUDA alone can do, in a program that serves others: it says so, and asks
    /// for that something besides. `if int4 and device.type != "cuda": raise ValueError("int4 needs CUDA")`
    fn refuses_for_others(&self, view: &FileView<'_>, clause: Id, test: Id) -> bool {
        let (k, index) = (kinds(), &view.index);
        let denies = |part: Id| {
            index.kind(part) == k.comparison_operator
                && view.index.operator(part) == "!="
                && index.parts(part).any(|side| plain_string(index, side) == Some("cuda"))
        };
        let parts: Vec<Id> = index.parts(test).filter(|_| index.kind(test) == k.boolean_operator).collect();
        let is_besides =
            !parts.is_empty() && view.index.operator(test) == "and" && parts.iter().any(|part| denies(*part));
        let is_under = || {
            let tests = index.ancestors(clause).filter(|around| index.kind(*around) == k.if_statement);
            let mut tests = tests.take(1).filter_map(|around| index.condition(around));
            denies(test) && tests.any(|test| !mentions(view, test, "cuda"))
        };
        let says = |string: &Id| has_part(index.text_of(*string), "cuda");
        let uses = |id: &Id| view.names.qualify(index, *id).is_some_and(|name| name.starts_with("torch."));
        index.consequence(clause).is_some_and(|body| {
            index.of_kind_in(k.string, body).iter().any(says) && !index.of_kind_in(k.attribute, body).iter().any(uses)
        }) && (is_besides || is_under())
            && (tests_for_others(view, self.kind) || tests_for(view, self.kind))
    }

    /// Whether a string names a device of a type: `"xpu:0"`.
    fn names(&self, view: &FileView<'_>, id: Id, is_type: impl Fn(&str) -> bool) -> bool {
        plain_string(&view.index, id).is_some_and(|text| is_type(text.split(':').next().unwrap_or(text)))
    }

    /// Whether a test compares with an accelerator that is neither the target nor the source vendor's. What is on the CPU may be
    /// about to move: `x.cuda() if x.device.type == "cpu" else x`.
    fn asks_another(&self, view: &FileView<'_>, test: Id) -> bool {
        let index = &view.index;
        let is_other = |kind: &str| DEVICE_TYPES.contains(&kind) && !["cpu", "cuda", self.kind].contains(&kind);
        index.kind(test) == kinds().comparison_operator
            && view.index.operator(test) == "=="
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
            let asks = |part: &Id| means_cuda(view, *part, DIRECTLY);
            let mut asking = index.parts(test).filter(asks).peekable();
            if asking.peek().is_none() || asking.any(|part| self.asked(view, part, or_cuda).is_none()) {
                return None;
            }
            return Some(inner(&|part: Id| if asks(&part) { self.asked(view, part, or_cuda) } else { None }));
        }
        if asks_any_device(view, test) {
            return None;
        }
        let quote = view.layout.quote;
        let either = format!("({quote}cuda{quote}, {quote}{}{quote})", self.kind);
        if or_cuda && kind == k.comparison_operator && view.index.operator(test) == "==" {
            // `device.type == "cuda"`
            let sides: Vec<Id> = index.parts(test).collect();
            let asked = sides.iter().find(|side| !is_cuda_device(view, **side))?;
            let named = sides.iter().find_map(|side| plain_string(index, *side))?;
            return (named == "cuda").then(|| format!("{} in {either}", index.text_of(*asked)));
        }
        let is_of_tensor = kind == k.attribute;
        let is_available = kind == k.call
            && index.callee(test).is_some_and(|c| view.names.stands_for(index, c, "torch.cuda.is_available"));
        if or_cuda && !is_of_tensor && !is_available {
            let asked = format!("{} or {}", index.text_of(test), self.asked(view, test, false)?);
            let is_part =
                index.parent(test).is_some_and(|p| [k.boolean_operator, k.not_operator].contains(&index.kind(p)));
            return Some(if is_part { format!("({asked})") } else { asked });
        }
        if kind == k.comparison_operator && index.text_of(test).contains("cuda.device_count()") {
            let counted = index.text_of(test).replace("cuda.device_count", &format!("{}.device_count", self.kind));
            // A device that a module is loaded for may have no such module elsewhere.
            let first = self.available(view);
            return Some(if first.contains(" and ") { format!("{first} and {counted}") } else { counted });
        }
        if kind == k.comparison_operator && index.parts(test).any(|side| is_cuda_device(view, side)) {
            let side =
                |side: Id| is_cuda_device(view, side).then(|| index.text_of(side).replacen("cuda", self.kind, 1));
            return Some(inner(&side));
        }
        if is_available {
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
        if kind == k.call && means_cuda(view, test, DIRECTLY) {
            // `name.startswith("cuda")`
            let given = index.arguments(test).ids().next().filter(|id| plain_string(index, *id) == Some("cuda"))?;
            let asked = Splice { range: index.range(given), text: index.text_of(given).replace("cuda", self.kind) };
            return Some(spliced(index.text, index.range(test), vec![asked]));
        }
        if is_of_tensor && index.text_of(test).ends_with(".is_cuda") {
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
            // A list that has both is done.
            let lists = [k.list, k.tuple, k.set].contains(&kind);
            if lists && index.parts(ancestor).any(|part| self.names(view, part, |kind| kind == self.kind)) {
                return Region::Foreign;
            }
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
            let is_refusal = || kind != k.conditional_expression && self.refuses_for_others(view, ancestor, test);
            if within(Some(test)) && (means_cuda(view, test, DIRECTLY) || is_done() || is_refusal()) {
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
                let chain = if kind == k.elif_clause { index.parent(ancestor).unwrap_or(ancestor) } else { ancestor };
                if means_cuda(view, test, DIRECTLY) {
                    vendor = Some(Region::Vendor { clause: ancestor, chain });
                } else if means_cuda(view, test, DEPTH) && self.has_target_branch(view, chain) {
                    return Region::Foreign;
                }
            } else if within(no) || is_else {
                let mut earlier = std::iter::once(ancestor).chain(
                    index.children(ancestor).filter(|c| index.kind(*c) == k.elif_clause && index.item(*c).next <= id),
                );
                // Where more is asked besides, the target may still come here.
                let asks = |clause: Id| index.condition(clause).is_some_and(|test| self.holds_on_target(view, test));
                if earlier.any(asks) {
                    return Region::Foreign;
                }
            }
        }
        vendor.unwrap_or_else(|| if left_without_cuda(view, id).is_some() { Region::Unclear } else { Region::Open })
    }

    fn has_target_branch(&self, view: &FileView<'_>, chain: Id) -> bool {
        view.index.tests_of_chain(chain).into_iter().any(|test| self.asks_target(view, test))
            || self.is_asked_beside(view, chain)
    }

    fn excludes_target(&self, view: &FileView<'_>, test: Id) -> bool {
        let is_host = |side| self.names(view, side, |kind| kind == "cpu");
        self.asks_another(view, test) || view.index.operator(test) == "==" && view.index.parts(test).any(is_host)
    }

    fn has_own_flag(&self, view: &FileView<'_>) -> bool {
        let (k, index) = (kinds(), &view.index);
        let assigned = index.assignments().filter_map(|assignment| assignment.value());
        let returned = index.of_kind(k.return_statement).iter().filter_map(|given| index.parts(*given).next());
        assigned.chain(returned).any(|value| self.asks_target(view, value))
    }

    fn retarget(&self, view: &FileView<'_>, test: Id) -> Option<String> {
        self.asked(view, test, false)
    }

    fn either(&self, view: &FileView<'_>, test: Id) -> Option<String> {
        self.asked(view, test, true)
    }

    fn vendor_test(&self, view: &FileView<'_>, id: Id) -> Option<(Id, Id)> {
        let (k, index) = (kinds(), &view.index);
        let clause = index
            .ancestors(id)
            .find(|around| [k.if_statement, k.elif_clause, k.conditional_expression].contains(&index.kind(*around)))?;
        let chain = index.parent(clause).filter(|_| index.kind(clause) == k.elif_clause).unwrap_or(clause);
        let test = index.condition(clause).filter(|test| index.is_within(id, *test))?;
        let is_asked = means_cuda(view, test, DIRECTLY) && !self.has_target_branch(view, chain);
        (is_asked && self.region(view, chain) == Region::Open).then_some((chain, clause))
    }

    fn retargeted(&self, code: &str) -> String {
        // In the target's branch a question for CUDA or for either is one for the target, and a choice between them is the target's.
        let available = ['"', '\''].map(|quote| requote(self.available, quote));
        let types = ['"', '\''].map(|quote| format!(".type == {quote}{}{quote}", self.kind));
        let code = asking_target(code, &available);
        settled(&code, |index, [target, asked, vendor]| {
            let asked = index.text_of(asked);
            let asks_target = available.iter().any(|own| own == asked) || types.iter().any(|own| asked.ends_with(own));
            let is_same = index.text_of(vendor).replace("cuda", self.kind) == index.text_of(target);
            (asks_target && is_same).then_some(target)
        })
    }

    fn guard_at(&self, view: &FileView<'_>, project: &ProjectFacts<'_, '_>, id: Id) -> Option<String> {
        Some(self.test_at(view, project, id))
    }

    fn is_agnostic(&self) -> bool {
        true
    }
}

/// Code of the program with its strings in other quotes, where that changes nothing else.
fn in_quotes(code: &str, quote: char) -> String {
    let other = if quote == '"' { '\'' } else { '"' };
    if code.contains(quote) { code.to_owned() } else { code.replace(other, &quote.to_string()) }
}

/// Code that asks for the target where it asked for CUDA, or for either of them, and for nothing that CUDA alone answers besides.
/// `available` is the question for the target in either quotes.
fn asking_target(code: &str, available: &[String; 2]) -> String {
    let (tree, k) = (Tree::parse(code), kinds());
    let index = tree.index();
    let asks = |call: &&Id| index.is_text(**call, "torch.cuda.is_available()");
    let edits = index.of_kind(k.call).iter().filter(asks).filter_map(|call| {
        let around = index.parent(*call)?;
        let joins = |around: &Id| [k.boolean_operator, k.parenthesized_expression].contains(&index.kind(*around));
        let joined = index.ancestors(*call).take_while(joins).last();
        if joined.is_some_and(|joined| {
            ["torch.cuda.", "torch.version.cuda"]
                .iter()
                .any(|asked| index.text_of(joined).replace("torch.cuda.is_available()", "").contains(asked))
        }) {
            return None;
        }
        let is_own = |part: &Id| available.iter().any(|own| index.is_text(*part, own));
        if let Some(own) = index.parts(around).find(is_own).filter(|_| index.operator(around) == "or") {
            // The brackets of a choice go with it, unless a word stands right before them.
            let is_free = |brackets: &Id| {
                let before = code[..index.range(*brackets).start].chars().next_back();
                index.kind(*brackets) == k.parenthesized_expression && !before.is_some_and(char::is_alphanumeric)
            };
            let own = index.text_of(own);
            let brackets = index.parent(around).filter(is_free).filter(|_| !own.contains(" and "));
            return Some(Splice { range: index.range(brackets.unwrap_or(around)), text: own.to_owned() });
        }
        let own = &available[usize::from(!code.contains('"') && code.contains('\''))];
        let binds = [k.not_operator, k.boolean_operator, k.comparison_operator].contains(&index.kind(around));
        let text = if binds && own.contains(" and ") { format!("({own})") } else { own.to_owned() };
        Some(Splice { range: index.range(*call), text })
    });
    spliced(code, 0..code.len(), edits.collect())
}
