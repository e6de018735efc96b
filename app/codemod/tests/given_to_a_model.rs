//! What a step passes to its model, and to the optimizer, besides tensors of the batch.

mod said;

use said::{STEP, check_said, ported};

/// The step with other arguments of the model, below `head`.
fn with(head: &str, call: &str) -> String {
    STEP.replace("model(x)", call).replace("\nmodel =", &format!("\n{head}model ="))
}

#[test]
fn an_argument_that_is_the_same_in_every_step() {
    let parsed = "args = argparse.ArgumentParser().parse_args()\n";
    for (head, call, bound) in [
        ("", "model(x, train=True)", "rdu.bind(train=True)\n"),
        ("", "model(x, mode='fast', shift=-0.5, mask=None)", "rdu.bind(mode='fast', shift=-0.5, mask=None)\n"),
        (parsed, "model(x, steps=args.steps)", "rdu.bind(steps=args.steps)\n"),
    ] {
        let (after, said) = ported("rdu", &[("a.py", &with(head, call))]);
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
        check_said("rdu", &with(head, call), "Not ported: the model's arguments are not all positional tensors");
    }
}

#[test]
fn a_constant_by_its_place() {
    let class = "class Net(torch.nn.Module):\n    def forward(self, x, steps):\n        return x * steps\n\n\n";
    let program = with(class, "model(x, 4)").replace("torch.nn.Linear(3, 3)", "Net()");
    let (after, said) = ported("rdu", &[("a.py", &program)]);
    assert!(after[0].contains("rdu.bind(steps=4)\n") && after[0].contains("rdu.forward(x)"), "{said}{}", after[0]);
}

#[test]
fn a_setting_that_another_function_reads() {
    let body = STEP.split_once("for x").map_or("", |(_, body)| body);
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
fn evaluation_passes_its_own_arguments() {
    let program = with("", "model(x, train=True)") + "with torch.no_grad():\n    print(model(x, train=False))\n";
    let (after, said) = ported("rdu", &[("a.py", &program)]);
    assert!(after[0].contains("print(rdu.evaluate(x, train=False))"), "{said}{}", after[0]);
    assert!(after[0].contains("def evaluate(self, *inputs, **named):"), "{}", after[0]);
    let plain = format!("{STEP}with torch.no_grad():\n    print(model(x, train=False))\n");
    let (after, said) = ported("rdu", &[("a.py", &plain)]);
    assert!(after[0].contains("print(rdu.evaluate(x, train=False))"), "{said}{}", after[0]);
    assert!(!after[0].contains("rdu.bind("), "{}", after[0]);
}

#[test]
fn weights_in_a_list() {
    for (weights, kept) in [
        ("list(model.parameters())", "list(model.parameters())"),
        (
            "filter(lambda p: p.requires_grad, model.parameters())",
            "filter(lambda p: p.requires_grad, model.parameters())",
        ),
        ("[w for w in model.parameters() if w.requires_grad]", "[w for w in model.parameters() if w.requires_grad]"),
    ] {
        let program = STEP.replace("model.parameters()", weights);
        let (after, said) = ported("rdu", &[("a.py", &program)]);
        assert!(after[0].contains(&format!("samba.optim.AdamW({kept}, lr=1e-3")), "{said}{}", after[0]);
        // Made before the model is handed over.
        let named = STEP
            .replace("model.parameters()", "weights")
            .replace("\noptimizer =", &format!("\nweights = {weights}\noptimizer ="));
        let (after, said) = ported("rdu", &[("a.py", &named)]);
        assert!(after[0].contains(&format!("samba.optim.AdamW({kept}, lr=1e-3")), "{said}{}", after[0]);
        let (after, said) = ported("ipu", &[("a.py", &program)]);
        assert!(after[0].contains(&format!("poptorch.optim.Adam({kept}, lr=1e-3")), "{said}{}", after[0]);
    }
    for weights in ["[w for w in model.parameters() if w.dim() > 1]", "list(model.parameters())[:2]"] {
        check_said("rdu", &STEP.replace("model.parameters()", weights), "parameter groups are not ported");
    }
}
