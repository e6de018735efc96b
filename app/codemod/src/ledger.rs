//! The ledger of a port: how many samples an optimizer step sees before and after, and what that changes.
//!
//! Figures are read off the source, as literals or as the expressions that stand there; what can't be read is left out, and a
//! product with an expression in it stays one. Nothing is evaluated.

use crate::facts::FileView;
use crate::ported::{Ported, SourceFile};
use crate::tree::{Id, Tree, fields, kinds};
use serde::{Deserialize, Serialize};

/// The arithmetic of a port. Empty where the project has no loader that the engine can read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// What multiplies up to the samples of a step, then that product.
    pub entries: Vec<LedgerEntry>,
    /// Changes of meaning, each a sentence.
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
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::MicroBatch => "micro-batch",
            Self::Accumulation => "gradient accumulation",
            Self::Replicas => "replicas",
            Self::SamplesPerStep => "samples per optimizer step",
        })
    }
}

/// A number or an expression, and where it stands.
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
}

/// What one side says.
#[derive(Default)]
struct Side {
    micro_batch: Option<Figure>,
    accumulation: Option<Figure>,
    replicas: Option<Figure>,
    drops_last: bool,
}

/// Reads the ledger of a port from the files it was made from and what became of them.
#[must_use]
pub fn ledger(files: &[SourceFile], ported: &Ported) -> Ledger {
    let before = side(files.iter().map(|file| (file.path.as_str(), file.text.as_str())));
    let after = side(ported.files.iter().map(|file| (file.path.as_str(), file.text.as_str())));
    let (Some(micro_before), Some(micro_after)) = (before.micro_batch, after.micro_batch) else {
        return Ledger::default();
    };
    let one = || Figure::plain("1");
    let mut entries = vec![
        LedgerEntry { quantity: Quantity::MicroBatch, before: micro_before, after: micro_after },
        LedgerEntry {
            quantity: Quantity::Accumulation,
            before: before.accumulation.unwrap_or_else(one),
            after: after.accumulation.unwrap_or_else(one),
        },
        LedgerEntry {
            quantity: Quantity::Replicas,
            before: before.replicas.unwrap_or_else(one),
            after: after.replicas.unwrap_or_else(one),
        },
    ];
    let total = LedgerEntry {
        quantity: Quantity::SamplesPerStep,
        before: product(entries.iter().map(|entry| entry.before.text.as_str())),
        after: product(entries.iter().map(|entry| entry.after.text.as_str())),
    };
    let mut flags = Vec::new();
    if total.before.text != total.after.text {
        flags.push(format!(
            "An optimizer step sees {} samples in place of {}: the learning rate and the number of scheduler steps in an epoch \
             mean something else",
            total.after.text, total.before.text
        ));
    }
    if after.drops_last && !before.drops_last {
        flags.push("The last batch of an epoch is left out when it is not full".to_owned());
    }
    entries.push(total);
    Ledger { entries, flags }
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

fn side<'f>(files: impl Iterator<Item = (&'f str, &'f str)>) -> Side {
    let mut side = Side::default();
    for (path, text) in files.filter(|(path, _)| crate::port::is_python(path)) {
        let tree = Tree::parse(text);
        if tree.has_error() {
            continue;
        }
        let view = FileView::read(path, &tree);
        read_loader(&view, &mut side);
        let argument = |name: &str| {
            let call = view.calls(name).first()?;
            let value = view.index.parts(view.index.field(*call, fields().arguments)?).next()?;
            Some(figure(&view, value))
        };
        side.accumulation = side.accumulation.or_else(|| argument("gradientAccumulation")).or_else(|| divisor(&view));
        if view.names.imports("popdist") {
            side.replicas.get_or_insert_with(|| Figure::plain("replicas of poprun"));
        }
        side.replicas = side.replicas.or_else(|| argument("replicationFactor")).or_else(|| {
            let wrap = view.calls("DistributedDataParallel").first()?;
            Some(Figure { text: "processes".to_owned(), ..figure(&view, *wrap) })
        });
    }
    side
}

/// The loader that shuffles, or has a sampler, trains; without one the first.
fn read_loader(view: &FileView<'_>, side: &mut Side) {
    if side.micro_batch.is_some() {
        return;
    }
    let loaders: Vec<Id> = view
        .calls("DataLoader")
        .iter()
        .copied()
        .filter(|call| {
            let name = view.index.field(*call, fields().function).and_then(|f| view.names.qualify(&view.index, f));
            name.is_some_and(|n| n.starts_with("torch.utils.data") || n.starts_with("poptorch"))
        })
        .collect();
    let trains = |call: &&Id| {
        ["shuffle", "sampler"].iter().any(|name| {
            keyword(view, **call, name).is_some_and(|value| !matches!(view.index.text_of(value), "False" | "None"))
        })
    };
    let Some(loader) = loaders.iter().find(trains).or(loaders.first()).copied() else { return };
    let takes_options = view
        .index
        .field(loader, fields().function)
        .and_then(|f| view.names.qualify(&view.index, f))
        .is_some_and(|name| name.starts_with("poptorch"));
    let positional = view.index.field(loader, fields().arguments).and_then(|arguments| {
        let mut parts = view.index.parts(arguments).filter(|part| view.index.kind(*part) != kinds().keyword_argument);
        parts.nth(if takes_options { 2 } else { 1 })
    });
    let batch = keyword(view, loader, "batch_size").or(positional);
    side.micro_batch = Some(batch.map_or_else(|| Figure::plain("1"), |value| figure(view, value)));
    side.drops_last = keyword(view, loader, "drop_last").is_some_and(|value| view.index.text_of(value) == "True");
}

/// What the training loader of a file is given as its batch.
pub(crate) fn micro_batch(view: &FileView<'_>) -> Option<Figure> {
    let mut side = Side::default();
    read_loader(view, &mut side);
    side.micro_batch
}

/// `n` of `loss / n`, where the quotient is what `backward()` begins at.
fn divisor(view: &FileView<'_>) -> Option<Figure> {
    let index = &view.index;
    view.calls("backward").iter().find_map(|call| {
        let object = index.field(*call, fields().function).and_then(|f| index.field(f, fields().object))?;
        let text = index.text_of(object);
        let quotient = |id: Id| {
            let (left, right) = index.text_of(id).trim_matches(['(', ')']).rsplit_once('/')?;
            let divisor = right.trim();
            let is_name = divisor.chars().all(|c| c.is_alphanumeric() || "._".contains(c)) && !divisor.is_empty();
            (is_name && !left.ends_with('/')).then(|| Figure { text: divisor.to_owned(), ..figure(view, id) })
        };
        quotient(object).or_else(|| {
            let assignments = index.of_kind(kinds().assignment).iter().copied();
            let of_loss = |a: &Id| index.field(*a, fields().left).is_some_and(|left| index.text_of(left) == text);
            assignments
                .filter(|a| a < call)
                .filter(of_loss)
                .filter_map(|a| index.field(a, fields().right))
                .find_map(quotient)
        })
    })
}

/// The argument of that name in a call.
pub(crate) fn keyword(view: &FileView<'_>, call: Id, name: &str) -> Option<Id> {
    let index = &view.index;
    let arguments = index.field(call, fields().arguments)?;
    index
        .parts(arguments)
        .filter(|part| index.kind(*part) == kinds().keyword_argument)
        .find(|part| index.field(*part, fields().name).is_some_and(|n| index.text_of(n) == name))
        .and_then(|part| index.field(part, fields().value))
}

fn figure(view: &FileView<'_>, id: Id) -> Figure {
    let start = view.index.item(id).start;
    let line = 1 + view.index.text[..start].matches('\n').count();
    Figure { text: view.index.text_of(id).to_owned(), place: Some((view.path.to_owned(), line)) }
}

#[cfg(test)]
mod tests {
    use super::{Quantity, ledger};
    use crate::{Options, RecipeSet, SourceFile, Style, port};

    const STEP: &str = "import torch\nfrom torch.utils.data import DataLoader\n\nnet = torch.nn.Linear(4, 2)\n\
        criterion = torch.nn.CrossEntropyLoss()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\
        loader = DataLoader(data, batch_size=SIZE, shuffle=True)\n\n\ndef train():\n    for image, label in loader:\n        \
        opt.zero_grad()\n        loss = criterion(net(image), label)\n        loss.backward()\n        opt.step()\n";

    /// Before and after of the samples that a step sees, and the number of flags.
    fn check(text: &str, target: &str, expected: Option<(&str, &str, usize)>) {
        let files = [SourceFile { path: "a.py".to_owned(), text: text.to_owned() }];
        let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
        let ported = port(&files, &RecipeSet::embedded(), &options);
        let ledger = ledger(&files, &ported);
        let total = ledger.entries.iter().find(|entry| entry.quantity == Quantity::SamplesPerStep);
        let read = total.map(|t| (t.before.text.as_str(), t.after.text.as_str(), ledger.flags.len()));
        assert_eq!(read, expected, "{target}: {ledger:#?}\n{}", ported.files[0].text);
    }

    #[test]
    fn samples_of_a_step() {
        check(&STEP.replace("SIZE", "32"), "hpu", Some(("32", "32", 0)));
        check(&STEP.replace("SIZE", "32"), "ipu", Some(("32", "32", 1)));
        check(
            &STEP.replace("SIZE", "args.batch"),
            "popdist",
            Some(("args.batch", "args.batch × replicas of poprun", 2)),
        );
        check("import torch\nx = torch.zeros(1).cuda()\n", "hpu", None);
        check("import torch\nloader = torch.utils.data.DataLoader(data, 8)\nbroken(\n", "hpu", None);
    }

    #[test]
    fn accumulation_counts() {
        let by_hand = STEP
            .replace("SIZE", "8")
            .replace("loss = criterion(net(image), label)", "loss = criterion(net(image), label) / 4");
        check(&by_hand, "hpu", Some(("32", "32", 0)));
    }
}
