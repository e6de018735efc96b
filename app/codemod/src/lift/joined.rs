//! Several fixes as one: its place, its safety, and the imports that are only available on the target's machine.

use crate::fix::{Fix, Lift};
use training::ProjectFacts;

pub(super) fn first_of(fixes: &[Fix]) -> Fix {
    let mut fix = fixes.iter().min_by_key(|f| (f.rank, f.at)).cloned().unwrap_or_else(|| fixes[0].clone());
    fix.applicability = fixes.iter().map(|f| f.applicability).max().unwrap_or(fix.applicability);
    fix.lift = Lift::AsWritten;
    fix.owned = fix.at..fix.at;
    fix
}

/// Imports of packages that only the target's machine has.
pub(crate) fn is_target_import(project: &ProjectFacts, line: &str) -> bool {
    let module = line.split_whitespace().nth(1).unwrap_or("");
    let head = module.split('.').next().unwrap_or(module);
    project.target_modules.iter().any(|m| m == head)
}

pub(super) fn target_imports(project: &ProjectFacts, fixes: &[Fix]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for import in fixes.iter().flat_map(|f| &f.imports).filter(|i| is_target_import(project, i)) {
        if !out.contains(import) {
            out.push(import.clone());
        }
    }
    out
}
