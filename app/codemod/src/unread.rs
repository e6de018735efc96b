//! Code in strings, where no recipe finds it: what the magics of a notebook run, and statements of it that are not Python.
//! In an exported notebook, calls of IPython that plain Python lacks.

use crate::definitions::Said;
use crate::messages;
use python::lines::begins_cell;
use python::names::called_name;
use python::notebook::is_notebook;
use python::tree::{Id, Tree, kinds};
use std::ops::Range;
use training::FileView;
use training::words::{MAGICS_OF_OTHER_LANGUAGES, NOTEBOOK_MAGICS};

/// A string with code that was not analysed.
pub(crate) struct Unread {
    pub(crate) range: Range<usize>,
    pub(crate) message: Said,
}

/// All those in a file, in the order of the text.
pub(crate) fn unread(view: &FileView<'_>) -> Vec<Unread> {
    let index = &view.index;
    let of_ipython = |call: &Id| {
        let object = index.receiver(*call);
        object.is_some_and(|o| index.kind(o) == kinds().call && called_name(index, o) == Some("get_ipython"))
    };
    let is_string = |part: &Id| [kinds().string, kinds().concatenated_string].contains(&index.kind(*part));
    let strings = |call: Id| index.arguments(call).ids().filter(is_string).collect::<Vec<_>>();
    let in_notebook = is_notebook(view.path);
    let mut found = Vec::new();
    for (function, sign, code_at) in [("run_cell_magic", "%%", 2), ("run_line_magic", "%", 1)] {
        for call in view.calls(function).iter().copied().filter(of_ipython) {
            let strings = strings(call);
            let (Some(name), Some(code)) = (strings.first(), strings.get(code_at)) else { continue };
            let (name, text) = (content(view, *name), content(view, *code));
            let is_python = || {
                sign == "%%" && !MAGICS_OF_OTHER_LANGUAGES.contains(&name.as_str()) && !Tree::parse(&text).has_error()
            };
            let runs = !text.trim().is_empty() && (NOTEBOOK_MAGICS.contains(&name.as_str()) || is_python());
            let writes = name == "writefile" && index.text_of(strings[1]).contains(".py");
            if runs || writes {
                let magic = format!("{sign}{name}");
                let message = match (writes, in_notebook) {
                    (true, _) => messages::written_file_not_read(magic),
                    (false, true) => messages::magic_not_read(magic),
                    (false, false) => messages::cell_not_read(magic),
                };
                let range = index.range(if in_notebook { call } else { *code });
                found.push(Unread { range, message });
            }
        }
    }
    // One message for each cell.
    let mut last = None;
    for call in view.calls("run_cell").iter().copied().filter(|call| in_notebook && of_ipython(call)) {
        let range = index.range(call);
        let is_same_cell = last.is_some_and(|last: usize| !index.text[last..range.start].lines().any(begins_cell));
        last = Some(range.end);
        if let Some(code) = strings(call).first().filter(|_| !is_same_cell) {
            let shown: String =
                content(view, *code).trim().lines().next().unwrap_or_default().chars().take(40).collect();
            found.push(Unread { range, message: messages::statement_not_read(shown) });
        }
    }
    // In a notebook they are not calls.
    let k = kinds();
    let guards = [k.if_statement, k.try_statement, k.function_definition];
    let is_always_run = |call: &Id| !index.ancestors(*call).any(|part| guards.contains(&index.kind(part)));
    let calls =
        || ["run_line_magic", "run_cell_magic", "system", "getoutput"].into_iter().flat_map(|name| view.calls(name));
    let first = calls().copied().filter(of_ipython).filter(is_always_run).min_by_key(|call| index.range(*call).start);
    let first = first.filter(|_| !in_notebook);
    found.extend(first.map(|call| Unread { range: index.range(call), message: messages::needs_ipython() }));
    sorting::by_key(&mut found, |unread| unread.range.start);
    found
}

/// What a literal, or several side by side, stand for.
fn content(view: &FileView<'_>, literal: Id) -> String {
    let index = &view.index;
    if index.kind(literal) == kinds().concatenated_string {
        return index.parts(literal).map(|part| content(view, part)).collect();
    }
    let mut out = String::new();
    let mut chars = index.text_of(literal).trim_matches(['"', '\'']).chars();
    while let Some(c) = chars.next() {
        out.extend(match (c, c == '\\') {
            (_, true) => chars.next().map(|c| match c {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                c => c,
            }),
            (c, false) => Some(c),
        });
    }
    out
}
