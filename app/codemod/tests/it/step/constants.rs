//! Values that are compiled into a step, and values that change during training.

use super::{HEAD, check_has, check_ported, check_refused, step_lines, to_ipu, training, with_call};
use crate::ports::{SCRIPT, check_said, ported};

fn check_numbers(text: &str, batch: &str, number: &str) {
    let (ported, said) = to_ipu(text);
    let call = format!("training_step({batch}, torch.full((len(x),), float({number})))");
    assert!(ported.contains(&call) && ported.contains("[0]\n        out = self.model(x)\n"), "{said}{ported}");
}

/// Ported with the number as an input for each sample.
fn check_input(text: &str, number: &str) {
    check_numbers(text, "x, y", number);
}

#[test]
fn a_number_that_changes_comes_with_the_batch() {
    let epochs = "for epoch in range(9):\n";
    let batches = "    for x, y in loader:\n";
    let inner = step_lines("beta", 2);
    check_input(&format!("{HEAD}{epochs}    beta = epoch / 9\n{batches}{inner}"), "beta");
    check_input(&format!("{HEAD}beta = 0.0\n{epochs}{batches}{inner}    beta += 0.1\n"), "beta");

    let train = |given: &str, above: &str, weight: &str| {
        let step = step_lines(weight, 2);
        format!("{HEAD}\n\ndef train(epoch, size):\n{above}{batches}{step}\n\n{epochs}    train({given})\n")
    };
    check_input(&train("epoch, 3", "", "min(1, epoch / 9)"), "min(1, epoch / 9)");
    check_input(&train("epoch, size=epoch + 1", "", "size"), "size");
    check_input(&train("epoch, 3", "    beta = min(1, epoch / 9)\n", "beta"), "beta");
    let elsewhere =
        train("epoch, 3", "    model.train()\n", "epoch").replace(&format!("\n\n{epochs}    train(epoch, 3)"), "");
    check_input(&elsewhere, "epoch");
    check_ported(&train("epoch, 3", "    beta = 1 / size\n", "beta"), "self.beta * out");
    // A named argument is not mistaken for the one at its position.
    let named = train("epoch=epoch", "", "size").replace("(epoch, size)", "(size=2, epoch=0)");
    check_ported(&named, "self.size * out");

    // A counter of the loop itself; a value that is reset in each iteration is not one.
    let counted = |start: &str, first: &str| {
        format!("{HEAD}{start}for x, y in loader:\n{first}    n += 1\n{}", step_lines("n", 1))
    };
    check_input(&counted("n = 0\n", ""), "n");
    let (ported, said) = to_ipu(&counted("", "    n = 0\n"));
    assert!(ported.contains("ipu_training_step(optimizer"), "{said}");
}

#[test]
fn what_changes_and_is_no_number_to_compute_with_is_refused() {
    let epochs = "for epoch in range(9):\n    for x, y in loader:\n";
    let unknown = epochs.replace("    for", "    beta = schedule(epoch)\n    for");
    check_refused(&format!("{HEAD}{unknown}{}", step_lines("beta", 2)), "10: Not ported: `beta` changes");
    check_refused(&format!("{HEAD}{epochs}{}", step_lines("weights[epoch]", 2)), "9: Not ported: `epoch` changes");
    check_refused(&format!("{HEAD}{epochs}{}", step_lines("noise(epoch)", 2)), "9: Not ported: `epoch` changes");
}

#[test]
fn a_member_that_changes_is_no_constant() {
    let class = |fit: &str| {
        let step = step_lines("self.beta", 3).replace("model(", "self.model(").replace("optimizer.", "self.optimizer.");
        format!(
            "import torch\nfrom torch.nn import functional as F\n\n\nclass Trainer:\n    def __init__(self, model, beta):\n        \
             self.model = model\n        self.beta = beta\n        \
             self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n\n    def fit(self, loader):\n{fit}\n    \
             def train_epoch(self, loader):\n        for x, y in loader:\n{step}"
        )
    };
    let epochs = "        for epoch in range(9):\n";
    let calls = "            self.train_epoch(loader)\n";
    // The constructor's argument may be anything.
    check_refused(&class(&format!("{epochs}            self.beta = epoch / 9\n{calls}")), "`self.beta` changes");
    check_refused(&class(&format!("{epochs}{calls}        self.beta *= 2\n")), "`self.beta` changes");
    check_ported(&class(&format!("        self.beta = 0.5\n{epochs}{calls}")), "self.beta * out");
}

#[test]
fn each_training_of_several_has_constants_of_its_own() {
    let head = HEAD.replace("\nmodel", "\nfor beta in (0, 1):\n    model").replace("\noptimizer", "\n    optimizer");
    check_ported(&format!("{head}    for x, y in loader:\n{}", step_lines("beta", 2)), "beta * out");
}

#[test]
fn a_shape_is_asked_of_the_tensor_that_the_step_is_given() {
    let noise = "torch.randn(x.shape[0], 3, device=x.device, dtype=x.dtype)";
    check_ported(&format!("{HEAD}for x, y in loader:\n{}", step_lines(noise, 1)), noise);
}

#[test]
fn settings_decide_before_there_is_any_data() {
    let train = |call: &str| {
        let test = "        if penalise:\n            loss = loss + out.abs().mean()\n        optimizer.zero_grad";
        let body = step_lines("2", 2).replace("        optimizer.zero_grad", test);
        let clip = "        if limit > 0:\n            torch.nn.utils.clip_grad_norm_(model.parameters(), limit)\n        optimizer.step";
        let body = body.replace("        optimizer.step", clip);
        format!(
            "{HEAD}\n\ndef train(penalise, limit=0):\n    for x, y in loader:\n{body}\n\nfor epoch in range(9):\n    train({call})\n"
        )
    };
    let (ported, said) = to_ipu(&train("args.penalise, args.limit"));
    assert!(
        ported.contains("        if self.penalise:\n            loss = loss + out.abs().mean()\n"),
        "{said}{ported}"
    );
    assert!(ported.contains("if limit > 0:\n            optimizer.max_grad_norm = limit\n"), "{ported}");
    check_refused(&train("epoch > 3"), "12: Not ported: a test or loop lies between");
}

#[test]
fn an_argument_that_is_the_same_in_every_step() {
    let parsed = "args = argparse.ArgumentParser().parse_args()\n";
    for (head, call, bound) in [
        ("", "model(x, train=True)", "rdu.bind(train=True)\n"),
        ("", "model(x, mode='fast', shift=-0.5, mask=None)", "rdu.bind(mode='fast', shift=-0.5, mask=None)\n"),
        (parsed, "model(x, steps=args.steps)", "rdu.bind(steps=args.steps)\n"),
    ] {
        let (after, said) = ported("rdu", &[("a.py", &with_call(head, call))]);
        let text = &after[0];
        assert!(text.contains(bound) && text.contains("out = rdu.forward(x)\n"), "{said}{text}");
        assert!(text.contains("functools.partial(self.model.forward, **self.fixed)"), "{text}");
    }
    // What changes, may change or is no setting is not bound.
    for (head, call) in [
        ("", "model(x, steps=count)"),
        (&format!("{parsed}args.steps = 3\n"), "model(x, steps=args.steps)"),
        (&format!("{parsed}self.args.steps = 3\n"), "model(x, steps=args.steps)"),
        ("graph = make()\n", "model(x, edges=graph.edges)"),
        ("", "model(x, f'{name}')"),
        ("", "model(True, x)"),
    ] {
        check_said("rdu", &with_call(head, call), "Not ported: the model's arguments are not all positional tensors");
    }
}

#[test]
fn a_constant_by_its_place() {
    let class = "class Net(torch.nn.Module):\n    def forward(self, x, steps):\n        return x * steps\n\n\n";
    let program = with_call(class, "model(x, 4)").replace("torch.nn.Linear(3, 3)", "Net()");
    let (after, said) = ported("rdu", &[("a.py", &program)]);
    assert!(after[0].contains("rdu.bind(steps=4)\n") && after[0].contains("rdu.forward(x)"), "{said}{}", after[0]);
}

#[test]
fn a_setting_that_another_function_reads() {
    let body = SCRIPT.split_once("for x").map_or("", |(_, body)| body);
    let body = format!("for x{body}").replace("model(x)", "model(x, steps=args.steps)").replace('\n', "\n    ");
    let program = |call: &str, header: &str| {
        let main = "    args = parser.parse_args()\n    model = torch.nn.Linear(3, 3)\n    \
                    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n";
        format!(
            "import torch\nfrom torch.nn import functional as F\n\n\n{header}\n    {}\n\ndef main():\n{main}    {call}\n\n\nif __name__ == \"__main__\":\n    main()\n",
            body.trim_end()
        )
    };
    let passed = program("train(args, model, optimizer, loader)", "def train(args, model, optimizer, loader):");
    let (after, said) = ported("rdu", &[("a.py", &passed)]);
    assert!(after[0].contains("    rdu.bind(steps=args.steps)\n"), "{said}{}", after[0]);
    let other = program("train(other(), model, optimizer, loader)", "def train(args, model, optimizer, loader):");
    check_said("rdu", &other, "`args.steps` is compiled into the model");
}

#[test]
fn a_number_of_this_turn_comes_with_the_batch() {
    let cooled = "    heat = max(0.1, heat * 0.9)\n";
    let text = training("heat = 1.0\n", "x, y in loader", cooled, "F.mse_loss(model(x) / heat, y)");
    check_has(&text, &["training_step(x, y, torch.full((len(x),), float(heat)))", "heat = heat[0]"]);
    let text = training("", "n, (x, y) in enumerate(loader)", "", "F.mse_loss(model(x), y) * (n + 1)");
    check_has(&text, &["float((n + 1))"]);
}

#[test]
fn a_test_of_a_setting_that_is_converted() {
    let weighed =
        SCRIPT.replace("    loss =", "    if int(args.steps) > 0:\n        out = out * float(args.weight)\n    loss =");
    let program = weighed.replace("\nmodel =", "\nargs = parse()\nmodel =");
    let (after, said) = ported("ipu", &[("a.py", &program)]);
    assert!(
        after[0].contains("if int(self.args.steps) > 0:") || after[0].contains("training_step("),
        "{said}{}",
        after[0]
    );
    check_said("ipu", &program.replace("int(args.steps)", "int(x)"), "Not ported: a test or loop");
    let scaled = SCRIPT
        .replace("    loss.backward()", "    scaler.scale(loss).backward()\n    if device.type == 'cuda' and AMP:\n        scaler.unscale_(optimizer)")
        .replace("optimizer.step()", "scaler.step(optimizer)\n    scaler.update()")
        .replace("\nmodel =", "\nscaler = torch.cuda.amp.GradScaler()\nmodel =");
    let (after, said) = ported("ipu", &[("a.py", &scaled)]);
    assert!(after[0].contains("training_step(") && !after[0].contains("unscale_"), "{said}{}", after[0]);
}

#[test]
fn named_arguments_of_a_model_on_the_rdu() {
    let class = "class Net(torch.nn.Module):\n    def forward(self, image, mask):\n        return image * mask\n\n\nmodel = Net()";
    let call = |call: &str| SCRIPT.replace("model = torch.nn.Linear(3, 3)", class).replace("model(x)", call);
    for named in ["model(image=x, mask=y)", "model(x, mask=y)"] {
        let (after, said) = ported("rdu", &[("a.py", &call(named))]);
        assert!(after[0].contains("out = rdu.forward(x, y)"), "{said}{}", after[0]);
        assert!(after[0].contains("names = (\"x\", \"y\",)"), "{said}{}", after[0]);
    }
    check_said("rdu", &call("model(mask=y, image=x)"), "Not ported: the model's arguments are not all positional");
}
