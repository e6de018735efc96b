"""A queue of batches. A batch is sparse: [batch, planes, voxels, (x, y, value)], flat until it is reshaped to its dims."""

import numpy
from stand_in_calls import record

VOXELS, PLANES, ENTRIES = 16, 3, 1000


class queue_interface:
    def __init__(self, random_access_mode="random_blocks", seed=0):
        record("larcv.queue", access=random_access_mode, seed=seed)
        self._managers = {}

    def no_warnings(self):
        pass

    def prepare_manager(self, mode, io_config, minibatch_size, data_keys, color=None, **_):
        if not {"filler_name", "filler_cfg"} <= set(io_config):
            raise KeyError("io_config needs filler_name and filler_cfg")
        self._managers[mode] = (self._share(minibatch_size), dict(data_keys))

    def _share(self, minibatch_size):
        return minibatch_size

    def is_reading(self, mode=None):
        return False

    def prepare_next(self, mode, set_indexes=None):
        self._managers[mode]

    def set_next_index(self, mode, index):
        self._managers[mode]

    def size(self, mode):
        self._managers[mode]
        return ENTRIES

    def fetch_minibatch_data(self, mode, pop=False, fetch_meta_data=False):
        size, keys = self._managers[mode]
        record("larcv.fetch", mode=mode, size=size)
        data = {key: numpy.ones((size * PLANES * VOXELS * 3,), dtype=numpy.float32) for key in keys}
        if fetch_meta_data:
            data["entries"] = list(range(size))
            data["event_ids"] = list(range(size))
        return data

    def fetch_minibatch_dims(self, mode):
        size, keys = self._managers[mode]
        return {key: [size, PLANES, VOXELS, 3] for key in keys}

    def stop(self):
        pass
