//! The end of a port: the messages, and the certificate.

use super::MOST_ROUNDS;
use super::matched::matched;
use super::new_files::new_files;
use super::orphaned;
use super::plan::{Notes, Plan};
use super::same_with::once_per_with;
use super::set_aside::set_aside;
use super::state::State;
use crate::condition::Condition;
use crate::configured;
use crate::definitions::Sentence;
use crate::digest::hash;
use crate::ledger::text;
use crate::messages;
use crate::place::{self, Places, Remark};
use crate::ported::{
    Certificate, Diagnostic, Edit, FileHashes, Ported, PortedFile, RemovedComment, Severity, Span, Style,
};
use crate::ranges::Ranges;
use crate::recipe::RecipeSet;
use crate::residue::{Found, OwnNames, Reach, residue, unaccounted};
use crate::rope::apply_edits;
use crate::totals::COMMENTS;
use crate::unread::{Unread, unread};
use python::tree::{Id, kinds};
use rustc_hash::FxHashSet;
use sorting::{SortedMap, SortedSet};
use std::ops::Range;
use std::rc::Rc;
use training::ledger::{Precision, changed, lost_scaling};
use training::modes::Region;
use training::{FileView, ProjectFacts, files_of_programs, updated_by_hand};

/// Diagnostics, certificate and the result.
pub(super) fn finish(
    plan: &Plan<'_>,
    recipes: &RecipeSet,
    states: &[State<'_>],
    views: &[Option<Rc<FileView<'_>>>],
    facts: &ProjectFacts<'_, '_>,
    mut notes: Notes,
    rounds: Option<usize>,
) -> Ported {
    let mut files = Vec::new();
    let mut left = Vec::new();
    let mut hashes = SortedMap::new();
    let (mut parses, mut untouched, mut comments_kept, mut removed) = (true, true, true, Vec::new());
    let mut reported = all_reports(plan, states, views, facts);
    let mut own_mode = facts.modes.as_ref().filter(|_| plan.own_mode);
    let missing = facts.modes.as_ref().filter(|_| plan.style == Style::Branch).and_then(|m| m.defined_elsewhere());
    let configured: Vec<_> = states
        .iter()
        .map(|state| {
            let (path, text) = (state.source.path.as_str(), state.text.as_str());
            let target = &plan.options.target;
            (path, text, configured::settings(path, text, target, !plan.keeps_others(), plan.settings.definitions))
        })
        .collect();
    let with_settings: Vec<_> = configured.iter().filter(|(_, _, settings)| !settings.is_empty()).collect();
    // Said once, unless there is one for the target, or for all.
    let lists = states.iter().enumerate().filter(|(_, state)| configured::is_list(&state.source.path));
    let for_target = lists.map(|(n, state)| {
        (n, configured::is_for_target(&state.source.path, &plan.options.target, plan.settings.definitions))
    });
    let for_target: Vec<(usize, Option<bool>)> = for_target.collect();
    let others_lists = for_target.iter().find(|(_, is_meant)| *is_meant == Some(false)).map(|(n, _)| *n);
    let is_plain = |n: usize| configured::is_plain_list(&states[n].source.path);
    let serves_target = |(n, is_meant): &(usize, Option<bool>)| *is_meant == Some(true) || is_plain(*n);
    let others_lists = others_lists.filter(|_| !for_target.iter().any(serves_target));
    let (new_files, mut of_new_files) = new_files(plan, views);
    let own_names = OwnNames::of(facts, plan.settings.definitions);
    let is_unchanged = states.iter().all(|state| !state.is_changed() && state.blocked.is_none());
    let mut own_device = plan.device.as_ref().filter(|_| is_unchanged && plan.style == Style::Agnostic);
    for (n, state) in states.iter().enumerate() {
        let mut edits = state.rope.edits();
        let mut remarks = notes.get_mut(&n).map(std::mem::take).unwrap_or_default();
        remarks.extend(state.blocked.clone());
        remarks.extend(of_new_files.remove(&n));
        let places = Places::new(&state.source.path, &state.rope, &state.text, plan.settings.definitions);
        let mut remains = |Found { range, severity, message }| {
            let text = &state.text[range.clone()];
            let remark = Remark::of_engine(range, severity, message);
            let place = places.diagnostic(remark.clone()).original.shown();
            left.push(format!("{}:{place} {text}", state.source.path));
            remark
        };
        remarks.extend(others_lists.filter(|first| *first == n).map(|_| {
            let message = messages::lists_of_other_devices();
            Remark::of_engine(0..0, Severity::Info, message)
        }));
        // Projects with compute modes have settings for each.
        if plan.style != Style::Branch {
            remarks.extend(configured::found(&configured[n].2, &state.text).into_iter().map(&mut remains));
        }
        if let Some(view) = &views[n] {
            let manual = reported.get_mut(&n).map(std::mem::take).unwrap_or_default();
            // Reported once, at the first branch.
            if let Some((modes, test)) = own_mode.and_then(|modes| Some((modes, modes.own_branch(view)?))) {
                own_mode = None;
                let message = messages::has_own_mode(&modes.target);
                remarks.push(Remark::of_engine(view.index.range(test), Severity::Info, message));
            }
            // Said once: a port without changes might as well have found nothing.
            if let Some((device, test)) = own_device.and_then(|device| Some((device, device.own_test(view)?))) {
                own_device = None;
                let message = messages::serves_target(device.kind);
                remarks.push(Remark::of_engine(view.index.range(test), Severity::Info, message));
            }
            if let (Some(class), Some(modes)) = (missing, &facts.modes)
                && let Some(range) = modes.first_mention(view, class)
            {
                let message = messages::modes_defined_elsewhere(class, &modes.target);
                remarks.push(Remark::of_engine(range, Severity::Warning, message));
            }
            let not_ported: Vec<usize> = remarks.iter().map(|remark| remark.range.start).collect();
            let covered = Ranges::by(manual.iter().map(|remark| remark.range.clone()));
            let spoken_of = Ranges::by(manual.iter().flat_map(spoken_of));
            let foreign = &plan.settings.target.foreign_modules;
            let own = plan.settings.target.ledger.autocast.as_ref().map(|own| own.device.as_str());
            let is_settled = |at: usize| plan.is_settled(n, state.rope.origin(at));
            let reach = Reach { view, is_settled: &is_settled, guards: plan.guards(facts) };
            for mut found in residue(&reach, facts, plan.settings.definitions, foreign, own) {
                let start = found.range.start;
                let mut kept = plan.origins.get(n).into_iter().flat_map(|origin| &origin.guards);
                let asked = state.rope.origin(start);
                if let Some(test) =
                    kept.find(|test| test.contains(&asked)).filter(|_| found.message.name == DEVICE_LEFT)
                {
                    let test = state.source.text[test.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
                    (found.severity, found.message) = (Severity::Info, messages::test_stays(test));
                }
                let told = covered.contain(&found.range) && spoken_of.contain(&(start..start + 1))
                    || is_spoken_of(view, &found.range, &not_ported);
                let remark = remains(found);
                remarks.extend((!told).then_some(remark));
            }
            remarks.extend(manual);
            if plan.style != Style::Branch {
                let told = remarks.iter().map(|remark| remark.range.clone());
                let mut told: Vec<Range<usize>> = told.filter(|range| !is_settled(range.start)).collect();
                told.extend(plan.stays.borrow().get(&n).into_iter().flatten().cloned());
                told.extend(listed_by_port(view, state));
                let rest = unaccounted(&reach, facts, &own_names, plan.settings.definitions, &told);
                remarks.extend(rest.into_iter().map(&mut remains));
            }
            once_per_with(&mut remarks, view);
            let prints = view.index.of_kind(kinds().print_statement).iter();
            let said =
                |id: &Id| Remark::of_engine(view.index.range(*id), Severity::Warning, messages::prints_into_a_stream());
            remarks.extend(prints.map(said));
            let unread = unread(view).into_iter();
            let said = |Unread { range, message }| Remark::of_engine(range, Severity::Warning, message);
            remarks.extend(unread.map(said));
            let by_hand = updated_by_hand(view).filter(|_| !state.is_changed() && !plan.keeps_others());
            let said = |id| Remark::of_engine(view.index.range(id), Severity::Warning, messages::updated_by_hand());
            remarks.extend(by_hand.map(said));
        }
        remarks.retain(|remark| !plan.is_settled(n, state.rope.origin(remark.range.start)));
        let unused = views[n].as_ref().and_then(|view| set_aside(&mut remarks, view, &facts.unused, &places));
        remarks.extend(unused);
        let diagnostic = |remark: Remark| {
            let read = views[n].as_ref().map_or("", |_| &state.text[remark.range.clone()]);
            let set = configured::places(read, &with_settings);
            let mut diagnostic = places.diagnostic(remark);
            if !set.is_empty() {
                let said = messages::configured_at(set.join(", "));
                diagnostic.message += &format!(" {}", plan.settings.definitions.message(&said).0);
            }
            diagnostic
        };
        let mut diagnostics: Vec<Diagnostic> = remarks.into_iter().map(diagnostic).collect();
        let types = views[n].as_ref().and_then(|view| precision(plan, state, view, n));
        diagnostics.extend(types.map(|(at, remark)| places.of_original(at, remark)));
        let shifts = Shifts::by(&edits);
        let (lacking, lost) = (plan.lacking.borrow(), plan.lost.borrow());
        let makers: SortedSet<&String> = edits.iter().map(|edit| &edit.recipe).collect();
        let is_made = |lost: &&Remark| lost.recipe.as_ref().is_some_and(|recipe| makers.contains(recipe));
        let lost = lost.get(&n).into_iter().flatten().filter(is_made);
        for of_original in lacking.get(&n).into_iter().flatten().chain(lost) {
            let (at, place) = (of_original.range.start, shifts.place(of_original.range.start));
            diagnostics.push(places.of_original(at, Remark { range: place..place, ..of_original.clone() }));
        }
        let changed = state.is_changed();
        parses &= !changed || state.tree.is_none_or(|t| !t.has_error());
        untouched &= apply_edits(&state.source.text, &edits) == state.text;
        let given = state.both_views().0.filter(|_| changed);
        if let (Some(view), Some(given)) = (&views[n], given) {
            for missing in orphaned::missing(&given, &state.rope, &place::comments(&view.index)) {
                let is_here = |edit: &&mut Edit| edit.start <= missing.at && missing.at < edit.end;
                if edits.iter_mut().find(is_here).is_some_and(|edit| edit.recipe == COMMENTS) {
                    continue;
                }
                let Span { line, cell, .. } = places.of_byte(missing.at);
                let comment = RemovedComment { line, cell, text: missing.text.to_owned() };
                comments_kept &= missing.of_removed;
                removed.push(comment.noted(&state.source.path));
                // What is missing is in the range of an edit.
                if let Some(edit) = edits.iter_mut().find(is_here) {
                    edit.comments_removed.push(comment);
                }
            }
        }
        sorting::by(&mut diagnostics, |a, b| {
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
            notebook: None,
            is_new: false,
        });
    }
    for file in &new_files {
        hashes.insert(file.path.clone(), FileHashes { input: hash(""), output: hash(&file.text) });
    }
    files.extend(new_files);
    let options = plan.settings.values.clone();
    Ported {
        target: plan.options.target.clone(),
        sdk: plan.settings.sdk.clone(),
        style: plan.style,
        options,
        files,
        certificate: Certificate {
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            recipes: recipes.hash().to_owned(),
            files: hashes,
            parses,
            idempotent: rounds.is_some(),
            untouched_bytes_equal: untouched,
            comments_kept,
            comments_removed: removed,
            rounds: rounds.unwrap_or(MOST_ROUNDS),
            residue: left,
        },
    }
}

/// The messages of rules in every file. What is reported once is reported in the program that is most likely to train, if
/// it is there.
fn all_reports(
    plan: &Plan<'_>,
    states: &[State<'_>],
    views: &[Option<Rc<FileView<'_>>>],
    facts: &ProjectFacts<'_, '_>,
) -> SortedMap<usize, Vec<Remark>> {
    let mut once = SortedSet::new();
    let files: Vec<(usize, &FileView<'_>)> =
        views.iter().enumerate().filter_map(|(n, view)| Some((n, view.as_deref()?))).collect();
    let order = files_of_programs(&files.iter().map(|(_, view)| *view).collect::<Vec<_>>());
    let trains = |view: &FileView<'_>| !view.steps.training.is_empty() || !view.calls("fit").is_empty();
    let mut places: SortedMap<usize, usize> = SortedMap::new();
    order.iter().enumerate().for_each(|(place, file)| _ = places.entry(*file).or_insert(place));
    let place = |n: usize| places.get(&n).copied().unwrap_or(usize::MAX);
    let mut files: Vec<_> = files.into_iter().enumerate().collect();
    sorting::by_key(&mut files, |(n, (_, view))| (place(*n), !trains(view), !facts.leads_to_training(view)));
    let mut of_file = |(n, view): (usize, &FileView<'_>)| {
        let state = &states[n];
        let mut remarks = reports(plan, view, facts, false, &mut once);
        if let (Some(given), true) = (state.both_views().0, state.is_changed()) {
            let of_given = reports(plan, &given, facts, true, &mut once);
            let edits = state.rope.edits();
            let shifts = Shifts::by(&edits);
            remarks.extend(of_given.into_iter().map(|remark| {
                let place = shifts.place(remark.range.start);
                Remark { range: place..place, ..remark }
            }));
        }
        (n, remarks)
    };
    files.into_iter().map(|(_, file)| of_file(file)).collect()
}

/// That the port of a file uses a different number type than the original, reported where the original sets its own.
fn precision(plan: &Plan<'_>, state: &State<'_>, view: &FileView<'_>, file: usize) -> Option<(usize, Remark)> {
    let original = &plan.origins.get(file).filter(|_| state.is_changed())?.precision;
    let (old, at) = original.first().filter(|(_, at)| !plan.is_settled(file, *at))?;
    let mut now = Precision::default();
    now.read(view, &plan.settings.target.ledger, false);
    let new = now.after(original);
    let is_said = new.is_some();
    let new = new.unwrap_or_default();
    let severity = if is_said && !lost_scaling(&old, &new) { Severity::Info } else { Severity::Warning };
    if old.alike(&new) {
        return None;
    }
    let place = Shifts::by(&state.rope.edits()).place(at);
    let message = text(&changed(&old, &new), plan.settings.definitions);
    Some((at, Remark { severity, ..Remark::warning(place..place, "engine#precision", message) }))
}

/// The message about a string that names a CUDA device.
const DEVICE_LEFT: &str = "cuda_device_left";

/// Whether a message at one of some places is about an expression that a range is or is in.
fn is_spoken_of(view: &FileView<'_>, range: &Range<usize>, places: &[usize]) -> bool {
    let index = &view.index;
    let Some(node) = index.innermost(range).filter(|_| !places.is_empty()) else { return false };
    let statement = view.statement_of(node).unwrap_or(node);
    let mut outwards = std::iter::once(node).chain(index.ancestors(node)).take_while(|around| *around > statement);
    outwards.any(|around| places.contains(&index.item(around).start))
}

/// The values of lists that the port extended: the target's stands beside each.
fn listed_by_port<'v>(view: &'v FileView<'_>, state: &'v State<'_>) -> impl Iterator<Item = Range<usize>> + 'v {
    let (k, index) = (kinds(), &view.index);
    let lists = [k.list, k.tuple, k.set].into_iter().flat_map(|kind| index.of_kind(kind)).copied();
    let values = lists.flat_map(|list| index.parts(list)).filter(|value| index.kind(*value) == k.string);
    values.map(|value| index.range(value)).filter(|range| state.rope.author(range.start).is_some())
}

/// The parts of a remark's range that its rule is about.
fn spoken_of(remark: &Remark) -> Vec<Range<usize>> {
    let mut any = remark.any.clone();
    sorting::by_key(&mut any, |range| range.start);
    let mut out = Vec::new();
    let mut from = remark.range.start;
    for range in any {
        out.push(from..range.start.max(from));
        from = from.max(range.end);
    }
    out.push(from..remark.range.end.max(from));
    out.retain(|part| !part.is_empty());
    out
}

/// Where places of the original are in the ported text.
struct Shifts<'e> {
    edits: &'e [Edit],
    /// By how much the text before each edit has grown.
    shifts: Vec<isize>,
}

impl<'e> Shifts<'e> {
    fn by(edits: &'e [Edit]) -> Self {
        let grown = |edit: &Edit| edit.text.len() as isize - (edit.end - edit.start) as isize;
        let shifts = edits.iter().scan(0, |shift, edit| Some(std::mem::replace(shift, *shift + grown(edit)))).collect();
        Self { edits, shifts }
    }

    fn place(&self, at: usize) -> usize {
        let before = self.edits.partition_point(|edit| edit.start <= at);
        let Some(edit) = before.checked_sub(1).map(|last| &self.edits[last]) else { return at };
        let there = edit.start.saturating_add_signed(self.shifts[before - 1]);
        if edit.end > at {
            there + edit.text.len() - edit.text.trim_start().len()
        } else {
            there + edit.text.len() + (at - edit.end)
        }
    }
}

/// Messages of rules that change nothing: those about the port, or those about the original program. For a rule that
/// reports one place of a project, `once` contains what was reported.
pub(super) fn reports<'p>(
    plan: &'p Plan<'_>,
    view: &FileView<'_>,
    facts: &ProjectFacts<'_, '_>,
    as_given: bool,
    once: &mut SortedSet<(&'p str, Option<&'p str>, usize)>,
) -> Vec<Remark> {
    let situation = plan.situation(view, facts);
    let mut out: Vec<Remark> = Vec::new();
    let mut told: FxHashSet<(usize, usize, &str)> = FxHashSet::default();
    for recipe in plan.recipes.recipes() {
        if plan.rejected(recipe) {
            continue;
        }
        for rule in recipe.rules.iter().filter(|r| plan.takes(r)) {
            let offered = rule.is_unsafe && !plan.options.allow_unsafe;
            let is_as_given = rule.conditions.iter().any(Condition::is_as_given);
            if (!rule.manual && !offered) || is_as_given != as_given {
                continue;
            }
            // An opt-in change is a single choice for the whole project.
            let is_first = offered || rule.conditions.iter().any(Condition::is_first_of_project);
            let says = rule.says.as_deref();
            let key = (recipe.id.as_str(), says, if says.is_some() { 0 } else { rule.line });
            for found in matched(rule, &situation) {
                if is_first && once.contains(&key) {
                    plan.fired(recipe, rule);
                    break;
                }
                let elsewhere = plan.guards(facts).is_some_and(|guards| {
                    matches!(guards.region(view, found.node), Region::Foreign | Region::Vendor { .. })
                });
                let range = view.index.range(found.node);
                if elsewhere || told.contains(&(range.start, range.end, recipe.id.as_str())) {
                    continue;
                }
                plan.fired(recipe, rule);
                let (severity, message) = if offered {
                    (Severity::Hint, Sentence::Said(messages::offered(&recipe.title)))
                } else {
                    let captured = |name: &str| found.env.range(name).map(|range| &view.index.text[range]);
                    let said =
                        rule.says.as_ref().and_then(|name| plan.settings.definitions.message_of_rule(name, captured));
                    let said = said.unwrap_or_else(|| format!("{}. {}", recipe.title, recipe.reason));
                    let is_for_information = rule.conditions.iter().any(Condition::is_for_information);
                    (if is_for_information { Severity::Info } else { Severity::Warning }, Sentence::Text(said))
                };
                let is_restricted = |name: &str| rule.conditions.iter().any(|one| one.variables().contains(&name));
                let any = found.env.all().into_iter().filter(|(name, of)| *of != range && !is_restricted(name));
                let any = any.map(|(_, of)| of).collect();
                let of_unused_too = rule.conditions.iter().any(Condition::is_of_unused_too);
                let stops_step = rule.stops_step && view.steps.in_training(view, found.node);
                let line = view.index.text[range.clone()].find('\n').map_or(range.end, |n| range.start + n);
                let range = range.start..line.max(range.start + 1).min(range.end);
                told.insert((range.start, range.end, &recipe.id));
                if is_first {
                    once.insert(key);
                }
                out.push(Remark {
                    severity,
                    stops_step,
                    of_unused_too,
                    any,
                    ..Remark::warning(range, &recipe.id, message)
                });
            }
        }
    }
    out
}
