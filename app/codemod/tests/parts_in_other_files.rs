//! Steps whose loader or whose computation is in another file, and code that the program which trains does not run.

mod said;

use said::{check_in_project, check_said, check_silent, ported};

const ACCUMULATES: &str = "import torch
from torch.nn import functional as F

from data import make_loader


def train(args, model, loader, optimizer):
    for i, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y) / args.parts
        loss.backward()
        if (i + 1) % args.parts == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(len(loader) // args.parts)
";

#[test]
fn batches_of_another_files_loader_are_joined() {
    for target in ["ipu", "popdist"] {
        let (after, said) = ported(target, &[("a.py", ACCUMULATES)]);
        let begins = "    if not ipu_training_steps:\n        opts.Training.gradientAccumulation(args.parts)\n    \
                      loader = JoinedBatches(loader, args.parts)\n    for i, (x, y) in enumerate(loader):\n";
        assert!(after[0].contains(begins), "{said}{}", after[0]);
        assert!(after[0].contains("    print(len(loader))\n"), "{}", after[0]);
    }
    // A literal number is set with the other options.
    let literal = ACCUMULATES.replace("args.parts", "4");
    let (after, said) = ported("ipu", &[("a.py", &literal)]);
    assert!(after[0].contains("    loader = JoinedBatches(loader, 4)\n"), "{said}{}", after[0]);
    assert_eq!(after[0].matches("gradientAccumulation(4)").count(), 1, "{}", after[0]);
    // The loader is made in the function: once for all epochs.
    let made = ACCUMULATES.replace(
        "def train(args, model, loader, optimizer):\n",
        "def train(args, model, optimizer):\n    loader = make_loader()\n",
    );
    let (after, said) = ported("ipu", &[("a.py", &made)]);
    assert!(after[0].contains("    loader = make_loader()\n    if not ipu_training_steps:\n"), "{said}{}", after[0]);
    // A number that is only known later, and batches that do not come from a loader.
    let late = ACCUMULATES.replace("args.parts", "parts").replace("    for i", "    parts = args.parts\n    for i");
    let other = ACCUMULATES.replace("enumerate(loader)", "enumerate(loader())");
    for program in [late, other.replace("model, loader,", "model, batches,").replace("(loader", "(batches")] {
        check_said("ipu", &program, "Not ported: on the IPU one call takes all batches that a step accumulates");
    }
}

const RENDERS: &str = "import torch

from rendering import render

model = torch.nn.Linear(3, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for rays, target in loader:
    loss = ((render(model, rays) - target) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
";

#[test]
fn a_function_of_another_file_that_computes_with_the_model() {
    let helper = |body: &str| {
        format!("import numpy as np\nimport torch\n\n\ndef render(model, rays):\n{body}    return model(rays)\n")
    };
    let (after, said) = ported("ipu", &[("rendering.py", &helper("    rays = rays * 2\n")), ("a.py", RENDERS)]);
    assert!(after[1].contains("loss = ((render(self.model, rays) - target) ** 2).mean()"), "{said}{}", after[1]);
    assert!(after[1].contains("loss = training_step(rays, target)"), "{}", after[1]);
    let words = "the model call for this loss is not in this function";
    for body in [
        "    rays = rays + np.random.rand()\n",
        "    print(rays.mean().item())\n",
        "    with torch.no_grad():\n        model(rays)\n",
        "    model.train()\n",
        "    model.calls += 1\n",
        "    seen.append(rays)\n",
        "    rays = scaled(rays)\n\n\ndef scaled(rays):\n    rays = rays * np.random.rand()\n",
    ] {
        check_in_project("ipu", &[("a.py", RENDERS), ("rendering.py", &helper(body))], words, true);
    }
    let parts = helper("    parts = []\n    parts.append(rays)\n    rays = torch.cat(parts)\n");
    check_in_project("ipu", &[("a.py", RENDERS), ("rendering.py", &parts)], words, false);
    // Unknown code may do anything.
    check_said("ipu", RENDERS, words);
    // A number that changes would be compiled in.
    let counts = RENDERS.replace("for rays, target in loader", "for epoch, (rays, target) in enumerate(loader)");
    let counts = counts.replace("render(model, rays)", "render(model, rays, epoch)");
    let takes = helper("    rays = rays * epoch\n").replace("(model, rays):", "(model, rays, epoch):");
    check_in_project("ipu", &[("a.py", &counts), ("rendering.py", &takes)], "`epoch` changes during training", true);
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
    // The option is read in another case, too.
    let read = STEP_IN_MAIN.replace("    data =", "    print(args.device)\n    data =");
    check_in_project("rdu", &[("train.py", &read), ("net.py", NET)], "this string names a CUDA device", true);
    // The block is run if nothing imports the file.
    let alone = STEP_IN_MAIN.replace("from net import Net", "from nets import Net");
    check_in_project("xpu", &[("net.py", NET), ("train.py", &alone)], "Call the same function under torch.xpu", true);
}

#[test]
fn tapes_of_one_with_get_one_message() {
    let program = |tapes: &str| {
        format!(
            "import tensorflow as tf\n\n\ndef step(net, x):\n    with {tapes}:\n        y = net(x)\n    return a.gradient(y, net.trainable_variables)\n"
        )
    };
    for (tapes, count) in [("tf.GradientTape() as a", 1), ("tf.GradientTape() as a, tf.GradientTape() as b", 1)] {
        let said = ported("ipu", &[("a.py", &program(tapes))]).1;
        assert_eq!(said.matches("Run a custom training loop").count(), count, "{said}");
    }
    let nested = program("tf.GradientTape() as a:\n      with tf.GradientTape() as b");
    assert_eq!(ported("ipu", &[("a.py", &nested)]).1.matches("Run a custom").count(), 2);
}

#[test]
fn a_model_that_is_trained_batch_by_batch() {
    let program = "from tensorflow import keras\n\nstrategy = make()\nwith strategy.scope():\n    \
                   net = keras.Sequential([keras.layers.Dense(4)])\n    net.compile(\"sgd\", \"mse\")\n    \
                   words.fit(texts)\n    net.train_on_batch(x, y)\n";
    check_silent("ipu", program);
    let also = format!("{program}    net.fit(x, y)\n");
    check_said("ipu", &also, "returns to the host after every batch");
}
