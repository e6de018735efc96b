//! Loaders and what they yield: the sizes of batches, collate functions, data sets that read files.

use crate::ports::{SCRIPT, begins_with, check_in_project, check_said, check_silent, ported};

#[test]
fn a_window_is_no_batch() {
    let cut = |source: &str, start: &str| {
        let cut = format!(
            "\n\ndef cut(words, size):\n    for i in {source}:\n        yield words[{start}:{start} + size]\n\n\n"
        );
        ported("ipu", &[("a.py", &begins_with(&cut).replace("in loader", "in cut(data, 8)"))]).1
    };
    let said = cut("range(len(words) - size + 1)", "i");
    assert!(!said.contains("is shorter"), "{said}");
    let said = cut("range(1, len(words) - size)", "i");
    assert!(!said.contains("is shorter"), "{said}");
    for (source, start) in [("range(0, len(words), size)", "i"), ("range(len(words))", "i * size"), ("starts", "i")] {
        let said = cut(source, start);
        assert!(said.contains("the last batch that this yields is shorter"), "{source}: {said}");
    }
}

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
        let trains = MAIN.replace("    print(model(x))", "    model(x).sum().backward()");
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
    let program = SCRIPT
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
fn files_and_order_in_a_module_of_the_program() {
    let data = "import pickle\n\nimport numpy as np\n\n\ndef lines(path):\n    words = open(path).readlines()\n    \
                np.random.shuffle(words)\n    with open(\"words.pickle\", \"wb\") as file:\n        \
                pickle.dump(words, file)\n    return words\n";
    let main = SCRIPT.replace("model = ", "from data import lines\n\nloader = batches(lines(\"words.txt\"))\nmodel = ");
    let files = [("a.py", main.as_str()), ("data.py", data)];
    check_in_project("popdist", &files, "8: Every instance draws an order of its own here", true);
    check_in_project("popdist", &files, "9: Every instance writes or removes this file", true);
    let seeded = main.replace("loader =", "torch.manual_seed(1)\nnp.random.seed(1)\nloader =");
    check_in_project("popdist", &[("a.py", &seeded), ("data.py", data)], "an order of its own", false);
}

/// A script that trains, with a collate function for its loader.
fn collating(body: &str) -> String {
    let loader = "loader = torch.utils.data.DataLoader(lines, batch_size=4, collate_fn=collate)\n";
    SCRIPT.replace("\nmodel =", &format!("\n\ndef collate(samples):\n{body}\n\n{loader}model ="))
}

#[test]
fn batches_of_their_own_length() {
    let words = "Each batch is padded to its own longest sample";
    for body in [
        "    return tokenizer(samples, padding=True, return_tensors=\"pt\")\n",
        "    return tokenizer(samples, padding='longest')\n",
        "    return tokenizer.pad(samples, return_tensors=\"pt\")\n",
        "    size = max(len(sample) for sample in samples)\n    return padded(samples, size)\n",
        "    return torch.nn.utils.rnn.pad_sequence(samples)\n",
    ] {
        check_said("ipu", &collating(body), words);
    }
    for body in [
        "    return tokenizer(samples, padding=\"max_length\", max_length=64, return_tensors=\"pt\")\n",
        "    return tokenizer.pad(samples, padding=\"max_length\", return_tensors=\"pt\")\n",
        "    return torch.stack(samples)\n",
    ] {
        check_silent("ipu", &collating(body));
    }
    // All samples at once have one length.
    let all = "\nevery = tokenizer(texts, padding=True, return_tensors=\"pt\")\nsize = max(len(text) for text in texts)\nmodel =";
    check_silent("ipu", &SCRIPT.replace("\nmodel =", all));
    let in_step = SCRIPT
        .replace("    out = model(x)", "    x = tokenizer(x, padding=True, return_tensors=\"pt\")\n    out = model(x)");
    check_said("ipu", &in_step, words);
    let collator = |argument: &str| {
        let import = "from transformers import DataCollatorWithPadding\nimport torch\n";
        let made = format!("\ncollate = DataCollatorWithPadding(tokenizer{argument})\nmodel =");
        SCRIPT.replace("import torch\n", import).replace("\nmodel =", &made)
    };
    check_said("ipu", &collator(""), words);
    check_silent("ipu", &collator(", padding=\"max_length\", max_length=64"));
}

/// The function that makes a batch may be in another file, and a method.
#[test]
fn a_collating_object_of_another_file() {
    let module = "class Words:\n    def __call__(self, samples):\n        return self.tokenizer(samples, padding=True)\n\n    \
                  def show(self, sample):\n        print(self.tokenizer(sample, padding=True))\n";
    let main = SCRIPT.replace("import torch\n", "import torch\nfrom words import Words\n");
    let main = main.replace(
        "\nmodel =",
        "\nloader = torch.utils.data.DataLoader(lines, batch_size=4, collate_fn=Words(8))\nmodel =",
    );
    let (_, said) = ported("ipu", &[("train.py", &main), ("words.py", module)]);
    assert_eq!(said.matches("Each batch is padded").count(), 1, "{said}");
    assert!(said.contains("3: Each batch is padded"), "{said}");
}

#[test]
fn a_generator_may_yield_a_shorter_last_batch() {
    let shorter = "the last batch that this yields is shorter";
    let text = |batches: &str| {
        SCRIPT.replace("in loader:", "in batches(data, 32):").replace("\nmodel", &format!("{batches}\n\nmodel"))
    };
    let by_range = "\ndef batches(data, size):\n    for i in range(0, len(data), size):\n        yield data.x[i:i + size], data.y[i:i + size]\n";
    check_said("ipu", &text(by_range), shorter);
    let by_starts = "\ndef batches(data, size):\n    for i in starts:\n        yield data[i:i + size]\n";
    check_said("ipu", &text(by_starts), shorter);
}

/// A comprehension makes the loaders of both phases.
#[test]
fn a_comprehension_makes_loaders_for_training_and_evaluation() {
    let loaders = |more: &str| {
        format!("loaders = {{k: torch.utils.data.DataLoader(s, batch_size=8{more}) for k, s in sets.items()}}\n")
    };
    let program = |more: &str| {
        let (head, rest) = SCRIPT.split_once("for x, y in loader").unwrap();
        let eval = "model.eval()\nfor x, y in loaders['val']:\n    print(model(x))\n";
        format!("{head}sets = {{'train': a, 'val': b}}\n{}for x, y in loaders['train']{rest}{eval}", loaders(more))
    };
    for target in ["ipu", "popdist"] {
        let (after, said) = ported(target, &[("a.py", &program(", shuffle=(k == 'train')"))]);
        assert!(after[0].contains("drop_last=(k == 'train')"), "{said}{}", after[0]);
        assert!(!said.contains("both get their loader"), "{said}");
        let (after, said) = ported(target, &[("a.py", &program(""))]);
        assert!(
            !after[0].contains("drop_last") && said.contains("Training and evaluation both get their loader here"),
            "{said}{}",
            after[0]
        );
    }
}
