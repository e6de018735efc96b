"""`PopDistStrategy`: as `IPUStrategy`, over the instances of poprun. Source: https://docs.graphcore.ai/projects/tensorflow-user-guide."""

from ..ipu_strategy import IPUStrategy


class PopDistStrategy(IPUStrategy):
    pass
