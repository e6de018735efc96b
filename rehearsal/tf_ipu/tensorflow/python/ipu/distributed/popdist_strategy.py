"""`PopDistStrategy`: as `IPUStrategy`, over the instances of poprun.

Source: https://docs.graphcore.ai/projects/tensorflow-user-guide, and https://github.com/graphcore/tensorflow,
`tensorflow/python/ipu/distributed/popdist_strategy.py`: here `_num_replicas_in_sync` is the number of all replicas, so that Keras divides the
loss by it and the sum of the gradients is their mean.
"""

from ..ipu_strategy import IPUStrategy


class PopDistStrategy(IPUStrategy):
    @property
    def num_replicas_in_sync(self):
        import popdist

        return popdist.getNumTotalReplicas()
