"""Random numbers of a device: they come from a generator of its own, as on the machine.

`torch.manual_seed` seeds it with the CPU's: that of CUDA and XPU by PyTorch itself (torch/random.py), that of Gaudi by the bridge (1.19,
`hpu/random`). The device's module seeds it alone. So two programs that seed a device alike draw the same on it, and a seed that one of them
leaves out is seen.

With STAND_IN_ONE_GENERATOR what is drawn on a device comes from the CPU's generator, so that seeds of the device alone do nothing. That is for a twin run of which one
program draws on the host what the other draws on its device: a port to a machine that compiles the step, or one of a program without a device.
"""

import contextlib
import os

import torch

ONE = bool(os.environ.get("STAND_IN_ONE_GENERATOR"))
HOST = torch.random.default_generator
DEVICE = torch._C.Generator("cpu")
# Whether anything was drawn on the device.
used = [False]
# The seeds that the program gave last: of the CPU, and of the device.
_asked = {"host": 0, "device": 0}

# Calls that draw, by name: those that PyTorch's own list of operations tells of, and functions around them.
DRAWS = {
    "bernoulli", "bernoulli_", "binomial", "cauchy_", "dropout_", "exponential_", "geometric_", "log_normal_", "multinomial", "native_dropout", "normal",
    "normal_", "poisson", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "random_", "randperm", "rrelu", "rrelu_", "uniform_",
    "_fused_dropout", "_sample_dirichlet", "_standard_gamma", "alpha_dropout", "alpha_dropout_", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
    "feature_alpha_dropout_", "feature_dropout", "feature_dropout_", "fractional_max_pool2d", "fractional_max_pool3d", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d_with_indices", "gru", "gumbel_softmax", "kaiming_normal_", "kaiming_uniform_", "lstm", "multi_head_attention_forward", "rnn_relu",
    "rnn_tanh", "scaled_dot_product_attention",
}


@contextlib.contextmanager
def drawn():
    """What is drawn inside is drawn on the device."""
    used[0] = True
    if ONE:
        yield
        return
    host = HOST.get_state()
    HOST.set_state(DEVICE.get_state())
    try:
        yield
    finally:
        DEVICE.set_state(HOST.get_state())
        HOST.set_state(host)


def generators():
    """All from which a program draws where it names none."""
    return [HOST, DEVICE]


def begin(seed):
    """Has both start anew, in a way that still tells a device that was seeded otherwise than the CPU."""
    HOST.manual_seed(seed)
    DEVICE.manual_seed((seed + 104723 * (_asked["device"] - _asked["host"])) & (2**63 - 1))


# ------------------------------------------------------------------------------------------------ functions of a module like `torch.cuda`


def manual_seed(seed):
    _asked["device"] = int(seed)
    DEVICE.manual_seed(int(seed))


def initial_seed():
    return DEVICE.initial_seed()


def get_rng_state(device=None):
    return DEVICE.get_state()


def set_rng_state(new_state, device=None):
    DEVICE.set_state(new_state)


def get_rng_state_all():
    return [get_rng_state()]


def set_rng_state_all(new_states):
    for state in list(new_states)[:1]:
        set_rng_state(state)


def follow():
    """Has `torch.manual_seed` seed a device too, whether it is there already or comes with the bridge."""
    from torch_calls import around

    def seeded(original, seed):
        found = original(seed)
        _asked["host"] = int(seed)
        manual_seed(seed)
        return found

    around(torch.random, "manual_seed", seeded)
    torch.manual_seed = torch.random.manual_seed


def install(module=None):
    """The device is there: a module of PyTorch's answers for its generator."""
    DEVICE.manual_seed(HOST.initial_seed())
    if module is not None:
        from stand_in_device_modules import recorded

        module.manual_seed = module.manual_seed_all = manual_seed
        module.initial_seed = recorded("initial_seed", initial_seed)
        module.seed = module.seed_all = lambda: None
        module.get_rng_state, module.set_rng_state = get_rng_state, set_rng_state
        module.get_rng_state_all, module.set_rng_state_all = get_rng_state_all, set_rng_state_all
