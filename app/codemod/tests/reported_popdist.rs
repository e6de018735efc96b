//! Messages about a program that several instances run with PopDist, and similar programs without any.

mod said;

use said::{STEP, check_in_project, check_said, check_silent, ported};

/// A script that trains on a loader of its own.
fn with(before: &str, after: &str) -> String {
    let loader = "loader = torch.utils.data.DataLoader(events, batch_size=4)\n";
    STEP.replace("\nmodel =", &format!("\n{loader}{before}model =")) + after
}

#[test]
fn files_of_every_instance() {
    let words = "Every instance writes or removes this file";
    for line in ["os.remove(old)", "os.unlink(old)", "os.rmdir(old)", "Path(old).unlink()", "shutil.rmtree(old)"] {
        let text = format!("import os\nimport shutil\nfrom pathlib import Path\n{}", with(&format!("{line}\n"), ""));
        check_said("popdist", &text, words);
        let by_rank = text.replace(line, &format!("if rank == 0:\n    {line}"));
        check_in_project("popdist", &[("a.py", &by_rank)], words, false);
    }
    // At the top level nothing puts what follows a save on the first instance.
    let text = format!("import os\n{}", with("", "torch.save(model.state_dict(), \"m.pt\")\nos.remove(\"old.pt\")\n"));
    check_said("popdist", &text, words);
    let own = "folder = tempfile.mkdtemp()\nshutil.rmtree(folder)\n";
    check_silent("popdist", &format!("import shutil\nimport tempfile\n{}", with(own, "")));
}

#[test]
fn logs_of_every_instance() {
    for line in ["mlflow.start_run()", "clearml.Task.init()"] {
        let module = line.split('.').next().unwrap_or_default();
        check_said(
            "popdist",
            &format!("import {module}\n{}", with(&format!("{line}\n"), "")),
            "Write logs on the first instance",
        );
    }
    let (after, said) =
        ported("popdist", &[("a.py", &format!("import wandb\n{}", with("wandb.init(project=\"a\")\n", "")))]);
    assert!(after[0].contains("mode=None if is_first_instance() else \"disabled\")"), "{}", after[0]);
    assert_eq!(said, "");
    check_silent("popdist", &format!("import wandb\n{}", with("if rank == 0:\n    wandb.init(mode=args.mode)\n", "")));
}

#[test]
fn readers_of_other_packages() {
    let words = "every instance reads all of these batches";
    let made = "from torch.utils.data import Dataset\nfrom other import make_loader\n";
    let text = format!("{made}{}", STEP.replace("\nmodel =", "\nloader = make_loader(Dataset())\nmodel ="));
    check_in_project("popdist", &[("a.py", &text)], words, true);
    check_in_project("popdist", &[("a.py", &with("", ""))], words, false);
}

#[test]
fn values_of_each_replica() {
    let words = "this has a value for each of them";
    let held = "held = torch.utils.data.DataLoader(others, batch_size=4)\n";
    let evaluation = |line: &str| {
        with(
            held,
            &format!(
                "model.eval()\nwith torch.no_grad():\n    for x, y in held:\n        loss = model(x, y)\n        total += {line}\n"
            ),
        )
    };
    check_in_project("popdist", &[("a.py", &evaluation("loss.item()"))], words, true);
    check_in_project("popdist", &[("a.py", &evaluation("loss.mean().item()"))], words, false);
    let trained = with("", "    total += loss.item()\n");
    check_in_project("popdist", &[("a.py", &trained)], words, false);
}

#[test]
fn the_number_of_the_best_epoch() {
    let words = "Decide alike on all instances";
    let epochs = |tail: &str| {
        let text = with("best, best_epoch, waited = 9.0, 0, 0\n", "");
        let (head, step) = text.split_at(text.find("for x, y").unwrap_or_default());
        let step: String = step.lines().map(|line| format!("    {line}\n")).collect();
        format!("{head}for epoch in range(9):\n    total = 0.0\n{step}        total += loss.item()\n{tail}")
    };
    for (tail, is_said) in [
        (
            "    if total < best:\n        best, best_epoch = total, epoch\n    if epoch - best_epoch > 3:\n        break\n",
            true,
        ),
        (
            "    if total < best:\n        waited = 0\n    else:\n        waited += 1\n    if waited > 3:\n        break\n",
            true,
        ),
        ("    if epoch > 3:\n        waited += 1\n    if waited > 3:\n        break\n", false),
        (
            "    val_loss = evaluate(model)\n    if val_loss < best:\n        best, waited = val_loss, 0\n    else:\n        waited += 1\n    if waited > 3:\n        break\n",
            false,
        ),
    ] {
        check_in_project("popdist", &[("a.py", &epochs(tail))], words, is_said);
    }
}
