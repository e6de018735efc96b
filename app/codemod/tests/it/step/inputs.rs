//! What a compiled step takes: tensors of the batch, parts of all samples, tensors from above the loop; and what it can't
//! take.

use super::{HEAD, check_has, check_not_compiled, check_ported, step_lines, to_ipu, training};
use crate::ports::{SCRIPT, check_in_project, check_said, check_silent, ported, ported_script};

#[test]
fn what_a_function_calls_is_a_part_and_no_input() {
    let text = format!(
        "{HEAD}warp = Warp()\n\n\ndef forward(x, model, warp):\n    field = model(x)\n    return warp(x, field)\n\n\nfor x, y in loader:\n    \
         moved = forward(x, model, warp)\n    loss = F.mse_loss(moved, y)\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
    );
    check_ported(&text, "ipu_training_step(optimizer, model, warp)");
}

#[test]
fn a_batch_is_an_input_whatever_it_is_called() {
    let step = "    optimizer.zero_grad()\n    out = model(INPUT)\n    loss = F.mse_loss(out, y)\n    loss.backward()\n    optimizer.step()\n";
    for name in ["model_input", "encoder_features"] {
        let step = step.replace("INPUT", name);
        let (ported, said) = to_ipu(&format!("{HEAD}for batch in loader:\n    {name}, y = split(batch)\n{step}"));
        assert!(ported.contains(&format!("training_step({name}, y)")), "{said}{ported}");
    }
    // A value that the loop assigns in every iteration is not a state, even if the step replaces it.
    let step = step
        .replace("INPUT", "batch")
        .replace("    loss", "    batch = shrink(batch)\n    loss")
        .replace("y)", "batch)");
    let (ported, said) = to_ipu(&format!(
        "{HEAD}for batch in loader:\n    batch = {{k: torch.as_tensor(v) for k, v in batch.items()}}\n{step}"
    ));
    assert!(!ported.contains("require_batch_first"), "{said}{ported}");
}

#[test]
fn lists_become_tensors_outside_of_the_step() {
    let collected = |out: &str, wanted: &str| {
        let step =
            step_lines("0.1", 1).replace("model(x)", &format!("model({out})")).replace("y)", &format!("{wanted})"));
        to_ipu(&format!(
            "import numpy as np\n{HEAD}for batch in memory:\n    x, y = [], []\n    for a, b in batch:\n        \
                         x.append(a)\n        y.append(b)\n{step}"
        ))
        .0
    };
    let check = |out: &str, wanted: &str, call: &str| {
        let ported = collected(out, wanted);
        assert!(ported.contains(&format!("training_step({call})")), "{ported}");
        assert!(ported.contains("def forward(self, x, y):") && ported.contains("self.model(x)"), "{ported}");
    };
    let (made, stacked) = ("torch.tensor(x, dtype=torch.float32)", "torch.stack(y)");
    check(made, stacked, &format!("{made}, {stacked}"));
    let by_array = "torch.from_numpy(np.array(x))";
    check(by_array, "torch.as_tensor(y)", &format!("{by_array}, torch.as_tensor(y)"));
    // The call has arguments other than data and imports: it is moved unchanged.
    assert!(collected("torch.stack((x, x))", "y").contains("torch.stack((x, x))"));
}

#[test]
fn a_tokenizers_result_as_an_input() {
    let tokens =
        "    x = tokenizer(x, padding=\"max_length\", max_length=64, return_tensors=\"pt\")\n    out = model(x)";
    let text = SCRIPT.replace("    out = model(x)", tokens);
    let (after, said) = ported("ipu", &[("a.py", &text)]);
    assert!(after[0].contains("training_step(dict(x), y)") && said.is_empty(), "{said}{}", after[0]);
    check_said("ipu", &format!("{text}    seen += x.input_ids.numel()\n"), "PopTorch does not see the tensors in it");
    let (after, _) = ported("ipu", &[("a.py", SCRIPT)]);
    assert!(after[0].contains("training_step(x, y)"), "{}", after[0]);
}

#[test]
fn a_graph_as_an_input() {
    let words = "DGL's layers compute with kernels of their own";
    let text = |import: &str| SCRIPT.replace("import torch\n", &format!("{import}\nimport torch\n"));
    check_said("ipu", &text("import dgl.nn"), words);
    check_said("ipu", &text("from dgl.nn.pytorch import GraphConv"), words);
    check_silent("ipu", &text("import dgl"));
}

#[test]
fn masks_in_the_loss() {
    let words = "The shape of this result depends on values";
    let loss = |mask: &str| {
        let own = format!(
            "\n\ndef contrast(out, y, low, high):\n    near = {mask}\n    return out[near].mean()\n\n\nmodel ="
        );
        SCRIPT.replace("\nmodel =", &own).replace("F.mse_loss(out, y)", "contrast(out, y, 0, 3)")
    };
    for mask in [
        "(y >= low) & (y < high)",
        "((y >= low) & (y < high)) | (y == 7) | ~(y > 9)",
        "torch.logical_and(y >= low, y < high)",
        "torch.isin(y, out)",
        "(y >= low).all(dim=1)",
        "(y != low).unsqueeze(-1).expand_as(out)",
        "(y > 0) if low else (y > 1)",
    ] {
        check_said("ipu", &loss(mask), words);
    }
    for numbers in ["y.argmax(1)", "(y >= low).sum(1)", "torch.arange(low, high)", "y.topk(2)[1]"] {
        check_in_project("ipu", &[("a.py", &loss(numbers))], words, false);
    }
}

/// What is selected before the step and what is passed to it as a mask.
#[test]
fn masks_of_the_loop() {
    let lines = |before: &str, loss: &str| {
        SCRIPT
            .replace("    out = model(x)\n", &format!("{before}    out = model(x)\n"))
            .replace("F.mse_loss(out, y)", loss)
    };
    let masked = "F.mse_loss(out[near], y[near])";
    let check = |before: &str, loss: &str, words: &str, is_said| {
        check_in_project("ipu", &[("a.py", &lines(before, loss))], words, is_said);
    };
    let of_values = "The shape of this result depends on values";
    check("    near = (y >= 0) & (y < 3)\n", masked, of_values, true);
    check("    near = y.argmax(1)\n", masked, of_values, false);
    let rows = "The number of rows that this selects depends on values";
    for chosen in ["torch.where(y > 0)[0]", "(y > 0).nonzero().squeeze()", "torch.nonzero(y > 0)"] {
        check(&format!("    near = {chosen}\n"), masked, rows, true);
        check(&format!("    near = {chosen}\n    x, y = x[near], y[near]\n"), "F.mse_loss(out, y)", rows, true);
    }
    check("    near = torch.randperm(4)\n    x, y = x[near], y[near]\n", "F.mse_loss(out, y)", rows, false);
}

#[test]
fn tensors_from_above_the_loop_are_buffers() {
    let loss = "F.mse_loss(model(x), y, reduction=\"none\").mul(weights).mean()";
    let made = "weights = torch.linspace(0, 1, 3).sqrt()\n";
    let ported = ["self.register_buffer(\"weights\", weights)", "mul(self.weights)", "training_step(x, y)"];
    check_has(&training(made, "x, y in loader", "", loss), &ported);
    check_has(&training(&format!("{made}weights = weights.float()\n"), "x, y in loader", "", loss), &ported);
    check_not_compiled(&training(made, "x, y in loader", "    weights.mul_(0.9)\n", loss), "`weights` changes");
    // Trained values are not constants, and values that are not PyTorch tensors are unchanged.
    let learns = "weights = torch.ones(3, requires_grad=True)\n";
    let (ported, _) = ported_script("ipu", &training(learns, "x, y in loader", "", loss));
    assert!(!ported.contains("register_buffer"), "{ported}");
    check_has(&training("weights = 0.5\n", "x, y in loader", "", loss), &["mul(weights)"]);
}

#[test]
fn a_graph_has_its_edges_beside_its_nodes() {
    let data = "nodes = torch.rand(9, 3)\nedges = torch.rand(9, 9)\nlabels = torch.rand(9, 3)\n";
    let text = training(data, "epoch in range(9)", "", "F.mse_loss(model(nodes, edges), labels)");
    check_has(&text, &["self.register_buffer(\"edges\", edges)", "training_step(nodes, labels)"]);
}

#[test]
fn a_part_of_all_samples_goes_in_as_it_is_cut() {
    let text = training(
        "images, labels = read()\n",
        "i in range(0, 90, 9)",
        "",
        "F.mse_loss(model(images[i:i + 9]), labels[i:i + 9])",
    );
    check_has(&text, &["training_step(images[i:i + 9], labels[i:i + 9])", "self.model(images), labels)"]);
    let (_, said) = ported_script("ipu", &text);
    assert!(said.contains("7: The last batch that this loop cuts is shorter"), "{said}");
}

#[test]
fn fields_of_a_batch_are_no_names() {
    let text = training(
        "",
        "obs in stream",
        "    actions = model(obs).argmax(1).numpy()\n    remember(actions)\n    batch = sample()\n",
        "F.mse_loss(model(batch.obs), batch.actions)",
    );
    check_has(&text, &["training_step(batch.obs, batch.actions)"]);
}

#[test]
fn what_a_tuple_assigns_is_part_of_a_step() {
    let models = "model, head = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)\nweights, other = torch.ones(3), 2\n";
    let program =
        SCRIPT.replace("model = torch.nn.Linear(3, 3)\n", models).replace("model(x)", "head(model(x)) * weights");
    let (after, said) = ported("ipu", &[("a.py", &program)]);
    assert!(after[0].contains("def __init__(self, head, model, weights):"), "{said}{}", after[0]);
    assert!(after[0].contains("self.register_buffer(\"weights\", weights)"), "{said}{}", after[0]);
}

#[test]
fn an_object_is_no_input_of_a_step() {
    let program = SCRIPT.replace("for x, y in loader", "for x in trees").replace("(out, y)", "(out, x.label)");
    check_said("ipu", &program, "Pass tensors to the compiled step");
    check_said("rdu", &program, "Not ported: the model's arguments are not all positional tensors");
    let tensor = SCRIPT.replace("(out, y)", "(out, x.T)").replace("for x, y in loader", "for x in loader");
    assert!(ported("rdu", &[("a.py", &tensor)]).0[0].contains("rdu.update()"));
}

#[test]
fn samples_that_a_loop_cuts_on_the_rdu() {
    let cut = SCRIPT.replace(
        "for x, y in loader:",
        "for i in range(0, len(images), 8):\n    x, y = images[i:i + 8], labels[i:i + 8]",
    );
    check_said("rdu", &cut, "`range(0, len(images) - 8 + 1, 8)`");
}

/// A target that the model itself gives without gradients.
#[test]
fn what_is_computed_without_gradients_has_none_in_the_step() {
    let block = "    with torch.no_grad():\n        goal = model(x + 1)\n        scale = goal.mean()\n";
    let step = step_lines("0.1", 1).replace("y)", "goal) * scale");
    let check = |above: &str, block: &str| {
        let header = block.lines().next().unwrap_or_default().trim();
        let (ported, said) = to_ipu(&format!("import torch\n{HEAD}{above}for x, y in loader:\n{block}{step}"));
        let moved =
            "            goal = self.model(x + 1)\n            scale = goal.mean()\n        out = self.model(x)\n";
        assert!(ported.contains(moved) && !ported.contains("        pass\n"), "{header}: {said}{ported}");
    };
    check("", block);
    check("off = torch.no_grad()\n", &block.replace("torch.no_grad()", "off"));
    check("", &block.replace("no_grad()", "set_grad_enabled(False)"));
    let (ported, said) =
        to_ipu(&format!("import torch\n{HEAD}for x, y in loader:\n{}{step}", block.replace("no_grad", "enable_grad")));
    assert!(!ported.contains("with torch.no_grad"), "{said}{ported}");
}
