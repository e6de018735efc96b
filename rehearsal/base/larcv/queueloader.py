"""A queue of batches. A batch is sparse: [batch, planes, voxels, (x, y, value)], flat until it is reshaped to its dims.

The events are made up, whatever the file holds: each from its number alone, in a corner of 16 by 16 that lies in any image. A queue reads
them in order, starting where its seed says. Where two runs are compared and one of them is several processes, their queues take turns, so
that they read together what the queue of the other run reads: STAND_IN_TWIN_INSTANCES makes its batches as large as all of theirs.
"""

import os

import numpy
import poprun_instances
import twin
from stand_in_calls import record

VOXELS, PLANES, ENTRIES, SIDE = 16, 3, 1000, 16
AS_INSTANCES = int(os.environ.get("STAND_IN_TWIN_INSTANCES", "1"))


def event(number, is_label):
    """One event, [planes, voxels, 3]: a charge at each voxel, or a class of three where the charge says which."""
    draw = numpy.random.default_rng(number)
    places = numpy.stack([draw.permutation(SIDE * SIDE)[:VOXELS] for _ in range(PLANES)])
    charge = draw.gamma(2.0, 1.0, (PLANES, VOXELS))
    value = numpy.digitize(charge, (1.2, 2.4)) if is_label else charge
    return numpy.stack([places % SIDE, places // SIDE, value], axis=2).astype(numpy.float32)


class queue_interface:
    def __init__(self, random_access_mode="random_blocks", seed=0):
        record("larcv.queue", access=random_access_mode, seed=seed)
        self._seed = int(seed or 0)
        self._managers, self._next = {}, {}

    def no_warnings(self):
        pass

    def prepare_manager(self, mode, io_config, minibatch_size, data_keys, color=None, **_):
        if not {"filler_name", "filler_cfg"} <= set(io_config):
            raise KeyError("io_config needs filler_name and filler_cfg")
        size = self._share(minibatch_size)
        self._managers[mode] = (size, dict(data_keys))
        self._next[mode] = self._first(size)

    def _first(self, size):
        """Readers with different seeds read different events, except those of instances whose events are those of one run."""
        if not twin.FILE or self._together() == 1:
            return self._seed * ENTRIES
        twin.note("order", f"the events of each step are distributed to {self._together()} instances; on the IPUs each instance reads at places of its own")
        return poprun_instances.index() * size

    def _together(self):
        """How many instances there are, of this run or of the one it is compared with."""
        return max(poprun_instances.count(), AS_INSTANCES)

    def _share(self, minibatch_size):
        return minibatch_size * AS_INSTANCES

    def is_reading(self, mode=None):
        return False

    def prepare_next(self, mode, set_indexes=None):
        self._managers[mode]

    def set_next_index(self, mode, index):
        self._managers[mode]
        self._next[mode] = index

    def size(self, mode):
        self._managers[mode]
        return ENTRIES

    def fetch_minibatch_data(self, mode, pop=False, fetch_meta_data=False):
        size, keys = self._managers[mode]
        record("larcv.fetch", mode=mode, size=size)
        first = self._next[mode]
        self._next[mode] += size * (poprun_instances.count() if twin.FILE else 1)
        numbers = range(first, first + size)
        data = {key: numpy.stack([event(number, "label" in key) for number in numbers]).reshape(-1) for key in keys}
        if fetch_meta_data:
            data["entries"] = list(numbers)
            data["event_ids"] = list(numbers)
        return data

    def fetch_minibatch_dims(self, mode):
        size, keys = self._managers[mode]
        return {key: [size, PLANES, VOXELS, 3] for key in keys}

    def stop(self):
        pass
