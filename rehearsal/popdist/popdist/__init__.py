"""A stand-in for PopDist: one instance of several, told by the variables that `poprun` sets; the others are reached over gloo.

Source: https://docs.graphcore.ai/projects/poprun-user-guide and the examples in https://github.com/graphcore/examples
(tutorials/feature_examples/pytorch/popdist): `init()` once, when `isPopdistEnvSet()`, before anything else of PopDist.
"""

import os

import poprun_instances
from contracts import kept, refused, require
from stand_in_calls import record

_state = {"started": False}


def isPopdistEnvSet():
    return "POPDIST_NUM_TOTAL_REPLICAS" in os.environ


def init():
    require("popdist.init", isPopdistEnvSet(), "popdist.init() without poprun: check isPopdistEnvSet() first")
    require("popdist.init", not _state["started"], "popdist.init() a second time")
    _state["started"] = True
    record("popdist.init")


def finalize():
    _state["started"] = False


def _number(name, default=None):
    if not isPopdistEnvSet():
        raise refused("popdist.init", f"{name} needs poprun")
    if not _state["started"]:
        raise refused("popdist.init", f"{name} was called before init()")
    kept("popdist.init")
    value = os.environ.get(name, default)
    return int(value)


def getNumTotalReplicas():
    return _number("POPDIST_NUM_TOTAL_REPLICAS")


def getNumLocalReplicas():
    return _number("POPDIST_NUM_LOCAL_REPLICAS")


def getNumInstances():
    return getNumTotalReplicas() // getNumLocalReplicas()


def getInstanceIndex():
    return _number("POPDIST_REPLICA_INDEX_OFFSET") // getNumLocalReplicas()


def getReplicaIndexOffset():
    return _number("POPDIST_REPLICA_INDEX_OFFSET")


def getNumIpusPerReplica():
    return _number("POPDIST_NUM_IPUS_PER_REPLICA", "1")


def getDeviceId(ipus_per_replica=None):
    return _number("POPDIST_NODE_DEVICE_ID", "0")


def synchronize():
    """Waits for all instances."""
    getInstanceIndex()
    poprun_instances.wait()


def allReduceData(data, *_, **__):
    """The sum of a tensor over all instances."""
    getInstanceIndex()
    result = data.clone()
    poprun_instances.gathered([result], mean=False)
    return result


class execute_on_instances:
    """Decorator and scope: only the named instances run what is inside."""

    def __init__(self, instances, *_, **__):
        self.instances = instances

    def __call__(self, function):
        def wrapped(*args, **kwargs):
            return function(*args, **kwargs) if getInstanceIndex() in self.instances else None

        return wrapped
