"""The profiler's activities get one more, `HPU`. Here it records nothing: the card is the CPU.

Source: the bridge, release 1.19, activity_profiler/activity_profiler.py.
"""

import enum

import torch

_of_pytorch = torch.profiler.ProfilerActivity


class HabanaProfilerActivity(enum.Enum):
    CPU = 1
    CUDA = 2
    HPU = 3


class habana_profile(torch.profiler.profile):
    def __init__(self, *, activities=None, debug_activities=None, **options):
        if activities is not None:
            activities = [getattr(_of_pytorch, one.name) for one in activities if one is not HabanaProfilerActivity.HPU]
        super().__init__(activities=activities, **options)


torch.profiler.profile = habana_profile
torch.profiler.ProfilerActivity = HabanaProfilerActivity
