//! The ledger of a port: how many samples an optimizer step sees before and after, how the scheduler steps, how losses and
//! gradients are reduced, and what of that changes.
//!
//! Figures are read off the source, as literals or as the expressions that stand there; what can't be read is left out, and a
//! product with an expression in it stays one. Nothing is evaluated.

mod precision;
mod side;

use guide::LedgerTerms;
use python::{Id, PythonFile};
use serde::{Deserialize, Serialize};
use side::{Side, side};

pub use precision::{Precision, changed};
pub use side::micro_batch;

/// The arithmetic of a port. Empty where the project has no loader or no training step that the engine can read: a cell of a
/// notebook that is text to it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// What multiplies up to the samples of a step, then that product, then what else a step means.
    pub entries: Vec<LedgerEntry>,
    /// Changes of meaning, each a sentence without its full stop.
    pub flags: Vec<String>,
}

/// One quantity before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// What it is.
    pub quantity: Quantity,
    /// In the original.
    pub before: Figure,
    /// In the port.
    pub after: Figure,
}

/// What a ledger counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Samples that one forward pass of one replica or process sees.
    MicroBatch,
    /// Backward passes whose gradients are added up for one optimizer step.
    Accumulation,
    /// Copies of the model that average their gradients: processes, or replicas.
    Replicas,
    /// Samples that one optimizer step sees: the product of the three.
    SamplesPerStep,
    /// Optimizer steps that the device makes in one call of the model.
    DeviceIterations,
    /// When the scheduler steps.
    SchedulerSteps,
    /// How the losses of samples, and the gradients of batches and replicas, become one.
    LossReduction,
    /// The types that the step computes in.
    Precision,
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::MicroBatch => "micro-batch",
            Self::Accumulation => "gradient accumulation",
            Self::Replicas => "replicas",
            Self::SamplesPerStep => "samples per optimizer step",
            Self::DeviceIterations => "device iterations",
            Self::SchedulerSteps => "scheduler steps",
            Self::LossReduction => "loss reduction",
            Self::Precision => "precision",
        })
    }
}

/// A number, an expression or a few words, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// `32`, `args.batch_size`, `32 × replicas of poprun`.
    pub text: String,
    /// Path and line, from 1; none for a default and for a product.
    pub place: Option<(String, usize)>,
}

impl Figure {
    fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), place: None }
    }

    /// A figure in these words that stands where a node does.
    pub(crate) fn at(file: &PythonFile<'_>, id: Id, text: &str) -> Self {
        let start = file.index.item(id).start;
        let line = 1 + file.index.text[..start].matches('\n').count();
        Self { text: text.to_owned(), place: Some((file.path.to_owned(), line)) }
    }

    fn one() -> Self {
        Self::plain("1")
    }
}

/// Reads the ledger of a port from the files it was made from and what became of them, each a path and a text, with the target's own
/// words for what it counts.
#[must_use]
pub fn ledger<'f>(
    before: impl Iterator<Item = (&'f str, &'f str)>,
    after: impl Iterator<Item = (&'f str, &'f str)>,
    terms: &LedgerTerms,
) -> Ledger {
    let (before, after) = (side(before, terms), side(after, terms));
    let (Some(micro_before), Some(micro_after)) = (before.micro_batch.clone(), after.micro_batch.clone()) else {
        return Ledger::default();
    };
    if !before.trains {
        return Ledger::default();
    }
    let pair = |quantity, read: fn(&Side) -> Option<Figure>| LedgerEntry {
        quantity,
        before: read(&before).unwrap_or_else(Figure::one),
        after: read(&after).unwrap_or_else(Figure::one),
    };
    let mut entries = vec![
        LedgerEntry { quantity: Quantity::MicroBatch, before: micro_before, after: micro_after },
        pair(Quantity::Accumulation, |side| side.accumulation.clone()),
        pair(Quantity::Replicas, |side| side.replicas.clone()),
    ];
    entries.push(LedgerEntry {
        quantity: Quantity::SamplesPerStep,
        before: product(entries.iter().map(|entry| entry.before.text.as_str())),
        after: product(entries.iter().map(|entry| entry.after.text.as_str())),
    });
    entries.push(pair(Quantity::DeviceIterations, |side| side.device_iterations.clone()));
    let both = |quantity, before: Option<Figure>, after: Option<Figure>| {
        Some(LedgerEntry { quantity, before: before?, after: after? })
    };
    entries.extend(both(Quantity::SchedulerSteps, before.scheduler_steps(), after.scheduler_steps()));
    entries.extend(both(Quantity::LossReduction, before.reduction(), after.reduction()));
    let types = before.precision.before().map(|(figure, _)| figure).or_else(|| before.precision.cast());
    let types = (types, after.precision.after(&before.precision));
    if types.0.is_some() || types.1.is_some() {
        let [before, after] = [types.0, types.1].map(|types| types.unwrap_or_else(|| Figure::plain("float32")));
        entries.push(LedgerEntry { quantity: Quantity::Precision, before, after });
    }
    let flags = flags(&entries, &before, &after);
    Ledger { entries, flags }
}

/// What a change of a figure means for the training.
fn flags(entries: &[LedgerEntry], before: &Side, after: &Side) -> Vec<String> {
    let mut flags = Vec::new();
    let differ = |entry: &&LedgerEntry| last_names(&entry.before.text) != last_names(&entry.after.text);
    for LedgerEntry { quantity, before, after } in entries.iter().filter(differ) {
        let (old, new) = (&before.text, &after.text);
        flags.extend(match quantity {
            Quantity::SamplesPerStep => Some(format!(
                "An optimizer step sees {new} samples in place of {old}: the learning rate and the number of scheduler \
                 steps in an epoch mean something else"
            )),
            Quantity::DeviceIterations => Some(format!(
                "One call of the model makes {new} optimizer steps in place of {old}: what the loop does after a call, \
                 it does less often"
            )),
            Quantity::SchedulerSteps => Some(format!("The scheduler steps {new} in place of {old}")),
            Quantity::Precision => Some(changed(old, new)),
            _ => None,
        });
    }
    if let (Some(old), Some(new)) = (before.accumulated(), after.accumulated())
        && old != new
    {
        flags.push(format!(
            "The gradients of accumulated batches become their {new} in place of their {old}: the learning rate means \
             something else"
        ));
    }
    if let Some(number) =
        after.accumulated_by_options().filter(|_| !before.cuts && before.accumulated_by_options().is_none())
    {
        flags.push(format!(
            "A batch of the loader is a whole optimizer step: `len(loader)`, and what counts its batches, is {number} times smaller"
        ));
    }
    if after.drops_last && !before.drops_last {
        flags.push("The last batch of an epoch is left out when it is not full".to_owned());
    }
    flags
}

/// `8 × count` of `8 × self.count`: where the options are told the same number may have a longer or a shorter name.
fn last_names(text: &str) -> String {
    text.split(' ').map(|word| word.rsplit('.').next().unwrap_or(word)).collect::<Vec<_>>().join(" ")
}

/// Numbers multiplied, expressions kept, ones left out.
fn product<'f>(factors: impl Iterator<Item = &'f str>) -> Figure {
    let mut number: u64 = 1;
    let mut symbols: Vec<&str> = Vec::new();
    for factor in factors {
        match factor.parse::<u64>().ok().and_then(|factor| number.checked_mul(factor)) {
            Some(product) => number = product,
            None => symbols.push(factor),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    if number != 1 || symbols.is_empty() {
        parts.push(number.to_string());
    }
    parts.extend(symbols.into_iter().map(|symbol| {
        if symbol.contains([' ', '+', '-', '/']) && !symbol.starts_with("replicas") {
            format!("({symbol})")
        } else {
            symbol.to_owned()
        }
    }));
    Figure::plain(parts.join(" × "))
}
