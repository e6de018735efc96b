"""`poptorch.DataLoader(options, dataset, …)`: one batch of it is all micro-batches of one call of the model.

Source: https://github.com/graphcore/poptorch, `python/__init__.py`, class `DataLoader`.
"""

import torch
from contracts import expect, kept, refused, require

from .enums import DataLoaderMode
from .options import Options


class DataLoader(torch.utils.data.DataLoader):
    def __init__(self, options, dataset, batch_size=1, shuffle=None, num_workers=0, drop_last=True, persistent_workers=None,
                 auto_distributed_partitioning=True, mode=DataLoaderMode.Sync, async_options=None, rebatched_worker_size=None,
                 batch_sampler=None, **kwargs):
        require("ipu.loader", isinstance(options, Options), f"the first argument is poptorch.Options, not {type(options).__name__}")
        options.freeze()
        self.options = options
        if kwargs.get("sampler") is not None and shuffle:
            raise refused("ipu.loader", "sampler and shuffle exclude one another")
        if persistent_workers is not None:
            kwargs["persistent_workers"] = persistent_workers
        processes = options.Distributed.numProcesses
        if batch_sampler is not None:
            super().__init__(dataset, batch_sampler=batch_sampler, num_workers=num_workers, **kwargs)
            return
        combined = None if batch_size is None else batch_size * options.batches_per_call
        if combined is not None and hasattr(dataset, "__len__"):
            left = len(dataset) % (combined * processes)
            expect("ipu.loader", drop_last or not left,
                   f"drop_last=False leaves a last batch of {left} where {combined} are needed; shapes are fixed")
            require("ipu.loader", len(dataset) >= combined * processes or not drop_last,
                    f"{len(dataset)} samples are less than one call takes ({combined} in each of {processes} processes): no step is made")
        if processes > 1 and auto_distributed_partitioning:
            require("popdist.same-seed", not shuffle or options.exists("random_seed"),
                    "shuffled and partitioned data need options.randomSeed(…), the same in every instance")
            require("popdist.sharded", kwargs.get("sampler") is None or not hasattr(kwargs["sampler"], "num_replicas"),
                    "a distributed sampler and auto_distributed_partitioning divide the data twice")
            share = len(dataset) // processes
            dataset = torch.utils.data.Subset(dataset, range(options.Distributed.processId * share,
                                                             (options.Distributed.processId + 1) * share))
        kept("ipu.loader")
        self.batch_of_one_call = combined
        super().__init__(dataset, batch_size=combined, shuffle=bool(shuffle), num_workers=num_workers, drop_last=bool(drop_last), **kwargs)

    combinedBatchSize = property(lambda self: self.batch_of_one_call)

    def terminate(self):
        return None
