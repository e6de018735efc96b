//! Insertions that several recipes or branches make, before they are put under a test: each is made once.

use crate::fix::Fix;
use python::edit::Change;
use python::tree::{Id, kinds};
use sorting::SortedMap;
use training::FileView;
use training::modes::Modes;

/// Moves an insertion that every branch of an `if`/`else` makes to after the `if`. Branches that the target never runs
/// are ignored.
pub(crate) fn hoist(view: &FileView<'_>, modes: Option<&Modes>, fixes: &mut Vec<Fix>) {
    let k = kinds();
    let index = &view.index;
    loop {
        let mut groups: SortedMap<(String, String), Vec<(usize, Id)>> = SortedMap::new();
        for (n, fix) in fixes.iter().enumerate() {
            if let [Change::Insert { at, after: true, text }] = fix.changes.as_slice() {
                groups.entry((fix.recipe.clone(), text.clone())).or_default().push((n, *at));
            }
        }
        let mut moved = false;
        'groups: for ((_, text), members) in groups {
            for (_, at) in &members {
                let Some(block) = index.parent(*at).filter(|b| index.kind(*b) == k.block) else { continue };
                let Some(owner) = index.parent(block) else { continue };
                let chain = match index.kind(owner) {
                    kind if kind == k.if_statement => owner,
                    kind if kind == k.elif_clause || kind == k.else_clause => index.parent(owner).unwrap_or(owner),
                    _ => continue,
                };
                if index.kind(chain) != k.if_statement {
                    continue;
                }
                let clauses: Vec<Id> = std::iter::once(chain)
                    .chain(index.children(chain).filter(|c| [k.elif_clause, k.else_clause].contains(&index.kind(*c))))
                    .collect();
                let has_else = clauses.iter().any(|c| index.kind(*c) == k.else_clause);
                let mut inside: Vec<usize> = Vec::new();
                let all = clauses.iter().all(|clause| {
                    let body = index.clause_body(*clause);
                    let reached = index
                        .condition(*clause)
                        .is_none_or(|c| modes.is_none_or(|m| m.tested(index, c).is_none_or(|t| t.contains(&m.target))));
                    let here: Vec<usize> = members
                        .iter()
                        // After the last statement of the branch: nothing of the branch may come after it.
                        .filter(|(_, at)| body.is_some_and(|b| index.parts(b).last() == Some(*at)))
                        .map(|(n, _)| *n)
                        .collect();
                    let ok = !reached || !here.is_empty();
                    inside.extend(here);
                    ok
                });
                if !has_else || !all {
                    continue;
                }
                let keep = *inside.iter().min().unwrap_or(&0);
                fixes[keep].changes = vec![Change::Insert { at: chain, after: true, text }];
                let mut n = 0;
                fixes.retain(|_| {
                    n += 1;
                    n - 1 == keep || !inside.contains(&(n - 1))
                });
                moved = true;
                break 'groups;
            }
        }
        if !moved {
            return;
        }
    }
}

/// Drops insertions that already exist there.
pub(crate) fn drop_present(view: &FileView<'_>, fixes: &mut Vec<Fix>) {
    let bare = |text: &str| text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n");
    fixes.retain(|fix| {
        !fix.changes.iter().any(|change| {
            let Change::Insert { at, after, text } = change else { return false };
            let index = &view.index;
            let Some(block) = index.parent(*at) else { return false };
            let siblings: Vec<Id> = index.parts(block).collect();
            let Some(n) = siblings.iter().position(|s| s == at) else { return false };
            let near =
                if *after { &siblings[n + 1..siblings.len().min(n + 5)] } else { &siblings[n.saturating_sub(4)..n] };
            let (Some(first), Some(last)) = (near.first(), near.last()) else { return false };
            bare(&index.text[index.item(*first).start..index.item(*last).end]).contains(&bare(text))
        })
    });
}
