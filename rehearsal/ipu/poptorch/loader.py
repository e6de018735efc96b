"""`poptorch.DataLoader(options, dataset, …)`: one batch of it holds all micro-batches of one call of the model.

Source: https://github.com/graphcore/poptorch, release 3.3, `python/__init__.py`, classes `_SubDataset`, `DataLoader` and
`AsynchronousDataAccessor`; `combined_batch_generator` in `python/_utils.py`. The loader divides the data among processes by itself
(`auto_distributed_partitioning=True`) for data sets with a length: each process reads a run of its own, cut from one permutation that
all processes draw from the seed in `options.randomSeed`. In asynchronous modes the batches lie in a ring of three buffers that is
written over.
"""

import made_up_data
import torch
import twin
from contracts import expect, kept, refused, require
from compiled_program import mapped, tensors_of

from .enums import DataLoaderMode
from .options import Options


class Part(torch.utils.data.Dataset):
    """The samples of one process of several."""

    def __init__(self, dataset, options, combined, drop_last):
        processes, process, count = options.Distributed.numProcesses, options.Distributed.processId, len(dataset)
        self.dataset = dataset
        if drop_last:
            length = combined * (count // (combined * processes))
            self.first, self.length = process * length, min(length, count - process * length)
            self.left = count % length if length else 0
        else:
            lengths = [count // processes + (count % processes > one) for one in range(processes)]
            self.first, self.length, self.left = sum(lengths[:process]), lengths[process], 0
        self.offset, self.order, self.generator = self.first, None, None
        self.seed = options.random_seed if options.exists("random_seed") else None

    def shuffle(self, turn):
        """A new permutation of the whole, the same in every process; what the last one left over comes in by turns."""
        if self.generator is None:
            self.generator = torch.Generator()
            self.generator.manual_seed(self.seed)
        self.order = torch.randperm(len(self.dataset), generator=self.generator)
        self.offset = self.first + self.left if self.offset == self.first else self.first

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        index += self.offset
        return self.dataset[index if self.order is None else int(self.order[index])]


class Dealt(torch.utils.data.Dataset):
    """The samples of one process where two runs are compared: batch by batch, its part of what one process would read. So a step sees the
    samples that it sees without instances; on the IPUs each instance has a run of the data set for itself."""

    def __init__(self, dataset, options, combined, shuffle):
        self.dataset, self.combined = dataset, combined
        self.processes, self.process = options.Distributed.numProcesses, options.Distributed.processId
        kind = torch.utils.data.RandomSampler if shuffle else torch.utils.data.SequentialSampler
        self.sampler, self.order = kind(dataset), None
        twin.note("order", f"the samples of each step are distributed to {self.processes} instances; on the IPUs each instance reads a contiguous part of the data")

    def shuffle(self, turn):
        """`turn`: the number of the loader and of its pass."""
        self.order, self.turn = list(self.sampler), turn

    def __len__(self):
        return self.combined * (len(self.dataset) // (self.combined * self.processes))

    def __getitem__(self, index):
        batch, place = divmod(index, self.combined)
        among_all = (batch * self.processes + self.process) * self.combined + place
        twin.seed_sample(*self.turn, among_all + 1)
        return self.dataset[self.order[among_all]]


class DataLoader(torch.utils.data.DataLoader):
    def __init__(self, options, dataset, batch_size=1, shuffle=None, num_workers=0, drop_last=True, persistent_workers=None,
                 auto_distributed_partitioning=True, mode=DataLoaderMode.Sync, async_options=None, rebatched_worker_size=None,
                 batch_sampler=None, **kwargs):
        require("ipu.loader", isinstance(options, Options), f"the first argument is poptorch.Options, not {type(options).__name__}")
        processes = options.Distributed.numProcesses
        divided = processes > 1 and auto_distributed_partitioning
        sampled = batch_sampler is not None
        if sampled:
            require("ipu.loader", batch_size == 1 and not shuffle, "batch_sampler excludes batch_size and shuffle")
            require("popdist.sharded", not divided, "batch_sampler excludes auto_distributed_partitioning=True where there are several processes")
            batch_size = getattr(batch_sampler, "batch_size", batch_size)
        batch_size = made_up_data.batch(batch_size)
        options.freeze()
        copies = options.replication_factor // options.input_group_size
        if copies > 1:
            twin.note("batches", f"an update takes {copies} batches of the loader, one for each replica", count=copies, times=1.0)
        shuffle = bool(shuffle)
        self.poptorch_options, self.mode, self.ring = options, mode, []
        self.batches_of_one_call = None if batch_size is None else options.batches_per_call
        self.batch_of_one_call = None if batch_size is None else batch_size * options.batches_per_call
        self.sampled, self.drop_last_combined = sampled, drop_last
        combined = self.batch_of_one_call
        is_iterable = isinstance(dataset, torch.utils.data.IterableDataset)
        if is_iterable:
            require("popdist.sharded", not divided, "an IterableDataset is not divided among processes: pass "
                    "auto_distributed_partitioning=False and let the data set do it")
        elif not sampled and combined is not None:
            expect("ipu.loader", len(dataset) >= combined * processes or not drop_last,
                   f"{len(dataset)} samples are fewer than one call needs ({combined} in each of {processes} processes): no step is run")
        if divided and not is_iterable:
            require("popdist.same-seed", not shuffle or options.exists("random_seed"),
                    "shuffled and partitioned data need options.randomSeed(…) with the same value in every instance")
            expect("popdist.sharded", not hasattr(kwargs.get("sampler"), "num_replicas"),
                   "a distributed sampler and auto_distributed_partitioning divide the data twice")
            require("ipu.loader", combined is not None, "batch_size=None excludes auto_distributed_partitioning")
            dataset = Dealt(dataset, options, combined, shuffle) if twin.FILE else Part(dataset, options, combined, drop_last)
            self.part = dataset if shuffle or twin.FILE else None
            shuffle = False
        if kwargs.get("sampler") is not None and shuffle:
            raise refused("ipu.loader", "sampler and shuffle exclude one another")
        if persistent_workers is None:
            persistent_workers = num_workers > 0
        kept("ipu.loader")
        if sampled:
            super().__init__(dataset, batch_sampler=batch_sampler, num_workers=num_workers, persistent_workers=persistent_workers, **kwargs)
        else:
            super().__init__(dataset, batch_size=combined, shuffle=None if is_iterable else shuffle, num_workers=num_workers,
                             drop_last=bool(drop_last), persistent_workers=persistent_workers, **kwargs)

    part = None
    combinedBatchSize = property(lambda self: self.batch_of_one_call)
    options = property(lambda self: self.poptorch_options)

    def __iter__(self):
        if self.part is not None:
            self.part.shuffle(tuple(self.__dict__.get("_twin", (0, 0))))
        batches = super().__iter__()
        if self.sampled and self.batches_of_one_call != 1:
            batches = self._combined(batches)
        return batches if self.mode == DataLoaderMode.Sync else self._in_ring(batches)

    def _combined(self, batches):
        """As many batches of the sampler in one as a call of the model takes."""
        gathered = []
        for batch in batches:
            gathered.append(batch)
            if len(gathered) == self.batches_of_one_call:
                yield joined(gathered)
                gathered = []
        if gathered and not self.drop_last_combined:
            yield joined(gathered)

    def _in_ring(self, batches):
        """Tensors of shared memory: the fourth batch lies where the first did."""
        for number, batch in enumerate(batches):
            place = number % 3
            fits = place < len(self.ring) and [t.shape for t in tensors_of(self.ring[place])] == [t.shape for t in tensors_of(batch)]
            if not fits:
                copied = mapped(batch, lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf)
                self.ring[place:place + 1] = [copied]
            else:
                for old, new in zip(tensors_of(self.ring[place]), tensors_of(batch)):
                    old.copy_(new)
            yield self.ring[place]

    def terminate(self):
        return None


def joined(batches):
    """Several batches of one structure, as one along the first dimension."""
    columns = iter([torch.cat(same) for same in zip(*(tensors_of(batch) for batch in batches))])
    return mapped(batches[-1], lambda leaf: next(columns) if isinstance(leaf, torch.Tensor) else leaf)


class AsynchronousDataAccessor:
    """A loader that is read ahead; here only its batches."""

    def __init__(self, dataset, *_, rebatched_size=None, **__):
        self.dataset, self.rebatched_size = dataset, rebatched_size

    def __len__(self):
        return len(self.dataset)

    def __iter__(self):
        return iter(self.dataset)

    def terminate(self):
        return None
