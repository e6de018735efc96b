//! Messages about unchanged places on the IPU, by itself and with PopDist, and cases without message or change.

mod said;

use said::{STEP, check_in_project, check_said, check_silent, ported};

#[test]
fn a_layer_of_the_data_is_not_told() {
    let check = |program: &str, is_told: bool| {
        let text = format!("import tensorflow as tf\nfrom tensorflow.keras import layers\n\n{program}\n");
        assert_eq!(ported("ipu", &[("a.py", &text)]).1.contains("can't be compiled for the IPU"), is_told, "{text}");
    };
    check("turn = layers.RandomRotation(0.1)\ndata = data.map(lambda x, y: (turn(x, training=True), y))", false);
    let augment = "turn = tf.keras.Sequential([layers.RandomFlip(), layers.RandomRotation(0.1)])\n\n\n\
                   def augment(x, y):\n    return turn(x), y\n\n\ndata = data.map(augment)";
    check(augment, false);
    check("def augment(x):\n    return layers.RandomZoom(0.1)(x)\n\n\ndata = data.map(augment)", false);
    let words = "words = layers.TextVectorization()\nwords.adapt(text)\n";
    check(&format!("{words}data = data.map(lambda x, y: (words(x), y))"), false);
    for model in [
        "model = tf.keras.Sequential([layers.RandomRotation(0.1), layers.Dense(1)])\nmodel.fit(data)",
        "model = tf.keras.Sequential()\nmodel.add(layers.RandomWidth(0.1))",
        "x = layers.RandomZoom(0.1)(inputs)\nmodel = tf.keras.Model(inputs, layers.Dense(1)(x))",
    ] {
        check(&format!("data = data.map(scaled)\n{model}"), true);
    }
    check(&format!("data = data.map(scaled)\n{words}model = tf.keras.Sequential([words, layers.Dense(1)])"), true);
}

#[test]
fn batches_of_a_distributed_loader_are_shared_out() {
    let program = STEP.replace("for x, y in loader", "for x, y in torch.utils.data.DataLoader(events, batch_size=4)");
    let (after, said) = ported("popdist", &[("a.py", &program)]);
    assert!(after[0].contains("poptorch.DataLoader") && !said.contains("every instance reads all of these"), "{said}");
}

#[test]
fn a_shape_that_depends_on_values_in_a_compiled_step() {
    let loss = |body: &str| {
        let own = format!("\n\ndef contrast(out, y):\n{body}\n\nmodel =");
        STEP.replace("\nmodel =", &own).replace("F.mse_loss(out, y)", "contrast(out, y)")
    };
    let words = "The shape of this result depends on values";
    for target in ["ipu", "popdist"] {
        for index in ["y == 1", "~near", "near", "near, 0", "near.bool()", "(y > 0) & near"] {
            let body = format!("    near = torch.eye(3, device=out.device) > 0\n    return out[{index}].mean()\n");
            check_said(target, &loss(&body), words);
        }
        check_said(target, &loss("    return out.masked_select(y > 0).mean()\n"), words);
        // An assignment target has the shape of the whole, and numbers select a fixed number of elements.
        let fixed = loss("    near = y > 0\n    out[near] = 0\n    return out[y.argmax(1)].mean()\n");
        check_in_project(target, &[("a.py", &fixed)], words, false);
    }
    // The mask comes from another file.
    let rows = "def near(out, y):\n    found = y > 0\n    return found, found.sum()\n";
    let text = loss("    found, count = near(out, y)\n    return out[found, :].sum() / count\n");
    let text = text.replace("import torch\n", "import torch\nfrom rows import near\n");
    check_in_project("ipu", &[("a.py", &text), ("rows.py", rows)], words, true);
    // The data's own code runs on the host.
    check_silent(
        "ipu",
        &STEP.replace("\nmodel =", "\nevents = events[events[:, 0] > 1]\nkinds = torch.unique(y)\nmodel ="),
    );
}

#[test]
fn a_tensor_of_the_host_in_a_forward_pass() {
    let net = |line: &str| {
        let class =
            format!("\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        {line}\n\n\nmodel = Net()\n");
        STEP.replace("\nmodel = torch.nn.Linear(3, 3)\n", &class)
    };
    for line in
        ["return x * torch.Tensor([2.0, 3.0])", "return x @ torch.eye(3)", "return x + torch.zeros(3, device=\"cpu\")"]
    {
        check_said("ipu", &net(line), ": Create tensors on the IPU");
    }
    let (after, _) = ported("ipu", &[("a.py", &net("return x + torch.zeros(3, device=self.device)"))]);
    assert!(after[0].contains("return x + torch.zeros(3)\n"), "{}", after[0]);
    for line in [
        "return x * torch.tensor([2.0, 3.0])",
        "return x @ torch.eye(3).float().to(x.device)",
        "return x + torch.zeros(3, device=x.device)",
        "near = torch.eye(3)\n        near = near.type_as(x)\n        return x @ near",
        "assert isinstance(x, torch.Tensor)",
    ] {
        check_silent("ipu", &net(line));
    }
}

#[test]
fn evaluation_over_all_samples_in_every_instance() {
    let head = "import torch\nfrom torch.utils.data import DataLoader\n\nloader = DataLoader(events, batch_size=4)\nheld = DataLoader(others, batch_size=4)\n";
    let tail =
        "with torch.no_grad():\n    for x, y in held:\n        hits += (model(x).argmax(1) == y).sum()\nprint(hits)\n";
    let (after, _) = ported("popdist", &[("a.py", &format!("{head}{STEP}{tail}"))]);
    let lines = |name: &str| after[0].lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(lines("loader = poptorch").contains("auto_distributed_partitioning=True"), "{}", after[0]);
    assert!(lines("held = poptorch").contains("auto_distributed_partitioning=False"), "{}", after[0]);
}

#[test]
fn a_sampler_is_no_schedule() {
    let sampling = "class Noise:\n    def step(self, out, x):\n        return x - out\n\n\nnoise_scheduler = Noise()\n";
    let program = format!("{sampling}{STEP}x = noise_scheduler.step(model(x), x)\n");
    assert!(!ported("ipu", &[("a.py", &program)]).0[0].contains("setOptimizer"));
    let scheduled =
        format!("{STEP}    scheduler.step()\n").replace("for x, y", "scheduler = StepLR(optimizer)\nfor x, y");
    assert!(ported("ipu", &[("a.py", &scheduled)]).0[0].contains("setOptimizer"));
}

/// A wrapper of the model is removed in the program, and code that accesses its inside may be in another file.
#[test]
fn the_wrapped_model_in_another_file() {
    let train = format!(
        "from torch.nn.parallel import DistributedDataParallel as DDP\nfrom saves import save\n{}",
        STEP.replace("optimizer =", "model = DDP(model)\noptimizer =")
    ) + "save(model)\n";
    let saves = "import torch\n\n\ndef save(model):\n    torch.save(model.module.state_dict(), \"m.pt\")\n";
    let (after, said) = ported("popdist", &[("train.py", &train), ("saves.py", saves)]);
    assert!(
        after[0].contains("training_step(") && !after[0].contains("DDP(") && after[1].contains("(model.state_dict()"),
        "{said}{after:?}"
    );
    // Nothing was ported, so the wrapper still exists.
    let refused = train.replace("loss.backward()", "loss.backward(create_graph=True)");
    let after = ported("popdist", &[("train.py", &refused), ("saves.py", saves)]).0;
    assert!(after[1].contains("model.module.state_dict()"), "{after:?}");
}

#[test]
fn files_that_a_data_set_opens_are_no_reader_of_its_own() {
    let reads = "h5py.File(\"events.h5\")[\"x\"]";
    check_said(
        "popdist",
        &format!("import h5py\nimport torch\n\nx = torch.tensor({reads})\n"),
        "Each instance reads its data on its own",
    );
    check_silent(
        "popdist",
        &format!(
            "import h5py\nimport torch\nfrom torch.utils.data import Dataset\n\n\nclass Events(Dataset):\n    \
             def __getitem__(self, i):\n        return torch.tensor({reads}[i])\n"
        ),
    );
}

#[test]
fn a_refused_step_stays_whole_beside_a_ported_one() {
    let step = |before: &str, optimizer: &str| {
        format!(
            "import torch\n\nnet = torch.nn.Linear(4, 2)\nloss_fn = torch.nn.MSELoss()\n\
             opt = torch.optim.{optimizer}(net.parameters(), lr=1e-3)\n\
             loader = torch.utils.data.DataLoader(data, batch_size=4)\nfor x, y in loader:\n    out = net(x)\n{before}    \
             loss = loss_fn(out, y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n\
             torch.save(net.state_dict(), \"net.pt\")\n"
        )
    };
    let (good, bad) = (step("", "Adam"), step("    while out.sum() > 0:\n        out = out - 1\n", "AdamW"));
    for target in ["ipu", "popdist"] {
        let (after, said) = ported(target, &[("good.py", &good), ("bad.py", &bad)]);
        assert!(after[0].contains("poptorch.optim.Adam("), "{}", after[0]);
        assert!(after[1].contains("torch.optim.AdamW(net.parameters(), lr=1e-3)\nloader = torch.utils.data.DataLoader(data, batch_size=4)\n"), "{}", after[1]);
        assert!(!after[1].contains("poptorch"), "{}", after[1]);
        assert!(said.contains("Not ported"), "{target}: {said}");
    }
}

#[test]
fn a_module_of_the_models_own_is_no_wrapper() {
    let text = "import poptorch\nimport torch\n\n\nclass Skip(torch.nn.Module):\n    def __init__(self, module):\n        \
                super().__init__()\n        self.module = module\n\n    def forward(self, x):\n        return x + self.module(x)\n";
    let text =
        format!("{text}\n\nnet = Skip(torch.nn.Linear(2, 2))\ntorch.save(net.module.state_dict(), \"net.pt\")\n");
    assert_eq!(ported("ipu", &[("a.py", &text)]).0, [text]);
}

#[test]
fn clipping_of_what_a_function_returns() {
    let clip = "    clip_all(weights(model), 1.0)\n    optimizer.step()\n";
    let text = STEP
        .replace("    optimizer.step()\n", clip)
        .replace("import torch\n", "import torch\nfrom own import clip_all, weights\n");
    for target in ["ipu", "popdist"] {
        check_said(target, &text, "12: Not ported: this reads a gradient");
    }
}

#[test]
fn a_loop_that_one_instance_ends() {
    let ends = |test: &str| {
        let end = format!("    optimizer.step()\n    steps += 1\n    seen += len(x)\n    if {test}:\n        break\n");
        STEP.replace("    optimizer.step()\n", &end).replace("for x", "steps = seen = 0\nfor x")
    };
    let words = "A training loss is that of the instance's own samples";
    let check = |test: &str, is_said: bool| check_in_project("popdist", &[("a.py", &ends(test))], words, is_said);
    check("loss < 0.1", true);
    check("steps > args.steps", false);
    check("seen > 1000 and steps > 1", false);
}

#[test]
fn files_and_order_in_a_module_of_the_program() {
    let data = "import pickle\n\nimport numpy as np\n\n\ndef lines(path):\n    words = open(path).readlines()\n    \
                np.random.shuffle(words)\n    with open(\"words.pickle\", \"wb\") as file:\n        \
                pickle.dump(words, file)\n    return words\n";
    let main = STEP.replace("model = ", "from data import lines\n\nloader = batches(lines(\"words.txt\"))\nmodel = ");
    let files = [("a.py", main.as_str()), ("data.py", data)];
    check_in_project("popdist", &files, "8: Every instance draws an order of its own here", true);
    check_in_project("popdist", &files, "9: Every instance writes or removes this file", true);
    let seeded = main.replace("loader =", "torch.manual_seed(1)\nnp.random.seed(1)\nloader =");
    check_in_project("popdist", &[("a.py", &seeded), ("data.py", data)], "an order of its own", false);
}

#[test]
fn a_model_named_like_an_imported_module_is_compiled() {
    let program = STEP.replace("model = ", "import model\nmodel = ");
    for target in ["ipu", "popdist"] {
        let (after, _) = ported(target, &[("a.py", &program)]);
        assert!(after[0].contains("self.model = model\n"), "{}", after[0]);
    }
}

#[test]
fn a_loss_of_the_programs_own_that_comes_from_another_file() {
    let losses = "class Masked:\n    def __call__(self, out, y):\n        return out[y != -1].mean()\n";
    let step =
        STEP.replace("F.mse_loss(out, y)", "loss_fn(out, y)").replace("import torch\nfrom", "import torch\n\n\nfrom");
    let (imports, code) = step.split_once("\n\nmodel = ").unwrap_or_default();
    let body = format!("model = {code}").replace('\n', "\n    ");
    let fit = format!("{imports}\n\n\ndef fit(loss_fn, loader):\n    {body}\n");
    let main = "from fit import fit\nfrom losses import Masked\n\nloss_fn = Masked()\nfit(loss_fn, loader)\n";
    let words = "The shape of this result depends on values";
    check_in_project("ipu", &[("losses.py", losses), ("fit.py", &fit), ("main.py", main)], words, true);
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
fn requirements_that_the_python_of_the_sdk_can_have() {
    let said = |line: &str| ported("ipu", &[("requirements.txt", &format!("{line}\n"))]).1.contains("Python 3.8");
    for line in ["numpy>=1.26", "numpy==1.26.0", "SciPy>1.11,<2", "scikit_learn~=1.4"] {
        assert!(said(line), "{line}");
    }
    for line in ["numpy", "numpy==1.24", "numpy>=1.20,<2", "numpy>=1.26; python_version > '3.8'", "# numpy>=1.26"] {
        assert!(!said(line), "{line}");
    }
}

#[test]
fn a_diagonal_or_a_triangle_of_what_is_computed() {
    let words = "only for constants";
    let loss = |body: &str| {
        let own = format!("\n\ndef contrast(out, y):\n{body}\n\nmodel =");
        STEP.replace("\nmodel =", &own).replace("F.mse_loss(out, y)", "contrast(out, y)")
    };
    for value in ["torch.diag(near)", "near.triu(1)", "torch.tril(near, -1)", "torch.diagonal(out @ y.T)"] {
        check_said("ipu", &loss(&format!("    near = out @ y.T\n    return {value}.mean()\n")), words);
    }
    for value in ["near * torch.ones(3, 3).triu(1)", "torch.tril(torch.ones(3, 3)) * near", "ones.triu() * near"] {
        let body = format!("    near, ones = out @ y.T, 1\n    ones = torch.ones(3, 3)\n    return ({value}).mean()\n");
        check_in_project("ipu", &[("a.py", &loss(&body))], words, false);
    }
    // What the host computes from a table of counts.
    check_silent("ipu", &format!("{STEP}counts = torch.zeros(3, 3)\nprint(counts.diag() / counts.sum(1))\n"));
}

#[test]
fn instances_read_and_write_other_files_than_text() {
    let words = "Every instance writes or removes this file";
    let program = |line: &str| format!("import h5py\nimport sqlite3\nimport numpy as np\n{STEP}{line}\n");
    for line in [
        "with h5py.File(\"a.h5\", \"w\") as file:\n    file[\"a\"] = losses",
        "rows = np.memmap(\"rows\", dtype=\"float32\", mode=\"w+\", shape=(3,))",
        "table = sqlite3.connect(\"a.db\")\ntable.commit()",
    ] {
        check_said("popdist", &program(line), words);
        let said = ported("popdist", &[("a.py", &program(line))]).1;
        assert!(!said.contains("Shard the data"), "{said}");
    }
    for line in ["rows = np.memmap(\"rows\", dtype=\"float32\", mode=\"r\")", "table = sqlite3.connect(\"a.db\")"] {
        check_in_project("popdist", &[("a.py", &program(line))], words, false);
    }
    check_said("popdist", &program("events = h5py.File(\"a.h5\", \"r\")"), "Shard the data");
    // A file that the program loads makes its folder, whichever instance is first.
    let saving = "import os\n\n\ndef run():\n    if not os.path.exists(\"log\"):\n        os.makedirs(\"log\")\n";
    let main = STEP.replace("import torch\n", "import torch\nimport saving\n");
    let (after, _) = ported("popdist", &[("main.py", &format!("{main}saving.run()\n")), ("saving.py", saving)]);
    assert!(after.iter().any(|text| text.contains("os.makedirs(\"log\", exist_ok=True)")), "{after:?}");
}

#[test]
fn sums_are_divided_by_the_samples_that_were_seen() {
    let words = "Count the samples";
    let program = |end: &str| {
        let loader = "loader = torch.utils.data.DataLoader(events, batch_size=4)\ntotal = 0\nfor x, y in loader:";
        format!("{}    total += loss.item() * len(y)\n{end}\n", STEP.replace("for x, y in loader:", loader))
    };
    for target in ["ipu", "popdist"] {
        check_said(target, &program("print(total / len(events))"), words);
        for end in ["print(total / len(loader))", "print(total / len(others))", "print(hits / len(events))"] {
            check_in_project(target, &[("a.py", &program(end))], words, false);
        }
    }
}
