"""The bridge to TensorFlow, supported up to SDK 1.15.

Source: https://docs.habana.ai/en/v1.15.1/TensorFlow/: `load_habana_module()` once, before TensorFlow makes anything.
"""

from contracts import expect
from stand_in_calls import CALLS, MACHINE, record


def load_habana_module():
    if MACHINE != "hpu":
        raise ImportError("libhl: no HPU on this machine")
    made = [name for name, _ in CALLS if name.startswith("keras.Model")]
    expect("tf-hpu.load-first", not made, "load_habana_module() after a model was created: that model stays on the host")
    record("load_habana_module")
