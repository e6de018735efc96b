//! The ledgers of a port: its arithmetic before and after, with the texts of the guides.

use crate::definitions::{Definitions, Said};
use crate::port::Views;
use crate::recipe::RecipeSet;
use serde::{Deserialize, Serialize};
use sorting::SortedSet;
use std::rc::Rc;
use training::ledger::{ProgramLedger, Reading};
use training::{FileView, Quantity, Words};

/// The arithmetic of a program of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The programs to which it applies, by the paths of their files; none for files that no program of the project
    /// reaches.
    pub programs: Vec<String>,
    /// The factors of a step's number of samples, then the product, then other properties of a step.
    pub entries: Vec<LedgerEntry>,
    /// Changes of meaning, each a sentence without its full stop.
    pub flags: Vec<String>,
}

/// One quantity before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Its kind.
    pub quantity: Quantity,
    /// Its label.
    pub name: String,
    /// In the original.
    pub before: Figure,
    /// In the port.
    pub after: Figure,
}

/// A number, an expression or a few words, with its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// `32`, `args.batch_size`, `32 × processes`.
    pub text: String,
    /// Path and line, from 1; none for a default and for a product.
    pub place: Option<(String, usize)>,
}

/// Reads the ledgers of a port to a target from the original files and the ported ones: one for each program that
/// trains, the most likely first.
#[must_use]
pub fn ledgers(views: &Views<'_>, target: &str, recipes: &RecipeSet) -> Vec<Ledger> {
    let facts = recipes.target_facts(target);
    // A step that a target could not port has no figures of a port.
    let is_read = |after: &FileView<'_>| !recipes.ports_steps(target) || !facts.keeps_training_step(after);
    let read: SortedSet<&str> = views.after.iter().filter(|view| is_read(view)).map(|view| view.path).collect();
    let [before, after] = [&views.before, &views.after].map(|views| {
        views.iter().map(Rc::as_ref).filter(|view| read.contains(view.path)).collect::<Vec<&FileView<'_>>>()
    });
    let read = training::ledger::ledgers(&before, &after, &facts.ledger);
    let definitions = recipes.definitions(target);
    read.into_iter().map(|ledger| in_words(ledger, definitions)).collect()
}

fn in_words(ledger: ProgramLedger, definitions: &Definitions) -> Ledger {
    let figure = |Reading { words, place }| Figure { text: text(&words, definitions), place };
    let entries = ledger.entries.into_iter().map(|entry| LedgerEntry {
        quantity: entry.quantity,
        name: text(&entry.quantity.name(), definitions),
        before: figure(entry.before),
        after: figure(entry.after),
    });
    let entries = entries.collect();
    let flags = ledger.changes.iter().map(|change| text(change, definitions)).collect();
    Ledger { programs: ledger.programs, entries, flags }
}

/// Texts of a ledger from the guides.
pub(crate) fn text(words: &Words, definitions: &Definitions) -> String {
    match words {
        Words::Plain(text) => text.clone(),
        Words::Product(factors) => {
            let factor = |factor: &Words| match factor {
                Words::Plain(text) if text.contains(['+', '-', '/']) => format!("({text})"),
                other => text(other, definitions),
            };
            factors.iter().map(factor).collect::<Vec<_>>().join(" × ")
        }
        Words::Message(name, slots) => {
            let slots = slots.iter().map(|(slot, words)| (*slot, text(words, definitions))).collect();
            definitions.message(&Said { name, slots }).0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ledger, ledgers};
    use crate::{Options, Ported, RecipeSet, SourceFile, Style, port_with_views};
    use python::Trees;
    use training::Quantity;

    const STEP: &str = "import torch\nfrom torch.utils.data import DataLoader\n\nnet = torch.nn.Linear(4, 2)\n\
        criterion = torch.nn.CrossEntropyLoss()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\
        loader = DataLoader(data, batch_size=SIZE, shuffle=True)\n\n\ndef train():\n    for image, label in loader:\n        \
        opt.zero_grad()\n        loss = criterion(net(image), label)\n        loss.backward()\n        opt.step()\n";

    /// A port and its ledgers.
    fn ported(files: &[SourceFile], target: &str) -> (Ported, Vec<Ledger>) {
        let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
        let (recipes, trees) = (RecipeSet::embedded(), Trees::default());
        let (ported, views) = port_with_views(files, recipes, &options, &trees);
        let ledgers = ledgers(&views, target, recipes);
        (ported, ledgers)
    }

    /// The ledger of a text that is one program, or none.
    fn one(ledgers: Vec<Ledger>) -> Ledger {
        assert!(ledgers.len() < 2, "{ledgers:#?}");
        ledgers.into_iter().next().unwrap_or_default()
    }

    /// Before and after of the samples that a step sees, and the number of flags.
    fn check(text: &str, target: &str, expected: Option<(&str, &str, usize)>) {
        let files = [SourceFile { path: "a.py".to_owned(), text: text.to_owned() }];
        let (ported, ledgers) = ported(&files, target);
        let ledger = one(ledgers);
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

    /// The replicas of an instance divide the batch that a loader of PyTorch gives them.
    #[test]
    fn a_loader_in_another_file() {
        let (step, loader) =
            (STEP.replace("loader = ", "# loader = "), "DataLoader(data, batch_size=32, shuffle=True)");
        let main = format!("from torch.utils.data import DataLoader\nimport a\n\na.loader = {loader}\na.train()\n");
        let files = [("a.py", step), ("main.py", main)];
        let files = files.map(|(path, text)| SourceFile { path: path.to_owned(), text });
        let ledger = one(ported(&files, "popdist").1);
        let total = ledger.entries.iter().find(|entry| entry.quantity == Quantity::SamplesPerStep);
        assert_eq!(total.map(|entry| entry.after.text.as_str()), Some("32 × instances of poprun"), "{ledger:#?}");
    }

    /// Before and after of a quantity, and the flags that contain `word`.
    fn check_entry(
        text: &str,
        target: &str,
        quantity: Quantity,
        expected: Option<(&str, &str)>,
        word: &str,
        flags: usize,
    ) {
        let files = [SourceFile { path: "a.py".to_owned(), text: text.to_owned() }];
        let (ported, ledgers) = ported(&files, target);
        let ledger = one(ledgers);
        let entry = ledger.entries.iter().find(|entry| entry.quantity == quantity);
        let read = entry.map(|entry| (entry.before.text.as_str(), entry.after.text.as_str()));
        assert_eq!(read, expected, "{target}: {ledger:#?}\n{}", ported.files[0].text);
        let spoken = ledger.flags.iter().filter(|flag| flag.contains(word)).count();
        assert_eq!(spoken, flags, "{target}: {:#?}", ledger.flags);
    }

    #[test]
    fn cards_that_share_a_batch_are_not_counted() {
        let with = STEP.replace("SIZE", "32").replace("criterion =", "net = torch.nn.DataParallel(net)\ncriterion =");
        let split = "1, with the batch split over DataParallel's cards";
        check_entry(&with, "hpu", Quantity::Replicas, Some((split, split)), "no longer split", 0);
        check_entry(&with, "ipu", Quantity::Replicas, Some((split, "1")), "no longer split", 1);
        check_entry(&with, "hpu", Quantity::SamplesPerStep, Some(("32", "32")), "samples", 0);
    }

    #[test]
    fn the_loss_is_that_of_training() {
        let evaluate = "\n\ndef evaluate(net, loader):\n    with torch.no_grad():\n        \
            return sum(torch.nn.functional.mse_loss(net(x), y, reduction=\"sum\") for x, y in loader)\n";
        let text = STEP.replace("SIZE", "32").replace("\n\n\ndef train", &format!("\n{evaluate}\n\ndef train"));
        let text = text.replace("criterion = torch.nn.CrossEntropyLoss()\n", "");
        let text = text.replace("criterion(net(image), label)", "torch.nn.functional.mse_loss(net(image), label)");
        let mean = Some(("mean over a batch", "mean over a batch"));
        check_entry(&text, "hpu", Quantity::LossReduction, mean, "sum", 0);
    }

    #[test]
    fn a_framework_divides_the_loss_and_steps_the_scheduler() {
        let text = STEP.replace("SIZE", "32").replace("loss.backward()", "accelerator.backward(loss)");
        let text = text.replace("import torch\n", "import torch\nfrom accelerate import Accelerator\n");
        let own = "accelerator = Accelerator(gradient_accumulation_steps=4)\nplan = torch.optim.lr_scheduler.StepLR(opt, 2)\nloader";
        let text = text
            .replace("loader =", &format!("{own} ="))
            .replace("        opt.step()\n", "        opt.step()\n        plan.step()\n");
        let mean = "mean over a batch, mean over accumulated batches";
        check_entry(&text, "hpu", Quantity::LossReduction, Some((mean, mean)), "gradients", 0);
        let each = "after every optimizer step";
        check_entry(&text, "hpu", Quantity::SchedulerSteps, Some((each, each)), "scheduler", 0);
    }

    #[test]
    fn a_step_that_is_not_ported_has_no_figures() {
        let two = STEP.replace("SIZE", "32").replace("loss.backward()", "loss.backward()\n        loss.backward()");
        check(&two, "ipu", None);
        check(&two, "hpu", Some(("32", "32", 0)));
    }

    #[test]
    fn a_batch_in_parts() {
        let parts = STEP.replace(
            "        loss = criterion(net(image), label)\n        loss.backward()\n",
            "        for a, b in zip(image.chunk(4), label.chunk(4)):\n            loss = criterion(net(a), b) / 4\n            loss.backward()\n",
        );
        check(&parts.replace("SIZE", "32"), "hpu", Some(("32", "32", 0)));
        // Only the smaller last batch is removed: the loader's batch is unchanged.
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
        // Twice: that the last batch is dropped, and that the loader counts steps.
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
        let each = Some(("after every optimizer step", "after every optimizer step"));
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
            let (ported, ledgers) = ported(&files, target);
            let ledger = one(ledgers);
            let types = ledger.entries.iter().find(|entry| entry.quantity == Quantity::Precision);
            assert_eq!(
                types.map(|t| (t.before.text.as_str(), t.after.text.as_str())),
                expected,
                "{target}: {ledger:#?}"
            );
            let differs = types.is_some_and(|t| t.before.text != t.after.text);
            assert_eq!(ledger.flags.iter().any(|flag| flag.starts_with("This code computes in")), differs);
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
        // The test names the target's device in the port.
        let tested = cast("torch.autocast('cuda', dtype=torch.bfloat16, enabled=image.device.type == 'cuda')");
        let same = "autocast to bfloat16 if image.device.type == 'cuda'";
        check(&tested, "hpu", Some((same, same)));
        check(&tested, "xpu", Some((same, same)));
        let short = cast("torch.autocast('cuda', dtype=torch.float16)");
        check(&short, "hpu", Some(("autocast to float16", "autocast to bfloat16")));
        check(&cast("torch.autocast('cuda', enabled=False)"), "ipu", None);
        let older = cast("torch.cuda.amp.autocast(args.amp)");
        check(&older, "hpu", Some(("autocast to float16 if args.amp", "autocast to bfloat16 if args.amp")));
        // An SDK whose mixed precision is another library: CUDA's context casts nothing.
        let options = Options { target: "hpu".to_owned(), sdk: Some("1.8".to_owned()), ..Options::default() };
        let files = [SourceFile { path: "a.py".to_owned(), text: older }];
        let (recipes, trees) = (RecipeSet::embedded(), Trees::default());
        let (_, views) = port_with_views(&files, recipes, &options, &trees);
        let ledger = one(ledgers(&views, "hpu", recipes));
        let types = ledger.entries.iter().find(|entry| entry.quantity == Quantity::Precision);
        assert_eq!(types.map(|t| t.after.text.as_str()), Some("float32"), "{ledger:#?}");
    }
}
