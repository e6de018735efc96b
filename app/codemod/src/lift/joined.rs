//! Several fixes as one: its place, its safety, and the imports that are only available on the target's machine.

use crate::fix::{Fix, Lift};
use training::ProjectFacts;

pub(super) fn first_of(fixes: &[Fix]) -> Fix {
    let mut fix = fixes.iter().min_by_key(|f| (f.rank, f.at)).cloned().unwrap_or_else(|| fixes[0].clone());
    fix.applicability = fixes.iter().map(|f| f.applicability).max().unwrap_or(fix.applicability);
    fix.lift = Lift::AsWritten;
    fix.owned = fix.at..fix.at;
    fix.blocks = fixes.iter().flat_map(|f| f.blocks.iter().cloned()).collect();
    fix
}

/// Imports of packages that only the target's machine has.
pub(crate) fn is_target_import(project: &ProjectFacts<'_, '_>, line: &str) -> bool {
    let module = line.split_whitespace().nth(1).unwrap_or("");
    let head = module.split('.').next().unwrap_or(module);
    project.target_modules.iter().any(|m| m == head)
}

pub(super) fn target_imports(project: &ProjectFacts<'_, '_>, fixes: &[Fix]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for import in fixes.iter().flat_map(|f| &f.imports).filter(|i| is_target_import(project, i)) {
        if !out.contains(import) {
            out.push(import.clone());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::first_of;
    use crate::fix::{Fix, Lift};
    use crate::ported::Applicability::{self, Safe, Unsafe};

    fn fix(rank: usize, applicability: Applicability) -> Fix {
        Fix {
            rank,
            recipe: format!("t#{rank}"),
            rule: 1,
            applicability,
            at: 0,
            owned: 0..4,
            id: String::new(),
            atomic: false,
            lift: Lift::Guarded,
            changes: Vec::new(),
            imports: Vec::new(),
            blocks: Vec::new(),
        }
    }

    #[test]
    fn joined_fixes_are_as_safe_as_the_least_safe() {
        for order in [[Safe, Unsafe], [Unsafe, Safe]] {
            let joined = first_of(&[fix(2, order[0]), fix(1, order[1])]);
            assert_eq!((joined.recipe.as_str(), joined.applicability), ("t#1", Unsafe));
        }
    }
}
