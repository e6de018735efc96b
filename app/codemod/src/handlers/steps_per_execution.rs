//! `keras-steps-per-execution`: one execution runs an epoch's batches; a model is compiled anew for the test's number.

use super::{Input, Wish};
use crate::change::{Change, dedent};
use crate::facts::FileView;
use crate::facts::keras_data::{Home, Run, argument, group, runs};
use crate::facts::line_indent;
use crate::tree::{Id, fields, kinds};

const KEYWORD: &str = "steps_per_execution";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let replicas = input.settings.values.get("replicas").map_or("1", String::as_str);
    let all = runs(view, input.project);
    let mut wishes = Vec::new();
    for &compile in view.calls("compile") {
        let Some(model) = index.field(compile, f.function).and_then(|g| index.field(g, f.object)) else { continue };
        let model = index.text_of(model);
        let function = view.function_of(compile);
        let own: Vec<&Run<'_>> = all
            .iter()
            .filter(|r| r.model == model && view.function_of(r.call) == function && r.call > compile)
            .collect();
        let once = view.calls("compile").iter().filter(|c| view.function_of(**c) == function).count() == 1;
        let fits: Vec<&&Run<'_>> = own.iter().filter(|r| r.fits).collect();
        let in_loop =
            |id: Id| index.ancestors(id).any(|a| [k.for_statement, k.while_statement].contains(&index.kind(a)));
        let arguments = index.field(compile, f.arguments);
        let (Some(arguments), [fit], true) = (arguments, fits.as_slice(), once) else { continue };
        let every = ["fit", "evaluate", "predict"].iter().map(|m| calls_of(view, m, model, compile)).sum::<usize>();
        // Every use has to be one whose number of batches is known.
        if argument(view, compile, usize::MAX, KEYWORD).is_some()
            || every != own.len()
            || own.iter().any(|r| in_loop(r.call) || r.call < fit.call)
            || in_loop(compile)
            || argument(view, fit.call, usize::MAX, "validation_split").is_some()
        {
            continue;
        }
        let Some(steps) = steps(view, fit, compile, replicas) else { continue };
        let rest: Option<Vec<(Id, String)>> = own
            .iter()
            .filter(|r| !r.fits)
            .map(|r| Some((view.statement_of(r.call)?, steps_of(view, r.call, &r.data, replicas)?)))
            .collect();
        let Some(rest) = rest else { continue };
        let text = dedent(index.text_of(compile), line_indent(index.text, index.item(compile).start));
        wishes.push(Wish {
            at: index.item(compile).start,
            changes: std::iter::once(Change::Raw {
                range: at_end(view, arguments),
                text: keyword(view, arguments, &steps),
            })
            .chain(rest.iter().map(|(at, steps)| Change::Insert {
                at: *at,
                after: false,
                text: with_keyword(&text, view, arguments, steps),
            }))
            .collect(),
            imports: if steps.starts_with("math.") { vec!["import math".to_owned()] } else { Vec::new() },
        });
    }
    wishes
}

/// Calls of a model's method behind a node, in its function.
fn calls_of(view: &FileView<'_>, method: &str, model: &str, behind: Id) -> usize {
    let f = fields();
    let index = &view.index;
    view.calls(method)
        .iter()
        .filter(|c| {
            **c > behind
                && view.function_of(**c) == view.function_of(behind)
                && index
                    .field(**c, f.function)
                    .and_then(|g| index.field(g, f.object))
                    .is_some_and(|o| index.text_of(o) == model)
        })
        .count()
}

/// The batches of an epoch; with validation, a number that divides both.
fn steps(view: &FileView<'_>, fit: &Run<'_>, compile: Id, replicas: &str) -> Option<String> {
    let train = steps_of(view, compile, &fit.data, replicas)?;
    if argument(view, fit.call, usize::MAX, "validation_data").is_none() {
        return Some(train);
    }
    let validation = steps_of(view, compile, &fit.validation, replicas)?;
    Some(format!("math.gcd({train}, {validation})"))
}

/// `len(x) // batch`, where `x` is cut to whole batches before a node.
fn steps_of(view: &FileView<'_>, at: Id, data: &[(&str, &str)], replicas: &str) -> Option<String> {
    let (name, batch) = data.first()?;
    let home = Home::of(view, at, name);
    let cut = home.cut(view, name)?;
    (cut < at).then(|| format!("len({name}) // {}", group(batch, replicas)))
}

/// Behind the last argument.
fn at_end(view: &FileView<'_>, arguments: Id) -> std::ops::Range<usize> {
    let index = &view.index;
    let end = index.parts(arguments).last().map_or(index.item(arguments).start + 1, |a| index.item(a).end);
    end..end
}

/// The keyword as it follows the last argument, on a line of its own where that one has a line.
fn keyword(view: &FileView<'_>, arguments: Id, steps: &str) -> String {
    let index = &view.index;
    let Some(last) = index.parts(arguments).last() else { return format!("{KEYWORD}={steps}") };
    let start = index.item(last).start;
    let line = index.text[..start].rfind('\n').map_or(0, |n| n + 1);
    let indent = line_indent(index.text, start);
    if line + indent.len() == start && line > index.item(arguments).start {
        format!(",{}{indent}{KEYWORD}={steps}", view.layout.newline)
    } else {
        format!(", {KEYWORD}={steps}")
    }
}

/// The whole call with the keyword, its lines as far to the left as they can go.
fn with_keyword(text: &str, view: &FileView<'_>, arguments: Id, steps: &str) -> String {
    let index = &view.index;
    let outer = line_indent(index.text, index.item(arguments).start);
    let call = index.parent(arguments).unwrap_or(arguments);
    let behind = index.item(call).end - at_end(view, arguments).end;
    let added = keyword(view, arguments, steps);
    let added = added.replace(view.layout.newline, "\n");
    let added = match added.split_once('\n') {
        Some((comma, line)) => format!("{comma}\n{}", line.strip_prefix(outer).unwrap_or(line)),
        None => added,
    };
    // What stands behind the last argument is the end of the dedented text too, but for the outer indentation.
    let tail = dedent(&index.text[index.item(call).end - behind..index.item(call).end], outer);
    let head = text.strip_suffix(&tail).unwrap_or(text);
    format!("{head}{added}{tail}")
}
