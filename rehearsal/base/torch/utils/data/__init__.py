import math

from stand_in_calls import MACHINE, record

from ..._tensor import Tensor


class Dataset:
    def __getitem__(self, index):
        raise NotImplementedError


class IterableDataset(Dataset):
    pass


class TensorDataset(Dataset):
    def __init__(self, *tensors):
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __len__(self):
        return len(self.tensors[0])


class Subset(Dataset):
    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, list(indices)

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, generator=None):
    if all(isinstance(n, float) for n in lengths):
        lengths = [math.floor(n * len(dataset)) for n in lengths]
    start, parts = 0, []
    for n in lengths:
        parts.append(Subset(dataset, range(start, start + n)))
        start += n
    return parts


class Sampler:
    def __init__(self, dataset=None):
        self.dataset = dataset

    def __iter__(self):
        return iter(range(len(self)))

    def __len__(self):
        return len(self.dataset)


class RandomSampler(Sampler):
    pass


class SequentialSampler(Sampler):
    pass


def default_collate(items):
    first = items[0]
    if isinstance(first, Tensor):
        from ... import stack

        return stack(items)
    if isinstance(first, (int, float)):
        from ... import tensor

        return tensor(list(items))
    if isinstance(first, dict):
        return {key: default_collate([item[key] for item in items]) for key in first}
    if isinstance(first, (tuple, list)):
        return [default_collate(list(column)) for column in zip(*items)]
    return items


class DataLoader:
    def __init__(self, dataset, batch_size=1, shuffle=False, sampler=None, num_workers=0, collate_fn=None, pin_memory=False,
                 drop_last=False, pin_memory_device="", **_):
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        self.dataset, self.batch_size, self.sampler, self.drop_last = dataset, batch_size, sampler, drop_last
        self.collate = collate_fn or default_collate
        record("DataLoader", batch_size=batch_size, pin_memory_device=pin_memory_device, drop_last=drop_last)
        if pin_memory_device.startswith("cuda") and MACHINE != "cuda":
            raise RuntimeError("pin_memory_device is cuda on a machine without CUDA")

    def __len__(self):
        n = len(self.sampler if self.sampler is not None else self.dataset)
        return n // self.batch_size if self.drop_last else math.ceil(n / self.batch_size)

    def __iter__(self):
        order = list(self.sampler) if self.sampler is not None else list(range(len(self.dataset)))
        for batch in range(len(self)):
            yield self.collate([self.dataset[i] for i in order[batch * self.batch_size : (batch + 1) * self.batch_size]])


from . import distributed  # noqa: E402,F401
from .distributed import DistributedSampler  # noqa: E402,F401
