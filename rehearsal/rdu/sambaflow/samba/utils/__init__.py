"""Helpers around the session.

Source: `sambaflow.samba.utils` as used in https://github.com/sambanova/tutorials.
"""

import os

import torch


def set_seed(seed):
    torch.manual_seed(seed)


def get_file_dir(file):
    return os.path.dirname(os.path.abspath(file))


def trace_graph(model, inputs, optimizer=None, pef=None, mapping=None, init_output_grads=False, **options):
    from ..session import SESSION

    return SESSION.trace(model, inputs, optimizer, pef_path=pef, init_output_grads=init_output_grads)


def assert_close(a, b, *_, **__):
    return None


def measure_performance(*_, **__):
    return None
