"""`popdist.poptorch.Options`: replication is poprun's, so it cannot be set.

Source: https://docs.graphcore.ai/projects/poptorch-user-guide (PopDist) and https://github.com/graphcore/examples.
"""

import poptorch
from contracts import refused
from stand_in_calls import record

from . import getInstanceIndex, getNumInstances, getNumLocalReplicas


class Options(poptorch.Options):
    def __init__(self, ipus_per_replica=1):
        super().__init__()
        self.values["replication_factor"] = getNumLocalReplicas()
        self.Distributed.configureProcessId(getInstanceIndex(), getNumInstances())
        record("popdist.poptorch.Options", instance=getInstanceIndex())

    def replicationFactor(self, *_):
        raise refused("popdist.replication", "replicationFactor on popdist.poptorch.Options: poprun --num-replicas sets it")

    def useIpuId(self, *_):
        raise refused("popdist.replication", "useIpuId on popdist.poptorch.Options: poprun selects the device")

    def randomSeed(self, seed):
        record("popdist.seed", seed=seed)
        return self._set("randomSeed", seed)
