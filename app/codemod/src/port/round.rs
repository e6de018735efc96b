//! One round: the edits of the rules, as compatible replacements.

use super::blank_lines::doubled_blank_lines;
use super::doubled::drop_doubled;
use super::emptied::emptied;
use super::empty_functions::empty_functions;
use super::matched::matched;
use super::only_compared::is_only_compared;
use super::orphaned::orphaned;
use super::overlap::{keep_blocks, outermost_first, without_overlaps};
use super::plan::{Notes, Plan};
use super::pointless::pointless;
use super::repeated::repeated;
use super::state::State;
use super::wishes::{fields, wishes};
use crate::fix::{Fix, Lift};
use crate::lift::{self, Vendors};
use crate::messages;
use crate::place::Remark;
use crate::ported::{Applicability, Options, Style};
use crate::rope::{Provenance, Replacement};
use python::edit::{Change, Splice, splices, statement_end};
use python::importer;
use python::tree::{Id, ROOT, kinds};
use sorting::{SortedMap, SortedSet};
use std::cell::OnceCell;
use std::rc::Rc;
use training::program_start::Texts;
use training::{FileView, ProjectFacts};

/// All fixes of one round, as replacements by file.
pub(super) fn round(
    plan: &Plan<'_>,
    states: &[State<'_>],
    views: &[Option<Rc<FileView<'_>>>],
    facts: &ProjectFacts<'_, '_>,
) -> (SortedMap<usize, Vec<Replacement>>, Notes) {
    let mut out = SortedMap::new();
    let mut notes = Notes::new();
    plan.refused.take();
    plan.guarded.take();
    plan.stays.take();
    let texts = Texts::new(states.iter().map(|s| (s.source.path.as_str(), s.text.as_str())).collect());
    let fields = fields(plan, views, facts);
    for (n, state) in states.iter().enumerate() {
        if state.blocked.is_some() {
            continue;
        }
        let mut fixes = wishes(plan, states, views, facts, &texts, &fields, n);
        fixes.retain(|f| f.applicability == Applicability::Safe || plan.options.allow_unsafe);
        for fix in &mut fixes {
            fix.id = format!("{}@{}", fix.recipe, state.rope.origin(fix.at));
        }
        fixes.retain(|f| plan.chooses_style || !is_rejected(plan.options, &state.source.path, &f.id));
        fixes.retain(|f| !plan.is_barred(n, &f.id));
        fixes.retain(|f| !plan.is_kept(n, state.rope.origin(f.at)));
        if let Some(view) = views[n].as_deref().filter(|_| plan.style == Style::Agnostic) {
            let node = |fix: &Fix| fix.changes.first().and_then(Change::node);
            fixes.retain(|fix| !node(fix).is_some_and(|node| is_only_compared(view, facts, node)));
        }
        // What a rule removes goes in all releases.
        let removes = |change: &Change| matches!(change, Change::Replace { text, .. } if text.is_empty());
        fixes.retain(|f| f.changes.iter().all(removes) || !plan.is_for_older(n, state.rope.origin(f.at)));
        by_rank(&mut fixes);
        let replacements = match &views[n] {
            Some(view) => {
                fixes.retain(|fix| {
                    let lost = fix.changes.iter().any(|c| c.has_no_place(view) || c.swallows_comment(view));
                    if lost {
                        let remark = Remark::warning(fix.at..fix.at, &fix.recipe, messages::shares_its_line());
                        notes.entry(n).or_default().push(remark);
                    }
                    !lost
                });
                let modes = facts.modes.as_ref().filter(|_| plan.style == Style::Branch);
                lift::hoist(view, modes, &mut fixes);
                lift::drop_present(view, &mut fixes);
                drop_doubled(view, &mut fixes);
                // Edits that wrap statements wait until nothing inside changes any more.
                let (wraps, mut fixes): (Vec<Fix>, Vec<Fix>) = fixes.into_iter().partition(Fix::wraps);
                outermost_first(view, &mut fixes);
                let mut fixes = without_overlaps(plan, view, fixes);
                if let Some(modes) = modes.filter(|_| plan.own_mode) {
                    let (kept, left) = lift::without_new_branches(view, modes, fixes);
                    fixes = kept;
                    notes.entry(n).or_default().extend(left);
                }
                if let Some(guards) = plan.guards(facts) {
                    let needs_test = |fix: &&Fix| fix.lift == Lift::Guarded;
                    let mut guarded = plan.guarded.get();
                    guarded.changes += fixes.iter().filter(needs_test).count();
                    let definitions = plan.settings.definitions;
                    let names_vendors =
                        |code: Id| !lift::vendors_names(view, facts, guards, definitions, code).is_empty();
                    let told = OnceCell::new();
                    let is_vendors = |code: Id| {
                        let told = told.get_or_init(|| told_by_rules(plan, view, facts));
                        told.iter().any(|told| view.index.is_within(*told, code)) || names_vendors(code)
                    };
                    let is_ported = |name: &str| lift::is_ported_function(view, facts, definitions, name);
                    let vendors = Vendors { is_alone: &is_vendors, names: &names_vendors, is_ported: &is_ported };
                    let lifted = lift::lift(view, facts, guards, plan.origins[n].names_target, &vendors, fixes);
                    guarded.without_test += lifted.stranded.iter().map(|s| &s.fix).filter(needs_test).count();
                    plan.guarded.set(guarded);
                    fixes = lifted.fixes;
                    plan.stays.borrow_mut().insert(n, lifted.stays);
                    for s in lifted.stranded {
                        let remark = Remark::warning(s.fix.at..s.fix.at, &s.fix.recipe, s.reason);
                        notes.entry(n).or_default().push(remark);
                    }
                }
                outermost_first(view, &mut fixes);
                fixes.extend(wraps);
                fixes = without_overlaps(plan, view, fixes);
                by_rank(&mut fixes);
                keep_blocks(view, &mut fixes.iter_mut().flat_map(|fix| &mut fix.changes).collect::<Vec<_>>());
                let replacements = written(plan, view, facts, fixes);
                let remains = || {
                    let Some(given) = state.both_views().0.filter(|_| !plan.keeps_others() && state.is_changed())
                    else {
                        return Vec::new();
                    };
                    let elsewhere = |name: &str| {
                        let others = views.iter().enumerate().filter(|(other, _)| *other != n);
                        others.filter_map(|(_, view)| view.as_ref()).any(|view| view.has_word(name))
                    };
                    let functions = empty_functions(&given, view, &state.rope, &elsewhere);
                    if !functions.is_empty() {
                        return functions;
                    }
                    let comments = orphaned(&given, &state.text, &state.rope);
                    if comments.is_empty() { doubled_blank_lines(&state.text, &state.rope) } else { comments }
                };
                if replacements.is_empty() {
                    let after = [pointless, emptied, repeated].iter().map(|tidy| tidy(view, &state.rope));
                    after.into_iter().find(|tidied| !tidied.is_empty()).unwrap_or_else(remains)
                } else {
                    replacements
                }
            }
            // Such a project itself specifies what has to be installed.
            None if plan.own_mode => Vec::new(),
            None => {
                for fix in &fixes {
                    plan.trace.borrow_mut().fired.insert((fix.recipe.clone(), fix.rule));
                }
                fixes.into_iter().flat_map(raw).collect()
            }
        };
        out.insert(n, replacements);
    }
    for (n, refused) in plan.refused.take() {
        notes.entry(n).or_default().extend(refused);
    }
    (out, notes)
}

/// What the rules that change nothing have a message for.
fn told_by_rules(plan: &Plan<'_>, view: &FileView<'_>, facts: &ProjectFacts<'_, '_>) -> Vec<Id> {
    let situation = plan.situation(view, facts);
    let rules = plan.recipes.recipes().iter().filter(|recipe| !plan.rejected(recipe)).flat_map(|recipe| &recipe.rules);
    let manual = rules.filter(|rule| rule.manual && plan.takes(rule));
    manual.flat_map(|rule| matched(rule, &situation)).map(|found| found.node).collect()
}

/// The order in which fixes are written.
fn by_rank(fixes: &mut [Fix]) {
    sorting::by_key(fixes, |fix| (fix.rank, fix.at));
}

/// Two files may have an edit of the same name, so a rejection can contain the file.
pub(super) fn is_rejected(options: &Options, path: &str, id: &str) -> bool {
    let names = |rejected: &String| match rejected.strip_suffix(id) {
        Some("") => true,
        Some(file) => file.strip_suffix(':') == Some(path),
        None => false,
    };
    options.rejected_edits.iter().any(names)
}

fn raw(fix: Fix) -> Vec<Replacement> {
    let by = Provenance { recipe: fix.recipe, applicability: fix.applicability, id: fix.id };
    fix.changes
        .into_iter()
        .filter_map(|c| match c {
            Change::Raw { range, text } => Some(Replacement { range, text, by: by.clone() }),
            _ => None,
        })
        .collect()
}

/// Definitions below the imports of a file, with two empty lines around them.
fn below_imports(view: &FileView<'_>, definitions: &str) -> Splice {
    let (index, newline) = (&view.index, view.layout.newline);
    let is_import = |id: &Id| {
        [kinds().import_statement, kinds().import_from_statement, kinds().future_import_statement]
            .contains(&index.kind(*id))
    };
    let definitions = definitions.replace('\n', newline);
    let statements: Vec<Id> = index.parts(ROOT).collect();
    let Some(last) = statements.iter().rposition(is_import) else {
        let is_text =
            |id: &Id| index.kind(*id) == kinds().expression_statement && index.text_of(*id).ends_with(['"', '\'']);
        let first = statements.iter().find(|id| !is_text(id)).map_or(index.text.len(), |id| index.item(*id).start);
        return Splice { range: first..first, text: format!("{definitions}{}", newline.repeat(3)) };
    };
    let end = statement_end(view, statements[last]);
    let next = statements.get(last + 1).map(|id| index.item(*id).start);
    let empty = next.map_or(2, |next| index.text[end..next].matches('\n').count().saturating_sub(1));
    let gap = newline.repeat(2usize.saturating_sub(empty));
    // Code that begins with an import is placed with the imports above.
    let lead = if ["try:", "import ", "from "].iter().any(|import| definitions.starts_with(import)) { 2 } else { 3 };
    Splice { range: end..end, text: format!("{}{definitions}{gap}", newline.repeat(lead)) }
}

/// Replacements of a Python file, including the imports that the new code needs.
fn written(plan: &Plan<'_>, view: &FileView<'_>, facts: &ProjectFacts<'_, '_>, fixes: Vec<Fix>) -> Vec<Replacement> {
    let mut imports: Vec<Replacement> = Vec::new();
    let mut out: Vec<(usize, Replacement)> = Vec::new();
    let statement = |fix: &Fix| view.index.innermost(&(fix.at..fix.at)).and_then(|id| view.statement_of(id));
    // Of the fixes in one block that need an import, the first adds it.
    let mut brings: SortedMap<(Option<Id>, String), Id> = SortedMap::new();
    for fix in &fixes {
        for (line, at) in fix.imports.iter().filter_map(|line| statement(fix).map(|at| (line, at))) {
            let place = brings.entry((view.index.parent(at), line.clone())).or_insert(at);
            *place = at.min(*place);
        }
    }
    let mut blocks: SortedSet<String> = SortedSet::new();
    for (order, fix) in fixes.into_iter().enumerate() {
        let by = Provenance { recipe: fix.recipe.clone(), applicability: fix.applicability, id: fix.id.clone() };
        let mut own: Vec<Splice> = fix.changes.iter().flat_map(|c| splices(view, c)).collect();
        let new: Vec<_> = fix.blocks.iter().filter(|block| blocks.insert(block.name.clone())).collect();
        if !new.is_empty() {
            let texts: Vec<&str> = new.iter().map(|block| block.text.trim_end()).collect();
            own.insert(0, below_imports(view, &texts.join("\n\n\n")));
            plan.trace.borrow_mut().blocks.extend(new.iter().map(|block| (block.name.clone(), block.text.clone())));
        }
        for line in &fix.imports {
            let used_at = own.iter().map(|s| s.range.start).min().unwrap_or(fix.at);
            if lift::is_target_import(facts, line) {
                // It is only available on the target's machine: it is imported where it is used, so that others can
                // load the file.
                if let Some(at) = statement(&fix)
                    && brings.get(&(view.index.parent(at), line.clone())) == Some(&at)
                    && importer::add(view, line, used_at).is_some()
                {
                    brings.remove(&(view.index.parent(at), line.clone()));
                    own.extend(splices(view, &Change::Insert { at, after: false, text: line.clone() }));
                }
            } else if let Some(splice) = importer::add(view, line, used_at)
                && !imports.iter().any(|i| i.text.trim() == line.trim())
            {
                imports.push(Replacement { range: splice.range, text: splice.text, by: by.clone() });
            }
        }
        out.extend(own.into_iter().map(|s| (order + 1, Replacement { range: s.range, text: s.text, by: by.clone() })));
    }
    sorting::by(&mut imports, |a, b| a.text.cmp(&b.text));
    // A fix that would remove the text around another's import waits for the next round.
    let splits = |r: &Replacement| {
        let within = |import: &Replacement| r.range.start < import.range.start && import.range.start < r.range.end;
        imports.iter().any(|import| within(import) && import.by.id != r.by.id)
    };
    let waiting: SortedSet<usize> = out.iter().filter(|(_, r)| splits(r)).map(|(order, _)| *order).collect();
    out.retain(|(order, _)| !waiting.contains(order));
    let mut all: Vec<(usize, Replacement)> = imports.into_iter().map(|r| (0, r)).chain(out).collect();
    // At one place imports come first, insertions before replacements, and otherwise the order of the guide applies.
    sorting::by_key(&mut all, |(order, r)| (r.range.start, *order != 0, !r.range.is_empty(), *order));
    let mut done = 0;
    let mut result: Vec<Replacement> = Vec::new();
    for (_, r) in all {
        if r.range.start < done {
            continue;
        }
        done = r.range.end;
        result.push(r);
    }
    result
}
