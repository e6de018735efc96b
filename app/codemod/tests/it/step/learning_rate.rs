//! Changes of the learning rate, and schedules.

use super::{HEAD, step_lines, to_ipu};
use crate::ports::{SCRIPT, check_in_project, check_said, ported};

#[test]
fn a_rate_is_told_once_however_it_is_chosen() {
    let rate = "for group in optimizer.param_groups:\n    if group['fixed']:\n        group['lr'] = 1.0\n    else:\n        \
                group['lr'] = 0.1\n";
    let (ported, _) = to_ipu(&format!("{HEAD}for x, y in loader:\n{}{rate}", step_lines("2", 1)));
    assert_eq!(ported.matches("update_ipu_optimizer(optimizer)\n").count(), 1, "{ported}");
}

#[test]
fn what_may_change_the_rate_is_followed() {
    let told = |head: &str, before: &str, after: &str| {
        to_ipu(&format!("{head}{HEAD}for x, y in loader:\n{before}{}{after}", step_lines("2", 1)))
    };
    for after in ["    plan.step()\n", "    adjust_learning_rate(optimizer, 3)\n"] {
        let (ported, said) = told("", "", after);
        assert!(ported.ends_with(&format!("{after}    training_step.setOptimizer(optimizer)\n")), "{said}{ported}");
    }
    // Before the compiled step there is none in the first iteration.
    let (ported, said) = told("", "    adjust_learning_rate(optimizer, 3)\n", "");
    assert!(ported.contains("(optimizer, 3)\n    update_ipu_optimizer(optimizer)\n"), "{said}{ported}");
    let (ported, _) = told("from torch.profiler import profile\nwatch = profile()\n", "", "    watch.step()\n");
    assert!(ported.contains("training_step(x, y)") && !ported.contains("setOptimizer"), "{ported}");
}

#[test]
fn a_schedule_in_a_dictionary() {
    let text = "import torch


def train(net, loader, criterion, **parts):
    for epoch in range(4):
        for x, y in loader:
            parts[\"optimizer\"].zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            parts[\"optimizer\"].step()
        parts[\"scheduler\"].step()


net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
train(net, loader, torch.nn.CrossEntropyLoss(), optimizer=optimizer, scheduler=scheduler)
";
    let (after, said) = ported("ipu", &[("a.py", text)]);
    let handed = "        parts[\"scheduler\"].step()\n        training_step.setOptimizer(parts[\"optimizer\"])\n";
    assert!(after[0].contains(handed), "{said}{}", after[0]);
    let (after, said) = ported("rdu", &[("a.py", text)]);
    assert!(after[0].contains("rdu.update()") && !after[0].contains("zero_grad"), "{said}{}", after[0]);
}

#[test]
fn a_sampler_is_no_schedule() {
    let sampling = "class Noise:\n    def step(self, out, x):\n        return x - out\n\n\nnoise_scheduler = Noise()\n";
    let program = format!("{sampling}{SCRIPT}x = noise_scheduler.step(model(x), x)\n");
    assert!(!ported("ipu", &[("a.py", &program)]).0[0].contains("setOptimizer"));
    let scheduled =
        format!("{SCRIPT}    scheduler.step()\n").replace("for x, y", "scheduler = StepLR(optimizer)\nfor x, y");
    assert!(ported("ipu", &[("a.py", &scheduled)]).0[0].contains("setOptimizer"));
}

#[test]
fn a_rate_that_a_function_of_another_file_sets_is_handed_over() {
    let head = "def train(model, optimizer, loader):\n    for x, y in loader:";
    let (before, loop_) = SCRIPT.split_once("for x, y in loader:").expect("a loop");
    let inner = loop_.replace("\n", "\n    ");
    let calls = "for epoch in range(3):\n    adjust_lr(optimizer, epoch)\n    train(model, optimizer, loader)\n";
    let program = format!("from rates import adjust_lr\n{before}\n\n{head}{}\n\n{calls}", inner.trim_end());
    let (after, said) = ported("ipu", &[("a.py", &program)]);
    assert!(
        after[0].contains("adjust_lr(optimizer, epoch)\n    update_ipu_optimizer(optimizer)"),
        "{said}{}",
        after[0]
    );
}

#[test]
fn a_rate_that_changes_between_the_loss_and_the_update() {
    let plan = "plan = torch.optim.lr_scheduler.StepLR(optimizer, 9)\n";
    let program = SCRIPT.replace("for x, y", &format!("{plan}for x, y"));
    let early = program.replace("    optimizer.zero_grad()", "    plan.step()\n    optimizer.zero_grad()");
    check_said("ipu", &early, "10: Not ported: this changes the learning rate between the loss and the update");
    check_in_project("rdu", &[("a.py", &early)], "changes the learning rate", false);
    check_in_project("ipu", &[("a.py", &format!("{program}    plan.step()\n"))], "changes the learning rate", false);
}
