"""What a reader is to do, as nested dicts."""

import copy


class ConfigBuilder:
    def __init__(self):
        self._config = {}

    def set_parameter(self, value, *path):
        place = self._config
        for part in path[:-1]:
            place = place.setdefault(part, {})
        place[path[-1]] = value

    def add_preprocess(self, datatype, producer, process, **options):
        self.set_parameter({"producer": producer, **options}, "preprocess", f"{process}_{datatype}_{producer}")

    def add_batch_filler(self, datatype, producer, name, **options):
        self.set_parameter({"datatype": datatype, "producer": producer, **options}, "fillers", name)

    def get_config(self):
        return copy.deepcopy(self._config)
