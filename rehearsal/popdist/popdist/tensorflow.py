"""TensorFlow under poprun.

Source: https://github.com/graphcore/examples, tutorials/feature_examples/tensorflow2/popdist: `set_ipu_config` before
`configure_ipu_system`, and the strategy of PopDist in place of `IPUStrategy`.
"""

from tensorflow.python.ipu.state import STATE

from . import getNumLocalReplicas


def set_ipu_config(config, ipus_per_replica=1, configure_device=True):
    STATE.local_replicas = getNumLocalReplicas()
    config.auto_select_ipus = STATE.local_replicas * ipus_per_replica
