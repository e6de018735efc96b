//! The only place that adds and removes imports.

use crate::edit::{Splice, statement_end};
use crate::file::PythonFile;
use crate::lines::{line_indent, line_start};
use crate::names::{Binding, canonical};
use crate::notebook::is_cell_magic;
use crate::tree::{Id, ROOT, kinds};

/// A parsed import line.
struct Import<'a> {
    /// `torch.nn` of both `import torch.nn` and `from torch.nn import Linear`.
    module: &'a str,
    /// The imported name of the `from` form.
    name: Option<&'a str>,
    local: &'a str,
}

fn read(line: &str) -> Option<Import<'_>> {
    let line = line.split('#').next().unwrap_or(line).trim();
    if let Some(rest) = line.strip_prefix("from ") {
        let (module, names) = rest.split_once(" import ")?;
        let (name, local) = names.split_once(" as ").unwrap_or((names, names));
        return Some(Import { module: module.trim(), name: Some(name.trim()), local: local.trim() });
    }
    let rest = line.strip_prefix("import ")?;
    let (module, local) = rest.split_once(" as ").unwrap_or((rest, rest));
    Some(Import { module: module.trim(), name: None, local: local.trim() })
}

/// The edit that makes an import available at an offset; none if it already is.
pub fn add(view: &PythonFile<'_>, line: &str, used_at: usize) -> Option<Splice> {
    let wanted = read(line)?;
    let index = &view.index;
    let top_level_use = index.innermost(&(used_at..used_at)).is_none_or(|id| view.function_of(id).is_none());
    let reaches = |statement: Id| {
        let at_top = view.function_of(statement).is_none() && view.class_of(statement).is_none();
        if at_top {
            !top_level_use || index.item(statement).start < used_at
        } else {
            // An import inside a function is available in that function, below the import.
            view.function_of(statement).is_some_and(|f| {
                let range = index.range(f);
                range.contains(&used_at) && index.item(statement).start < used_at
            })
        }
    };
    let qualified = wanted.name.map_or_else(|| wanted.module.to_owned(), |n| format!("{}.{n}", wanted.module));
    let present = view.names.bindings.iter().any(|b: &Binding| {
        let binds = if wanted.name.is_some() || line.contains(" as ") || !wanted.module.contains('.') {
            b.local == wanted.local && b.qualified == qualified
        } else {
            // `import a.b` binds `a`; the statement has to name the module.
            index.text_of(b.part) == wanted.module
        };
        binds && reaches(b.statement)
    });
    if present {
        return None;
    }
    let k = kinds();
    let newline = view.layout.newline;
    let is_import = |id: &Id| [k.import_statement, k.import_from_statement].contains(&index.kind(*id));
    let statements: Vec<Id> = index.parts(ROOT).collect();
    // A submodule of a package that the file imports is added after that package.
    let head = wanted.module.split('.').next().unwrap_or(wanted.module);
    let family = |b: &&Binding| {
        b.scope.is_none() && is_import(&b.statement) && canonical(&b.qualified).split('.').next() == Some(head)
    };
    let reached = |s: &Id| {
        let block = index.parent(*s).unwrap_or(ROOT);
        index.item(*s).start < used_at && (block == ROOT || index.range(block).contains(&used_at))
    };
    let behind = view.names.bindings.iter().filter(family).map(|b| b.statement).filter(reached);
    if let Some(last) = behind.max().filter(|_| wanted.module.contains('.') && head != "torch") {
        let end = statement_end(view, last);
        let indent = line_indent(index.text, index.item(last).start);
        return Some(Splice { range: end..end, text: format!("{newline}{indent}{line}") });
    }
    let follows = head == "torch";
    // Nothing but a docstring may be above an import from `__future__`.
    let first = statements.iter().copied().find(is_import).filter(|_| wanted.module != "__future__");
    if let Some(first) = first {
        if !follows || index.item(first).start >= used_at {
            // Above the code that uses it, even if that is above all imports.
            let user = statements.iter().copied().find(|s| index.item(*s).end > used_at).unwrap_or(first);
            let start = index.item(first).start.min(index.item(user).start);
            return Some(Splice { range: start..start, text: format!("{line}{newline}") });
        }
        let last = statements
            .iter()
            .copied()
            .skip_while(|s| *s != first)
            .take_while(|s| is_import(s) && index.item(*s).start < used_at)
            .last()
            .unwrap_or(first);
        let end = statement_end(view, last);
        return Some(Splice { range: end..end, text: format!("{newline}{line}") });
    }
    // No import yet, or none above: after the docstring and `from __future__`, before the first other statement.
    let other = statements.iter().copied().find(|s| {
        let docstring = index.kind(*s) == k.expression_statement
            && index.parts(*s).next().is_some_and(|c| index.kind(c) == k.string);
        !docstring && index.kind(*s) != k.future_import_statement && !is_cell_magic(index, *s)
    });
    let at = other.map_or(index.text.len(), |s| line_start(index.text, index.item(s).start));
    let at = if at == 0 && index.text.starts_with('\u{feff}') { 3 } else { at };
    Some(Splice { range: at..at, text: format!("{line}{newline}{newline}") })
}
