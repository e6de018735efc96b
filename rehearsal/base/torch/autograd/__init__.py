from . import profiler  # noqa: F401


def set_detect_anomaly(_):
    pass


class Variable:
    def __new__(cls, tensor, **_):
        return tensor


class Function:
    pass
