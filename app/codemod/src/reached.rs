//! Code that is only reached on the source vendor's machine: under a test for its card.

use crate::condition::names_cuda_device;
use python::names::{called_name, dotted};
use python::origins::Place;
use python::strings::plain_string;
use python::tree::{Id, ROOT, kinds};
use training::project::has_part;
use training::settings::is_settings;
use training::words::{DEVICE_TYPES, SETTINGS_NAMES};
use training::{FileView, ProjectFacts};

/// Whether a node mentions something as a word of a name or in a string.
pub(crate) fn mentions(view: &FileView<'_>, at: Id, part: &str) -> bool {
    let (index, k) = (&view.index, kinds());
    let kinds = [k.identifier, k.string];
    let mut inside = kinds.iter().flat_map(|kind| index.of_kind_in(*kind, at)).chain([&at]);
    inside.any(|id| kinds.contains(&index.kind(*id)) && has_part(index.text_of(*id), part))
}

/// Whether a file tests for a type of PyTorch's devices, in whatever way it asks: `device.type == "mps"`, `case "xpu":`,
/// `torch.xpu.is_available()`, `is_npu_available()`, `hasattr(torch, "hpu")`.
pub(crate) fn tests_for(view: &FileView<'_>, kind: &str) -> bool {
    let (k, index) = (kinds(), &view.index);
    let is_named =
        |string: Id| plain_string(index, string).and_then(|text| text.split(':').next()).is_some_and(|t| t == kind);
    let names = |at: &Id| index.of_kind_in(k.string, *at).iter().any(|string| is_named(*string));
    let asks = |call: &Id| {
        let name = called_name(index, *call).unwrap_or_default();
        let is_first = |nth: usize| index.arguments(*call).positional().nth(nth).is_some_and(is_named);
        match name {
            "startswith" => is_first(0),
            "hasattr" => is_first(1),
            _ if name.ends_with("available") => index.callee(*call).is_some_and(|c| has_part(index.text_of(c), kind)),
            _ => false,
        }
    };
    let compared = [k.comparison_operator, k.case_pattern].into_iter().flat_map(|kind| index.of_kind(kind));
    index.text.contains(kind) && (compared.clone().any(names) || index.of_kind(k.call).iter().any(asks))
}

/// Whether a file tests for accelerators that are neither the source vendor's nor of this type.
pub(crate) fn tests_for_others(view: &FileView<'_>, own: &str) -> bool {
    let mut others = DEVICE_TYPES.iter().filter(|kind| !["cpu", "cuda", own].contains(*kind));
    others.any(|kind| tests_for(view, kind))
}

/// Whether the program gives a name of a module another value, or deletes it: `torch.cuda.synchronize = mine`. It replaces the
/// function for all code that calls it by that name, on purpose.
pub(crate) fn is_replaced(view: &FileView<'_>, name: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let owner = |id: &Id| {
        let of = index.parent(*id).filter(|of| index.kind(*of) == k.attribute);
        of.filter(|of| index.attribute(*of).and_then(|a| a.owner()) == Some(*id))
    };
    let whole = std::iter::successors(Some(name), owner).last().unwrap_or(name);
    index.is_stored(whole) && view.names.qualify(index, name).is_some() || is_patched(view, name)
}

/// `setattr(torch.cuda, "synchronize", mine)`, `mock.patch.object(torch.cuda, "synchronize")`
fn is_patched(view: &FileView<'_>, module: Id) -> bool {
    let index = &view.index;
    let given = index.parent(module).filter(|given| index.kind(*given) == kinds().argument_list);
    let Some(call) = given.and_then(|given| index.parent(given)) else { return false };
    let mut arguments = index.arguments(call).positional();
    matches!(called_name(index, call), Some("setattr" | "delattr" | "object"))
        && arguments.next() == Some(module)
        && arguments.next().is_some_and(|name| plain_string(index, name).is_some())
}

/// The test after which a place is reached only with CUDA, so that it does not run on the target.
pub(crate) fn only_with_cuda(view: &FileView<'_>, id: Id) -> Option<Id> {
    let k = kinds();
    let index = &view.index;
    let mut arms = index.ancestors(id).flat_map(|a| {
        let [yes, test, no] = if index.kind(a) == k.conditional_expression {
            let mut parts = index.parts(a);
            [(); 3].map(|()| parts.next())
        } else {
            [index.consequence(a), index.condition(a), index.otherwise(a)]
        };
        [(yes, test, true), (no, test, false)]
    });
    let only_with = |(arm, test, yes): (Option<Id>, Option<Id>, bool)| {
        let test = test.filter(|_| arm.is_some_and(|arm| index.is_within(id, arm)))?;
        let denied = || denied(view, test).filter(|_| !yes);
        denied().or_else(|| Some(test).filter(|_| needs_cuda(view, test, yes)))
    };
    arms.find_map(only_with).or_else(|| left_without_cuda(view, id))
}

/// Whether a test gives an answer only with CUDA.
fn needs_cuda(view: &FileView<'_>, test: Id, answer: bool) -> bool {
    let (k, index) = (kinds(), &view.index);
    let kind = index.kind(test);
    let mut parts = index.parts(test);
    if kind == k.parenthesized_expression || kind == k.not_operator {
        let answer = answer != (kind == k.not_operator);
        return parts.any(|inner| needs_cuda(view, inner, answer));
    }
    if kind == k.boolean_operator {
        let needs = |part: Id| needs_cuda(view, part, answer);
        return if (view.index.operator(test) == "and") == answer { parts.any(needs) } else { parts.all(needs) };
    }
    answer && means_cuda(view, test, 3)
}

/// The test above a place that leaves its function without CUDA, which then gives something else:
/// `if not torch.cuda.is_available(): return 0`. A program that just ends there is not ported yet.
pub(crate) fn left_without_cuda(view: &FileView<'_>, id: Id) -> Option<Id> {
    let (k, index) = (kinds(), &view.index);
    let is_made = view.function_of(id).is_some_and(|function| view.name_of(function) == "__init__");
    let gives = |last: Id| index.kind(last) == k.return_statement && (is_made || index.parts(last).next().is_some());
    let leaves = |s: Id| {
        let last = index.consequence(s).and_then(|body| index.parts(body).last());
        index.otherwise(s).is_none() && last.is_some_and(gives)
    };
    let within = index.ancestors(id).take_while(|a| index.kind(*a) != k.function_definition);
    let blocks = within.filter(|a| index.kind(*a) == k.block);
    let above = blocks.flat_map(|block| {
        let inside = index.of_kind_in(k.if_statement, block).iter().copied();
        inside.take_while(|s| *s < id).filter(move |s| index.parent(*s) == Some(block) && index.item(*s).next <= id)
    });
    let mut tests = above.filter(|s| leaves(*s));
    tests.find_map(|s| denied(view, index.condition(s)?))
}

/// Whether an expression is true only with CUDA, or only without.
pub(crate) fn asks_for_cuda(view: &FileView<'_>, test: Id) -> bool {
    means_cuda(view, test, 3) || denied(view, test).is_some()
}

/// The test for CUDA whose "no" makes an expression true.
fn denied(view: &FileView<'_>, test: Id) -> Option<Id> {
    let (k, index) = (kinds(), &view.index);
    let kind = index.kind(test);
    let mut parts = index.parts(test);
    if kind == k.not_operator {
        return parts.next().filter(|inner| means_cuda(view, *inner, 3));
    }
    let combines =
        kind == k.parenthesized_expression || kind == k.boolean_operator && view.index.operator(test) == "or";
    combines.then(|| parts.find_map(|part| denied(view, part))).flatten()
}

/// Whether a place is only reached on an operating system that the target's software does not run on.
pub(crate) fn on_another_system(view: &FileView<'_>, id: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    index.ancestors(id).any(|a| {
        let under = |body: Id| index.is_within(id, body);
        let test = if index.kind(a) == k.boolean_operator {
            Some(a)
        } else {
            index.condition(a).filter(|_| index.consequence(a).is_some_and(under))
        };
        test.is_some_and(|test| means_another_system(view, test))
    })
}

fn means_another_system(view: &FileView<'_>, test: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let kind = index.kind(test);
    if kind == k.comparison_operator {
        let names = |part| matches!(plain_string(index, part), Some("Darwin" | "darwin" | "Windows" | "win32" | "nt"));
        return view.index.operator(test) == "==" && index.parts(test).any(names);
    }
    let combines =
        kind == k.parenthesized_expression || kind == k.boolean_operator && view.index.operator(test) == "and";
    combines && index.parts(test).any(|part| means_another_system(view, part))
}

/// Whether a test for CUDA needs no change: "no" selects code that runs without it. If that ends the program, it does.
pub(crate) fn may_be_no(view: &FileView<'_>, question: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    let Some(statement) = view.statement_of(question) else { return false };
    // `a if not question else b` is `b if question else a`.
    let swaps_arms = |not: Id| {
        let tested = index.parent(not);
        let choice = tested.filter(|t| index.kind(*t) == k.conditional_expression);
        let arms = tested.filter(|t| index.condition(*t) == Some(not)).and_then(|t| index.otherwise(t));
        index.kind(not) == k.not_operator && (choice.is_some() || arms.is_some())
    };
    let negated = |id: Id| {
        index.ancestors(id).take_while(|a| *a != statement).any(|a| {
            index.kind(a) == k.not_operator && !swaps_arms(a)
                || index.kind(a) == k.comparison_operator && !means_cuda(view, a, 1)
        })
    };
    if negated(question) || index.kind(statement) == k.assert_statement {
        return false;
    }
    // What an `if` runs without CUDA.
    let without = |test: Id| {
        let swapped = index.condition(test).is_some_and(swaps_arms);
        if swapped { index.consequence(test) } else { index.otherwise(test) }
    };
    let ends = |block: Id| {
        !index.of_kind_in(k.raise_statement, block).is_empty()
            || index
                .of_kind_in(k.call, block)
                .iter()
                .any(|c| matches!(called_name(index, *c), Some("exit" | "_exit" | "error" | "abort")))
    };
    if index.kind(statement) == k.if_statement {
        return match without(statement) {
            Some(without) => !ends(without),
            None => !ends_below(view, statement, &ends),
        };
    }
    // A name with the result: it must not be used negated.
    let assignment = index.ancestors(question).find(|a| index.kind(*a) == k.assignment);
    let Some(name) = assignment.and_then(|a| index.target(a)).filter(|t| dotted(index, *t).is_some()) else {
        // `default="cuda" if torch.cuda.is_available() else "cpu"` in a call.
        return index.ancestors(question).any(|a| a > statement && index.kind(a) == k.conditional_expression);
    };
    let text = index.text_of(name);
    let denies = |not: Id| index.parts(not).any(|part| index.is_text(part, text));
    let refused = index.of_kind(k.not_operator).iter().any(|not| denies(*not) && !swaps_arms(*not));
    let asserted = index.of_kind(k.assert_statement).iter().any(|a| index.parts(*a).any(|p| index.text_of(p) == text));
    let ended = index.of_kind(k.if_statement).iter().any(|i| {
        let asks = |c: Id| index.is_text(c, text) || denies(c) && swaps_arms(c);
        index.condition(*i).is_some_and(asks) && without(*i).is_some_and(ends)
    });
    !refused && !asserted && !ended
}

/// Whether the program ends below a test for CUDA that returns: with an error right there, or one that speaks of a GPU.
fn ends_below(view: &FileView<'_>, test: Id, ends: &dyn Fn(Id) -> bool) -> bool {
    let (k, index) = (kinds(), &view.index);
    let returns = index.consequence(test).and_then(|body| index.parts(body).last());
    let speaks = |s: Id| {
        let text = index.text_of(s).to_ascii_lowercase();
        index.kind(s) == k.raise_statement || ["cuda", "gpu"].iter().any(|word| text.contains(word))
    };
    returns.is_some_and(|last| index.kind(last) == k.return_statement)
        && index.parent(test).is_some_and(|b| index.parts(b).any(|s| s > test && ends(s) && speaks(s)))
}

/// Whether a call asks by its name whether there is CUDA: `CUDAAccelerator.is_available()`.
pub(crate) fn asks_by_name(view: &FileView<'_>, call: Id) -> bool {
    let callee = view.index.callee(call).map_or("", |callee| view.index.text_of(callee));
    let class = callee.strip_suffix(".is_available").and_then(|owner| owner.rsplit('.').next());
    class.is_some_and(|class| class != "cuda" && has_part(class, "cuda"))
}

/// Whether an expression is true only with CUDA.
pub(crate) fn means_cuda(view: &FileView<'_>, test: Id, depth: u8) -> bool {
    let k = kinds();
    let index = &view.index;
    if depth == 0 {
        return false;
    }
    let kind = index.kind(test);
    if kind == k.call {
        let asks = |callee| view.names.stands_for(index, callee, "torch.cuda.is_available");
        let begins = || {
            called_name(index, test) == Some("startswith")
                && index.arguments(test).ids().next().is_some_and(|given| plain_string(index, given) == Some("cuda"))
        };
        return index.callee(test).is_some_and(asks) || begins() || asks_by_name(view, test);
    }
    if kind == k.parenthesized_expression {
        return index.parts(test).next().is_some_and(|inner| means_cuda(view, inner, depth));
    }
    if kind == k.boolean_operator {
        return view.index.operator(test) == "and" && index.parts(test).any(|part| means_cuda(view, part, depth));
    }
    if kind == k.comparison_operator {
        return compares_above(view, test) || is_cuda_among(view, test) || has_version(view, test);
    }
    if kind == k.conditional_expression {
        // `True if torch.cuda.is_available() else False`
        let parts: Vec<Id> = index.parts(test).collect();
        return matches!(parts.as_slice(), [_, asked, other]
            if matches!(index.text_of(*other), "False" | "None" | "0") && means_cuda(view, *asked, depth));
    }
    if kind == k.attribute && (index.text_of(test).ends_with(".is_cuda") || is_version(view, test)) {
        return true;
    }
    dotted(index, test).is_some() && holds_the_answer(view, test, depth)
}

/// The comparison with a CUDA device that contains a string, if the result "no" needs no change.
pub(crate) fn harmless_comparison(view: &FileView<'_>, string: Id) -> Option<Id> {
    let k = kinds();
    let compares = |a: &Id| [k.comparison_operator, k.call].contains(&view.index.kind(*a));
    let comparison = view.index.ancestors(string).take(2).find(compares)?;
    (means_cuda(view, comparison, 1) && may_be_no(view, comparison)).then_some(comparison)
}

/// The test for CUDA after which alone the program reads the option whose default a string is. An option of which no
/// reading is found may be read in another way.
pub(crate) fn reads_default(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, string: Id) -> Option<Id> {
    let index = &view.index;
    let given = index.ancestors(string).find(|a| index.keyword_name(*a) == Some("default"))?;
    let call = index.ancestors(given).find_map(|a| index.call(a).filter(|call| call.name() == Some("add_argument")));
    let call = call.filter(|call| index.parent(given).and_then(|list| index.parent(list)) == Some(call.id()))?;
    let options = call.arguments().positional().filter_map(|option| plain_string(index, option));
    let named = call.arguments().keyword("dest").and_then(|dest| plain_string(index, dest));
    let option = named.or_else(|| options.max_by_key(|option| option.len()))?;
    let name = option.trim_start_matches('-').replace('-', "_");
    let is_all = |call: &Id| index.arguments(*call).ids().any(|given| is_settings(view, index.text_of(given)));
    // The settings as they are parsed, for a function that is not the project's: `vars(parser.parse_args())`.
    let is_handed_out = |call: &Id| {
        let outer = index.parent(*call).filter(|list| index.kind(*list) == kinds().argument_list);
        let outer = outer.and_then(|list| index.parent(list)).zip(project.origins.number(&view.file));
        outer.is_some_and(|(id, file)| project.origins.definitions(Place { file, id }).is_empty())
    };
    let parses = || ["parse_args", "parse_known_args"].into_iter().flat_map(|name| view.calls(name));
    let reads_all = parses().any(is_handed_out)
        || view.calls("vars").iter().any(is_all)
        || view.has_word("__dict__")
        || view.has_word("_get_kwargs");
    let is_read = |id: &&Id| {
        let attribute = index.parent(**id).and_then(|parent| index.attribute(parent));
        let owner = attribute.filter(|a| a.name() == Some(&name)).and_then(|a| a.owner());
        // A function may have settings of its own under that name.
        let is_named = |owner: &str| SETTINGS_NAMES.contains(&owner.rsplit('.').next().unwrap_or(owner));
        let is_of_settings = |owner: &str| is_named(owner) || is_settings(view, owner);
        owner.is_some_and(|owner| is_of_settings(index.text_of(owner)))
    };
    let mut tests = view.identifiers(&name).iter().filter(is_read).map(|id| only_with_cuda(view, *id));
    let is_named = |given: Id| plain_string(index, given) == Some(name.as_str());
    let is_gotten = view.calls("getattr").iter().any(|call| index.arguments(*call).positional().any(is_named));
    let is_read_elsewhere = is_gotten || reads_all || project.reads_setting_elsewhere(view, &name);
    let first = tests.next().flatten().filter(|_| !is_read_elsewhere)?;
    tests.all(|test| test.is_some()).then_some(first)
}

/// `torch.cuda.device_count() > 1`
fn compares_above(view: &FileView<'_>, comparison: Id) -> bool {
    let index = &view.index;
    let parts: Vec<Id> = index.parts(comparison).collect();
    let counts = |call: Id| {
        index.callee(call).is_some_and(|callee| view.names.stands_for(index, callee, "torch.cuda.device_count"))
    };
    matches!(parts.as_slice(), [count, number]
        if view.index.operator(comparison) == ">" && counts(*count) && index.text_of(*number).bytes().all(|b| b.is_ascii_digit()))
}

/// The version of CUDA that PyTorch was built with, which is none in a build for another device.
fn is_version(view: &FileView<'_>, value: Id) -> bool {
    view.names.qualify(&view.index, value).as_deref() == Some("torch.version.cuda")
}

/// `torch.version.cuda is not None`
fn has_version(view: &FileView<'_>, comparison: Id) -> bool {
    let mut sides = view.index.parts(comparison);
    let is_first = sides.next().is_some_and(|version| is_version(view, version));
    let is_other = sides.next().is_some_and(|none| view.index.kind(none) == kinds().none);
    is_first && is_other && matches!(view.index.operator(comparison), "is not" | "!=")
}

/// `device.type == "cuda"`, `"cuda" in str(device)`: after a port there is no such device, or it is reported where it
/// is chosen.
fn is_cuda_among(view: &FileView<'_>, comparison: Id) -> bool {
    let mut sides = view.index.parts(comparison).map(|side| names_cuda_device(view, side));
    match view.index.operator(comparison) {
        "==" => sides.any(|names_cuda| names_cuda),
        "in" => sides.next() == Some(true),
        _ => false,
    }
}

/// Whether all values of a name or an attribute in this file are true only with CUDA.
fn holds_the_answer(view: &FileView<'_>, name: Id, depth: u8) -> bool {
    let k = kinds();
    let index = &view.index;
    let text = index.text_of(name);
    let mut given = index.assignments_to(text).peekable();
    let is_parameter = index
        .of_kind_in(k.function_definition, ROOT)
        .iter()
        .any(|function| index.function(*function).into_iter().flat_map(|f| f.parameters()).any(|p| p.name == text));
    let is_changed = |id: &Id| index.kind(*id) == k.augmented_assignment;
    given.peek().is_some()
        && !is_parameter
        && !index.bindings(text).iter().any(is_changed)
        && given.all(|a| a.value().is_some_and(|value| means_cuda(view, value, depth - 1)))
}
