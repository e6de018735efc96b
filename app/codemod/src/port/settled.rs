//! Code for the source vendor's cards that a port leaves as it is: the program has a branch for the target beside it,
//! or it needs something that only those cards have.

use crate::ported::Edit;
use crate::reached::{asks_by_name, means_cuda, mentions as names, only_with_cuda};
use python::lines::line_start;
use python::names::{called_name, is_new_home};
use python::tree::{Id, kinds};
use sorting::SortedSet;
use std::ops::Range;
use training::FileView;

/// One of several alternatives: its condition, none for an `else`, and its code.
type Alternative = (Option<Id>, Id);

const VENDOR: &str = "cuda";

/// What concerns only the source vendor's cards in an original file, for a target whose own device has this name.
pub(super) fn settled(view: &FileView<'_>, device: &str) -> Vec<Range<usize>> {
    let (index, k) = (&view.index, kinds());
    let names = |at, part| names(view, at, part);
    let mut out: Vec<Id> = Vec::new();
    let mut settle = |alternatives: &[Alternative]| {
        let is_own = |a: &&Alternative| is_own(view, **a, device);
        if alternatives.iter().any(|a| is_own(&a)) {
            for alternative @ (test, code) in alternatives {
                let is_denied = || test.is_none_or(|test| names(test, device));
                // What runs without the vendor's cards may run on the target; its own code does.
                let is_vendors = |test| asks_for(view, test, VENDOR) || names(test, VENDOR) && is_own(&alternative);
                if test.is_some_and(is_vendors) || is_denied() && names(*code, VENDOR) {
                    out.extend(test);
                    out.extend(Some(*code).filter(|_| !is_own(&alternative)));
                }
            }
        }
    };
    for &block in [k.module, k.block].iter().flat_map(|kind| index.of_kind(*kind)) {
        let mut tested: Vec<Alternative> = Vec::new();
        for branch in index.parts(block).filter_map(|statement| index.if_statement(statement)) {
            let first = branch.body().map(|body| (branch.condition(), body));
            let others = branch.clauses().filter_map(|clause| Some((clause.condition, clause.body?)));
            let all: Vec<Alternative> = first.into_iter().chain(others).collect();
            settle(&all);
            tested
                .extend(all.into_iter().filter(|(test, _)| test.is_some_and(|t| names(t, VENDOR) || names(t, device))));
        }
        settle(&tested);
    }
    for &choice in index.of_kind(k.conditional_expression) {
        let mut alternatives: Vec<Alternative> = Vec::new();
        let mut at = choice;
        while index.kind(at) == k.conditional_expression
            && let [value, test, other] = index.parts(at).collect::<Vec<_>>()[..]
        {
            alternatives.push((Some(test), value));
            at = other;
        }
        alternatives.push((None, at));
        settle(&alternatives);
    }
    // `if CUDAAccelerator.is_available():` stays, and so does its code.
    let asked = index.if_statements().filter(|branch| branch.condition().is_some_and(|test| asks_by_name(view, test)));
    out.extend(asked.filter_map(|branch| branch.body()));
    let tests = index.of_kind(k.boolean_operator).iter().copied();
    out.extend(tests.filter(|test| names(*test, VENDOR) && names(*test, device)));
    for &list in [k.list, k.tuple, k.set, k.subscript].iter().flat_map(|kind| index.of_kind(*kind)) {
        let (own, others): (Vec<Id>, Vec<Id>) = index.parts(list).partition(|part| is_device(view, *part, device));
        let of_device = |part: &Id| index.kind(*part) == k.string && names(*part, VENDOR);
        out.extend(others.into_iter().filter(|part| !own.is_empty() && of_device(part)));
    }
    out.into_iter().map(|id| index.range(id)).collect()
}

/// The statements for releases of PyTorch that have a name only in its old place, beside code for those that have it in the
/// new one: in the `except` of a `try` with the new name, or in another branch of a test for the release.
pub(super) fn for_older_releases(view: &FileView<'_>) -> Vec<Range<usize>> {
    let (index, k) = (&view.index, kinds());
    let named = |at: Id| {
        let inside = [k.attribute, k.identifier].into_iter().flat_map(move |kind| index.of_kind_in(kind, at));
        inside.filter_map(|id| Some((*id, view.names.qualify(index, *id)?)))
    };
    let asks_release = |test: Id| {
        let asks = |call: &Id| called_name(index, *call) == Some("hasattr");
        names(view, test, "version") || index.of_kind_in(k.call, test).iter().chain([&test]).any(asks)
    };
    let mut out = Vec::new();
    let mut compare = |old: Id, new: Id| {
        let is_older = |(id, old): (Id, String)| {
            named(new).any(|(_, new)| is_new_home(&new, &old)).then(|| view.statement_of(id)).flatten()
        };
        out.extend(named(old).filter_map(is_older).map(|statement| index.range(statement)));
    };
    for &handler in index.of_kind(k.except_clause) {
        let tried = index.parent(handler).and_then(|tried| index.clause_body(tried));
        tried.into_iter().for_each(|tried| compare(handler, tried));
    }
    for branch in index.if_statements().filter(|branch| branch.condition().is_some_and(asks_release)) {
        let Some(first) = branch.body() else { continue };
        for other in branch.clauses().filter_map(|clause| clause.body) {
            compare(first, other);
            compare(other, first);
        }
    }
    out
}

/// The choices in an expression that have an alternative for the target: `"cuda" if … else "xpu" if … else "cpu"`.
pub(super) fn choices_with_own(view: &FileView<'_>, device: &str) -> Vec<Range<usize>> {
    let (index, k) = (&view.index, kinds());
    let names_own = |choice: &Id| index.of_kind_in(k.string, *choice).iter().any(|s| is_device(view, *s, device));
    index
        .of_kind(k.conditional_expression)
        .iter()
        .filter(|choice| names_own(choice))
        .map(|id| index.range(*id))
        .collect()
}

/// Tests for a kernel of a package that may be missing: `x.is_cuda and HAS_KERNELS`.
pub(super) fn tests_for_kernels(view: &FileView<'_>) -> Vec<Range<usize>> {
    let (index, k) = (&view.index, kinds());
    let asks = |id: &Id| index.text_of(*id).ends_with(".is_cuda");
    let is_one = |test: &Id| {
        index.of_kind_in(k.attribute, *test).iter().any(asks)
            && index.of_kind_in(k.identifier, *test).iter().any(|id| is_optional(view, *id))
    };
    index.of_kind(k.boolean_operator).iter().filter(|test| is_one(test)).map(|test| index.range(*test)).collect()
}

fn is_device(view: &FileView<'_>, string: Id, device: &str) -> bool {
    view.index.text_of(string).trim_matches(['"', '\'']) == device && view.index.kind(string) == kinds().string
}

/// Whether a test names a device and does not deny it.
fn asks_for(view: &FileView<'_>, test: Id, device: &str) -> bool {
    let (index, k) = (&view.index, kinds());
    let mut negated = index.of_kind_in(k.not_operator, test).iter().chain([&test]);
    let denies = |id: &Id| index.kind(*id) == k.not_operator && names(view, *id, device);
    let text = index.text_of(test);
    names(view, test, device) && !negated.any(denies) && !text.contains("!=") && !text.contains(" not in ")
}

/// Whether an alternative is for the target: its test mentions the device, or the code names it directly.
fn is_own(view: &FileView<'_>, (test, code): Alternative, device: &str) -> bool {
    let (index, k) = (&view.index, kinds());
    if let Some(test) = test.filter(|test| names(view, *test, device)) {
        return asks_for(view, test, device);
    }
    let chooses = |id: &Id| [k.if_statement, k.conditional_expression].contains(&index.kind(*id));
    let directly = |id: Id| !index.ancestors(id).take_while(|a| *a > code).any(|a| chooses(&a));
    !chooses(&code)
        && index.of_kind_in(k.string, code).iter().chain([&code]).any(|s| is_device(view, *s, device) && directly(*s))
}

/// Whether a name is bound by an import that may fail, or next to one.
fn is_optional(view: &FileView<'_>, name: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let imports = [k.import_statement, k.import_from_statement];
    let tries_import = |bound: Id| {
        let tried = index.ancestors(bound).find(|a| index.kind(*a) == k.try_statement);
        tried.is_some_and(|tried| {
            imports.iter().any(|kind| !index.of_kind_in(*kind, tried).is_empty()) && !names(view, tried, "torch")
        })
    };
    let is_bound = |id: Id| index.is_stored(id) || index.ancestors(id).any(|a| imports.contains(&index.kind(a)));
    view.identifiers(index.text_of(name)).iter().any(|id| is_bound(*id) && tries_import(*id))
}

/// The tests of an original file that stay as they were, and their code: it moves nothing, and all that the port changes
/// in it is on lines with something that still needs the source vendor's card, at `left`, with whether that is software of its own.
/// With `keeps_others` the program runs on that card too, and what needs such software may refuse all others.
pub(super) fn kept_guards(
    view: &FileView<'_>,
    left: &[(usize, bool)],
    edits: &[Edit],
    keeps_others: bool,
) -> [Vec<Range<usize>>; 2] {
    let (index, k) = (&view.index, kinds());
    let lines: SortedSet<usize> = left.iter().map(|(at, _)| line_start(index.text, *at)).collect();
    let [mut tests, mut kept] = [Vec::new(), Vec::new()];
    // What is cast to a type of the vendor's tensors would remain on the host.
    let is_type = |at: &usize| {
        let rest = index.text.get(*at..).unwrap_or_default();
        rest.split(|c: char| c != '.' && c != '_' && !c.is_alphanumeric()).next().is_some_and(|n| n.ends_with("Tensor"))
    };
    let left = left.iter().filter(|(at, _)| !is_type(at));
    let left = left.filter_map(|(at, is_software)| Some((index.innermost(&(*at..*at))?, *is_software)));
    // Code that needs the card may be in a function of its own.
    let called = |node: Id| view.function_of(node).map_or(&[][..], |function| view.calls(view.name_of(function)));
    let with_calls = |(node, is_software)| {
        let function = view.function_of(node).map(|function| index.range(function));
        let calls = called(node).iter().map(move |call| (*call, function.clone(), is_software));
        calls.chain([(node, None, is_software)]).collect::<Vec<_>>()
    };
    let left: Vec<(Id, Option<Range<usize>>, bool)> = left.flat_map(with_calls).collect();
    for (node, function, is_software) in left {
        let inside = only_with_cuda(view, node).and_then(|asked| {
            let tests = [k.if_statement, k.elif_clause, k.conditional_expression];
            let owner = index.ancestors(asked).find(|owner| tests.contains(&index.kind(*owner)))?;
            let test = index.condition(owner).filter(|test| index.is_within(asked, *test))?;
            let code = index.consequence(owner).or_else(|| index.parts(owner).next())?;
            if index.kind(test) != k.not_operator {
                return Some((index.range(test), index.range(code)));
            }
            // A guard that returns early.
            let rest = index.range(owner).end..index.range(index.parent(owner)?).end;
            Some((index.range(test), rest)).filter(|_| !index.is_within(node, owner))
        });
        // `if not torch.cuda.is_available(): return` above it.
        let after = || {
            let at = view.statement_of(node)?;
            let block = index.parent(at)?;
            let turns_away = |s: &Id| {
                index.is_plain_if(*s)
                    && index.consequence(*s).and_then(|c| index.parts(c).last()).map(|last| index.kind(last))
                        == Some(k.return_statement)
                    && index
                        .condition(*s)
                        .is_some_and(|test| names(view, test, VENDOR) && index.kind(test) == k.not_operator)
            };
            let test = index.parts(block).take_while(|s| *s < at).find(turns_away)?;
            Some((index.range(index.condition(test)?), index.range(test).end..index.range(block).end))
        };
        // `assert x.is_cuda` above it, or an error for tensors that are elsewhere.
        let refused = || {
            let at = view.statement_of(node)?;
            let blocks = std::iter::successors(Some(at), |at| index.parent(index.parent(*at)?)).map_while(|at| {
                let block = index.parent(at).filter(|block| index.kind(*block) == k.block)?;
                Some((at, block))
            });
            let here = blocks.take_while(|(at, _)| index.kind(*at) != k.function_definition);
            // An object that needs the card in all that it does asks for it when it is made.
            let of_object = || {
                let class = view.class_of(node)?;
                let methods = index.parts(index.body(class)?).filter_map(|method| index.function(method));
                let made = methods.filter(|method| method.name() == "__init__").find_map(|method| method.body())?;
                let test = index.parts(made).find_map(|statement| refuses_others(view, statement))?;
                Some((index.range(test), index.range(class)))
            };
            let found = || {
                here.into_iter().find_map(|(at, block)| {
                    let before = index.parts(block).take_while(|statement| *statement < at);
                    let test = before.filter_map(|statement| refuses_others(view, statement)).next()?;
                    Some((index.range(test), index.range(test).end..index.range(block).end))
                })
            };
            of_object().or_else(found)
        };
        // `if device in ("lazy", "cuda"):`
        let listed = || {
            let owner = index.ancestors(node).find(|owner| {
                let within = |code: Id| index.is_within(node, code);
                let is_one = [k.if_statement, k.elif_clause].contains(&index.kind(*owner));
                is_one && index.consequence(*owner).is_some_and(within)
            })?;
            let test = index.condition(owner).filter(|test| is_among_devices(view, *test))?;
            Some((index.range(test), index.range(index.consequence(owner)?)))
        };
        let for_others = || refused().filter(|_| is_software).or_else(listed).filter(|_| keeps_others);
        let Some((test, code)) = inside.or_else(after).or_else(for_others) else { continue };
        let is_run = |at: usize| code.contains(&at) || function.as_ref().is_some_and(|function| function.contains(&at));
        let is_lost = |edit: &Edit| lines.contains(&line_start(index.text, edit.start));
        let mut acts = ["to", "cuda", "backward", "step"].iter().flat_map(|name| view.calls(name));
        if edits.iter().any(|edit| test.contains(&edit.start))
            && !acts.any(|call| is_run(index.item(*call).start))
            && edits.iter().filter(|edit| is_run(edit.start) && !test.contains(&edit.start)).all(is_lost)
        {
            // `self.cuda_config if x.is_cuda else self.cpu_config`, where nothing is assigned to the former any more.
            let made = index.assignments().filter(|a| code.contains(&index.item(a.id()).start));
            let made: Vec<&str> = made.filter_map(|a| Some(index.text_of(a.target()?))).collect();
            for &choice in index.of_kind(k.conditional_expression) {
                let [value, asked, _] = index.parts(choice).collect::<Vec<_>>()[..] else { continue };
                if made.contains(&index.text_of(value)) && names(view, asked, VENDOR) {
                    let around = view.function_of(choice).unwrap_or(choice);
                    let asks = |id: &&Id| index.text_of(**id).ends_with(".is_cuda");
                    let answers = index.of_kind_in(k.attribute, around).iter().filter(asks);
                    tests.extend(answers.chain([&asked]).map(|id| index.range(*id)));
                }
            }
            tests.push(test);
            kept.push(code);
        }
    }
    [tests, kept]
}

/// The test of a statement that ends the function for tensors and devices other than the source vendor's: `assert x.is_cuda`,
/// `if not x.is_cuda: raise`.
fn refuses_others(view: &FileView<'_>, statement: Id) -> Option<Id> {
    let (index, k) = (&view.index, kinds());
    if index.kind(statement) == k.assert_statement {
        return index.parts(statement).next().filter(|test| means_cuda(view, *test, 1));
    }
    let test = index.condition(statement).filter(|_| index.is_plain_if(statement))?;
    let last = index.consequence(statement).and_then(|code| index.parts(code).last())?;
    let denied = index.parts(test).next().filter(|_| index.kind(test) == k.not_operator)?;
    let asks_tensor = index.text_of(denied).ends_with(".is_cuda");
    (index.kind(last) == k.raise_statement && asks_tensor).then_some(test)
}

/// Whether a test is true for the source vendor's device among others: `device in ("lazy", "cuda")`.
fn is_among_devices(view: &FileView<'_>, test: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let lists = [k.list, k.tuple, k.set];
    let has_vendors =
        |list: Id| lists.contains(&index.kind(list)) && index.parts(list).any(|d| is_device(view, d, VENDOR));
    let compares = index.kind(test) == k.comparison_operator && !index.text_of(test).contains(" not in ");
    compares && index.parts(test).last().is_some_and(has_vendors)
}
