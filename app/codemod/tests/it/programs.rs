//! Which code a project's programs run: entry points, demonstrations beside a module, code that nothing uses.

use crate::ports::{SCRIPT, check_in_project, check_said, check_said_at, check_silent, port_script, ported};

#[test]
fn a_demonstration_of_an_imported_file_is_not_part_of_the_step() {
    let trainer = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n\nclass Trainer:\n    def __init__(self, model):\n        self.model = model\n        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)\n\n    def epoch(self, loader):\n        for x, y in loader:\n            loss = torch.nn.functional.mse_loss(self.model(x), y)\n            loss.backward()\n            self.opt.step()\n\n\nif __name__ == \"__main__\":\n    demo = Net()\n    print(demo(torch.randn(1, 4), True))\n";
    let main = "from net import Net, Trainer\n\nif __name__ == \"__main__\":\n    Trainer(Net()).epoch(loader)\n";
    let (after, said) = ported("rdu", &[("net.py", trainer), ("main.py", main)]);
    assert!(after[0].contains("rdu.update()") && after[0].contains("print(demo(torch.randn(1, 4), True))"), "{said}");
}

const STEP_IN_MAIN: &str = "import argparse

import torch

from net import Net


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument(\"--device\", default=\"cuda:0\")
    args = parser.parse_args()
    device = torch.device(args.device if torch.cuda.is_available() else \"cpu\")
    data = torch.utils.data.TensorDataset(torch.rand(8, 4), torch.rand(8, 2))
    loader = torch.utils.data.DataLoader(data, batch_size=4, pin_memory=torch.cuda.is_available(), drop_last=True)
    net = Net().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(net(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == \"__main__\":
    main()
";

const NET: &str = "import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x)


if __name__ == \"__main__\":
    net = Net().cuda()
    print(torch.cuda.mem_get_info(), torch.cuda.memory_summary())
    net(torch.rand(3, 4, device=\"cuda\"))
";

#[test]
fn what_is_not_run_needs_no_change() {
    for target in ["ipu", "popdist", "rdu", "hpu", "xpu"] {
        let files = [("net.py", NET), ("train.py", STEP_IN_MAIN)];
        let said = ported(target, &files).1;
        let said: Vec<&str> = said.lines().filter(|line| !line.contains("sample shape")).collect();
        assert_eq!(said, [""; 0], "{target}");
    }
    // The block is run if nothing imports the file.
    let alone = STEP_IN_MAIN.replace("from net import Net", "from nets import Net");
    check_in_project("xpu", &[("net.py", NET), ("train.py", &alone)], "`torch.xpu` has no `memory_summary`", true);
}

#[test]
fn a_program_beside_the_one_that_trains() {
    let train = format!("{SCRIPT}\n\ndef main():\n    pass\n\n\nif __name__ == \"__main__\":\n    main()\n");
    let other = "import torch\n\nif __name__ == \"__main__\":\n    net = torch.load(\"net.pt\", map_location=\"cuda\")\n    \
                 print(net(torch.zeros(3, device=\"cuda\")))\n";
    let (_, said) = ported("ipu", &[("show.py", other), ("train.py", &train)]);
    assert!(!said.contains("CUDA device"), "{said}");
    // It trains, too, in another way.
    let trains = other.replace("print(net", "net.minimize(net");
    let (_, said) = ported("ipu", &[("show.py", &trains), ("train.py", &train)]);
    assert!(said.contains("CUDA device"), "{said}");
}

#[test]
fn a_unit_test_is_no_training_step() {
    let case = "import unittest\n\nimport torch\n\n\nclass Gradients(unittest.TestCase):\n    def test_sum(self):\n        \
                x = torch.ones(4, requires_grad=True)\n        x.sum().backward()\n";
    let function = "import torch\n\n\ndef test_sum(net):\n    net(torch.ones(4)).sum().backward()\n";
    for target in ["ipu", "rdu"] {
        check_silent(target, case);
        assert_eq!(ported(target, &[("tests/test_net.py", function)]).1, "");
        assert_ne!(ported(target, &[("net.py", function)]).1, "");
    }
    assert_eq!(ported("hpu", &[("a.py", case)]).0, [case]);
}

#[test]
fn a_demonstration_beside_the_program_needs_no_card() {
    let train = "import torch\nfrom net import Net\n\nnet = Net().cuda()\n";
    let net =
        "import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n\n\nif __name__ == '__main__':\n    print(Net())\n";
    let (after, _) = ported("hpu", &[("train.py", train), ("net.py", net)]);
    assert!(after[0].contains("PT_HPU_LAZY_MODE"), "{}", after[0]);
    assert_eq!(after[1], net);
    // A program that leads to the one that moves the model is set up before torch is loaded.
    let start = "import torch\nimport train\n\nif __name__ == '__main__':\n    train.main()\n";
    let (after, _) = ported("hpu", &[("start.py", start), ("train.py", train), ("net.py", net)]);
    assert!(after[0].contains("PT_HPU_LAZY_MODE"), "{}", after[0]);
}

#[test]
fn a_data_generator_with_a_configuration_is_no_program_for_the_card() {
    let files = [
        (
            "generate.py",
            "import hydra\nimport numpy\n\n\n@hydra.main()\ndef main(cfg):\n    numpy.save(cfg.to, cfg.data)\n",
        ),
        (
            "train.py",
            "import torch\n\nnet = torch.nn.Linear(2, 1).cuda()\nnet(torch.ones(2).cuda()).sum().backward()\n",
        ),
    ];
    assert_eq!(ported("hpu", &files).0[0], files[0].1);
}

#[test]
fn what_is_reported_once_is_reported_in_the_program_that_trains() {
    let import = "import deepxde as dde\n";
    let (_, said) = ported("xpu", &[("a.py", import), ("train.py", &format!("\n{import}{SCRIPT}"))]);
    assert_eq!(said.matches("`deepxde`").count(), 1, "{said}");
    assert!(said.lines().any(|line| line.starts_with("2: ") && line.contains("`deepxde`")), "{said}");
}

#[test]
fn torch_in_the_main_block_alone() {
    let step = "import sys\n\n\ndef train(model, optimizer, loader):\n    for x, y in loader:\n        loss = F.mse_loss(model(x), y)\n        \
                optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n\n\n";
    let main = "if __name__ == '__main__':\n    import torch\n    import torch.nn.functional as F\n\n    \
                model = torch.nn.Linear(3, 3)\n    train(model, torch.optim.Adam(model.parameters()), loader)\n";
    let (after, _) = ported("ipu", &[("a.py", &format!("{step}{main}"))]);
    assert!(after[0].starts_with("import sys\nimport torch\nimport poptorch\n"), "{}", after[0]);
}

#[test]
fn functions_that_call_one_another_in_a_circle_end() {
    let text = "import torch.distributed as dist\n\n\nclass Group:\n    def join(self):\n        dist.init_process_group('gloo', rank=0)\n        \
                self.split()\n\n    def split(self):\n        self.join()\n";
    for target in ["hpu", "xpu", "ipu", "popdist", "rdu"] {
        port_script(target, text);
    }
    check_said_at("popdist", text, 6, "poprun connects the instances");
}

#[test]
fn what_no_program_uses_keeps_no_step_from_being_ported() {
    let demo = "\n\ndef demo():
    torch.distributed.init_process_group('nccl')
    other = torch.nn.Linear(3, 3)
    optimizer = torch.optim.Rprop(other.parameters())
    print(other(torch.ones(3)), optimizer)\n\n
";
    let program = SCRIPT.replace("\nmodel =", &format!("{demo}model ="));
    for (target, call) in [("ipu", "training_step("), ("rdu", "rdu.update()")] {
        let (after, said) = ported(target, &[("a.py", &program)]);
        assert!(after[0].contains(call) && after[0].contains("torch.optim.Rprop("), "{said}{}", after[0]);
        let used = format!("{program}demo()\n");
        check_said(target, &used, "Not ported");
    }
}

#[test]
fn a_demonstration_in_a_module_of_a_program_is_no_warning() {
    let net =
        "import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n\n\nif __name__ == '__main__':\n    Net().cuda()\n";
    let program = SCRIPT.replace("\nmodel = torch.nn.Linear(3, 3)", "from net import Net\n\nmodel = Net()");
    check_in_project("ipu", &[("a.py", &program), ("net.py", net)], "`.cuda()` remains", false);
    check_said("ipu", net, "`.cuda()` remains");
}
