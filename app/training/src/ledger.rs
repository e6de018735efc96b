//! The ledger of a port: how many samples an optimizer step sees before and after, how the scheduler steps, how losses
//! and gradients are reduced, and which of these change. Each program of a project has its own.
//!
//! Figures are read from the source, as literals or as the expressions that are written there; those that can't be read
//! are omitted, and a product with an expression in it is not multiplied out. Nothing is evaluated. The texts are
//! [messages](Words) of the guides.

mod accumulation;
mod precision;
mod side;
mod words;

use crate::figure::Figure;
use crate::programs::programs;
use crate::project::ProjectFacts;
use crate::target::TargetFacts;
use crate::view::FileView;
use guide::LedgerTerms;
use serde::{Deserialize, Serialize};
use side::Side;
use sorting::{SortedMap, SortedSet};

pub use precision::{Precision, changed, lost_scaling};
pub use words::{LEDGER_MESSAGES, Words};

/// The arithmetic of one program of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramLedger {
    /// The programs to which it applies, by the paths of their files; none for files that no program of the project
    /// reaches.
    pub programs: Vec<String>,
    /// The factors of a step's number of samples, then the product, then other properties of a step.
    pub entries: Vec<Entry>,
    /// Changes of meaning.
    pub changes: Vec<Words>,
}

/// One quantity before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its kind.
    pub quantity: Quantity,
    /// In the original.
    pub before: Reading,
    /// In the port.
    pub after: Reading,
}

/// What a ledger lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Samples that one forward pass of one replica or process sees.
    MicroBatch,
    /// Backward passes whose gradients are summed for one optimizer step.
    Accumulation,
    /// Copies of the model that average their gradients: processes, or replicas.
    Replicas,
    /// Samples that one optimizer step sees: the product of the three.
    SamplesPerStep,
    /// Optimizer steps that the device performs in one call of the model.
    DeviceIterations,
    /// When the scheduler steps.
    SchedulerSteps,
    /// How the losses of samples, and the gradients of batches and replicas, are reduced to one.
    LossReduction,
    /// The number types of the step.
    Precision,
}

impl Quantity {
    /// Its label.
    #[must_use]
    pub fn name(self) -> Words {
        match self {
            Self::MicroBatch => words::micro_batch(),
            Self::Accumulation => words::gradient_accumulation(),
            Self::Replicas => words::replicas(),
            Self::SamplesPerStep => words::samples_per_step(),
            Self::DeviceIterations => words::device_iterations(),
            Self::SchedulerSteps => words::scheduler_steps(),
            Self::LossReduction => words::loss_reduction(),
            Self::Precision => words::precision(),
        }
    }
}

/// A figure as text, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The text.
    pub words: Words,
    /// Path and line, from 1; none for a default and for a product.
    pub place: Option<(String, usize)>,
}

impl Reading {
    fn plain(text: &str) -> Self {
        Self { words: text.into(), place: None }
    }
}

impl From<Figure> for Reading {
    fn from(Figure { text, place }: Figure) -> Self {
        Self { words: Words::Plain(text), place }
    }
}

/// Reads the ledgers of a port from the original files and the ported ones, with the target's own words for what it
/// counts. A file that the port does not change may be the same view on both sides. Programs that share the files that
/// they train with share a ledger. Empty if no program has a loader and a training step that the engine can read: a
/// notebook cell that is a string to it has none.
#[must_use]
pub fn ledgers(before: &[&FileView<'_>], after: &[&FileView<'_>], terms: &LedgerTerms) -> Vec<ProgramLedger> {
    let [mut old, mut new] = [before, after].map(<[_]>::to_vec);
    for views in [&mut old, &mut new] {
        sorting::by_key(views, |view| view.path);
    }
    let path = |file: &usize| old[*file].path.to_owned();
    let mut groups: Vec<Vec<String>> =
        programs(&old).into_iter().map(|program| program.files.iter().map(path).collect()).collect();
    let facts = ProjectFacts::collect(&old, &TargetFacts::default());
    let mut before_sides = sides(&old, &facts, &groups, terms, true);
    // Files that no program reaches; all files if no program is found to train.
    let counted = groups.iter().zip(&before_sides).filter(|(_, side)| side.counts());
    let reached: SortedSet<&String> = counted.flat_map(|(paths, _)| paths).collect();
    let rest: Vec<String> =
        old.iter().map(|view| view.path.to_owned()).filter(|path| !reached.contains(path)).collect();
    groups.push(rest);
    before_sides.extend(sides(&old, &facts, &groups[groups.len() - 1..], terms, true));
    // The roles of a file's names are cached with it, so the original is read before the port.
    let facts = ProjectFacts::collect(&new, &TargetFacts::default());
    let after_sides = sides(&new, &facts, &groups, terms, false);
    let mut ledgers: Vec<ProgramLedger> = Vec::new();
    for (n, (before, after)) in before_sides.iter().zip(&after_sides).enumerate() {
        let Some((entries, changes)) = compare(before, after) else { continue };
        // The last group contains the files that belong to no program.
        let program = (n + 1 < groups.len()).then(|| groups[n][0].clone());
        match ledgers.iter_mut().find(|known| known.entries == entries && known.changes == changes) {
            Some(known) => known.programs.extend(program),
            None => ledgers.push(ProgramLedger { programs: program.into_iter().collect(), entries, changes }),
        }
    }
    ledgers
}

/// One side of each group of files.
fn sides(
    views: &[&FileView<'_>],
    facts: &ProjectFacts<'_, '_>,
    groups: &[Vec<String>],
    terms: &LedgerTerms,
    original: bool,
) -> Vec<Side> {
    let by_path: SortedMap<&str, &FileView<'_>> = views.iter().map(|view| (view.path, *view)).collect();
    let read = |paths: &Vec<String>| {
        let files: Vec<&FileView<'_>> = paths.iter().filter_map(|path| by_path.get(path.as_str()).copied()).collect();
        side::side(&files, facts, terms, original)
    };
    groups.iter().map(read).collect()
}

/// The entries of a ledger and the changes; none if there is nothing to count.
fn compare(before: &Side, after: &Side) -> Option<(Vec<Entry>, Vec<Words>)> {
    if !before.counts() {
        return None;
    }
    let one = |figure: Option<&Figure>| Reading::from(figure.cloned().unwrap_or_else(Figure::one));
    let replicas = |side: &Side| side.replicas.clone().unwrap_or_else(|| Reading::plain("1"));
    let (micro_before, micro_after) = (before.samples()?, after.samples()?);
    let entry = |quantity, before, after| Entry { quantity, before, after };
    let mut entries = vec![
        entry(Quantity::MicroBatch, micro_before, micro_after),
        entry(Quantity::Accumulation, one(before.accumulation.as_ref()), one(after.accumulation.as_ref())),
        entry(Quantity::Replicas, replicas(before), replicas(after)),
    ];
    let product = |words: Words| Reading { words, place: None };
    let samples = entry(
        Quantity::SamplesPerStep,
        product(Words::product(entries.iter().map(|entry| &entry.before.words))),
        product(Words::product(entries.iter().map(|entry| &entry.after.words))),
    );
    entries.push(samples);
    // The number of cards that share a batch is known only at run time, and the samples of a step are the same.
    let split = |side: &Side| Some(Reading { words: words::batch_split(), place: Some(side.splits.clone()?) });
    if let Some(entry) = entries.iter_mut().find(|entry| entry.quantity == Quantity::Replicas) {
        entry.before = split(before).unwrap_or(entry.before.clone());
        entry.after = split(after).unwrap_or(entry.after.clone());
    }
    let iterations = |side: &Side| one(side.device_iterations.as_ref());
    entries.push(entry(Quantity::DeviceIterations, iterations(before), iterations(after)));
    let both = |quantity, before: Option<Reading>, after: Option<Reading>| Some(entry(quantity, before?, after?));
    entries.extend(both(Quantity::SchedulerSteps, before.scheduler_steps(), after.scheduler_steps()));
    entries.extend(both(Quantity::LossReduction, before.reduction(), after.reduction()));
    let types = [before.precision.before(), after.precision.after(&before.precision)];
    if types.iter().any(Option::is_some) {
        let [before, after] = types.map(|types| types.unwrap_or_default());
        entries.push(entry(Quantity::Precision, before.reading(), after.reading()));
    }
    let changes = changes(&entries, before, after);
    Some((entries, changes))
}

/// What a changed figure means for the training.
fn changes(entries: &[Entry], before: &Side, after: &Side) -> Vec<Words> {
    let mut changes = Vec::new();
    for entry in entries.iter().filter(|entry| !entry.before.words.alike(&entry.after.words)) {
        let (old, new) = (entry.before.words.clone(), entry.after.words.clone());
        changes.extend(match entry.quantity {
            Quantity::SamplesPerStep => Some(words::samples_changed(new, old)),
            Quantity::DeviceIterations => Some(words::device_iterations_changed(new, old)),
            Quantity::SchedulerSteps => Some(words::scheduler_changed(new, old)),
            Quantity::Precision => {
                let types = (before.precision.before(), after.precision.after(&before.precision));
                Some(changed(&types.0.unwrap_or_default(), &types.1.unwrap_or_default()))
            }
            Quantity::Replicas if before.splits.is_some() && after.splits.is_none() => Some(words::batch_not_split()),
            _ => None,
        });
    }
    if let (Some(old), Some(new)) = (before.accumulated(), after.accumulated())
        && old != new
    {
        changes.push(words::accumulated_gradients_changed(new, old));
    }
    let joined = after.accumulated_by_options().filter(|_| !before.cuts && before.accumulated_by_options().is_none());
    // The last batch of a loader of whole steps is what is left for one.
    let drops = after.drops_last && (joined.is_some() || !before.drops_last);
    changes.extend(joined.map(words::loader_yields_steps));
    changes.extend(drops.then(words::last_batch_dropped));
    changes
}

#[cfg(test)]
mod tests;
