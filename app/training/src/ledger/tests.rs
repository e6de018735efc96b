use super::{Quantity, Words, ledgers};
use crate::marked::{self, Marked, with_setup};
use crate::view::FileView;
use guide::{AutocastType, LedgerTerms};
use python::Tree;

/// What a text of a ledger says, with the names of messages in place of their sentences.
fn said(words: &Words) -> String {
    match words {
        Words::Plain(text) => text.clone(),
        Words::Product(factors) => factors.iter().map(said).collect::<Vec<_>>().join(" × "),
        Words::Message(name, slots) if slots.is_empty() => (*name).to_owned(),
        Words::Message(name, slots) => {
            let values = slots.iter().map(|(_, value)| said(value)).collect::<Vec<_>>();
            format!("{name}({})", values.join(", "))
        }
    }
}

/// The ledger of a program that is its own port.
fn entries(at: &Marked<'_, '_>, quantity: Quantity) -> String {
    let views = at.project_views();
    let found = ledgers(&views, &views, &LedgerTerms::default());
    let entries = found.iter().flat_map(|ledger| &ledger.entries).filter(|entry| entry.quantity == quantity);
    entries.map(|entry| said(&entry.before.words)).collect::<Vec<_>>().join("; ")
}

#[track_caller]
fn check(quantity: Quantity, rest: &str, expected: &str) {
    marked::check(&with_setup(rest), expected, |at| entries(at, quantity));
}

const STEP: &str = "for i, (x, y) in enumerate(loader):\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n";

#[test]
fn samples_of_a_step() {
    check(Quantity::MicroBatch, &format!("{STEP}    optimizer.step()\n"), "8");
    check(Quantity::SamplesPerStep, &format!("{STEP}    optimizer.step()\n"), "8");
    check(Quantity::SamplesPerStep, "x = net(y)\n", "");
    let accumulates = format!("{STEP}    if (i + 1) % 4 == 0:\n        optimizer.step()\n");
    check(Quantity::Accumulation, &accumulates, "4");
    check(Quantity::SamplesPerStep, &accumulates, "32");
    check(Quantity::SamplesPerStep, &accumulates.replace("% 4", "% args.n"), "8 × args.n");
}

#[test]
fn a_sampler_sets_the_samples() {
    let made = |batches: &str| {
        format!("loader = torch.utils.data.DataLoader(data, batch_sampler={batches})\n{STEP}    optimizer.step()\n")
    };
    check(Quantity::SamplesPerStep, &made("torch.utils.data.BatchSampler(s, 4, True)"), "4");
    check(Quantity::SamplesPerStep, &made("buckets"), "batch_of_sampler(buckets)");
    check(Quantity::MicroBatch, &made("buckets"), "batch_of_sampler(buckets)");
}

#[test]
fn batches_that_are_accumulated() {
    let check = |rest: &str, expected: &str| check(Quantity::Accumulation, rest, expected);
    check(&format!("{STEP}    if i % 4:\n        continue\n    optimizer.step()\n"), "4");
    check("for e in r:\n    for _ in range(2):\n        net(x).backward()\n    optimizer.step()\n", "2");
    check(&format!("{STEP}    scale(loss, optimizer, update=(i + 1) % 4 == 0)\n"), "4");
    check(&format!("accelerator = Accelerator(gradient_accumulation_steps=4)\n{STEP}    optimizer.step()\n"), "4");
    check(&format!("accelerator = Accelerator(gradient_accumulation_steps=1)\n{STEP}    optimizer.step()\n"), "1");
    let parts = "for x, y in loader:\n    for a in x.chunk(2):\n        net(a).backward()\n    optimizer.step()\n";
    check(parts, "2");
    super::tests::check(Quantity::MicroBatch, parts, "4");
}

#[test]
fn how_losses_and_gradients_are_reduced() {
    let check = |rest: &str, expected: &str| check(Quantity::LossReduction, rest, expected);
    let step = format!("{STEP}    optimizer.step()\n");
    check(&step, "reduced_over_batch(mean)");
    check(&step.replace("(x), y)", "(x), y, reduction='sum')"), "reduced_over_batch(sum)");
    check(&step.replace("(x), y)", "(x), y, size_average=False)"), "reduced_over_batch(sum)");
    check(&step.replace("F.mse_loss", "own"), "");
    let accumulates = format!("{STEP}    if (i + 1) % 4 == 0:\n        optimizer.step()\n");
    check(&accumulates, "reduced_over_accumulated(reduced_over_batch(mean), sum)");
    let divided = accumulates.replace("loss.backward()", "loss /= 4\n    loss.backward()");
    check(&divided, "reduced_over_accumulated(reduced_over_batch(mean), mean)");
    let wrapped = format!("net = nn.parallel.DistributedDataParallel(net)\n{step}");
    check(&wrapped, "reduced_over_replicas(reduced_over_batch(mean), mean)");
}

#[test]
fn when_the_scheduler_steps() {
    let made = "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)\n";
    let check = |rest: &str, expected: &str| check(Quantity::SchedulerSteps, &format!("{made}{rest}\n"), expected);
    check(&format!("{STEP}    optimizer.step()\n    scheduler.step()"), "scheduler_each_step");
    check(&format!("{STEP}    optimizer.step()\nscheduler.step()"), "scheduler_outside_loop");
    check(
        &format!("{STEP}    if i % 4 == 0:\n        optimizer.step()\n    scheduler.step()"),
        "scheduler_each_batch(4)",
    );
    check(
        &format!("{STEP}    if i % 4 == 0:\n        optimizer.step()\n        scheduler.step()"),
        "scheduler_each_step",
    );
    check(&format!("{STEP}    optimizer.step()"), "");
}

#[test]
fn the_types_of_a_step() {
    let step = |with: &str| {
        format!(
            "for x, y in loader:\n    with {with}:\n        loss = net(x)\n    loss.backward()\n    optimizer.step()\n"
        )
    };
    let check = |rest: &str, expected: &str| check(Quantity::Precision, rest, expected);
    check(&step("torch.no_grad()"), "");
    check(&step("torch.autocast('cuda')"), "autocast_to(float16)");
    check(&step("torch.autocast('cpu')"), "autocast_to(bfloat16)");
    check(&step("torch.autocast('cuda', dtype=torch.bfloat16)"), "autocast_to(bfloat16)");
    check(&step("torch.autocast('cuda', enabled=False)"), "");
    check(&step("torch.autocast('cuda', enabled=args.amp)"), "autocast_under_test(float16, args.amp)");
    let scaled = format!("scaler = torch.amp.GradScaler()\n{}", step("torch.autocast('cuda')"));
    check(&scaled, "autocast_with_scaler(autocast_to(float16))");
    check(&format!("net = net.half()\n{}", step("torch.no_grad()")), "float16");
}

#[test]
fn what_a_port_changes() {
    let check = |before: &str, after: &str, expected: &[&str]| {
        let (old, new) = (Tree::parse(&with_setup(before)), Tree::parse(&with_setup(after)));
        let views = [&old, &new].map(|tree| FileView::read("train.py", tree));
        let found = ledgers(&[&views[0]], &[&views[1]], &LedgerTerms::default());
        let changes: Vec<String> = found.iter().flat_map(|ledger| ledger.changes.iter().map(said)).collect();
        assert_eq!(changes, expected, "{before} -> {after}");
    };
    let plain = format!("{STEP}    optimizer.step()\n");
    check(&plain, &plain, &[]);
    let accumulates = format!("{STEP}    if (i + 1) % 4 == 0:\n        optimizer.step()\n");
    check(&accumulates, &plain, &["samples_changed(8, 32)"]);
    check(&format!("again = torch.utils.data.DataLoader(data, 8, drop_last=False)\n{plain}"), &plain, &[]);
    let cast = plain.replace("loss.backward()", "with torch.autocast('cuda'):\n        pass\n    loss.backward()");
    check(&plain, &cast, &["precision_changed(autocast_to(float16), float32)"]);
}

#[test]
fn a_scaler_that_is_off_on_the_target_scales_nothing() {
    let autocast = AutocastType { device: "hpu".to_owned(), dtype: "bfloat16".to_owned() };
    let terms = LedgerTerms { autocast: Some(autocast), ..LedgerTerms::default() };
    let program = |scaler: &str, device: &str| {
        format!(
            "scaler = torch.amp.GradScaler({scaler})\nfor x, y in loader:\n    with torch.autocast({device}):\n        net(x).backward()\n    optimizer.step()\n"
        )
    };
    let after = |off: &str| {
        let texts = [program("'cuda', enabled=amp", "'cuda'"), program(&format!("'hpu', enabled={off}"), "'hpu'")];
        let trees = texts.map(|text| Tree::parse(&with_setup(&text)));
        let [old, new] = [&trees[0], &trees[1]].map(|tree| FileView::read("train.py", tree));
        let found = ledgers(&[&old], &[&new], &terms);
        let changes: Vec<String> = found.iter().flat_map(|ledger| ledger.changes.iter().map(said)).collect();
        changes.join("; ")
    };
    let changed = |new: &str| format!("precision_changed({new}, autocast_with_scaler(autocast_to(float16)))");
    assert_eq!(after("amp"), changed("autocast_with_scaler(autocast_to(bfloat16))"));
    for off in
        ["device.type != 'hpu'", "device.type != 'hpu' and bool(amp)", "not torch.hpu.is_available() and a and b"]
    {
        assert_eq!(after(off), changed("autocast_to(bfloat16)"), "{off}");
    }
}

#[test]
fn products_and_texts_that_mean_the_same() {
    let product =
        |factors: &[&str]| said(&Words::product(factors.iter().map(|f| Words::from(*f)).collect::<Vec<_>>().iter()));
    assert_eq!(product(&["8", "4", "1"]), "32");
    assert_eq!(product(&["8", "n", "2"]), "16 × n");
    assert_eq!(product(&["1", "n"]), "n");
    let alike = |one: &str, other: &str| Words::from(one).alike(&Words::from(other));
    assert!(alike("self.count", "count") && alike("args.n", "self.args.n"));
    assert!(!alike("count", "counts"));
}
