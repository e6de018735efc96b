"""`tf.data.Dataset` as a count of samples and batches.

Source: https://www.tensorflow.org/api_docs/python/tf/data/Dataset.
"""

import math

AUTOTUNE = -1


class experimental:
    AUTOTUNE = -1


class Dataset:
    """`parts`: arrays of one element's shape; `count`: elements, None for without end; `whole`: all batches have one size."""

    def __init__(self, parts, count, batch_size=None, whole=True):
        self.parts, self.count, self.batch_size, self.whole = parts, count, batch_size, whole

    @staticmethod
    def from_tensor_slices(tensors):
        arrays = tensors if isinstance(tensors, (tuple, list)) else (tensors,)
        return Dataset([array[0:1] for array in arrays], len(arrays[0]))

    @staticmethod
    def from_generator(generator, *_, **__):
        return Dataset([], None, whole=True)

    def _like(self, **changes):
        return Dataset(**{"parts": self.parts, "count": self.count, "batch_size": self.batch_size, "whole": self.whole, **changes})

    def batch(self, batch_size, drop_remainder=False, **_):
        if self.count is None:
            return self._like(batch_size=batch_size, whole=drop_remainder)
        count = self.count // batch_size if drop_remainder else math.ceil(self.count / batch_size)
        return self._like(count=count, batch_size=batch_size, whole=drop_remainder or self.count % batch_size == 0)

    def repeat(self, times=None):
        return self._like(count=None if times is None or self.count is None else self.count * times)

    def take(self, n):
        return self._like(count=n if self.count is None else min(n, self.count))

    def skip(self, n):
        return self._like(count=None if self.count is None else max(self.count - n, 0))

    def shard(self, num_shards, index):
        return self._like(count=None if self.count is None else len(range(index, self.count, num_shards)))

    def _same(self, *_, **__):
        return self

    shuffle = prefetch = cache = map = with_options = _same

    def cardinality(self):
        from .tensors import Tensor

        return Tensor((), -1 if self.count is None else self.count, "int64")

    def __len__(self):
        if self.count is None:
            raise TypeError("The dataset is infinite.")
        return self.count

    def __iter__(self):
        from .tensors import Tensor

        for _ in range(self.count if self.count is not None else 1_000_000):
            lead = (self.batch_size,) if self.batch_size else ()
            yield tuple(Tensor(lead + tuple(part.shape[1:]), part.value) for part in self.parts)
