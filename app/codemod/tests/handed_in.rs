//! Parts of a training step for a compiled program that are not where the step is: an optimizer that another file creates, a method other than
//! `forward`, and a demonstration beside the model.

mod said;

use said::{STEP, check_said, ported};

const ENGINE: &str = "import torch\n\n\ndef train(model, loader, optimizer):\n    for x, y in loader:\n        loss = torch.nn.functional.mse_loss(model(x), y)\n        loss.backward()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)\n        optimizer.step()\n\n\ndef evaluate(model, x):\n    with torch.no_grad():\n        return model(x)\n";

fn program(optimizer: &str) -> String {
    format!(
        "import torch\nfrom engine import train\n\nif __name__ == \"__main__\":\n    net = torch.nn.Linear(4, 2)\n    train(net, loader, torch.optim.{optimizer})\n"
    )
}

#[test]
fn the_step_takes_the_optimizer_over() {
    let main = program("Adam(net.parameters(), lr=0.1)")
        .replace("train(net, loader, torch", "train(net, loader, opt)  # torch");
    let main = main.replace("    train", "    opt = torch.optim.Adam(net.parameters(), lr=0.1)\n    train");
    let score = "import engine\n\nif __name__ == \"__main__\":\n    engine.evaluate(net, x)\n";
    let (after, said) = ported("rdu", &[("engine.py", ENGINE), ("main.py", &main), ("score.py", score)]);
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
        let main = program(optimizer);
        let (after, said) = ported("rdu", &[("engine.py", ENGINE), ("main.py", &main)]);
        assert!(said.contains("4: Not ported: ") && after[0] == ENGINE && after[1] == main, "{said}{}", after[0]);
    }
}

#[test]
fn a_demonstration_of_an_imported_file_is_not_part_of_the_step() {
    let trainer = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n\nclass Trainer:\n    def __init__(self, model):\n        self.model = model\n        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)\n\n    def epoch(self, loader):\n        for x, y in loader:\n            loss = torch.nn.functional.mse_loss(self.model(x), y)\n            loss.backward()\n            self.opt.step()\n\n\nif __name__ == \"__main__\":\n    demo = Net()\n    print(demo(torch.randn(1, 4), True))\n";
    let main = "from net import Net, Trainer\n\nif __name__ == \"__main__\":\n    Trainer(Net()).epoch(loader)\n";
    let (after, said) = ported("rdu", &[("net.py", trainer), ("main.py", main)]);
    assert!(after[0].contains("rdu.update()") && after[0].contains("print(demo(torch.randn(1, 4), True))"), "{said}");
}

#[test]
fn another_method_of_the_model() {
    check_said(
        "rdu",
        &STEP.replace("model(x)", "model.extract(x)"),
        "calls the model's `extract`, but SambaFlow traces",
    );
}
