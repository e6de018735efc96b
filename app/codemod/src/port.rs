//! The driver: files in, [`Ported`] out, by rounds to a fixed point.

mod annotation;
mod auto_style;
mod before;
mod blank_lines;
mod doubled;
mod emptied;
mod empty_functions;
mod finish;
mod gate;
mod left_to_vendor;
mod matched;
mod new_files;
mod only_compared;
mod orphaned;
mod overlap;
mod plan;
mod pointless;
mod repeated;
mod round;
mod same_with;
mod set_aside;
mod settled;
mod state;
mod wishes;

use crate::guards::by_device::ByDevice;
use crate::messages;
use crate::place;
use crate::ported::{Options, Ported, Severity, SourceFile, Style};
use crate::recipe::{RecipeSet, Target};
use crate::residue::{Reach, residue};
use crate::rope::Replacement;
use crate::settings::Settings;
use annotation::annotations;
use finish::finish;
use gate::Fault;
use guide::Switch;
use left_to_vendor::leave_to_vendor;
pub use new_files::keep_existing;
use plan::{Notes, Plan};
use python::Trees;
use python::strings::{plain_string, requote};
use python::tree::{Id, kinds};
use round::round;
use rustc_hash::{FxHashSet, FxHasher};
use sorting::{SortedMap, SortedSet};
use state::{Origin, State, authors, views};
use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;
use training::modes::Modes;
use training::{FileInProject, FileView, ProjectFacts, Unused, unmoved};

/// Rounds after which a port that still grows is aborted; one that comes back to texts that it had is aborted at once.
const MOST_ROUNDS: usize = 20;

/// How often a file is restarted without the edits that would make it invalid.
const MOST_RESTARTS: usize = 20;

/// Ports files to a target. Pure: the same files, recipes and options always give the same bytes. A file that can't be
/// ported is returned unchanged, with a diagnostic; for a target without recipes, this applies to every file.
#[must_use]
pub fn port(files: &[SourceFile], recipes: &RecipeSet, options: &Options) -> Ported {
    port_with_views(files, recipes, options, &Trees::default()).0
}

/// The views of the Python files of a port, without those that do not parse.
pub struct Views<'t> {
    /// The original files.
    pub before: Vec<Rc<FileView<'t>>>,
    /// The ported files; the same view if nothing changed.
    pub after: Vec<Rc<FileView<'t>>>,
}

/// [`port`], with the views that it used, so that callers with further queries about the files need not parse them
/// again.
#[must_use]
pub fn port_with_views<'t>(
    files: &'t [SourceFile],
    recipes: &RecipeSet,
    options: &Options,
    trees: &'t Trees,
) -> (Ported, Views<'t>) {
    let mut states = State::open_all(files, trees);
    let ported = port_states(&mut states, recipes, options).0;
    let (before, after): (Vec<_>, Vec<_>) = states.iter().map(State::both_views).unzip();
    (ported, Views { before: before.into_iter().flatten().collect(), after: after.into_iter().flatten().collect() })
}

/// Facts about a port, for the checks of guides.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// Recipe and line of every rule that changed or reported something.
    pub(crate) fired: SortedSet<(String, usize)>,
    /// Recipes with overlapping edits, neither inside the other.
    pub(crate) clashes: Vec<String>,
    /// Blocks of Python that were written, by their names.
    pub(crate) blocks: Vec<(String, String)>,
}

/// [`port`], with these facts.
pub(crate) fn port_traced(files: &[SourceFile], recipes: &RecipeSet, options: &Options) -> (Ported, Trace) {
    let trees = Trees::default();
    let mut states = State::open_all(files, &trees);
    port_states(&mut states, recipes, options)
}

/// Ports opened files.
fn port_states(states: &mut [State<'_>], recipes: &RecipeSet, options: &Options) -> (Ported, Trace) {
    let none = Target::without_recipes(&recipes.shared);
    let target = recipes.targets.get(&options.target).unwrap_or(&none);
    let trace = RefCell::default();
    let mut plan = Plan {
        recipes: target,
        options,
        settings: Settings::new(
            (&target.facts, &target.sdks, &target.definitions),
            options,
            states.iter().map(|state| state.source),
        ),
        style: match options.style {
            Style::Auto => Style::InPlace,
            style => style,
        },
        device: None,
        own_mode: false,
        names_device: None,
        naming_device: None,
        unused: None,
        hands_losses: None,
        wraps_models: None,
        replicates_models: None,
        moves_models: None,
        switch: None,
        trace: &trace,
        origins: Vec::new(),
        refused: RefCell::default(),
        lacking: RefCell::default(),
        lost: RefCell::default(),
        stays: RefCell::default(),
        guarded: Cell::default(),
        chooses_style: false,
        barred: RefCell::default(),
    };
    plan.device = ByDevice::of(target.facts.device.as_ref(), &plan.settings.sdk);
    for state in states.iter_mut() {
        state.bar_notebook(target.facts.launcher.as_deref());
    }
    let (mut rounds, mut begun, mut ends, mut annotated) = (Rounds::default(), false, true, false);
    // How often each file was restarted.
    let mut restarts = vec![0; states.len()];
    loop {
        rounds.count += 1;
        let views = views(states);
        let hollow: Vec<usize> = (0..states.len())
            .filter(|n| states[*n].is_changed() && views[*n].as_ref().is_some_and(|v| v.index.has_empty_block()))
            .collect();
        if !hollow.is_empty() {
            for n in hollow {
                states[n].give_up(messages::output_has_an_empty_block());
            }
            continue;
        }
        let all = || views.iter().flatten().map(Rc::as_ref).collect::<Vec<_>>();
        let mut facts = ProjectFacts::collect(&all(), &target.facts);
        facts.follow_values(&all());
        // Facts from the original project: a device that the port names is not one of its own.
        facts.unused = Rc::clone(plan.unused.get_or_insert_with(|| Rc::new(Unused::collect(&all(), &facts.places))));
        let naming_device = || Rc::new(ProjectFacts::definitions_that_name_device(&all()));
        facts.naming_device = Rc::clone(plan.naming_device.get_or_insert_with(naming_device));
        let names_device = || facts.reached_code_names_device(&all(), &target.facts);
        facts.names_device = *plan.names_device.get_or_insert_with(names_device);
        facts.hands_losses = *plan.hands_losses.get_or_insert(facts.hands_losses);
        facts.wraps_models = *plan.wraps_models.get_or_insert(facts.wraps_models);
        facts.replicates_models = *plan.replicates_models.get_or_insert(facts.replicates_models);
        facts.moves_models = *plan.moves_models.get_or_insert_with(|| moves_models(&views, &facts));
        let switch =
            plan.switch.get_or_insert_with(|| target.facts.switch.as_ref().map(|switch| named(switch, &all()))).clone();
        let for_all_devices = || switch.as_ref().map(|switch| Modes::of_switch(switch, &target.facts.mode));
        if plan.style == Style::Agnostic {
            facts.modes = for_all_devices();
        }
        if !std::mem::replace(&mut begun, true) {
            if options.style == Style::Auto {
                let has_modes = facts.modes.is_some();
                plan.style = if has_modes { Style::Branch } else { auto_style::without_modes(&plan, &views) };
                let has_branch =
                    |view: &FileView<'_>| facts.modes.as_ref().is_some_and(|m| m.own_branch(view).is_some());
                plan.own_mode = views.iter().flatten().any(|view| has_branch(view));
            }
            plan.origins = views.iter().map(|view| Origin::read(view.as_deref(), &target.facts.ledger)).collect();
            let missing = match plan.style {
                Style::Branch if facts.modes.is_none() => Some(messages::no_compute_modes()),
                Style::Agnostic if plan.device.is_none() && facts.modes.is_none() => {
                    Some(messages::no_torch_device(&target.name))
                }
                _ => None,
            };
            if let Some(missing) = missing {
                let notes = Notes::from_iter([(0, vec![place::no_test(missing)])]);
                let ported = finish(&plan, recipes, states, &views, &facts, notes, Some(rounds.count));
                return (ported, trace.into_inner());
            }
            if options.style == Style::Auto {
                auto_style::choose(&mut plan, states, &views, &facts);
                if plan.style == Style::Agnostic {
                    facts.modes = for_all_devices();
                }
            }
        }
        let (mut replacements, notes) = round(&plan, states, &views, &facts);
        let mut faults: Vec<(usize, Fault)> = Vec::new();
        if replacements.values().all(Vec::is_empty) {
            faults.extend(
                (0..states.len()).filter_map(|n| Some((n, gate::fault(&plan, &states[n], views[n].as_deref()?, n)?))),
            );
            let kept = faults.is_empty()
                && (keep_guards(&mut plan, states, &views, &facts)
                    || leave_to_vendor(&mut plan, states, &views, &facts));
            if kept {
                rounds = Rounds::default();
                continue;
            }
            if faults.is_empty() {
                let ported = finish(&plan, recipes, states, &views, &facts, notes, Some(rounds.count).filter(|_| ends));
                let comments =
                    if annotated { SortedMap::new() } else { annotations(&plan, recipes, states, &views, &ported) };
                if comments.is_empty() {
                    return (ported, trace.into_inner());
                }
                annotated = true;
                comments.into_iter().for_each(|(n, comments)| _ = states[n].apply(&comments));
                continue;
            }
        } else if rounds.is_endless(states) {
            ends = false;
            faults = rounds.repeated(std::mem::take(&mut replacements));
        }
        for (n, replacements) in replacements {
            rounds.edits.extend(replacements.iter().map(|edit| (n, edit.by.id.clone())));
            let by = states[n].apply(&replacements);
            if !by.is_empty() {
                let shown = by.iter().map(|by| by.recipe.clone()).collect::<SortedSet<_>>();
                let recipes = shown.into_iter().collect::<Vec<_>>().join(", ");
                faults.push((
                    n,
                    Fault { by, why: messages::would_not_parse(), or: messages::output_is_not_python(recipes) },
                ));
            }
        }
        for (n, Fault { by, why, or }) in faults {
            restarts[n] += 1;
            if by.is_empty() || restarts[n] > MOST_RESTARTS {
                states[n].give_up(or);
            } else {
                by.iter().for_each(|by| plan.bar(n, by, why.clone()));
                states[n].restart();
            }
            rounds = Rounds::default();
        }
    }
}

/// The rounds since a file was restarted.
#[derive(Default)]
struct Rounds {
    count: usize,
    /// Hashes of all texts.
    texts: FxHashSet<u64>,
    /// By file, with their ids.
    edits: FxHashSet<(usize, String)>,
}

impl Rounds {
    /// Whether these texts are those of an earlier round, or there were too many rounds.
    fn is_endless(&mut self, states: &[State<'_>]) -> bool {
        let mut hasher = FxHasher::default();
        states.iter().for_each(|state| state.text.hash(&mut hasher));
        self.count >= MOST_ROUNDS || !self.texts.insert(hasher.finish())
    }

    /// The edits that an earlier round made too; all, if none is.
    fn repeated(&self, replacements: SortedMap<usize, Vec<Replacement>>) -> Vec<(usize, Fault)> {
        let is_repeated = |n: usize, id: &String| self.edits.contains(&(n, id.clone()));
        let any = replacements.iter().any(|(n, edits)| edits.iter().any(|edit| is_repeated(*n, &edit.by.id)));
        let faults = replacements.into_iter().filter_map(|(n, edits)| {
            let by = authors(&edits).into_iter().filter(|by| !any || is_repeated(n, &by.id));
            let by: Vec<_> = by.cloned().collect();
            let (why, or) = (messages::would_not_end(), messages::port_does_not_end());
            (!by.is_empty()).then_some((n, Fault { by, why, or }))
        });
        faults.collect()
    }
}

/// Reverts files with tests for the source vendor's card whose code still needs it; whether there are any.
fn keep_guards(
    plan: &mut Plan<'_>,
    states: &mut [State<'_>],
    views: &[Option<Rc<FileView<'_>>>],
    facts: &ProjectFacts<'_, '_>,
) -> bool {
    let mut kept = false;
    for (n, state) in states.iter_mut().enumerate() {
        let (Some(given), Some(view)) = (state.both_views().0, &views[n]) else { continue };
        if plan.style == Style::Branch || !state.is_changed() || !given.index.text.contains("cuda") {
            continue;
        }
        let reach = Reach { view, is_settled: &|_| false, guards: plan.guards(facts) };
        let found = residue(&reach, facts, plan.settings.definitions, &SortedMap::new(), None);
        // In place, software of the vendor's has messages that say what to do about it.
        let needs_vendor = |name: &str| name == NAME_LEFT || plan.keeps_others() && VENDORS_SOFTWARE.contains(&name);
        let found = found.into_iter().filter(|f| f.severity == Severity::Warning && needs_vendor(f.message.name));
        let places = found.flat_map(|found| {
            let others = uses(view, &found.range).into_iter().chain(same_command(view, &found.range));
            let is_software = found.message.name != NAME_LEFT;
            std::iter::once(found.range.start).chain(others).map(|at| (at, is_software)).collect::<Vec<_>>()
        });
        let left: Vec<(usize, bool)> = places.map(|(at, is_software)| (state.rope.origin(at), is_software)).collect();
        let [tests, code] = settled::kept_guards(&given, &left, &state.rope.edits(), plan.keeps_others());
        if !tests.iter().all(|test| plan.is_kept(n, test.start)) {
            plan.origins[n].guards.extend(tests);
            plan.origins[n].guarded.extend(code);
            state.restart();
            kept = true;
        }
    }
    kept
}

/// Where the names are used that an import binds.
fn uses(view: &FileView<'_>, import: &Range<usize>) -> Vec<usize> {
    let index = &view.index;
    let bound = view.names.bindings.iter().filter(|binding| index.range(binding.statement).contains(&import.start));
    bound.flat_map(|binding| view.identifiers(&binding.local)).map(|id| index.item(*id).start).collect()
}

/// Where else a command is run that is reported once in a file.
fn same_command(view: &FileView<'_>, command: &Range<usize>) -> Vec<usize> {
    let index = &view.index;
    let program = |string: Id| plain_string(index, string).and_then(|text| text.split_whitespace().next());
    let strings = index.of_kind(kinds().string);
    let reported = strings.iter().find(|string| index.range(**string) == *command).and_then(|string| program(*string));
    let is_same = |string: &&Id| reported.is_some() && program(**string) == reported;
    strings.iter().filter(is_same).map(|string| index.item(*string).start).collect()
}

/// Messages about code that only the source vendor's machine can run.
const NAME_LEFT: &str = "cuda_name_left";
const VENDORS_SOFTWARE: [&str; 4] = ["cuda_software", "cuda_software_used", "cuda_package_left", "cuda_command"];

/// The switch under the name that an earlier port gave it, or one that the program has no other use for.
fn named(switch: &Switch, views: &[&FileView<'_>]) -> Switch {
    let mut named = switch.clone();
    loop {
        let texts = ['"', '\''].map(|quote| requote(&named.definition, quote));
        let is_defined = views.iter().any(|view| texts.iter().any(|text| view.index.text.contains(text)));
        if is_defined || views.iter().all(|view| view.identifiers(&named.name).is_empty()) {
            return named;
        }
        let name = format!("{}_", named.name);
        named = Switch { definition: switch.definition.replacen(&switch.name, &name, 1), name, ..named };
    }
}

/// Whether a project that names no device trains models that can be moved to one.
fn moves_models(views: &[Option<Rc<FileView<'_>>>], project: &ProjectFacts<'_, '_>) -> bool {
    let views = || views.iter().flatten();
    let trains = |view: &Rc<FileView<'_>>| !view.steps.training.is_empty();
    let moves = |view: &Rc<FileView<'_>>| !unmoved::moves(FileInProject { view, project }).models.is_empty();
    !project.names_device && !project.imports("torch.distributed") && views().any(trains) && views().any(moves)
}
