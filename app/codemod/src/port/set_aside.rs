//! Messages about unused code: a single note per file replaces them.

use crate::messages;
use crate::place::{Places, Remark};
use crate::ported::{Severity, Span};
use sorting::SortedSet;
use training::{FileView, Unused};

/// Removes warnings about unused code from the messages of a file, and adds one message with their places and the
/// section that explains it.
pub(super) fn set_aside(
    remarks: &mut Vec<Remark>,
    view: &FileView<'_>,
    unused: &Unused,
    places: &Places<'_>,
) -> Option<Remark> {
    let index = &view.index;
    let mut names: SortedSet<String> = SortedSet::new();
    let mut told: SortedSet<(usize, String, String)> = SortedSet::new();
    let mut first = None;
    remarks.retain(|remark| {
        let at = remark.range.start;
        let definition = |id| unused.around(view, id).filter(|_| !remark.of_unused_too);
        let in_main = |id| unused.in_main_block(view, id);
        let of = |id| definition(id).or_else(|| unused.in_other_program(view, id)).or_else(|| in_main(id));
        let around = index.innermost(&(at..at)).and_then(of);
        let Some((definition, name)) = around.filter(|_| remark.severity == Severity::Warning) else { return true };
        let said = places.diagnostic(remark.clone());
        let Span { line, cell, .. } = said.original;
        let shown = cell.map_or_else(|| format!("line {line}"), |place| format!("cell {}:{}", place.cell, place.line));
        told.insert((line, shown, said.recipe));
        names.insert(format!("`{name}`"));
        first = Some(first.map_or(definition, |first: python::Id| first.min(definition)));
        false
    });
    let start = index.item(first?).start;
    let header = start..python::lines::line_end(index.text, start);
    let told: Vec<String> = told.into_iter().map(|(_, shown, section)| format!("{shown} ({section})")).collect();
    let names: Vec<String> = names.into_iter().collect();
    let said = messages::code_not_used(names.join(", "), told.join(", "));
    Some(Remark::of_engine(header, Severity::Info, said))
}
