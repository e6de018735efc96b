//! An exported notebook: its cells with a magic are code in strings, where no recipe finds it, and its calls need IPython.

use crate::definitions::Said;
use crate::messages;
use python::names::called_name;
use python::notebook::is_notebook;
use python::tree::{Id, kinds};
use std::ops::Range;
use training::FileView;
use training::words::NOTEBOOK_MAGICS;

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
    let strings =
        |call: Id| index.arguments(call).ids().filter(|part| index.kind(*part) == kinds().string).collect::<Vec<_>>();
    let mut found = Vec::new();
    for (function, sign, code_at) in [("run_cell_magic", "%%", 2), ("run_line_magic", "%", 1)] {
        for call in view.calls(function).iter().copied().filter(of_ipython) {
            let strings = strings(call);
            let (Some(name), Some(code)) = (strings.first(), strings.get(code_at)) else { continue };
            let name = index.text_of(*name).trim_matches(['"', '\'']);
            let runs =
                NOTEBOOK_MAGICS.contains(&name) && !index.text_of(*code).trim_matches(['"', '\'']).trim().is_empty();
            let writes = name == "writefile" && index.text_of(strings[1]).contains(".py");
            if runs || writes {
                let magic = format!("{sign}{name}");
                let message =
                    if writes { messages::written_file_not_read(magic) } else { messages::cell_not_read(magic) };
                found.push(Unread { range: index.range(*code), message });
            }
        }
    }
    // In a notebook they are not calls.
    let k = kinds();
    let guards = [k.if_statement, k.try_statement, k.function_definition];
    let is_always_run = |call: &Id| !index.ancestors(*call).any(|part| guards.contains(&index.kind(part)));
    let calls =
        || ["run_line_magic", "run_cell_magic", "system", "getoutput"].into_iter().flat_map(|name| view.calls(name));
    let first = calls().copied().filter(of_ipython).filter(is_always_run).min_by_key(|call| index.range(*call).start);
    let first = first.filter(|_| !is_notebook(view.path));
    found.extend(first.map(|call| Unread { range: index.range(call), message: messages::needs_ipython() }));
    sorting::by_key(&mut found, |unread| unread.range.start);
    found
}
