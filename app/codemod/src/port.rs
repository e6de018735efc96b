//! The driver: files in, [`Ported`] out, by rounds to a fixed point.

mod doubled;
mod emptied;
mod finish;
mod overlap;

use crate::change::{Change, Fix, Lift, Splice, splices};
use crate::condition::{Situation, nodes_of_type};
use crate::facts::modes::Region;
use crate::facts::{FileView, ProjectFacts};
use crate::handlers::{Input, Note, Wish};
use crate::matching::{Met, matches};
use crate::order::{Map, Set, sort_by, sort_by_key};
use crate::place::Remark;
use crate::ported::{Applicability, Options, Ported, Severity, SourceFile, Style};
use crate::recipe::{Body, CompiledRule, Recipe, RecipeSet, Target};
use crate::rewrite::{Context, Refusal, rewrite};
use crate::rope::{Provenance, Replacement, Rope};
use crate::settings::{Settings, fields_in_project};
use crate::tree::{Id, Tree};
use crate::{handlers, importer, lift, place};
use doubled::drop_doubled;
use emptied::emptied;
use finish::finish;
use overlap::{keep_blocks, outermost_first, own, without_overlaps};
use std::cell::RefCell;
use std::ops::Range;

/// Rounds after which a port that still changes is given up.
const MOST_ROUNDS: usize = 10;

/// A file while it is being ported.
struct State<'a> {
    source: &'a SourceFile,
    rope: Rope<'a>,
    text: String,
    /// None for files that are no Python.
    tree: Option<Tree>,
    /// Why the file is left alone.
    blocked: Option<Remark>,
}

/// What is decided for the whole port.
struct Plan<'a> {
    recipes: &'a Target,
    options: &'a Options,
    settings: Settings<'a>,
    branch: bool,
    trace: &'a RefCell<Trace>,
    /// By file, from the first round on.
    origins: Vec<Origin>,
    /// Matches of this round that could not be written, by file.
    refused: RefCell<Notes>,
}

/// Ports files to a target. Pure: the same files, recipes and options always give the same bytes. A file that can't be
/// ported comes back as it was, with a diagnostic; a target that has no recipes gives every file back so.
#[must_use]
pub fn port(files: &[SourceFile], recipes: &RecipeSet, options: &Options) -> Ported {
    port_traced(files, recipes, options).0
}

/// What happened inside a port, for the checks of guides.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// Recipe and line of every rule that found something to do or to say.
    pub(crate) fired: Set<(String, usize)>,
    /// Recipes that wanted to change the same text, neither inside the other.
    pub(crate) clashes: Vec<String>,
}

/// [`port`], and what happened inside.
pub(crate) fn port_traced(files: &[SourceFile], recipes: &RecipeSet, options: &Options) -> (Ported, Trace) {
    let none = Target::default();
    let target = recipes.targets.get(&options.target).unwrap_or(&none);
    let mut states: Vec<State<'_>> = files.iter().map(State::open).collect();
    let trace = RefCell::default();
    let mut plan = Plan {
        recipes: target,
        options,
        settings: Settings::new(target, options),
        branch: options.style == Style::Branch,
        trace: &trace,
        origins: Vec::new(),
        refused: RefCell::default(),
    };
    let mut rounds = 0;
    loop {
        rounds += 1;
        let views = views(&states);
        let hollow: Vec<usize> = (0..states.len())
            .filter(|n| states[*n].is_changed() && views[*n].as_ref().is_some_and(|v| v.index.has_empty_block()))
            .collect();
        if !hollow.is_empty() {
            drop(views);
            for n in hollow {
                states[n]
                    .give_up("the ported text would have a block without a statement, so the file is left as it was");
            }
            if rounds >= MOST_ROUNDS {
                break;
            }
            continue;
        }
        let facts = ProjectFacts::collect(views.iter().flatten(), &target.facts);
        if rounds == 1 {
            if options.style == Style::Auto {
                plan.branch = facts.modes.is_some();
            }
            plan.origins = views.iter().map(Origin::read).collect();
            if plan.branch && facts.modes.is_none() {
                let notes = Notes::from_iter([(0, vec![place::no_modes()])]);
                let ported = finish(&plan, recipes, &states, &views, &facts, notes, Some(rounds));
                return (ported, trace.into_inner());
            }
        }
        let (replacements, notes) = round(&plan, &states, &views, &facts);
        if replacements.values().all(Vec::is_empty) {
            let ported = finish(&plan, recipes, &states, &views, &facts, notes, Some(rounds));
            return (ported, trace.into_inner());
        }
        if rounds >= MOST_ROUNDS {
            break;
        }
        drop(views);
        for (n, replacements) in replacements {
            states[n].apply(&replacements);
        }
    }
    for state in states.iter_mut().filter(|s| s.is_changed()) {
        state.give_up("the port did not settle: recipes undo one another here, so the file is left as it was");
    }
    let views = views(&states);
    let facts = ProjectFacts::collect(views.iter().flatten(), &target.facts);
    let ported = finish(&plan, recipes, &states, &views, &facts, Notes::new(), None);
    (ported, trace.into_inner())
}

/// What is remembered of a file as it was given.
#[derive(Default)]
struct Origin {
    comments: Map<String, usize>,
    /// Imported names that it used, with what they stand for.
    used: Set<(String, String)>,
}

impl Origin {
    fn read(view: &Option<FileView<'_>>) -> Self {
        view.as_ref()
            .map_or_else(Self::default, |v| Self { comments: place::comments(&v.index), used: handlers::used(v) })
    }
}

impl<'a> State<'a> {
    fn open(source: &'a SourceFile) -> Self {
        let mut state =
            Self { source, rope: Rope::new(&source.text), text: source.text.clone(), tree: None, blocked: None };
        let python = is_python(&source.path);
        if let Some(blocked) = place::unreadable(source) {
            state.blocked = Some(blocked);
        } else if python {
            let tree = Tree::parse(&source.text);
            state.blocked = place::not_python(&source.text, &tree);
            state.tree = Some(tree);
        }
        state
    }

    fn apply(&mut self, replacements: &[Replacement]) {
        if replacements.is_empty() {
            return;
        }
        self.rope.apply(replacements);
        let text = self.rope.text();
        if let Some(tree) = &self.tree {
            let spans: Vec<_> = replacements
                .iter()
                .map(|r| crate::tree::Splice { range: r.range.clone(), len: r.text.len() })
                .collect();
            let new = tree.reparse(&text, &spans);
            if new.has_error() {
                let recipes: Set<&str> = replacements.iter().map(|r| r.by.recipe.as_str()).collect();
                let recipes = recipes.into_iter().collect::<Vec<_>>().join(", ");
                self.give_up(&format!(
                    "the ported text would not be Python (after {recipes}), so the file is left as it was"
                ));
                return;
            }
            self.tree = Some(new);
        }
        self.text = text;
    }

    fn is_changed(&self) -> bool {
        self.text != self.source.text
    }

    fn give_up(&mut self, message: &str) {
        self.rope = Rope::new(&self.source.text);
        self.text.clone_from(&self.source.text);
        if self.tree.is_some() {
            self.tree = Some(Tree::parse(&self.text));
        }
        self.blocked = Some(Remark { severity: Severity::Error, ..Remark::warning(0..0, "engine#output", message) });
    }
}

/// Two files may have an edit of the same name, so a rejection can say which file it means.
fn is_rejected(options: &Options, path: &str, id: &str) -> bool {
    let names = |rejected: &String| match rejected.strip_suffix(id) {
        Some("") => true,
        Some(file) => file.strip_suffix(':') == Some(path),
        None => false,
    };
    options.rejected_edits.iter().any(names)
}

/// Whether a path names Python source.
pub(crate) fn is_python(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".py") || name.ends_with(".pyw") || !name.contains('.')
}

fn views<'t>(states: &'t [State<'_>]) -> Vec<Option<FileView<'t>>> {
    states
        .iter()
        .map(|s| match (&s.tree, &s.blocked) {
            (Some(tree), None) => Some(FileView::read(&s.source.path, tree)),
            _ => None,
        })
        .collect()
}

impl Plan<'_> {
    /// Whether a rule takes part in this port.
    fn takes(&self, rule: &CompiledRule) -> bool {
        rule.sdk.admits(&self.settings.sdk)
            && rule.branch.is_none_or(|b| b == self.branch)
            && rule.option.as_ref().is_none_or(|(n, v)| self.settings.is(n, v))
    }

    fn fired(&self, recipe: &Recipe, rule: &CompiledRule) {
        self.trace.borrow_mut().fired.insert((recipe.id.clone(), rule.line));
    }

    fn refuse(
        &self,
        facts: &ProjectFacts,
        view: &FileView<'_>,
        file: usize,
        recipe: &Recipe,
        node: crate::tree::Id,
        fact: &str,
    ) {
        let index = &view.index;
        let elsewhere = facts
            .modes
            .as_ref()
            .filter(|_| self.branch)
            .is_some_and(|m| matches!(m.region(index, node), Region::Foreign | Region::Vendor { .. }));
        if elsewhere {
            return;
        }
        let what = match fact {
            "bridge" => "the target's library is not loaded where this code can reach it",
            _ => "the compute mode can't be read at this place",
        };
        let start = index.item(node).start;
        let message = format!("not ported: {what}. {}", recipe.reason);
        self.refused.borrow_mut().get_or_default(file).push(Remark::warning(start..start, &recipe.id, message));
    }

    fn rejected(&self, recipe: &Recipe) -> bool {
        self.options.rejected_recipes.contains(&recipe.id)
    }
}

type Notes = Map<usize, Vec<Remark>>;

/// All fixes of one round, as replacements by file.
fn round(
    plan: &Plan<'_>,
    states: &[State<'_>],
    views: &[Option<FileView<'_>>],
    facts: &ProjectFacts,
) -> (Map<usize, Vec<Replacement>>, Notes) {
    let mut out = Map::new();
    let mut notes = Notes::new();
    plan.refused.take();
    for (n, state) in states.iter().enumerate() {
        if state.blocked.is_some() {
            continue;
        }
        let mut fixes = wishes(plan, states, views, facts, n);
        fixes.retain(|f| f.applicability == Applicability::Safe || plan.options.allow_unsafe);
        for fix in &mut fixes {
            fix.id = format!("{}@{}", fix.recipe, state.rope.origin(fix.at));
        }
        fixes.retain(|f| !is_rejected(plan.options, &state.source.path, &f.id));
        sort_by_key(&mut fixes, |f| (f.rank, f.at));
        let replacements = match &views[n] {
            Some(view) => {
                fixes.retain(|fix| {
                    let lost = fix.changes.iter().any(|c| c.has_no_place(view) || c.swallows_comment(view));
                    if lost {
                        let message = "not ported: the code shares its line with a header, or a comment stands inside it. \
                                       Put it on lines of its own";
                        notes.get_or_default(n).push(Remark::warning(fix.at..fix.at, &fix.recipe, message));
                    }
                    !lost
                });
                let modes = facts.modes.as_ref().filter(|_| plan.branch);
                lift::hoist(view, modes, &mut fixes);
                lift::drop_present(view, &mut fixes);
                drop_doubled(view, &mut fixes);
                // What wraps statements waits until nothing inside changes any more.
                let (wraps, mut fixes): (Vec<Fix>, Vec<Fix>) = fixes.into_iter().partition(Fix::wraps);
                outermost_first(view, &mut fixes);
                let mut fixes = without_overlaps(plan, view, fixes);
                if let Some(modes) = modes {
                    let (lifted, stranded) = lift::lift(view, facts, modes, fixes);
                    fixes = lifted;
                    for s in stranded {
                        let message = format!("not ported: {}. Do it by hand, or port in place", s.reason);
                        let remark = Remark::warning(s.fix.at..s.fix.at, &s.fix.recipe, message);
                        notes.get_or_default(n).push(remark);
                    }
                }
                outermost_first(view, &mut fixes);
                fixes.extend(wraps);
                fixes = without_overlaps(plan, view, fixes);
                sort_by_key(&mut fixes, |f| (f.rank, f.at));
                keep_blocks(view, &mut fixes);
                let replacements = written(view, facts, fixes);
                if replacements.is_empty() { emptied(view, &state.rope) } else { replacements }
            }
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
        notes.get_or_default(n).extend(refused);
    }
    (out, notes)
}

/// What all rules want to do in one file.
fn wishes(
    plan: &Plan<'_>,
    states: &[State<'_>],
    views: &[Option<FileView<'_>>],
    facts: &ProjectFacts,
    n: usize,
) -> Vec<Fix> {
    let mut fixes = Vec::new();
    let may_add = plan.recipes.recipes.iter().any(|r| {
        !plan.rejected(r) && r.rules.iter().any(|r| matches!(&r.body, Body::Handler(h) if h.name == "add-config-field"))
    });
    let fields = if plan.branch {
        fields_in_project(&plan.settings, views.iter().flatten(), facts.modes.as_ref(), may_add)
    } else {
        Vec::new()
    };
    for (rank, recipe) in plan.recipes.recipes.iter().enumerate() {
        if plan.rejected(recipe) {
            continue;
        }
        for rule in recipe.rules.iter().filter(|r| plan.takes(r) && !r.manual) {
            let fix = |at: usize, owned: Range<usize>, changes: Vec<Change>, imports: Vec<String>| Fix {
                rule: rule.line,
                owned,
                rank,
                recipe: recipe.id.clone(),
                applicability: if rule.is_unsafe { Applicability::Unsafe } else { Applicability::Safe },
                at,
                id: String::new(),
                lift: if rule.shared {
                    Lift::Shared
                } else if rule.branch == Some(true) {
                    Lift::AsWritten
                } else {
                    Lift::Guarded
                },
                changes,
                imports,
            };
            match &rule.body {
                Body::Handler(handler) => {
                    let of_framework = |f: &String| views[n].as_ref().is_some_and(|v| v.names.uses_framework(f));
                    if !rule.framework.as_ref().is_none_or(of_framework) {
                        continue;
                    }
                    let told = RefCell::default();
                    let input = Input {
                        notes: &told,
                        path: &states[n].source.path,
                        text: &states[n].text,
                        original: &states[n].source.text,
                        used: &plan.origins[n].used,
                        view: views[n].as_ref(),
                        project: facts,
                        files: &states.iter().map(|s| (s.source.path.as_str(), s.text.as_str())).collect::<Vec<_>>(),
                        settings: &plan.settings,
                        fields: &fields,
                    };
                    for Wish { at, changes, imports } in (handler.run)(&input) {
                        fixes.push(fix(at, at..at, changes, imports));
                    }
                    for Note { range, message, stops_step } in told.take() {
                        plan.fired(recipe, rule);
                        let remark = Remark { stops_step, ..Remark::warning(range, &recipe.id, message) };
                        plan.refused.borrow_mut().get_or_default(n).push(remark);
                    }
                }
                Body::Patch(patch) => {
                    let Some(view) = &views[n] else { continue };
                    let situation = Situation { view, project: facts, settings: &plan.settings, branch: plan.branch };
                    for found in matched(rule, &situation) {
                        let cx = Context { view, project: facts, settings: &plan.settings, fields: &fields };
                        match rewrite(&cx, patch, &found) {
                            Ok((changes, imports)) if !changes.is_empty() => {
                                let item = view.index.item(found.node);
                                let expression = matches!(found.met, Met::Expression);
                                let owned = if expression { own(view, found.node) } else { item.start..item.start };
                                fixes.push(fix(item.start, owned, changes, imports));
                            }
                            Ok(_) => {}
                            Err(Refusal::UnknownFact(fact)) => {
                                plan.refuse(facts, view, n, recipe, found.node, &fact);
                            }
                        }
                    }
                }
            }
        }
    }
    fixes
}

/// Where a patch rule matches, its conditions included.
fn matched<'t>(rule: &CompiledRule, situation: &Situation<'_, 't>) -> Vec<crate::matching::Match<'t>> {
    let Body::Patch(patch) = &rule.body else { return Vec::new() };
    if !rule.framework.as_ref().is_none_or(|f| situation.view.names.uses_framework(f))
        || !patch.words().iter().all(|w| situation.view.has_word(w))
        || !rule.conditions.iter().all(|c| c.holds_for_file(situation))
    {
        return Vec::new();
    }
    let typed =
        |variable: &str| rule.conditions.iter().find_map(|c| c.typed(variable)).map(|t| nodes_of_type(situation, &t));
    let mut found = matches(situation.view, patch, &typed);
    found.retain(|m| rule.conditions.iter().all(|c| c.holds(situation, m)));
    found
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

/// Replacements of a Python file, the imports that the new code needs included.
fn written(view: &FileView<'_>, facts: &ProjectFacts, fixes: Vec<Fix>) -> Vec<Replacement> {
    let mut imports: Vec<Replacement> = Vec::new();
    let mut out: Vec<(usize, Replacement)> = Vec::new();
    let statement = |fix: &Fix| view.index.innermost(&(fix.at..fix.at)).and_then(|id| view.statement_of(id));
    // Of the fixes of one block that ask for an import, the first brings it.
    let mut brings: Map<(Option<Id>, String), Id> = Map::new();
    for fix in &fixes {
        for (line, at) in fix.imports.iter().filter_map(|line| statement(fix).map(|at| (line, at))) {
            let place = brings.get_or_insert((view.index.parent(at), line.clone()), at);
            *place = at.min(*place);
        }
    }
    for (order, fix) in fixes.into_iter().enumerate() {
        let by = Provenance { recipe: fix.recipe.clone(), applicability: fix.applicability, id: fix.id.clone() };
        let mut own: Vec<Splice> = fix.changes.iter().flat_map(|c| splices(view, c)).collect();
        for line in &fix.imports {
            let used_at = own.iter().map(|s| s.range.start).min().unwrap_or(fix.at);
            if lift::is_target_import(facts, line) {
                // Only the target's machine has it: it is imported where it is used, so that others can load the file.
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
    sort_by(&mut imports, |a, b| a.text.cmp(&b.text));
    let mut all: Vec<(usize, Replacement)> = imports.into_iter().map(|r| (0, r)).chain(out).collect();
    // At one place imports come first, insertions before what replaces, and otherwise the order of the guide holds.
    sort_by_key(&mut all, |(order, r)| (r.range.start, *order != 0, !r.range.is_empty(), *order));
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
