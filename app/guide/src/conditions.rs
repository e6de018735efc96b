//! Lines of conditions: those of a `where` and of a `conditions` fence.

use crate::error::Faults;
use crate::model::Condition;

/// Reads a fence's body, whose first line is `line`. Lines that are indented below `any of:` belong to it.
pub(crate) fn read(body: &str, line: usize, faults: &mut Faults) -> Vec<Condition> {
    let lines: Vec<(usize, usize, &str)> = body
        .lines()
        .enumerate()
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(index, text)| (line + index, text.len() - text.trim_start().len(), text.trim()))
        .collect();
    if lines.is_empty() {
        faults.add(line - 1, "this fence has no conditions: write one per line, or remove the fence");
    }
    block(&lines, faults)
}

/// Lines of one block, each with those that are indented below it.
fn block(lines: &[(usize, usize, &str)], faults: &mut Faults) -> Vec<Condition> {
    let mut conditions = Vec::new();
    let mut rest = lines;
    while let Some(((line, indent, text), below)) = rest.split_first() {
        let count = below.iter().take_while(|(_, deeper, _)| deeper > indent).count();
        let (inner, after) = below.split_at(count);
        let opens = text.ends_with("any of:");
        if opens && inner.is_empty() {
            faults.add(*line, "`any of:` must be followed by its conditions, one per line, indented");
        }
        if let (false, Some((line, ..))) = (opens, inner.first()) {
            faults.add(*line, "only conditions below `any of:` are indented");
        }
        conditions.push(Condition { line: *line, text: (*text).to_string(), any_of: block(inner, faults) });
        rest = after;
    }
    conditions
}
