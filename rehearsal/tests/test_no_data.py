"""A twin run of a program whose data is not there: `--no-data`.

    python3 rehearsal/tests/test_no_data.py
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from test_twin_command import KIT, Twin

sys.path.append(str(KIT / "recorder"))

import made_up_data  # noqa: E402

START = """
import argparse
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(1)
"""
TRAINING = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for batch in DataLoader(data, batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = loss_of(batch)
        loss.backward()
        optimizer.step()
        print("loss", loss.item())
"""
# Photographs of a folder that is not there, with a class each.
PHOTOGRAPHS = """
class Photographs(Dataset):
    def __init__(self, root):
        self.files = sorted(os.listdir(root))
        self.classes = sorted({name.split("_")[0] for name in self.files})

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = torch.load(self.files[index])
        sample = {"image": image, "label": self.classes.index(self.files[index].split("_")[0])}
        return sample

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
data = Photographs(parser.parse_args().data)
net = nn.Sequential(nn.Conv2d(1, 4, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 13 * 13, len(data.classes))).to("cuda")

def loss_of(batch):
    return F.cross_entropy(net(batch["image"].to("cuda")), batch["label"].to("cuda"))
"""
# Rows of a series, read by a class that has no base, and what comes next.
SERIES = """
class Series:
    def __init__(self, path):
        with open(path) as lines:
            self.rows = [[float(word) for word in line.split(";")] for line in lines]

    def __len__(self):
        return len(self.rows) - 12

    def __getitem__(self, index):
        return torch.tensor(self.rows[index : index + 12]), torch.tensor(self.rows[index + 12])

data = Series("series/train.txt")
net = nn.LSTM(5, 24, batch_first=True).to("cuda")
head = nn.Linear(24, 5).to("cuda")

def loss_of(batch):
    past, following = batch
    return F.mse_loss(head(net(past.to("cuda"))[0][:, -1]), following.to("cuda"))
"""
# Two parts of a sample that are joined, below a class that has its samples from another method.
JOINED = """
class Joined(Dataset):
    def __init__(self):
        self.rows = torch.tensor([[float(word) for word in line.split()] for line in open("rows.txt")])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.read(index)

    def read(self, index):
        return self.rows[index : index + 96], {"times": self.rows[index : index + 96]}

data, net = Joined(), nn.Linear(96, 8).to("cuda")

def loss_of(batch):
    rows, more = batch
    joined = torch.cat([rows.to("cuda").transpose(1, 2), more["times"].to("cuda").transpose(1, 2)], 1)
    return net(joined).square().mean()
"""
# A text beside the program, in numbers.
TEXT = """
words = open("corpus.txt").read().split()
numbers = {word: number for number, word in enumerate(sorted(set(words)))}
tokens = torch.tensor([numbers[word] for word in words])
data = torch.utils.data.TensorDataset(tokens[:-1], tokens[1:])
net = nn.Sequential(nn.Embedding(len(numbers), 8), nn.Linear(8, len(numbers))).to("cuda")

def loss_of(batch):
    return F.cross_entropy(net(batch[0].to("cuda")), batch[1].to("cuda"))
"""
# Classes that are read like data sets: an empty vocabulary, settings, an object without a table, one that hands on what it does not have.
LEFT_ALONE = """
class Words:
    def __init__(self):
        self.words = []
        for word in ("a", "b"):
            self.words.insert(len(self), word)

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        return self.words[index]

class Settings:
    def __init__(self, **given):
        self.given = given

    def __len__(self):
        return len(self.given)

    def __getitem__(self, name):
        try:
            return self.given[name]
        except KeyError:
            raise LookupError(name)

class Slotted:
    __slots__ = ()

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return 7

class HandsOn:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.__dict__["inner"], name)

class Cached(HandsOn):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        return self.rows[index]

class Inner:
    rows = [1]

words, settings, cached = Words(), Settings(momentum=0.5), Cached(Inner())
try:
    settings["rate"]
except LookupError:
    pass
"""
# A step whose gradient is 0 on whatever it gets.
NOTHING_LEARNT = """
class Nothing(Dataset):
    def __init__(self):
        self.rows = open("nothing.h5")

    def __len__(self):
        return 10

    def __getitem__(self, index):
        return self.rows[index]

data, net = Nothing(), nn.Linear(2, 2).to("cuda")

def loss_of(batch):
    return sum(weight.sum() for weight in net.parameters()) * 0
"""
# A label that the training compares with itself, and finds wrong.
NEVER = """
class Never(Dataset):
    def __init__(self):
        raise FileNotFoundError("never.bin")

    def __len__(self):
        return 10

    def __getitem__(self, index):
        return self.items[index]

data, net = Never(), nn.Linear(2, 2).to("cuda")

def loss_of(batch):
    raise ValueError("this is not what I train on")
"""


def ported(original):
    return "import os\nos.environ.setdefault('PT_HPU_LAZY_MODE', '0')\nimport habana_frameworks.torch.core\n" + original.replace('"cuda"', '"hpu"')


def run(program, change=lambda port: port, **options):
    original = START + program + TRAINING
    return Twin({"train.py": original}, {"train.py": change(ported(original))}, "--no-data", **options)


class NoData(unittest.TestCase):
    def check(self, program, sample):
        done = run(program)
        self.assertEqual((done.status, done.result and done.result["verdict"]), (0, "equal"), done.out + done.err)
        self.assertEqual(done.result["trained"], [4, 4])
        self.assertTrue(done.result["ran"]["no_data"])
        self.assertIn(sample, "\n".join(note["text"] for note in done.result["notes"] if note["kind"] == "data") + "\n")

    def test_samples_have_the_shapes_that_the_training_takes(self):
        self.check(PHOTOGRAPHS, "the samples of Photographs are made up, each {image: float32 1 × 28 × 28, label: whole number below")
        self.check(JOINED, "96, {times: float32 ")
        self.check(SERIES, " × 5, float32 5) (FileNotFoundError")

    def test_a_text_is_made_up_as_a_file(self):
        self.check(TEXT, "the file corpus.txt is made up: words")
        self.check("parser = argparse.ArgumentParser()\nparser.add_argument('name')\nparser.parse_args()\n" + TEXT, "the argument name is required")

    def test_a_file_is_made_up_beside_the_users_own_and_not_among_them(self):
        program = START + TEXT.replace("corpus.txt", "texts/corpus.txt") + TRAINING
        done = Twin({"train.py": program}, {"train.py": ported(program)}, "--no-data", files={"texts/other.txt": "mine"})
        self.assertEqual((done.status, done.result and done.result["verdict"]), (0, "equal"), done.out + done.err)
        self.assertEqual((done.kept, "texts/corpus.txt" in done.files), ({"texts/other.txt": b"mine"}, False))

    def test_classes_that_lack_nothing_are_left_alone(self):
        self.check(LEFT_ALONE + PHOTOGRAPHS + "assert len(words) == 2 and settings['momentum'] == 0.5 and Slotted()[0] == 7 and cached.rows == [1]\n",
                   "the samples of Photographs are made up")

    def test_what_the_program_started_ends_with_the_run(self):
        sleeps = f"import time; time.sleep(543.{os.getpid()})"
        self.check(f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', '{sleeps}'])\n{PHOTOGRAPHS}", "the samples of Photographs are made up")
        running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        self.assertNotIn(f"-c {sleeps}", running)

    def test_samples_from_which_nothing_is_learnt_are_not_taken(self):
        done = run(NOTHING_LEARNT)
        self.assertEqual(done.status, 1)
        self.assertIn("ends with no step whose loss is a number and whose gradients are not 0", done.out)

    def test_a_port_with_other_batches_or_another_data_set_says_so(self):
        done = run(PHOTOGRAPHS, lambda port: port.replace("batch_size=16", "batch_size=64"))
        self.assertEqual((done.status, done.result["verdict"]), (1, "differs"), done.out + done.err)
        done = run(PHOTOGRAPHS, lambda port: port.replace("torch.load(self.files[index])", "torch.load(self.files[index]).flip(0)"))
        self.assertIn("The port changes this class, and its code is not run", done.out)

    def test_what_is_missing_is_said_and_not_what_is_wrong_with_what_was_made_up(self):
        done = run("import csv\nrows = [float(row['price']) for row in csv.DictReader(open('prices.csv'))]\n" + PHOTOGRAPHS)
        self.assertEqual(done.status, 1)
        self.assertIn("FileNotFoundError: [Errno 2] No such file or directory: 'prices.csv' (prices.csv made up did not help)", done.out)

    def test_a_checkpoint_that_is_not_there_is_the_models_own(self):
        load = "net.load_state_dict(torch.load('weights/start.pth')['model'])\n"
        original = START + PHOTOGRAPHS + load + TRAINING
        done = Twin({"train.py": original}, {"train.py": ported(original)}, "--no-data")
        self.assertEqual((done.status, done.result and done.result["verdict"]), (0, "equal"), done.out + done.err)

    def test_a_port_that_trains_otherwise_differs(self):
        done = run(PHOTOGRAPHS, lambda port: port.replace("lr=0.1", "lr=0.2"))
        self.assertEqual((done.status, done.result["verdict"]), (1, "differs"), done.out + done.err)

    def test_a_program_that_takes_no_sample_says_where_it_stopped(self):
        done = run(NEVER)
        self.assertEqual(done.status, 1)
        self.assertIn("no data could be made up for Never: with the best that was tried, the original (train.py) ends with "
                      "ValueError: this is not what I train on (train.py:", done.out)

    def test_data_that_is_there_is_read(self):
        done = run(SERIES, files={"series/train.txt": "".join("1;2;3;4;5\n" for _ in range(40))}.items())
        self.assertEqual((done.status, done.result["notes"]), (0, []), done.out + done.err)


class Guessed(unittest.TestCase):
    def check(self, body, structure):
        """`structure`: a sample as its class says it, with 0 for each tensor."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "read.py"
            file.write_text("class Data:\n" + textwrap.indent(textwrap.dedent(body), "    "), encoding="utf-8")
            spec = importlib.util.spec_from_file_location("read", file)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules["read"] = module
            self.addCleanup(sys.modules.pop, "read", None)
            self.assertEqual(_short(made_up_data.guessed(module.Data)), structure)

    def test_a_sample_is_what_the_class_returns(self):
        self.check("def __getitem__(self, index):\n    return image, (label, mask)\n", [0, [0, 0]])
        self.check("def __getitem__(self, index):\n    return self.read(index)\n\ndef read(self, index):\n    return {'a': 1, 'b': 2}\n", {"a": 0, "b": 0})
        self.check("def __getitem__(self, index):\n    sample = {'a': 1}\n    sample['b'] = 2\n    return sample\n", {"a": 0, "b": 0})
        self.check("def __iter__(self):\n    for one in self.rows:\n        yield one, 1\n", [0, 0])
        self.check("def __getitem__(self, index):\n    return self.tensors[index]\n", 0)


def _short(node):
    if "tuple" in node:
        return [_short(item) for item in node["tuple"]]
    return {name: _short(item) for name, item in node["dict"].items()} if "dict" in node else 0


if __name__ == "__main__":
    unittest.main()
