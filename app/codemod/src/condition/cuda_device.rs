//! Expressions that name a CUDA device.

use python::names::dotted;
use python::scopes::{Bound, Scopes};
use python::strings::{joined_string, plain_string};
use python::tree::{Id, Index, fields, kinds};
use training::FileView;
use training::words::ACCELERATED_TRAINERS;
use training::words::CALLS_FOR_PEOPLE;
use training::words::CALLS_THAT_LOOK_UP;

/// Expressions that name a CUDA device.
pub(crate) fn cuda_devices(view: &FileView<'_>) -> Vec<Id> {
    let k = kinds();
    let kinds = [k.string, k.concatenated_string, k.binary_operator, k.call];
    kinds.iter().flat_map(|kind| view.index.of_kind(*kind)).copied().filter(|id| is_cuda_device(view, *id)).collect()
}

/// `"cuda"`, `"cuda:0"`, `f"cuda:{rank}"`, `"cuda:%d" % rank` and the like, in places where a device is possible. What the
/// machine's own device is compared with names none that the program chooses.
pub(crate) fn is_cuda_device(view: &FileView<'_>, id: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    // `kind in ("cuda", "mps")`
    let lists = [k.tuple, k.list, k.set, k.parenthesized_expression];
    let asks = || {
        let around = index.ancestors(id).find(|around| !lists.contains(&index.kind(*around)));
        around.is_some_and(|around| asks_any_device(view, around))
    };
    names_cuda_device(view, id) && !asks()
}

/// Whether a comparison asks which device the machine has: `torch.accelerator` gave the program the one it compares, and
/// what the program does on others than CUDA's is written there.
pub(crate) fn asks_any_device(view: &FileView<'_>, comparison: Id) -> bool {
    let index = &view.index;
    index.kind(comparison) == kinds().comparison_operator && view.has_word(CHOOSES) && {
        let scopes = Scopes::of(index);
        index.parts(comparison).any(|side| is_machines_device(view, &scopes, side, 3))
    }
}

const CHOOSES: &str = "current_accelerator";

/// Whether an expression is the device that `torch.accelerator` chose, or a part of it.
fn is_machines_device(view: &FileView<'_>, scopes: &Scopes<'_>, node: Id, depth: u8) -> bool {
    let (k, index) = (kinds(), &view.index);
    let Some(depth) = depth.checked_sub(1) else { return false };
    if index.of_kind_in(k.call, node).iter().any(|call| is_chosen(view, *call)) {
        return true;
    }
    let is_device = |value: Id| is_machines_device(view, scopes, value, depth);
    let names = index.of_kind_in(k.identifier, node).iter().copied().chain([node]);
    let mut names = names.filter(|name| index.kind(*name) == k.identifier);
    let is_given = |name: Id| {
        // A parameter, a loop or an import binds it without an assignment.
        let value = |bound: &Bound| {
            let assignment = index.parent(bound.id).and_then(|parent| index.assignment(parent))?;
            assignment.value().filter(|_| assignment.target() == Some(bound.id))
        };
        let bound = scopes.bindings(index, name);
        !bound.is_empty() && bound.iter().all(|bound| value(bound).is_some_and(is_device))
    };
    if names.any(is_given) {
        return true;
    }
    let attributes = index.of_kind_in(k.attribute, node).iter().copied().chain([node]);
    let mut attributes = attributes.filter(|attribute| index.kind(*attribute) == k.attribute);
    attributes.any(|attribute| {
        let class = view.class_of(attribute);
        let given = index.assignments_to(index.text_of(attribute));
        let mut given = given.filter(|a| view.class_of(a.id()) == class).peekable();
        given.peek().is_some() && given.all(|a| a.value().is_some_and(is_device))
    })
}

/// Whether a call asks PyTorch which accelerator there is.
pub(crate) fn is_chosen(view: &FileView<'_>, call: Id) -> bool {
    view.qualified(call).is_some_and(|name| name.strip_prefix("torch.accelerator.") == Some(CHOOSES))
}

/// The same in any comparison.
pub(crate) fn names_cuda_device(view: &FileView<'_>, id: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    let kind = index.kind(id);
    let names_cuda = if kind == k.string || kind == k.concatenated_string {
        names_cuda(index, id)
    } else if kind == k.binary_operator {
        is_put_together(index, id)
    } else {
        kind == k.call && is_formatted(index, id)
    };
    // A key of a dictionary and a string as a statement name no device.
    let parent = index.parent(id);
    names_cuda
        && parent.is_none_or(|p| {
            let kind = index.kind(p);
            kind != k.expression_statement
                && (kind != k.subscript || is_type(index, p))
                && !(kind == k.pair && index.children(p).next() == Some(id))
                && kind != k.concatenated_string
                && !(kind == k.binary_operator && is_part_of_path(index, p))
                && !is_accelerators_name(view, id)
                && !(kind == k.comparison_operator && asks_for_key(index, p, id))
                && !(kind == k.argument_list && speaks(view, p, id))
                && !(kind == k.keyword_argument && names_no_device(view, p))
        })
}

/// `"cuda" in state` where `state["cuda"]` is read or set.
fn asks_for_key(index: &Index<'_>, comparison: Id, string: Id) -> bool {
    let [Some(first), Some(of)] = [0, 1].map(|n| index.parts(comparison).nth(n)) else { return false };
    let is_entry = |subscript: &Id| {
        let key = index.field(*subscript, fields().subscript).and_then(|key| plain_string(index, key));
        index.value(*subscript).is_some_and(|value| index.text_of(value) == index.text_of(of))
            && key == plain_string(index, string)
    };
    let between = index.text.get(index.range(first).end..index.range(of).start).unwrap_or_default();
    first == string && between.contains("in") && index.of_kind(kinds().subscript).iter().any(is_entry)
}

/// Whether a string is assigned to a name that a trainer gets as its accelerator, which has other names than devices, and that
/// PyTorch does not get as a device.
fn is_accelerators_name(view: &FileView<'_>, string: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let is_arm = |around: &Id| index.kind(*around) == k.conditional_expression;
    let Some(assignment) = index.ancestors(string).find(|around| !is_arm(around)).and_then(|a| index.assignment(a))
    else {
        return false;
    };
    let Some(name) = assignment.target().and_then(|target| dotted(index, target)) else { return false };
    let trainers = ACCELERATED_TRAINERS.iter().flat_map(|trainer| {
        let calls = view.calls(trainer.rsplit('.').next().unwrap_or(trainer)).iter();
        calls.filter(|call| index.callee(**call).is_some_and(|c| view.names.stands_for(index, c, trainer)))
    });
    let mut given = trainers.filter_map(|call| index.arguments(*call).keyword("accelerator"));
    let mut devices = ["to", "device"].iter().flat_map(|function| view.calls(function));
    let mut named = index.of_kind(k.keyword_argument).iter().filter(|argument| {
        matches!(index.keyword_name(**argument), Some("device" | "device_type" | "map_location"))
            && index.value(**argument).is_some_and(|value| index.is_text(value, name))
    });
    given.any(|given| index.is_text(given, name))
        && named.next().is_none()
        && !devices.any(|call| index.arguments(*call).positional().any(|given| index.is_text(given, name)))
}

/// `folder / "cuda"`
fn is_part_of_path(index: &Index<'_>, operation: Id) -> bool {
    let [Some(left), Some(right)] = [0, 1].map(|n| index.parts(operation).nth(n)) else { return false };
    index.text.get(index.range(left).end..index.range(right).start).is_some_and(|between| between.trim() == "/")
}

/// `Literal["cpu", "cuda"]` names the devices that are accepted.
fn is_type(index: &Index<'_>, subscript: Id) -> bool {
    index.value(subscript).is_some_and(|of| index.text_of(of).rsplit('.').next() == Some("Literal"))
}

/// `"cuda"`, `"cuda:0"`, `f"cuda:{rank}"`.
fn names_cuda(index: &Index<'_>, string: Id) -> bool {
    let digits = |n: &str| n.bytes().all(|b| b.is_ascii_digit());
    if let Some(content) = joined_string(index, string) {
        return content == "cuda" || content.strip_prefix("cuda:").is_some_and(|n| !n.is_empty() && digits(n));
    }
    let text = index.text_of(string);
    let body = text.trim_start_matches(['f', 'F']);
    let quoted = body.strip_prefix(['"', '\'']).and_then(|b| b.strip_suffix(['"', '\'']));
    let number = |r: &str| (r.starts_with('{') && r.ends_with('}')) || digits(r);
    text.starts_with(['f', 'F']) && quoted.is_some_and(|q| q == "cuda" || q.strip_prefix("cuda:").is_some_and(number))
}

/// `"cuda:%d" % rank`, `"cuda:" + rank`.
fn is_put_together(index: &Index<'_>, operation: Id) -> bool {
    let parts: Vec<Id> = index.parts(operation).collect();
    let [template, value] = parts.as_slice() else { return false };
    let operator = index.text[index.item(*template).end..index.item(*value).start].trim();
    let Some(text) = plain_string(index, *template) else { return false };
    text.strip_prefix("cuda:").is_some_and(|rest| match operator {
        "%" => matches!(rest, "%d" | "%s" | "%i"),
        "+" => rest.is_empty(),
        _ => false,
    })
}

/// Whether an expression is a key of a dictionary that is made from a device's number: `{"cuda:%d" % rank: …}`.
pub(crate) fn is_key_with_number(view: &FileView<'_>, id: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let is_key =
        index.parent(id).is_some_and(|pair| index.kind(pair) == k.pair && index.parts(pair).next() == Some(id));
    is_key && (is_put_together(index, id) || is_formatted(index, id) || names_cuda(index, id))
}

/// `"cuda:{}".format(rank)`.
fn is_formatted(index: &Index<'_>, call: Id) -> bool {
    let Some(call) = index.call(call).filter(|call| call.name() == Some("format")) else { return false };
    let template = call.receiver().and_then(|template| plain_string(index, template));
    let rest = template.and_then(|text| text.strip_prefix("cuda:"));
    rest.is_some_and(|rest| rest.starts_with('{') && rest.ends_with('}') && rest.matches('{').count() == 1)
}

/// Whether a keyword's value is a name or a text, whatever its content: `dest="cuda"` of an option.
fn names_no_device(view: &FileView<'_>, keyword: Id) -> bool {
    matches!(
        view.index.keyword_name(keyword),
        Some("dest" | "help" | "metavar" | "title" | "description" | "label" | "name" | "key")
    )
}

/// Whether an argument is text for people, a pattern or a lookup key, rather than for PyTorch.
fn speaks(view: &FileView<'_>, arguments: Id, argument: Id) -> bool {
    let index = &view.index;
    let Some(call) = index.parent(arguments) else { return false };
    let by_name = python::names::called_name(index, call).is_some_and(|n| {
        // After the key comes the default: `getattr(args, "device", "cuda")`.
        let keys = match n {
            "get" | "pop" | "setdefault" | "getenv" => 1,
            // `mock.patch.object(module, "cuda", …)`
            "getattr" | "setattr" | "object" => 2,
            _ => usize::MAX,
        };
        let is_value = || index.parts(arguments).position(|part| part == argument).is_some_and(|at| at >= keys);
        CALLS_FOR_PEOPLE.contains(&n) || (CALLS_THAT_LOOK_UP.contains(&n) && !is_value())
    });
    let by_module = view.qualified(call).is_some_and(|q| q.starts_with("re."));
    by_name || by_module
}
