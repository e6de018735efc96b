//! The end of a port: what there is to say, and the certificate.

use super::MOST_ROUNDS;
use super::plan::{Notes, Plan};
use super::state::State;
use super::wishes::matched;
use crate::condition::Situation;
use crate::facts::modes::Region;
use crate::facts::{FileView, ProjectFacts};
use crate::ledger::{Precision, changed};
use crate::order::{Map, sort_by};
use crate::place::{self, Places, Remark};
use crate::ported::{Certificate, Diagnostic, FileHashes, Ported, PortedFile, Severity, Span, Style};
use crate::recipe::{RecipeSet, hex};
use crate::residue::{Found, residue};
use crate::rope::apply_edits;
use crate::unread::{Unread, unread};
use sha2::{Digest, Sha256};

/// Diagnostics, certificate and the result.
pub(super) fn finish(
    plan: &Plan<'_>,
    recipes: &RecipeSet,
    states: &[State<'_>],
    views: &[Option<FileView<'_>>],
    facts: &ProjectFacts,
    mut notes: Notes,
    rounds: Option<usize>,
) -> Ported {
    let mut files = Vec::new();
    let mut left = Vec::new();
    let mut hashes = Map::new();
    let (mut parses, mut untouched, mut comments) = (true, true, true);
    let missing = facts.modes.as_ref().filter(|_| plan.branch).and_then(|m| m.defined_elsewhere());
    for (n, state) in states.iter().enumerate() {
        let edits = state.rope.edits();
        let mut remarks = notes.remove(&n).unwrap_or_default();
        remarks.extend(state.blocked.clone());
        let places = Places::new(&state.rope, &state.text);
        if let Some(view) = &views[n] {
            let manual = reports(plan, view, facts);
            if let (Some(class), Some(modes)) = (missing, &facts.modes)
                && let Some(range) = modes.first_mention(view, class)
            {
                let message = format!(
                    "`{class}` is defined in a file that was not given: give it its member `{}` there, or port the project as a whole",
                    modes.target
                );
                remarks.push(Remark::warning(range, "engine#compute-mode", message));
            }
            for Found { range, severity, message } in residue(view, facts, plan.branch) {
                let told = manual.iter().any(|r| r.range.start <= range.start && range.end <= r.range.end);
                let text = &view.index.text[range.clone()];
                let remark = Remark { severity, ..Remark::warning(range, "engine#residue", message) };
                let Span { line, column, .. } = places.diagnostic(remark.clone()).original;
                left.push(format!("{}:{line}:{column} {text}", state.source.path));
                remarks.extend((!told).then_some(remark));
            }
            remarks.extend(manual);
            let unread = unread(view).into_iter();
            remarks.extend(unread.map(|Unread { range, message }| Remark::warning(range, "engine#unread", message)));
        }
        let mut diagnostics: Vec<Diagnostic> = remarks.into_iter().map(|remark| places.diagnostic(remark)).collect();
        let types = views[n].as_ref().and_then(|view| precision(plan, state, view, n));
        diagnostics.extend(types.map(|(at, remark)| places.of_original(at, remark)));
        let changed = state.is_changed();
        parses &= !changed || state.tree.as_ref().is_none_or(|t| !t.has_error());
        untouched &= apply_edits(&state.source.text, &edits) == state.text;
        if let (true, Some(view), Some(origin)) = (changed, &views[n], plan.origins.get(n)) {
            let after = place::comments(&view.index);
            comments &= origin.comments.iter().all(|(c, n)| after.get(c).is_some_and(|m| m >= n));
        }
        sort_by(&mut diagnostics, |a, b| {
            let key = |d: &Diagnostic| (d.original.line, d.original.column, d.ported.line, d.ported.column);
            (key(a), &a.recipe).cmp(&(key(b), &b.recipe))
        });
        diagnostics.dedup();
        hashes.insert(
            state.source.path.clone(),
            FileHashes { input: hash(&state.source.text), output: hash(&state.text) },
        );
        files.push(PortedFile {
            path: state.source.path.clone(),
            changed,
            text: state.text.clone(),
            edits,
            diagnostics,
        });
    }
    let options = plan.settings.values.clone();
    Ported {
        target: plan.options.target.clone(),
        sdk: plan.settings.sdk.clone(),
        style: if plan.branch { Style::Branch } else { Style::InPlace },
        options,
        files,
        certificate: Certificate {
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            recipes: recipes.hash().to_owned(),
            files: hashes,
            parses,
            idempotent: rounds.is_some(),
            untouched_bytes_equal: untouched,
            comments_kept: comments,
            rounds: rounds.unwrap_or(MOST_ROUNDS),
            residue: left,
        },
    }
}

/// That the port of a file computes in another type than the original did, told where the original says its own.
fn precision(plan: &Plan<'_>, state: &State<'_>, view: &FileView<'_>, file: usize) -> Option<(usize, Remark)> {
    let original = &plan.origins.get(file).filter(|_| state.is_changed())?.precision;
    let (old, at) = original.before()?;
    let mut now = Precision::default();
    now.read(view);
    let new = now.after(original);
    let severity = if new.is_some() { Severity::Info } else { Severity::Warning };
    let new = new.map_or_else(|| "float32".to_owned(), |figure| figure.text);
    let mut place = at;
    for edit in state.rope.edits().iter().take_while(|edit| edit.start <= at) {
        let there = place - (at - edit.start);
        place = if edit.end > at {
            there + edit.text.len() - edit.text.trim_start().len()
        } else {
            there + edit.text.len() + (at - edit.end)
        };
    }
    let remark = Remark::warning(place..place, "engine#precision", changed(&old.text, &new));
    (old.text != new).then_some((at, Remark { severity, ..remark }))
}

fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// What rules have to say without changing anything.
fn reports(plan: &Plan<'_>, view: &FileView<'_>, facts: &ProjectFacts) -> Vec<Remark> {
    let situation = Situation { view, project: facts, settings: &plan.settings, branch: plan.branch };
    let mut out: Vec<Remark> = Vec::new();
    for recipe in &plan.recipes.recipes {
        if plan.rejected(recipe) {
            continue;
        }
        for rule in recipe.rules.iter().filter(|r| plan.takes(r)) {
            let offered = rule.is_unsafe && !plan.options.allow_unsafe;
            if !rule.manual && !offered {
                continue;
            }
            for found in matched(rule, &situation) {
                let elsewhere = plan.branch
                    && facts.modes.as_ref().is_some_and(|m| {
                        matches!(m.region(&view.index, found.node), Region::Foreign | Region::Vendor { .. })
                    });
                let range = view.index.range(found.node);
                if elsewhere || out.iter().any(|r| r.range == range && r.recipe == recipe.id) {
                    continue;
                }
                plan.fired(recipe, rule);
                let (severity, message) = if offered {
                    (
                        Severity::Hint,
                        format!(
                            "{}: not applied because it may change behaviour. `--unsafe`, on the page \"Apply unsafe changes too\", makes it",
                            recipe.title
                        ),
                    )
                } else {
                    (Severity::Warning, format!("{}. {}", recipe.title, recipe.reason))
                };
                let line = view.index.text[range.clone()].find('\n').map_or(range.end, |n| range.start + n);
                let range = range.start..line.max(range.start + 1).min(range.end);
                out.push(Remark { severity, ..Remark::warning(range, &recipe.id, message) });
            }
        }
    }
    out
}
