from stand_in_calls import record

from . import Sampler


class DistributedSampler(Sampler):
    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, **_):
        from ... import distributed

        self.dataset = dataset
        self.replicas = num_replicas if num_replicas is not None else distributed.get_world_size()
        self.rank = rank if rank is not None else distributed.get_rank()
        record("DistributedSampler", replicas=self.replicas, rank=self.rank)

    def set_epoch(self, _):
        pass

    def __len__(self):
        return -(-len(self.dataset) // self.replicas)

    def __iter__(self):
        return iter(i % len(self.dataset) for i in range(self.rank, len(self) * self.replicas, self.replicas))
