//! Optimizers of a step: which the target has, where they are made, and for which weights.

use super::{HEAD, step_lines, to_ipu, training};
use crate::ports::{SCRIPT, check_said, check_silent, in_place, port_files, ported, ported_script};
use codemod::PortedFile;

#[test]
fn an_optimizer_that_the_target_does_not_have_is_told_where_it_is_made() {
    let other = "if args.lookahead:\n    optimizer = Lookahead(model.parameters())\n";
    let text = format!("{HEAD}{other}for x, y in loader:\n{}", step_lines("2", 1));
    let (ported, said) = to_ipu(&text);
    assert!(ported.contains("training_step(x, y)") && said.contains("7: PopTorch supports only its own SGD"), "{said}");
    let (ported, said) = ported_script("rdu", &text);
    assert!(ported == text && said.contains("7: Not ported"), "{said}");
}

/// A project: the result for each file, and the messages.
fn project(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let ported = port_files(files, &in_place("ipu"));
    assert!(ported.certificate.parses && ported.certificate.idempotent);
    let said = |f: &PortedFile| f.diagnostics.iter().map(|d| format!("{}\n", d.message)).collect();
    ported.files.iter().map(|f| (f.text.clone(), said(f))).collect()
}

#[test]
fn an_optimizer_of_another_file_keeps_its_state() {
    let making = "import torch\n\n\ndef make(model):\n    return torch.optim.Adam(model.parameters(), lr=1e-3)\n";
    let head = HEAD.replace("torch.optim.Adam(model.parameters(), lr=1e-3)", "make(model)");
    let head = head.replacen('\n', "\nfrom making import make\n", 1);
    let train = format!("{head}for x, y in loader:\n{}", step_lines("2", 1));
    let ported = project(&[("train.py", &train), ("making.py", making)]);
    assert!(ported[0].0.contains("training_step(x, y)"), "{}", ported[0].1);
    let made = "    import poptorch\n    return poptorch.optim.Adam(model.parameters(), lr=1e-3)\n";
    assert!(ported[1].0.ends_with(made), "{}", ported[1].0);
    // If a step remains, the optimizer may belong to that one.
    let refused = train.replace("loss.backward()", "loss.backward()\n    loss.backward()");
    let files = [("train.py", &*train), ("making.py", making), ("other.py", &*refused)];
    assert_eq!(project(&files)[1].0, making);
    // An optimizer created by a library can't be changed.
    let helper = train.replace("from making import make", "from timm.optim import make");
    let (ported, said) = to_ipu(&helper);
    assert!(
        ported.contains("training_step(x, y)") && said.contains("`make` does not build a `poptorch.optim` optimizer"),
        "{said}"
    );
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
        let program = SCRIPT.replace("model.parameters()", weights);
        let (after, said) = ported("rdu", &[("a.py", &program)]);
        assert!(after[0].contains(&format!("samba.optim.AdamW({kept}, lr=1e-3")), "{said}{}", after[0]);
        // Made before the model is handed over.
        let named = SCRIPT
            .replace("model.parameters()", "weights")
            .replace("\noptimizer =", &format!("\nweights = {weights}\noptimizer ="));
        let (after, said) = ported("rdu", &[("a.py", &named)]);
        assert!(after[0].contains(&format!("samba.optim.AdamW({kept}, lr=1e-3")), "{said}{}", after[0]);
        let (after, said) = ported("ipu", &[("a.py", &program)]);
        assert!(after[0].contains(&format!("poptorch.optim.Adam({kept}, lr=1e-3")), "{said}{}", after[0]);
    }
    for weights in ["[w for w in model.parameters() if w.dim() > 1]", "list(model.parameters())[:2]"] {
        check_said("rdu", &SCRIPT.replace("model.parameters()", weights), "parameter groups are not ported");
    }
}

const CLIPS: &str = "import torch\n\n\ndef train(model, loader, optimizer):\n    for x, y in loader:\n        loss = torch.nn.functional.mse_loss(model(x), y)\n        loss.backward()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)\n        optimizer.step()\n\n\ndef evaluate(model, x):\n    with torch.no_grad():\n        return model(x)\n";

fn with_optimizer(optimizer: &str) -> String {
    format!(
        "import torch\nfrom engine import train\n\nif __name__ == \"__main__\":\n    net = torch.nn.Linear(4, 2)\n    train(net, loader, torch.optim.{optimizer})\n"
    )
}

#[test]
fn the_step_takes_the_optimizer_over() {
    let main = with_optimizer("Adam(net.parameters(), lr=0.1)")
        .replace("train(net, loader, torch", "train(net, loader, opt)  # torch");
    let main = main.replace("    train", "    opt = torch.optim.Adam(net.parameters(), lr=0.1)\n    train");
    let score = "import engine\n\nif __name__ == \"__main__\":\n    engine.evaluate(net, x)\n";
    let (after, said) = ported("rdu", &[("engine.py", CLIPS), ("main.py", &main), ("score.py", score)]);
    assert!(
        after[0].contains("\n    rdu.adopt(model, optimizer, max_grad_norm=0.5)\n    for x, y"),
        "{said}{}",
        after[0]
    );
    assert!(after[0].contains("        rdu.update()\n    rdu.fetch()\n"), "{}", after[0]);
    assert!(after[0].contains("return model(x)"), "{}", after[0]);
    assert!(after[1].contains("    from engine import rdu\n\n    rdu.read_command_line()\n    net ="), "{}", after[1]);
    assert_eq!(after[2], score);
    assert!(!said.contains("create the optimizer"), "{said}");
}

#[test]
fn an_optimizer_without_a_counterpart_refuses_it() {
    for optimizer in ["RMSprop(net.parameters(), lr=0.1)", "Adam(net.parameters(), lr=0.1, weight_decay=0.1)"] {
        let main = with_optimizer(optimizer);
        let (after, said) = ported("rdu", &[("engine.py", CLIPS), ("main.py", &main)]);
        assert!(said.contains("4: Not ported: ") && after[0] == CLIPS && after[1] == main, "{said}{}", after[0]);
    }
}

#[test]
fn an_optimizer_in_a_dictionary() {
    let program =
        SCRIPT.replace("optimizer.", "options[\"optimizer\"].").replace("optimizer =", "options[\"optimizer\"] =");
    let (_, said) = ported("ipu", &[("a.py", &program)]);
    assert!(!said.contains("there is no `optimizer.step()`"), "{said}");
}

#[test]
fn an_optimizer_that_a_function_creates() {
    let made = "torch.optim.Adam(net.parameters(), lr=1e-3)";
    let program = |body: &str, calls: &str| {
        let helper = format!("\n\ndef make(net):\n{body}\n\n{calls}");
        SCRIPT
            .replace(
                "from torch.nn import functional as F\n",
                &format!("from torch.nn import functional as F\n{helper}"),
            )
            .replace("torch.optim.Adam(model.parameters(), lr=1e-3)", "make(model)")
    };
    for body in [format!("    return {made}\n"), format!("    optimizer = {made}\n    return optimizer\n")] {
        let (after, said) = ported("rdu", &[("a.py", &program(&body, ""))]);
        assert!(after[0].contains("    rdu.take(net)\n") && after[0].contains("    return "), "{said}{}", after[0]);
        let (after, said) = ported("ipu", &[("a.py", &program(&body, ""))]);
        assert!(after[0].contains("poptorch.optim.Adam(net.parameters(), lr=1e-3)\n"), "{said}{}", after[0]);
    }
    // Created for two models.
    let twice =
        program(&format!("    optimizer = {made}\n    return optimizer\n"), "other = make(torch.nn.Linear(1, 1))\n");
    check_said("rdu", &twice, "Not ported: ");
}

#[test]
fn an_optimizer_of_several_models() {
    for weights in
        ["itertools.chain(a.parameters(), model.parameters())", "list(a.parameters()) + list(model.parameters())"]
    {
        let program = SCRIPT.replace("model.parameters()", weights).replace("model(x)", "model(a(x))");
        check_said(
            "rdu",
            &program.replace("import torch\n", "import itertools\nimport torch\n"),
            "trains several models",
        );
    }
    let groups =
        SCRIPT.replace("model.parameters()", "[{\"params\": a.parameters()}, {\"params\": model.parameters()}]");
    check_said("rdu", &groups, "parameter groups are not ported");
}

#[test]
fn a_weight_decay_of_0_in_another_file() {
    let program = SCRIPT.replace("lr=1e-3", "lr=1e-3, weight_decay=DECAY");
    let imported = program.replace("import torch\n", "import torch\nfrom config import DECAY\n");
    let as_module =
        program.replace("import torch\n", "import torch\nimport config\n").replace("=DECAY", "=config.DECAY");
    for program in [&imported, &as_module] {
        let (after, said) = ported("rdu", &[("config.py", "DECAY = 0.0\n"), ("a.py", program)]);
        assert!(after[1].contains("samba.optim.AdamW("), "{said}{}", after[1]);
        for config in ["DECAY = 0.01\n", "DECAY = 0.0\nif LONG:\n    DECAY = 0.1\n"] {
            let (_, said) = ported("rdu", &[("config.py", config), ("a.py", program)]);
            assert!(said.contains("differs from Adam's"), "{said}");
        }
    }
}

#[test]
fn a_solver_that_asks_for_values() {
    let net = "from torchdiffeq import odeint_adjoint as odeint\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return odeint(self.field, x, self.times)\n\n\nmodel = Net()\n";
    let program = SCRIPT.replace("\nmodel = torch.nn.Linear(3, 3)\n", &format!("\n{net}"));
    for target in ["ipu", "popdist", "rdu"] {
        check_said(target, &program, "a fixed number of steps");
    }
    check_said("hpu", &program, "uses float64 for times and step sizes");
    check_silent("hpu", &program.replace("self.times)", "self.times, method='rk4')"));
}

#[test]
fn tensors_that_are_updated_by_hand() {
    let program = |update: &str| {
        format!(
            "import torch\n\nw = torch.randn(3, 3)\nall = {{}}\nall['w'] = torch.ones(3)\nfor x in batches:\n    {update}\n"
        )
    };
    for target in ["hpu", "xpu", "ipu", "popdist", "rdu"] {
        for update in ["w -= 0.1 * slope(w, x)", "all['w'] -= rate * x"] {
            check_said(target, &program(update), "7: Nothing is ported: tensors are updated by hand");
        }
        // A count, a shift, a value from the iteration itself, and a function without a loop.
        for other in
            ["count -= 2 * x", "w -= 1", "w[0] -= x / 2", "w -= x", "x = torch.ones(3); x -= w * 2", "w += x * 2"]
        {
            check_silent(target, &program(other));
        }
        check_silent(target, "import torch\n\nw = torch.ones(3)\n\n\ndef shift(x):\n    return w - 2 * x\n");
    }
    let trained = SCRIPT.replace(
        "    optimizer.step()\n",
        "    with torch.no_grad():\n        model.weight -= 0.1 * model.weight.grad\n",
    );
    assert!(!ported("hpu", &[("a.py", &trained)]).1.contains("by hand here"));
    let on_the_card = program("w -= 0.1 * x").replace("3, 3)", "3, 3).cuda()");
    assert!(!ported("hpu", &[("a.py", &on_the_card)]).1.contains("by hand here"));
}

#[test]
fn an_optimizer_for_each_epoch() {
    let (head, turns) = SCRIPT.split_once("optimizer = ").expect("an optimizer");
    let indented = format!("optimizer = {turns}").lines().map(|line| format!("    {line}\n")).collect::<String>();
    let program = format!("{head}\n\ndef train(epoch):\n{indented}\n\n");
    check_said(
        "rdu",
        &format!("{program}for epoch in range(3):\n    train(epoch)\n"),
        "Not ported: the optimizer is created in a loop",
    );
    assert!(!ported("rdu", &[("a.py", &format!("{program}train(0)\n"))]).1.contains("created in a loop"));
}

#[test]
fn an_optimizer_of_a_part_of_the_model() {
    let part = SCRIPT.replace("model.parameters()", "model.head.parameters()");
    check_said("rdu", &part, "the optimizer does not get all of");
    let whole =
        SCRIPT.replace("model(x)", "model.module(x)").replace("model.parameters()", "model.module.parameters()");
    let (after, _) = ported("rdu", &[("a.py", &whole)]);
    assert!(after[0].contains("rdu.take(model)"), "{}", after[0]);
}

#[test]
fn an_optimizer_that_a_test_chooses_is_one() {
    let choice = "if fast:\n    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)\nelse:\n    \
                  optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n";
    let text = training(choice, "x, y in loader", "", "F.mse_loss(model(x), y)")
        .replace("optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n", "");
    let (ported, said) = ported_script("rdu", &text);
    assert!(
        ported.contains("rdu.read_command_line()\nif fast:\n    rdu.take(model)\n    optimizer = samba.optim.AdamW("),
        "{said}{ported}"
    );
    assert!(
        ported.contains("    optimizer = samba.optim.SGD(model.parameters(), lr=0.1)\n    rdu.start(optimizer)\n"),
        "{said}{ported}"
    );
    let other = text.replace("SGD(model", "SGD(other");
    assert!(ported_script("rdu", &other).1.contains("Not ported"));
}

#[test]
fn an_optimizer_that_the_target_lacks_in_a_branch() {
    let made = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n";
    let chosen = "if args.other:\n    optimizer = torch.optim.Adagrad(model.parameters())\nelse:\n";
    let (after, said) = ported("ipu", &[("a.py", &SCRIPT.replace(made, &format!("{chosen}    {made}")))]);
    assert!(after[0].contains("training_step("), "{said}{}", after[0]);
    assert!(said.contains("6: PopTorch has no Adagrad, and fails when it compiles the step"), "{said}");
    check_said("ipu", &SCRIPT.replace("Adam(", "Adagrad("), "Not ported: the IPU has no Adagrad");
}

#[test]
fn a_class_of_optimizers_under_a_name_of_its_own() {
    let made = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n";
    let program =
        SCRIPT.replace(made, "chosen = getattr(torch.optim, args.name)\noptimizer = chosen(model.parameters())\n");
    check_said("ipu", &program, "6: `chosen` does not build a `poptorch.optim` optimizer");
}
