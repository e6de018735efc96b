"""A stand-in for TensorFlow 2 with as much of Keras as a training script calls; values are constant.

Source for what the real one does: https://www.tensorflow.org/api_docs/python/tf. The part for the IPU is in the folder `tf_ipu`.
"""

import contextlib
import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)
__version__ = "2.6.3"

from stand_in_calls import record  # noqa: E402

from . import data  # noqa: E402,F401
from .tensors import *  # noqa: E402,F401,F403
from .tensors import Tensor, Variable, convert_to_tensor  # noqa: E402,F401
from . import keras, nn  # noqa: E402,F401


class random:
    @staticmethod
    def set_seed(seed):
        return None

    @staticmethod
    def normal(shape, *_, **__):
        return Tensor(shape, 0.5)

    uniform = normal


class GradientTape:
    def __init__(self, *_, **__):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def gradient(self, loss, variables):
        record("tf.gradient")
        return [Tensor(v.shape, 0.125) for v in variables]


@contextlib.contextmanager
def device(name):
    """Where there is no such device, the real one places the operations on the host: soft placement is its default."""
    record("tf.device", device=str(name))
    yield


def function(body=None, **_):
    return body if body is not None else (lambda given: given)


class distribute:
    class MirroredStrategy:
        num_replicas_in_sync = 1

        @contextlib.contextmanager
        def scope(self):
            yield self

        def run(self, body, args=(), kwargs=None):
            return body(*args, **(kwargs or {}))

    @staticmethod
    def get_strategy():
        return distribute.MirroredStrategy()


class config:
    @staticmethod
    def list_physical_devices(kind=None):
        return []

    @staticmethod
    def set_visible_devices(devices, kind=None):
        return None

    class experimental:
        @staticmethod
        def set_memory_growth(device, on):
            return None

    class threading:
        @staticmethod
        def set_inter_op_parallelism_threads(n):
            return None

        set_intra_op_parallelism_threads = set_inter_op_parallelism_threads


class summary:
    class _Writer:
        @contextlib.contextmanager
        def as_default(self, *_, **__):
            yield self

        def close(self):
            return None

    @staticmethod
    def create_file_writer(folder, **_):
        return summary._Writer()

    @staticmethod
    def scalar(name, value, step=None):
        record("tf.summary", name_of=name)


def get_logger():
    import logging

    return logging.getLogger("tensorflow")
