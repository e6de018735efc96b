"""Writes checkpoints as torch.save does, without PyTorch: python3 write_checkpoints.py WEIGHTS.safetensors FOLDER.

The pickle names PyTorch's classes, so modules that hold nothing but those names stand in for PyTorch's.
"""

import io
import json
import pickle
import struct
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path


class Storage:
    """Numbers of one type under a key; `order` is the sign that `struct` has for a byte order."""

    count = 0

    def __init__(self, kind, numbers):
        self.kind, self.numbers, self.key = kind, numbers, str(Storage.count)
        Storage.count += 1

    def bytes(self, order):
        if self.kind == "BFloat16Storage":
            high = [struct.unpack("<H", struct.pack("<f", number)[2:])[0] for number in self.numbers]
            return struct.pack(f"{order}{len(high)}H", *high)
        code = {"FloatStorage": "f", "DoubleStorage": "d", "HalfStorage": "e", "LongStorage": "q", "CharStorage": "b"}
        numbers = [int(n) for n in self.numbers] if code[self.kind] in "qb" else self.numbers
        return struct.pack(f"{order}{len(numbers)}{code[self.kind]}", *numbers)


class Tensor:
    def __init__(self, storage, shape, strides=None, offset=0):
        self.storage, self.shape, self.offset = storage, tuple(shape), offset
        self.strides = packed_strides(shape) if strides is None else tuple(strides)

    def __reduce__(self):
        arguments = (self.storage, self.offset, self.shape, self.strides, False, OrderedDict())
        return sys.modules["torch._utils"]._rebuild_tensor_v2, arguments


def packed_strides(shape):
    strides, step = [], 1
    for length in reversed(shape):
        strides.insert(0, step)
        step *= length
    return tuple(strides)


def name_torch():
    """PyTorch's names, each a class or function of its module as pickle asks for it."""
    torch, utils, scheduler = (types.ModuleType(name) for name in ("torch", "torch._utils", "torch.optim.lr_scheduler"))
    for kind in ("FloatStorage", "DoubleStorage", "HalfStorage", "BFloat16Storage", "LongStorage", "CharStorage"):
        setattr(torch, kind, type(kind, (), {"__module__": "torch"}))

    def _rebuild_tensor_v2(*_):
        raise AssertionError("nothing is loaded here")

    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = _rebuild_tensor_v2
    scheduler.SequentialLR = type("SequentialLR", (), {"__module__": "torch.optim.lr_scheduler"})
    sys.modules.update({"torch": torch, "torch._utils": utils, "torch.optim.lr_scheduler": scheduler})


class Pickler(pickle.Pickler):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.storages = {}

    def persistent_id(self, thing):
        if not isinstance(thing, Storage):
            return None
        self.storages[thing.key] = thing
        return ("storage", getattr(sys.modules["torch"], thing.kind), thing.key, "cpu", len(thing.numbers))


def save(path, what, protocol=2, big=False, without=None):
    text = io.BytesIO()
    pickler = Pickler(text, protocol)
    pickler.dump(what)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{path.stem}/data.pkl", text.getvalue())
        archive.writestr(f"{path.stem}/byteorder", "big" if big else "little")
        for key, storage in pickler.storages.items():
            if key != without:
                archive.writestr(f"{path.stem}/data/{key}", storage.bytes(">" if big else "<"))
        archive.writestr(f"{path.stem}/version", "3\n")


def read_weights(path):
    """Name → shape and numbers, without what is no weight."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, weights = json.loads(data[8 : 8 + length]), OrderedDict()
    for name, entry in header.items():
        if name.split(".")[0] in ("initial_convolution", "net_core", "final_layer", "bottleneck"):
            first, end = (8 + length + offset for offset in entry["data_offsets"])
            weights[name] = (entry["shape"], struct.unpack(f"<{(end - first) // 4}f", data[first:end]))
    return weights


def transposed(shape, numbers):
    """The same tensor with its first index running fastest."""
    strides = tuple(reversed(packed_strides(tuple(reversed(shape)))))
    scattered = [0.0] * len(numbers)
    for place, number in enumerate(numbers):
        at, rest = 0, place
        for length, stride in zip(reversed(shape), reversed(strides)):
            at += rest % length * stride
            rest //= length
        scattered[at] = number
    return Tensor(Storage("FloatStorage", scattered), shape, strides)


def command_runner():
    class Runner:
        def __reduce__(self):
            import os

            return os.system, ("echo it ran > it_ran",)

    return Runner()


def main():
    weights, folder = read_weights(Path(sys.argv[1])), Path(sys.argv[2])
    name_torch()

    def state(kind="FloatStorage", prefix=""):
        tensors = OrderedDict()
        for name, (shape, numbers) in weights.items():
            tensors[prefix + name] = Tensor(Storage(kind, numbers), shape)
            if name.endswith("running_var"):
                counted = name.replace("running_var", "num_batches_tracked")
                tensors[prefix + counted] = Tensor(Storage("LongStorage", [3]), ())
        return tensors

    def moments():
        return {i: {"step": 4, "exp_avg": tensor} for i, tensor in enumerate(state().values())}

    scheduler = sys.modules["torch.optim.lr_scheduler"].SequentialLR()
    save(
        folder / "trainer.ckpt",
        {
            "global_step": 4000,
            "state_dict": state(prefix="module."),
            "optimizer": {"state": moments(), "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.999), "params": [0]}]},
            "scheduler": {"last_epoch": 1 << 40, "object": scheduler, "nothing": None, "flag": True, "raw": b"ab"},
        },
    )
    save(folder / "bare.pt", state(), protocol=4)
    save(folder / "deep.pt", {"model": {"state_dict": state("DoubleStorage", "_orig_mod.")}}, protocol=5)
    save(folder / "big.pt", state(), big=True)
    save(folder / "bfloat16.pt", state("BFloat16Storage"))
    save(folder / "float16.pt", state("HalfStorage"))
    save(folder / "strided.pt", OrderedDict((name, transposed(*weight)) for name, weight in weights.items()))
    everything, shared = Storage("FloatStorage", [n for _, numbers in weights.values() for n in numbers]), OrderedDict()
    place = 0
    for name, (shape, numbers) in weights.items():
        shared[name] = Tensor(everything, shape, offset=place)
        place += len(numbers)
    save(folder / "shared.pt", shared)

    save(folder / "runs.pt", {"state_dict": state(), "extra": command_runner()})
    first = "initial_convolution.conv.weight"
    cut = state()
    save(folder / "lost.pt", cut, without=cut[first].storage.key)
    beyond = state()
    beyond[first] = Tensor(Storage("FloatStorage", [1.0] * 7), weights[first][0])
    save(folder / "beyond.pt", beyond)
    endless = state()
    endless[first] = Tensor(Storage("FloatStorage", [1.0]), (1 << 20, 1 << 20), (0, 0))
    save(folder / "endless.pt", endless)
    save(folder / "nothing.pt", {"epoch": 3})
    (folder / "legacy.pt").write_bytes(pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2))
    (folder / "bare.pkl").write_bytes(pickle.dumps({"a": [1.0]}, 2))


if __name__ == "__main__":
    main()
