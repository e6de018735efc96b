"""TensorFlow under poprun.

Source: https://github.com/graphcore/examples, tutorials/feature_examples/tensorflow2/popdist: `set_ipu_config` before
`configure_ipu_system`, and the strategy of PopDist in place of `IPUStrategy`. The example calls no `init()`.
"""

from contracts import require
from tensorflow.python.ipu.state import STATE

from . import _state, getNumLocalReplicas, isPopdistEnvSet


def set_ipu_config(config, ipus_per_replica=1, configure_device=True):
    require("popdist.init", isPopdistEnvSet(), "set_ipu_config() without poprun: the number of IPUs is unknown")
    _state["started"] = True
    STATE.local_replicas = getNumLocalReplicas()
    config.auto_select_ipus = STATE.local_replicas * ipus_per_replica
