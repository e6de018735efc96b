"""Modules that give back a tensor of the same shape, and their functional twins, out of one table."""

from . import Module, _Layer, weight

# Module → its name in `torch.nn.functional`, where it is not the module's in small letters.
ALIKE = {
    **dict.fromkeys(
        "ReLU ReLU6 ELU SELU CELU GELU SiLU Mish Tanh Sigmoid Softplus Softsign Hardtanh Hardswish Hardsigmoid Hardshrink Softshrink "
        "Tanhshrink Threshold RReLU Softmin Dropout Dropout1d Dropout2d Dropout3d".split()
    ),
    "LeakyReLU": "leaky_relu", "LogSigmoid": "logsigmoid", "AlphaDropout": "alpha_dropout", "FeatureAlphaDropout": "feature_alpha_dropout",
    "LocalResponseNorm": "local_response_norm", "Softmax": "softmax", "Softmax2d": None, "LogSoftmax": "log_softmax", "Identity": None,
    "ChannelShuffle": "channel_shuffle",
}
# Those of the table whose value is worth more than a copy: the tensor's method.
METHODS = {"ReLU": "relu", "ReLU6": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid"}


def function_of(name):
    """The name of a module's functional twin."""
    return ALIKE[name] or name.lower()


class _Alike(Module):
    method = None

    def __init__(self, *args, inplace=False, **options):
        self.args, self.options = args, options

    def forward(self, x):
        return getattr(x, self.method)() if self.method else x.like()


class GLU(Module):
    def __init__(self, dim=-1):
        self.dim = dim

    def forward(self, x):
        return x.chunk(2, self.dim)[0]


class PReLU(_Layer):
    def __init__(self, num_parameters=1, init=0.25, **_):
        self.weight = weight(num_parameters)

    def forward(self, x):
        return self.result(x, x.shape)


for _name in ALIKE:
    globals()[_name] = type(_name, (_Alike,), {"method": METHODS.get(_name), "__module__": __name__})
__all__ = [*ALIKE, "GLU", "PReLU"]
