//! Programs whose loaders, models and checkpoints are made in one file and used in another.

mod said;

use said::{STEP, check_said, ported};

const ENGINE: &str = "import torch


class Trainer:
    def __init__(self, model, loader, optimizer):
        self.model, self.loader, self.optimizer = model, loader, optimizer

    def train(self):
        for x, y in self.loader:
            self.optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()
        torch.save(self.model.state_dict(), \"best.pth\")
";

const DATA: &str = "from torch.utils.data import DataLoader, TensorDataset


def loader_of(x, y, shuffle):
    return DataLoader(TensorDataset(x, y), batch_size=8, shuffle=shuffle)
";

const MAIN: &str = "import torch
from data import loader_of
from engine import Trainer

train_loader = loader_of(torch.randn(36, 4), torch.randn(36, 1), True)
test_loader = loader_of(torch.randn(36, 4), torch.randn(36, 1), False)
model = torch.nn.Linear(4, 1)
Trainer(model, train_loader, torch.optim.Adam(model.parameters())).train()
model.load_state_dict(torch.load(\"best.pth\"))
for x, y in test_loader:
    print(model(x))
";

#[test]
fn one_function_makes_loaders_for_training_and_evaluation() {
    for target in ["ipu", "popdist"] {
        let files = [("data.py", DATA), ("engine.py", ENGINE), ("train.py", MAIN)];
        let (after, said) = ported(target, &files);
        assert!(after[0].contains("shuffle=shuffle, drop_last=shuffle)"), "{said}{}", after[0]);
        let always = MAIN.replace("False)", "True)");
        let (after, said) = ported(target, &[("data.py", DATA), ("engine.py", ENGINE), ("train.py", &always)]);
        assert!(!after[0].contains("drop_last"), "{}", after[0]);
        assert!(said.contains("5: Training and evaluation both get their loader here"), "{said}");
        let trains = MAIN.replace("test_loader = loader_of", "more = loader_of").replace("test_loader", "test_set");
        let (after, said) = ported(target, &[("data.py", DATA), ("engine.py", ENGINE), ("train.py", &trains)]);
        assert!(after[0].contains("drop_last=True)"), "{said}{}", after[0]);
    }
}

#[test]
fn a_loader_and_a_checkpoint_in_the_file_that_is_run() {
    let main = MAIN.replace("loader_of(", "DataLoader(").replace("from data import", "from torch.utils.data import");
    let main = main.replace("loader_of", "DataLoader");
    let (_, said) = ported("popdist", &[("engine.py", ENGINE), ("train.py", &main)]);
    assert!(said.contains("Every instance reads all of this loader's samples"), "{said}");
    assert!(said.contains("Only the first instance writes this file"), "{said}");
    let sampled = main
        .replace("), True)", "), sampler=Balanced(labels))")
        .replace("from engine", "from samplers import Balanced\nfrom engine");
    let (_, said) = ported("popdist", &[("engine.py", ENGINE), ("train.py", &sampled)]);
    assert!(said.contains("Every instance reads all of this loader's samples"), "{said}");
    let other = main.replace("best.pth", "start.pth");
    let (_, said) = ported("popdist", &[("engine.py", ENGINE), ("train.py", &other)]);
    assert!(!said.contains("Only the first instance writes this file"), "{said}");
}

#[test]
fn what_a_loop_unpacks_is_not_the_owner_of_its_loader() {
    let program = STEP
        .replace("for x, y in loader", "for data, y in self.loader")
        .replace("model(x)", "self.net(view)")
        .replace("optimizer", "self.optimizer")
        .replace("    out =", "    view = augment(data)\n    out =");
    let (_, steps) = program.split_once("for data").unwrap();
    let body = format!("for data{steps}").replace('\n', "\n        ");
    let text = format!(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n    \
         def count(self):\n        return len(list(self.parameters()))\n\n\nclass Trainer:\n    \
         def __init__(self, loader):\n        self.loader, self.net = loader, Net()\n        \
         self.optimizer = torch.optim.Adam(self.net.parameters())\n\n    def train(self):\n        {}\n",
        body.trim_end()
    );
    let (after, said) = ported("ipu", &[("a.py", &text)]);
    assert!(after[0].contains("training_step(view, y)"), "{said}{}", after[0]);
}

#[test]
fn a_mean_over_the_losses_of_several_gpus() {
    let averaged =
        STEP.replace("    loss.backward()", "    if n_gpu > 1:\n        loss = loss.mean()\n    loss.backward()");
    for (target, call) in [("ipu", "training_step("), ("popdist", "training_step("), ("rdu", "rdu.update()")] {
        let (after, said) = ported(target, &[("a.py", &averaged)]);
        assert!(after[0].contains(call) && !after[0].contains("n_gpu"), "{target}: {said}{}", after[0]);
    }
    let halved = averaged.replace("loss.mean()", "loss / 2");
    check_said("ipu", &halved, "Not ported: a test or loop lies between the model call and the loss");
}

#[test]
fn an_optimizer_in_a_dictionary() {
    let program =
        STEP.replace("optimizer.", "options[\"optimizer\"].").replace("optimizer =", "options[\"optimizer\"] =");
    let (_, said) = ported("ipu", &[("a.py", &program)]);
    assert!(!said.contains("there is no `optimizer.step()`"), "{said}");
}

const SCALER: &str = "import torch


class NativeScaler:
    def __init__(self):
        self.inner = torch.amp.GradScaler(\"cuda\")

    def __call__(self, loss, optimizer):
        self.inner.scale(loss).backward()
        self.inner.step(optimizer)
        self.inner.update()
";

#[test]
fn one_update_with_and_without_a_scaler() {
    let (start, rest) = STEP.split_once("for x, y").unwrap();
    let branches = rest.replace(
        "    loss.backward()\n    optimizer.step()\n",
        "    if scaler is not None:\n        scaler(loss, optimizer)\n    else:\n        loss.backward()\n        optimizer.step()\n",
    );
    assert!(branches.contains("else:"));
    let main = format!("{start}for x, y{branches}");
    for (target, call) in [("ipu", "training_step("), ("popdist", "training_step("), ("rdu", "rdu.update()")] {
        let (after, said) = ported(target, &[("scaling.py", SCALER), ("train.py", &main)]);
        assert!(after[1].contains(call) && !after[1].contains("scaler"), "{target}: {said}{}", after[1]);
        assert!(!said.contains("this function receives the loss"), "{target}: {said}");
        let (after, said) = ported(target, &[("train.py", &main.replace("import torch\n", SCALER))]);
        assert!(after[0].contains(call) && !after[0].contains("if scaler"), "{target}: {said}{}", after[0]);
    }
    // Only one of the branches limits the gradients.
    for target in ["ipu", "popdist", "rdu"] {
        let limited = main.replace("scaler(loss, optimizer)", "scaler(loss, optimizer, model.parameters())");
        let (_, said) = ported(target, &[("scaling.py", SCALER), ("train.py", &limited)]);
        assert!(said.contains("Only the branch with mixed precision limits the gradients"), "{target}: {said}");
    }
    // Other code that receives the loss may do anything.
    let (_, said) = ported("ipu", &[("train.py", &main.replace("scaler(loss", "finish(loss"))]);
    assert!(said.contains("this test decides whether the weights are updated"), "{said}");
}

#[test]
fn an_optimizer_that_a_function_creates() {
    let made = "torch.optim.Adam(net.parameters(), lr=1e-3)";
    let program = |body: &str, calls: &str| {
        let helper = format!("\n\ndef make(net):\n{body}\n\n{calls}");
        STEP.replace(
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
        let program = STEP.replace("model.parameters()", weights).replace("model(x)", "model(a(x))");
        check_said(
            "rdu",
            &program.replace("import torch\n", "import itertools\nimport torch\n"),
            "trains several models",
        );
    }
    let groups = STEP.replace("model.parameters()", "[{\"params\": a.parameters()}, {\"params\": model.parameters()}]");
    check_said("rdu", &groups, "parameter groups are not ported");
}

#[test]
fn a_weight_decay_of_0_in_another_file() {
    let program = STEP.replace("lr=1e-3", "lr=1e-3, weight_decay=DECAY");
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

const KERAS_MODEL: &str = "from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Model


class Coder:
    def __init__(self, width):
        inputs = Input(shape=(width,))
        self.model = Model(inputs, Dense(width)(inputs))
        self.model.compile(\"adam\", \"mse\")

    def train(self, data):
        return self.model.fit(data, data, batch_size=32)


def make(width):
    inputs = Input(shape=(width,))
    return Model(inputs, Dense(width)(inputs))
";

#[test]
fn a_keras_program_that_does_not_import_the_framework_itself() {
    let by_class = "import numpy as np\nfrom model import Coder\n\n\ndef main():\n    data = np.load(\"data.npy\")\n    \
                    coder = Coder(data.shape[1])\n    coder.train(data)\n\n\nif __name__ == \"__main__\":\n    main()\n";
    let by_function = "import numpy as np\nfrom model import make\n\ndata = np.load(\"data.npy\")\n\
                       net = make(data.shape[1])\nnet.compile(\"adam\", \"mse\")\nnet.fit(data, data, epochs=2)\n";
    for main in [by_class, by_function] {
        for target in ["ipu", "popdist"] {
            let (texts, said) = ported(target, &[("model.py", KERAS_MODEL), ("train.py", main)]);
            let (_, rest) = texts[1].split_once("configure_ipu_system()\n").expect(&said);
            let (_, scope) = rest.split_once("with strategy.scope():\n").expect(rest);
            assert!(["train(data)", "epochs=2)"].iter().any(|last| scope.contains(last)), "{scope}");
        }
        let (_, said) = ported("hpu", &[("model.py", KERAS_MODEL), ("train.py", main)]);
        assert!(said.contains("has had no TensorFlow"), "{said}");
    }
    // The class has a program of its own, and methods with other names than a model's.
    let class = "from tensorflow import keras\n\n\nclass Coder:\n    def make(self, width):\n        \
                 self.model = keras.Sequential([keras.layers.Dense(width)])\n\n    def train(self, data):\n        \
                 self.model.fit(data, data, epochs=2)\n\n\nif __name__ == \"__main__\":\n    Coder().make(3)\n";
    let main = "from model import Coder\n\ncoder = Coder()\ncoder.make(3)\ncoder.train(data)\n";
    let (texts, said) = ported("ipu", &[("model.py", class), ("train.py", main)]);
    assert!(texts[1].contains("with strategy.scope():\n    coder.make(3)\n"), "{said}{}", texts[1]);
    // A function of that name in another package makes no model.
    let other = by_function.replace("from model", "from shop");
    let (texts, _) = ported("ipu", &[("model.py", KERAS_MODEL), ("train.py", &other)]);
    assert_eq!(texts[1], other);
}

#[test]
fn a_program_beside_the_one_that_trains() {
    let train = format!("{STEP}\n\ndef main():\n    pass\n\n\nif __name__ == \"__main__\":\n    main()\n");
    let other = "import torch\n\nif __name__ == \"__main__\":\n    net = torch.load(\"net.pt\", map_location=\"cuda\")\n    \
                 print(net(torch.zeros(3, device=\"cuda\")))\n";
    let (_, said) = ported("ipu", &[("show.py", other), ("train.py", &train)]);
    assert!(!said.contains("CUDA device"), "{said}");
    // It trains, too, in another way.
    let trains = other.replace("print(net", "net.minimize(net");
    let (_, said) = ported("ipu", &[("show.py", &trains), ("train.py", &train)]);
    assert!(said.contains("CUDA device"), "{said}");
}
