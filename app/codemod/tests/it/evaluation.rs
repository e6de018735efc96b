//! Evaluation and validation: without gradients, and beside a compiled step.

use crate::ports::{SCRIPT, check_bytes, check_said, port_script, ported};
use crate::step::with_call;

#[test]
fn evaluation_passes_its_own_arguments() {
    let program = with_call("", "model(x, train=True)") + "with torch.no_grad():\n    print(model(x, train=False))\n";
    let (after, said) = ported("rdu", &[("a.py", &program)]);
    assert!(after[0].contains("print(rdu.evaluate(x, train=False))"), "{said}{}", after[0]);
    assert!(after[0].contains("def evaluate(self, *inputs, **named):"), "{}", after[0]);
    let plain = format!("{SCRIPT}with torch.no_grad():\n    print(model(x, train=False))\n");
    let (after, said) = ported("rdu", &[("a.py", &plain)]);
    assert!(after[0].contains("print(rdu.evaluate(x, train=False))"), "{said}{}", after[0]);
    assert!(!after[0].contains("rdu.bind("), "{}", after[0]);
}

#[test]
fn evaluate_is_no_validation_when_its_result_is_trained_on() {
    let text =
        "class Policy(nn.Module):\n    def evaluate_actions(self, state):\n        return self.net(state).log_prob\n";
    check_bytes("hpu", text, text);
}

#[test]
fn validation_that_is_only_called_without_gradients() {
    let validate = "def validate(net, data):\n    net.eval()\n    for x in data:\n        show(net(x))\n";
    let text = |call: &str| format!("import torch\n\nnet = torch.nn.Linear(2, 2)\n{validate}\n{call}");
    let after = |call: &str| ported("hpu", &[("a.py", &text(call))]).0.remove(0);
    assert!(!after("with torch.no_grad():\n    validate(net, data)\n").contains("@torch.no_grad()"));
    assert!(after("validate(net, data)\n").contains("@torch.no_grad()"));
}

#[test]
fn evaluation_over_all_samples_in_every_instance() {
    let head = "import torch\nfrom torch.utils.data import DataLoader\n\nloader = DataLoader(events, batch_size=4)\nheld = DataLoader(others, batch_size=4)\n";
    let tail =
        "with torch.no_grad():\n    for x, y in held:\n        hits += (model(x).argmax(1) == y).sum()\nprint(hits)\n";
    let (after, _) = ported("popdist", &[("a.py", &format!("{head}{SCRIPT}{tail}"))]);
    let lines = |name: &str| after[0].lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(lines("loader = poptorch").contains("auto_distributed_partitioning=True"), "{}", after[0]);
    assert!(lines("held = poptorch").contains("auto_distributed_partitioning=False"), "{}", after[0]);
}

#[test]
fn a_coroutine_keeps_its_block() {
    let body = |head: &str| {
        format!(
            "import torch\n\nnet = torch.nn.Linear(2, 1).cuda()\n\n\n{head}def validate(net, batch):\n    net.eval()\n    return net(batch).item()\n"
        )
    };
    assert!(port_script("hpu", &body("")).files[0].text.contains("@torch.no_grad()\ndef validate"));
    assert!(
        port_script("hpu", &body("async ")).files[0]
            .text
            .contains("    with torch.no_grad():\n        return net(batch)")
    );
}

#[test]
fn several_models_take_turns_in_evaluation() {
    let models = "model, head = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)\n";
    let program = SCRIPT.replace("model = torch.nn.Linear(3, 3)\n", models).replace("model(x)", "head(model(x))")
        + "with torch.no_grad():\n    for x, y in others:\n        score(head(model(x)), y)\n";
    let (after, said) = ported("ipu", &[("a.py", &program)]);
    assert!(after[0].contains("score(ipu_inference(head)(ipu_inference(model)(x)), y)"), "{said}{}", after[0]);
    // Both are asked for before one runs, so a model frees the IPU when it runs.
    let (_, infer) = after[0].split_once("    def infer(*batch, **named):\n").expect("inference");
    assert!(infer.contains("        detach_from_ipu(other for"), "{}", after[0]);
}

#[test]
fn a_loop_that_trains_or_evaluates_on_the_rdu() {
    let (head, body) = SCRIPT.split_once("for x, y").unwrap();
    let (forward, update) = body.split_once("    optimizer.zero_grad()\n").unwrap();
    let update = format!("    optimizer.zero_grad()\n{update}").trim_end().replace("    ", "            ");
    let run = |test: &str, parameters: &str| {
        let forward = forward.replace("\n    ", "\n        ");
        let loop_ = format!("    for x, y{forward}        if {test}:\n{update}\n");
        format!("{head}\ndef run(loader, {parameters}):\n{loop_}\nrun(loader, optimizer)\nrun(others, None)\n")
    };
    for (test, parameters) in [("is_train", "is_train=True"), ("optimizer is not None", "optimizer=None")] {
        let (after, said) = ported("rdu", &[("a.py", &run(test, parameters))]);
        let call = format!("out = rdu.forward(x) if {test} else rdu.evaluate(x)\n");
        assert!(after[0].contains(&call) && after[0].contains("rdu.update()"), "{said}{}", after[0]);
    }
    check_said("rdu", &run("out.mean() > 0", "is_train"), "Not ported: a test decides whether this part");
    let (after, said) = ported("ipu", &[("a.py", &run("optimizer is not None", "optimizer=None"))]);
    assert!(
        after[0].contains("if optimizer is not None:") && after[0].contains("ipu_inference("),
        "{said}{}",
        after[0]
    );
}
