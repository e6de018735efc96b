//! Parts of a compiled step other than the model: tensors from above the loop, methods, parts of all samples, and which
//! weights it trains.

mod ported;

use ported::to;

fn check_has(text: &str, words: &[&str]) {
    let (ported, said) = to("ipu", text);
    for word in words {
        assert!(ported.contains(word), "{word}\n{said}{ported}");
    }
}

fn check_refused(text: &str, words: &str) {
    let (ported, said) = to("ipu", text);
    assert!(!ported.contains("poptorch") && said.contains(words), "{said}{ported}");
}

const HEAD: &str = "import torch\nfrom torch.nn import functional as F\n\nmodel = torch.nn.Linear(3, 3)\n\
                    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n";

/// A loop over `header` with a loss.
fn training(above: &str, header: &str, in_loop: &str, loss: &str) -> String {
    let update = "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n";
    format!("{HEAD}{above}for {header}:\n{in_loop}    loss = {loss}\n{update}")
}

#[test]
fn tensors_from_above_the_loop_are_buffers() {
    let loss = "F.mse_loss(model(x), y, reduction=\"none\").mul(weights).mean()";
    let made = "weights = torch.linspace(0, 1, 3).sqrt()\n";
    let ported = ["self.register_buffer(\"weights\", weights)", "mul(self.weights)", "training_step(x, y)"];
    check_has(&training(made, "x, y in loader", "", loss), &ported);
    check_has(&training(&format!("{made}weights = weights.float()\n"), "x, y in loader", "", loss), &ported);
    check_refused(&training(made, "x, y in loader", "    weights.mul_(0.9)\n", loss), "`weights` changes");
    // Trained values are not constants, and values that are not PyTorch tensors are unchanged.
    let learns = "weights = torch.ones(3, requires_grad=True)\n";
    let (ported, _) = to("ipu", &training(learns, "x, y in loader", "", loss));
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
    let (_, said) = to("ipu", &text);
    assert!(said.contains("7: The last batch that this loop cuts is shorter"), "{said}");
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
fn a_method_brings_what_it_calls() {
    let text = "import torch\n\n\nclass Trainer:\n    def __init__(self, model, loader):\n        self.model = model\n        \
                self.loader = loader\n        self.criterion = torch.nn.MSELoss()\n        \
                self.optimizer = torch.optim.Adam(self.model.parameters())\n\n    def model_step(self, batch):\n        \
                if self.plain:\n            return self.criterion(self.model(batch[0]), batch[1])\n        \
                return self.model(batch[0]).sum()\n\n    def train(self):\n        for batch in self.loader:\n            \
                self.optimizer.zero_grad()\n            loss = self.model_step(batch)\n            loss.backward()\n            \
                self.optimizer.step()\n";
    let call = "ipu_training_step(self.optimizer, self.model_step, self.criterion, self.model)";
    check_has(text, &[call, "self.model = model\n", "loss = self.model_step(batch)"]);
    check_refused(
        &text.replace("return self.model(batch[0]).sum()", "return self.model(batch[0]).sum().item()"),
        "this method",
    );
}

#[test]
fn weights_of_no_optimizer_stay_as_they_are() {
    let second = "other = torch.nn.Linear(3, 3)\n";
    let freezes = "freeze_untrained(TrainingStep(*parts), optimizer)";
    check_has(&training(second, "x, y in loader", "", "F.mse_loss(model(x), y + other(x))"), &[freezes]);
    let part = training("", "x, y in loader", "", "F.mse_loss(model(x), y)");
    check_has(&part.replace("model.parameters()", "model.head.parameters()"), &[freezes]);
    let (ported, _) = to("ipu", &part);
    assert!(ported.contains("training_step(x, y)") && !ported.contains("freeze"), "{ported}");
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
fn an_optimizer_that_a_test_chooses_is_one() {
    let choice = "if fast:\n    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)\nelse:\n    \
                  optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n";
    let text = training(choice, "x, y in loader", "", "F.mse_loss(model(x), y)")
        .replace("optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n", "");
    let (ported, said) = to("rdu", &text);
    assert!(
        ported.contains("rdu.read_command_line()\nif fast:\n    rdu.take(model)\n    optimizer = samba.optim.AdamW("),
        "{said}{ported}"
    );
    assert!(
        ported.contains("    optimizer = samba.optim.SGD(model.parameters(), lr=0.1)\n    rdu.start(optimizer)\n"),
        "{said}{ported}"
    );
    let other = text.replace("SGD(model", "SGD(other");
    assert!(to("rdu", &other).1.contains("Not ported"));
}

#[test]
fn what_a_port_makes_pointless_goes() {
    let moved = "    x = x.cuda() if torch.cuda.is_available() else x\n    y = y.to(0)\n";
    let text = training("", "x, y in loader", moved, "F.mse_loss(model(x), y)");
    check_has(&text, &["for x, y in loader:\n    training_step ="]);
    let (ported, _) = to("ipu", "import torch\n\nx = x\ny = z if z else z\n");
    assert_eq!(ported, "import torch\n\nx = x\ny = z if z else z\n");
}
