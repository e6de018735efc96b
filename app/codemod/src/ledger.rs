//! The ledger of a port: how many samples an optimizer step sees before and after, how the scheduler steps, how losses and
//! gradients are reduced, and what of that changes.
//!
//! Figures are read off the source, as literals or as the expressions that stand there; what can't be read is left out, and a
//! product with an expression in it stays one. Nothing is evaluated.

mod precision;
mod side;

use crate::ported::{Ported, SourceFile};
use serde::{Deserialize, Serialize};
use side::{Side, side};

pub(crate) use precision::{Precision, changed};
pub(crate) use side::{keyword, micro_batch};

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

    fn one() -> Self {
        Self::plain("1")
    }
}

/// Reads the ledger of a port from the files it was made from and what became of them.
#[must_use]
pub fn ledger(files: &[SourceFile], ported: &Ported) -> Ledger {
    let before = side(files.iter().map(|file| (file.path.as_str(), file.text.as_str())));
    let after = side(ported.files.iter().map(|file| (file.path.as_str(), file.text.as_str())));
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

    /// Before and after of a quantity, and the flags that speak of `word`.
    fn check_entry(
        text: &str,
        target: &str,
        quantity: Quantity,
        expected: Option<(&str, &str)>,
        word: &str,
        flags: usize,
    ) {
        let files = [SourceFile { path: "a.py".to_owned(), text: text.to_owned() }];
        let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
        let ported = port(&files, &RecipeSet::embedded(), &options);
        let ledger = ledger(&files, &ported);
        let entry = ledger.entries.iter().find(|entry| entry.quantity == quantity);
        let read = entry.map(|entry| (entry.before.text.as_str(), entry.after.text.as_str()));
        assert_eq!(read, expected, "{target}: {ledger:#?}\n{}", ported.files[0].text);
        let spoken = ledger.flags.iter().filter(|flag| flag.contains(word)).count();
        assert_eq!(spoken, flags, "{target}: {:#?}", ledger.flags);
    }

    #[test]
    fn a_batch_in_parts() {
        let parts = STEP.replace(
            "        loss = criterion(net(image), label)\n        loss.backward()\n",
            "        for a, b in zip(image.chunk(4), label.chunk(4)):\n            loss = criterion(net(a), b) / 4\n            loss.backward()\n",
        );
        check(&parts.replace("SIZE", "32"), "hpu", Some(("32", "32", 0)));
        // Only the last, smaller batch goes: the loader's batch stays what it was.
        check(&parts.replace("SIZE", "32"), "ipu", Some(("32", "32", 1)));
        let named = parts.replace("SIZE", "args.size");
        check_entry(&named, "ipu", Quantity::Accumulation, Some(("4", "4")), "samples", 0);
        let part = Some(("args.size // 4", "args.size // 4"));
        check_entry(&named, "ipu", Quantity::MicroBatch, part, "samples", 0);
    }

    #[test]
    fn a_batch_in_a_table() {
        let with = |table: &str| format!("{table}\n{}", STEP.replace("batch_size=SIZE, shuffle=True", "**common"));
        check(&with("common = {'batch_size': 32, 'shuffle': True}"), "hpu", Some(("32", "32", 0)));
        check(&with("common = dict(batch_size=args.size)"), "hpu", Some(("args.size", "args.size", 0)));
        check(&with("common = dict(shuffle=True)"), "hpu", Some(("1", "1", 0)));
        check(&with("common = settings()"), "hpu", Some(("common[\"batch_size\"]", "common[\"batch_size\"]", 0)));
        check(&STEP.replace("batch_size=SIZE, shuffle=True", "16, **common"), "ipu", Some(("16", "16", 1)));
    }

    #[test]
    fn batches_counted_under_a_name() {
        let named = STEP
            .replace("SIZE", "8")
            .replace(
                "for image, label in loader:",
                "for i, (image, label) in enumerate(loader):\n        last = i % 4 == 3",
            )
            .replace("        opt.zero_grad()\n", "")
            .replace("        opt.step()\n", "        if last:\n            opt.step()\n            opt.zero_grad()\n");
        check(&named, "hpu", Some(("32", "32", 0)));
        // Twice: that the last batch goes, and that the loader counts steps.
        check(&named, "ipu", Some(("32", "32", 2)));
        let skipped = named.replace("last = i % 4 == 3", "pass").replace(
            "if last:\n            opt.step()\n            opt",
            "if i % 4 != 3:\n            continue\n        opt.step()\n        opt",
        );
        check(&skipped, "hpu", Some(("32", "32", 0)));
        check(&skipped, "ipu", Some(("32", "32", 2)));
    }

    #[test]
    fn a_scheduler_steps_by_batch_or_by_epoch() {
        let with = |after_step: &str, after_loop: &str| {
            STEP.replace("SIZE", "8").replace(
                "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n",
                "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nsched = torch.optim.lr_scheduler.StepLR(opt, 1)\n",
            ) + after_step
                + after_loop
        };
        let steps = Quantity::SchedulerSteps;
        let each = Some(("with every optimizer step", "with every optimizer step"));
        check_entry(&with("        sched.step()\n", ""), "hpu", steps, each, "scheduler steps", 0);
        check_entry(&with("        sched.step()\n", ""), "ipu", steps, each, "scheduler steps", 0);
        let behind = Some(("outside the loop over batches", "outside the loop over batches"));
        check_entry(&with("", "    sched.step()\n"), "ipu", steps, behind, "scheduler steps", 0);
        check_entry(&STEP.replace("SIZE", "8"), "ipu", steps, None, "scheduler steps", 0);
    }

    #[test]
    fn losses_and_gradients_become_one() {
        let sum = STEP.replace("SIZE", "8").replace("CrossEntropyLoss()", "CrossEntropyLoss(reduction=\"sum\")");
        let reduction = Quantity::LossReduction;
        check_entry(&sum, "hpu", reduction, Some(("sum over a batch", "sum over a batch")), "gradients", 0);
        let by_turns = |divided: &str| {
            STEP.replace("SIZE", "8")
                .replace("for image, label in loader:", "for i, (image, label) in enumerate(loader):")
                .replace("        opt.zero_grad()\n", "")
                .replace("criterion(net(image), label)", &format!("criterion(net(image), label){divided}"))
                .replace(
                    "        opt.step()\n",
                    "        if (i + 1) % 4 == 0:\n            opt.step()\n            opt.zero_grad()\n",
                )
        };
        let mean = "mean over a batch, mean over accumulated batches";
        check_entry(&by_turns(" / 4"), "ipu", reduction, Some((mean, mean)), "gradients", 0);
        let scaled = by_turns(" / 4").replace("loss.backward()", "torch.amp.GradScaler().scale(loss).backward()");
        check_entry(&scaled, "hpu", reduction, Some((mean, mean)), "gradients", 0);
        let added = "mean over a batch, sum over accumulated batches";
        check_entry(&by_turns(""), "ipu", reduction, Some((added, added)), "gradients", 0);
        check_entry(&by_turns(""), "hpu", Quantity::Accumulation, Some(("4", "4")), "gradients", 0);
    }

    #[test]
    fn accumulation_counts() {
        let inner = STEP.replace("SIZE", "8").replace(
            "        loss = criterion(net(image), label)\n        loss.backward()\n",
            "        for part in range(4):\n            loss = criterion(net(image[part]), label[part]) / 4\n            loss.backward()\n",
        );
        check(&inner, "hpu", Some(("32", "32", 0)));
        // A quotient alone accumulates nothing.
        check(
            &STEP.replace("SIZE", "8").replace("net(image), label)", "net(image), label) / 4"),
            "hpu",
            Some(("8", "8", 0)),
        );
    }

    #[test]
    fn types_of_a_step() {
        let check = |text: &str, target: &str, expected: Option<(&str, &str)>| {
            let files = [SourceFile { path: "a.py".to_owned(), text: text.to_owned() }];
            let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
            let ported = port(&files, &RecipeSet::embedded(), &options);
            let ledger = ledger(&files, &ported);
            let types = ledger.entries.iter().find(|entry| entry.quantity == Quantity::Precision);
            assert_eq!(
                types.map(|t| (t.before.text.as_str(), t.after.text.as_str())),
                expected,
                "{target}: {ledger:#?}"
            );
            let differs = types.is_some_and(|t| t.before.text != t.after.text);
            assert_eq!(ledger.flags.iter().any(|flag| flag.starts_with("The step computes in")), differs);
            let told =
                ported.files[0].diagnostics.iter().any(|d| d.recipe == "engine#precision" && d.original.line == 12);
            assert_eq!(told, differs && text.contains("autocast"), "{target}: {:#?}", ported.files[0].diagnostics);
        };
        let plain = STEP.replace("SIZE", "8");
        let cast = |autocast: &str| {
            let body = format!("        with {autocast}:\n            loss = criterion(net(image), label)\n");
            plain.replace(
                "        opt.zero_grad()\n        loss = criterion(net(image), label)\n",
                &format!("{body}        opt.zero_grad()\n"),
            )
        };
        check(&plain, "hpu", None);
        check(&plain, "rdu", Some(("float32", "bfloat16")));
        let half = cast("torch.autocast('cuda', enabled=args.amp)");
        check(&half, "ipu", Some(("autocast to float16 if args.amp", "float32")));
        check(&half, "popdist", Some(("autocast to float16 if args.amp", "float32")));
        check(&half, "rdu", Some(("autocast to float16 if args.amp", "bfloat16")));
        let brain = cast("torch.autocast(device_type='cuda', dtype=torch.bfloat16)");
        check(&brain, "hpu", Some(("autocast to bfloat16", "autocast to bfloat16")));
        let short = cast("torch.autocast('cuda', dtype=torch.float16)");
        check(&short, "hpu", Some(("autocast to float16", "autocast to bfloat16")));
        check(&cast("torch.autocast('cuda', enabled=False)"), "ipu", None);
        let older = cast("torch.cuda.amp.autocast(args.amp)");
        check(&older, "hpu", Some(("autocast to float16 if args.amp", "autocast to bfloat16 if args.amp")));
    }
}
