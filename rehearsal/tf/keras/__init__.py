"""`import keras` is TensorFlow's Keras."""

import sys

import tensorflow.keras as _keras

sys.modules.update({"keras" + name[len("tensorflow.keras"):]: module for name, module in list(sys.modules.items())
                    if name.startswith("tensorflow.keras.")})
globals().update({name: value for name, value in vars(_keras).items() if not name.startswith("__")})
__path__ = _keras.__path__
