"""Trains the sample weights that the page and the command can show.

    portolan events --first 1000 --count 240 --out train.safetensors
    portolan events --first 0 --count 40 --out test.safetensors
    python3 train.py train.safetensors test.safetensors ../../../public/check

Needs PyTorch and nothing else. It takes some minutes on one core; README.md says what came out.
"""

import argparse
import json
import math
import struct
import time
from pathlib import Path

import torch
from torch.nn import functional as F

from network import UResNet

SEED = 1
SIZE = (320, 512)
# Pieces of the events are enough to learn from, and take less time.
CROP = (128, 192)
STEPS = 700
BATCH = 2
RATE = 4e-3
# Background is nearly everywhere, neutrinos are rare.
CLASS_WEIGHTS = [0.3, 1.0, 3.0]
NAMES = ["background", "cosmic", "neutrino"]
CONFIG = {
    "n_initial_filters": 8,
    "depth": 4,
    "blocks_per_layer": 1,
    "blocks_deepest_layer": 2,
    "blocks_final": 1,
    "filter_size_deepest": 3,
    "bottleneck_deepest": 64,
}


def read_safetensors(path):
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = torch.frombuffer(bytearray(data[first:end]), dtype=torch.float32).reshape(entry["shape"])
    return tensors


def write_safetensors(path, tensors):
    header, place, parts = {}, 0, []
    for name, tensor in tensors.items():
        numbers = tensor.detach().float().contiguous().numpy().tobytes()
        offsets = [place, place + len(numbers)]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        place += len(numbers)
        parts.append(numbers)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


class Events:
    """Sparse events, laid out when they are asked for."""

    def __init__(self, path):
        columns = read_safetensors(path)
        self.numbers, counts = torch.unique_consecutive(columns["event"], return_counts=True)
        index = [columns[name].long().split(counts.tolist()) for name in ("plane", "row", "col")]
        self.index = list(zip(*index))
        self.values = columns["value"].split(counts.tolist())
        self.labels = columns["label"].long().split(counts.tolist())

    def __len__(self):
        return len(self.index)

    def __getitem__(self, number):
        picture, label = torch.zeros(3, *SIZE), torch.zeros(3, *SIZE, dtype=torch.long)
        picture[self.index[number]] = self.values[number]
        label[self.index[number]] = self.labels[number]
        return picture, label


def crop(picture, label):
    """A piece of an event; every second one that has a part of the neutrino in it."""
    top, left = (torch.randint(size - piece + 1, ()).item() for size, piece in zip(SIZE, CROP))
    neutrino = (label == 2).any(dim=0).nonzero()
    if len(neutrino) and torch.rand(()) < 0.5:
        row, column = neutrino[torch.randint(len(neutrino), ())].tolist()
        top = min(max(row - torch.randint(CROP[0], ()).item(), 0), SIZE[0] - CROP[0])
        left = min(max(column - torch.randint(CROP[1], ()).item(), 0), SIZE[1] - CROP[1])
    rows, columns = slice(top, top + CROP[0]), slice(left, left + CROP[1])
    picture, label = picture[:, rows, columns], label[:, rows, columns]
    if torch.rand(()) < 0.5:
        # Upside down in drift time; left and right differ, because the wires of two planes are mirror images.
        picture, label = picture.flip(1), label.flip(1)
    return picture, label


def loss_of(outputs, label):
    weights = torch.tensor(CLASS_WEIGHTS)
    return sum(F.cross_entropy(output, label[:, plane], weights) for plane, output in enumerate(outputs)) / 3


@torch.no_grad()
def scores(net, events):
    """What `portolan forward` tells of labelled events, over all of them."""
    net.eval()
    table = torch.zeros(3, 3, dtype=torch.long)
    for number in range(len(events)):
        picture, label = events[number]
        found = torch.stack([output.argmax(dim=1)[0] for output in net(picture[None])])
        table += torch.bincount((label * 3 + found).flatten(), minlength=9).reshape(3, 3)
    net.train()
    right, all_labels = table.diagonal(), table.sum(dim=1)
    either = all_labels + table.sum(dim=0) - right
    return {
        "events": len(events),
        "accuracy": round((right.sum() / table.sum()).item(), 4),
        "non_background_accuracy": round((right[1:].sum() / all_labels[1:].sum()).item(), 4),
        "iou": {name: round((right[i] / either[i]).item(), 4) for i, name in enumerate(NAMES)},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=STEPS)
    arguments = parser.parse_args()
    torch.manual_seed(SEED)
    # Sums of several threads come in another order each time.
    torch.set_num_threads(1)
    train, test = Events(arguments.train), Events(arguments.test)
    net = UResNet(CONFIG)
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    warm_up = 50
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(step / warm_up, 0.5 + 0.5 * math.cos(math.pi * step / arguments.steps)),
    )
    start, mean = time.monotonic(), None
    for step in range(arguments.steps):
        numbers = torch.randint(len(train), (BATCH,)).tolist()
        pictures, labels = zip(*(crop(*train[number]) for number in numbers))
        loss = loss_of(net(torch.stack(pictures)), torch.stack(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        mean = loss.item() if mean is None else 0.98 * mean + 0.02 * loss.item()
        if step % 50 == 49:
            print(f"step {step + 1}: loss {mean:.4f}, {time.monotonic() - start:.0f} s", flush=True)
    found = scores(net, test)
    print(json.dumps(found, indent=2))
    arguments.out.mkdir(parents=True, exist_ok=True)
    state = {name: tensor for name, tensor in net.state_dict().items() if not name.endswith("num_batches_tracked")}
    write_safetensors(arguments.out / "sample.safetensors", state)
    (arguments.out / "sample.json").write_text(json.dumps(CONFIG, indent=2) + "\n")


if __name__ == "__main__":
    main()
