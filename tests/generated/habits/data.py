"""Where samples come from: `$inputs` and `$targets`, and `$valid_inputs` and `$valid_targets`, become `$train_set` and `$valid_set`."""

from draft import text
from registry import habit, needs, without

SHAPES = {"vector": "6", "image": "1, 8, 8", "sequence": "5, 4"}


def tensors(d):
    count = d.draw("data", 40, 44, 52)
    for inputs, targets, size in (("$inputs", "$targets", count), ("$valid_inputs", "$valid_targets", d.draw("valid", 16, 20))):
        if d.kind == "tokens":
            d.data += [f"{inputs} = torch.randint(0, 11, ({size}, 5))"]
        else:
            d.data += [f"{inputs} = torch.randn({size}, {SHAPES[d.kind]})"]
        if d.same:
            d.data += [f"{targets} = {inputs}"]
        elif d.task == "class":
            d.data += [f"{targets} = torch.randint(0, 3, ({size},))"]
        else:
            d.data += [f"{targets} = {inputs}.float().reshape({size}, -1).mean(1, keepdim=True)"]


@habit("data")
def tensor_dataset(d):
    d.use("from torch.utils.data import DataLoader, TensorDataset")
    tensors(d)
    d.data += ["$train_set = TensorDataset($inputs, $targets)", "$valid_set = TensorDataset($valid_inputs, $valid_targets)"]


def own(d, item):
    d.use("from torch.utils.data import DataLoader, Dataset")
    d.datasets += [text(f"""
        class $Data(Dataset):
            def __init__(self, inputs, targets):
                self.inputs = inputs
                self.targets = targets

            def __len__(self):
                return len(self.inputs)

            def __getitem__(self, idx):
                return {item}
        """)]
    d.data += ["$train_set = $Data($inputs, $targets)", "$valid_set = $Data($valid_inputs, $valid_targets)"]


@habit("data")
def dataset_class(d):
    tensors(d)
    own(d, "self.inputs[idx], self.targets[idx]")


@habit("data", needs(batch="by_key by_key_moved_at_once"))
def dataset_of_dicts(d):
    tensors(d)
    own(d, '{"x": self.inputs[idx], "y": self.targets[idx]}')


@habit("data")
def arrays(d):
    d.use("import numpy as np")
    tensors(d)
    d.data = [line.replace("torch.randn(", "np.random.RandomState(3).randn(").replace("torch.randint(0, 11, (", "np.random.RandomState(3).randint(0, 11, (")
              .replace("torch.randint(0, 3, (", "np.random.RandomState(4).randint(0, 3, (").replace(".float()", "").replace("keepdim", "keepdims") for line in d.data]
    d.data = [line + (".astype(np.int64)" if "randint" in line else "" if line.endswith("inputs") else ".astype(np.float32)") for line in d.data]
    own(d, "torch.from_numpy(self.inputs[idx]), " + ("int(self.targets[idx])" if d.task == "class" else "torch.from_numpy(self.targets[idx])")
        if d.kind != "tokens" or True else "")


@habit("data")
def random_split(d):
    d.use("from torch.utils.data import DataLoader, TensorDataset, random_split")
    tensors(d)
    d.data = [line for line in d.data if not line.startswith("$valid")]
    d.data += ["$full_set = TensorDataset($inputs, $targets)", "$train_set, $valid_set = random_split($full_set, [len($full_set) - 12, 12])"]


@habit("data")
def subset(d):
    d.use("from torch.utils.data import DataLoader, Subset, TensorDataset")
    tensors(d)
    d.data = [line for line in d.data if not line.startswith("$valid")]
    d.data += ["$full_set = TensorDataset($inputs, $targets)", "$train_set = Subset($full_set, range(12, len($full_set)))",
               "$valid_set = Subset($full_set, range(12))"]


@habit("data", needs(parts="names", loader="shuffled", batch="pair", evaluation="no_evaluation whole_set"))
def slices(d):
    tensors(d)
    d.data += ["$inputs, $targets = " + d.on_device("$inputs") + ", " + d.on_device("$targets"),
               "$valid_inputs, $valid_targets = " + d.on_device("$valid_inputs") + ", " + d.on_device("$valid_targets")]
    d.iterate = None
    d.slices = True


@habit("data")
def list_of_pairs(d):
    d.use("from torch.utils.data import DataLoader")
    tensors(d)
    d.data += ["$train_set = list(zip($inputs, $targets))", "$valid_set = list(zip($valid_inputs, $valid_targets))"]
