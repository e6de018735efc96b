//! A command line of two parts: the part before `--` is read by a different parser than the program's own.

use super::{Divided, literal, place};
use crate::view::FileView;
use python::tree::{Id, kinds};

/// Where a program splits its command line, and which of its options belong to the first part.
pub(super) fn divided(reached: &[&FileView<'_>]) -> Option<Divided> {
    reached.iter().find_map(|view| {
        let index = &view.index;
        // `sys.argv.index("--")`
        let split = view.calls("index").iter().copied().find(|call| {
            let is_argv = index.callee(*call).is_some_and(|callee| index.text_of(callee) == "sys.argv.index");
            is_argv
                && index.of_kind_in(kinds().string, *call).iter().any(|s| literal(view, *s).as_deref() == Some("--"))
        })?;
        let readers = readers(view);
        let inside = |call: &Id| {
            let function = view.function_of(*call);
            function.is_some_and(|function| readers.contains(&view.name_of(function)))
        };
        let options = view.calls("add_argument").iter().copied().filter(inside);
        let ahead = options.filter_map(|call| {
            let names = super::positional(view, call).into_iter().filter_map(|id| literal(view, id));
            names.filter(|name| name.starts_with("--")).max_by_key(String::len)
        });
        Some(Divided { place: place(view, split), ahead: ahead.collect() })
    })
}

/// Functions that are passed to the call that reads the first part: `parse(argv=sys.argv[1:end], options=self.add)`.
fn readers<'t>(view: &FileView<'t>) -> Vec<&'t str> {
    let index = &view.index;
    let reads_front = |call: &&Id| {
        let text = index.text_of(**call);
        text.contains("sys.argv[1:") && !text.starts_with("sys.argv")
    };
    let calls = index.of_kind(kinds().call).iter().filter(reads_front);
    calls
        .flat_map(|call| index.of_kind_in(kinds().keyword_argument, *call))
        .filter_map(|argument| index.text_of(*argument).split_once('='))
        .map(|(_, value)| value.trim().trim_start_matches("self."))
        .collect()
}
