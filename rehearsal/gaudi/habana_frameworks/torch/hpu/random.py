"""Of the bridge, release 1.19, hpu/random.py: the generator of the card."""

from stand_in_random import DEVICE, get_rng_state, get_rng_state_all, initial_seed, manual_seed, set_rng_state, set_rng_state_all  # noqa: F401

manual_seed_all = manual_seed
default_generators = (DEVICE,)
