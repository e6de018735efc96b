//! The lines of a step: those that a port writes, and those of a refused one, which stay.

use super::{HEAD, check_has, check_refused, step_lines, to_ipu, training};
use crate::ports::{SCRIPT, check_said, ported, ported_script};

#[test]
fn statements_on_one_line_get_a_line_each() {
    let line =
        "    out = model(x); loss = F.mse_loss(out, y); optimizer.zero_grad(); loss.backward(); optimizer.step()\n";
    let (ported, said) = to_ipu(&format!("{HEAD}for x, y in loader:\n{line}"));
    assert!(ported.ends_with("training_step(x, y)\n    loss = loss.mean()\n"), "{said}{ported}");
    for line in ["optimizer.zero_grad(); loss.backward(); optimizer.step()", "loss.backward(); optimizer.step()"] {
        let text = format!("{HEAD}for x, y in loader:\n    loss = F.mse_loss(model(x), y)\n    {line}\n");
        let (ported, said) = to_ipu(&text);
        assert!(ported.ends_with("training_step(x, y)\n    loss = loss.mean()\n"), "{said}{ported}");
        let (ported, said) = to_ipu(&text.replace("step()\n", "step(); n += 1\n"));
        assert!(ported.ends_with("training_step(x, y)\n    loss = loss.mean()\n    n += 1\n"), "{said}{ported}");
    }
    let line = "    F.mse_loss(model(x), y).backward(); optimizer.step(); optimizer.zero_grad()\n";
    let (ported, said) = to_ipu(&format!("{HEAD}for x, y in loader:\n{line}"));
    assert!(ported.ends_with("training_step(x, y)\n    loss = loss.mean()\n"), "{said}{ported}");
    check_refused(
        &format!("{HEAD}for x, y in loader:\n{}", line.replace("y).back", "y.item()).back")),
        "7: Not ported: a tensor is converted",
    );
}

#[test]
fn a_comment_inside_a_statement_of_the_step_leaves_all_of_the_step() {
    for loss in [
        "    loss = F.mse_loss(\n        out,  # of this batch\n        y,\n    )\n    loss.backward()\n",
        "    F.mse_loss(\n        out,  # of this batch\n        y,\n    ).backward()\n",
    ] {
        let text = format!(
            "{HEAD}for x, y in loader:\n    out = model(x)\n{loss}    optimizer.step()\n    optimizer.zero_grad()\n"
        );
        for target in ["ipu", "popdist"] {
            let (ported, said) = ported_script(target, &text);
            let kept = [loss, "    out = model(x)\n", "    optimizer.step()\n    optimizer.zero_grad()\n"];
            assert!(kept.iter().all(|part| ported.contains(part)), "{target}: {ported}");
            assert!(said.contains("8: Not ported"), "{target}: {said}");
        }
    }
}

#[test]
fn steps_of_one_file_get_modules_of_their_own() {
    let function = |name: &str, loss: &str| {
        let body = step_lines(loss, 1).replace('\n', "\n    ");
        let body = body.trim_end();
        format!("def {name}(model, optimizer, loader):\n    for x, y in loader:\n    {body}\n\n\n")
    };
    let (first, second, third) = (function("warm_up", "1"), function("train", "2"), function("left", "3"));
    let calls = "warm_up(model, optimizer, loader)\ntrain(model, optimizer, loader)\n";
    let (ported, said) = to_ipu(&format!("{HEAD}\n\n{first}{second}{third}{calls}"));
    assert!(ported.contains("class WarmUpStep(") && ported.contains("class TrainStep("), "{said}{ported}");
    assert!(ported.contains("ipu_training_step(TrainStep, optimizer, ") && !ported.contains("LeftStep"), "{ported}");
    assert!(ported.contains(third.trim_end()), "{ported}");
    // A refused step prevents the others: they may train the same weights.
    let refused = second.replace("loss.backward()", "loss.backward(error)");
    let text = format!("{HEAD}\n\n{first}{refused}{calls}");
    let (ported, said) = to_ipu(&text);
    assert!(ported == text && said.contains("another training step in this file can't be"), "{said}{ported}");
}

#[test]
fn a_refused_step_stays_whole_beside_a_ported_one() {
    let step = |before: &str, optimizer: &str| {
        format!(
            "import torch\n\nnet = torch.nn.Linear(4, 2)\nloss_fn = torch.nn.MSELoss()\n\
             opt = torch.optim.{optimizer}(net.parameters(), lr=1e-3)\n\
             loader = torch.utils.data.DataLoader(data, batch_size=4)\nfor x, y in loader:\n    out = net(x)\n{before}    \
             loss = loss_fn(out, y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n\
             torch.save(net.state_dict(), \"net.pt\")\n"
        )
    };
    let (good, bad) = (step("", "Adam"), step("    while out.sum() > 0:\n        out = out - 1\n", "AdamW"));
    for target in ["ipu", "popdist"] {
        let (after, said) = ported(target, &[("good.py", &good), ("bad.py", &bad)]);
        assert!(after[0].contains("poptorch.optim.Adam("), "{}", after[0]);
        assert!(after[1].contains("torch.optim.AdamW(net.parameters(), lr=1e-3)\nloader = torch.utils.data.DataLoader(data, batch_size=4)\n"), "{}", after[1]);
        assert!(!after[1].contains("poptorch"), "{}", after[1]);
        assert!(said.contains("Not ported"), "{target}: {said}");
    }
}

#[test]
fn what_a_port_makes_pointless_goes() {
    let moved = "    x = x.cuda() if torch.cuda.is_available() else x\n    y = y.to(0)\n";
    let text = training("", "x, y in loader", moved, "F.mse_loss(model(x), y)");
    check_has(&text, &["for x, y in loader:\n    training_step ="]);
    let (ported, _) = ported_script("ipu", "import torch\n\nx = x\ny = z if z else z\n");
    assert_eq!(ported, "import torch\n\nx = x\ny = z if z else z\n");
}

#[test]
fn names_of_the_port_that_the_program_has() {
    let program = SCRIPT
        .replace("for x, y in", "for training_step, (x, y) in enumerate(")
        .replace("loader:", "loader):")
        .replace("    out = model", "    out = training_step * model")
        + "    print(training_step)\n";
    let program = program.replace("\nmodel", "class TrainingStep:\n    opts = 1\n\n\nmodel");
    for target in ["ipu", "popdist"] {
        let (after, said) = ported(target, &[("a.py", &program)]);
        assert!(after[0].contains("    compiled_step = ipu_training_step(optimizer, model)\n"), "{said}{}", after[0]);
        assert!(after[0].contains("class CompiledStep(torch.nn.Module)"), "{said}{}", after[0]);
        assert!(after[0].contains("step = CompiledStep(*parts)"), "{said}{}", after[0]);
        assert!(after[0].contains("options=ipu_opts") && after[0].contains("print(training_step)"), "{}", after[0]);
        assert!(after[0].contains("float(training_step)"), "{}", after[0]);
    }
    let process = "import torch.distributed as dist\n";
    let ranked = format!("{process}{SCRIPT}process_rank = dist.get_rank()\n");
    check_said("rdu", &ranked, "the port needs the name `process_rank`");
}

#[test]
fn an_import_that_goes_in_the_same_round_takes_no_definitions_with_it() {
    let step = "def train(model, optimizer, loader, criterion, scaler):\n    for image, label in loader:\n        with autocast():\n            \
                loss = criterion(model(image), label)\n        scaler.scale(loss).backward()\n        scaler.step(optimizer)\n        \
                scaler.update()\n        optimizer.zero_grad()\n";
    let (after, said) = to_ipu(&format!("import torch\nfrom torch.cuda.amp import autocast\n\n\n{step}"));
    assert!(!after.contains("autocast") && after.contains("class TrainingStep(torch.nn.Module)"), "{said}{after}");
}
