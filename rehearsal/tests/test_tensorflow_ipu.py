"""Each rule of TensorFlow on the IPU, and a small program that breaks it.

    python3 rehearsal/tests/test_tensorflow_ipu.py
"""

import textwrap
import unittest

from programs import Programs

HEAD = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.python import ipu

(x, y), (x_test, y_test) = keras.datasets.mnist.load_data()
x, x_test = x[..., None] / 255.0, x_test[..., None] / 255.0
x, y = x[:59904], y[:59904]
config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()
strategy = ipu.ipu_strategy.IPUStrategy()

def build():
    inputs = keras.Input((28, 28, 1))
    out = keras.layers.Conv2D(32, 3, activation='relu')(inputs)
    out = keras.layers.Flatten()(keras.layers.MaxPooling2D()(out))
    return keras.Model(inputs, keras.layers.Dense(10)(out))
"""
BUILD = "model = build()\n"
COMPILE = "model.compile('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=True), steps_per_execution=13)\n"
FIT = "model.fit(x, y, batch_size=64, epochs=2)\n"
STEPS = BUILD + COMPILE + FIT


def inside(body):
    return "with strategy.scope():\n" + textwrap.indent(body, "    ")


class TensorflowIpu(Programs):
    target = "tensorflow-ipu"

    def test_a_whole_run(self):
        run = self.good(HEAD + inside(STEPS + "model.compile('adam', 'mse')\nmodel.evaluate(x_test[:9984], y_test[:9984], batch_size=64)"))
        self.assertIn(["keras.fit", {"batches": 936, "epochs": 2}], run.calls)
        self.good(HEAD + inside(STEPS.replace("build()", "keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10)])")))

    def test_the_scope(self):
        self.bad("tf-ipu.scope", HEAD + STEPS)
        self.bad("tf-ipu.scope", HEAD + BUILD + inside(COMPILE + FIT))
        self.bad("tf-ipu.scope", HEAD + inside(BUILD + COMPILE) + FIT)

    def test_configured_first(self):
        late = HEAD.replace("config.configure_ipu_system()\n", "")
        self.bad("tf-ipu.configure-first", late)
        self.bad("tf-ipu.config", HEAD + "config.auto_select_ipus = 2")
        self.bad("tf-ipu.config", HEAD.replace("auto_select_ipus = 1", "select_all_ipus = 1"))
        self.bad("tf-ipu.config", HEAD.replace("auto_select_ipus = 1", "auto_select_ipus = 3"))
        self.bad("tf-ipu.config", HEAD.replace("config.auto_select_ipus = 1\n", ""))

    def test_shapes_are_static(self):
        self.bad("tf-ipu.static-shapes", HEAD.replace("x, y = x[:59904], y[:59904]\n", "") + inside(STEPS))
        dataset = "model.fit(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(9).batch(64), epochs=1)\n"
        self.good(HEAD + inside(BUILD + COMPILE + dataset.replace("(64)", "(64, drop_remainder=True)")))
        self.bad("tf-ipu.static-shapes", HEAD.replace("59904", "59905") + inside(BUILD + COMPILE + dataset))

    def test_steps_per_execution(self):
        self.bad("tf-ipu.steps-per-execution", HEAD + inside(STEPS.replace("=13", "=100")))
        two = HEAD.replace("auto_select_ipus = 1", "auto_select_ipus = 2")
        self.good(two + inside(STEPS.replace("=13", "=468")))
        self.bad("tf-ipu.steps-per-execution", two + inside(STEPS.replace("=13", "=936")))

    def test_a_pipeline(self):
        staged = HEAD.replace("auto_select_ipus = 1", "auto_select_ipus = 2").replace(
            "    out = keras.layers.Conv2D(32, 3, activation='relu')(inputs)\n"
            "    out = keras.layers.Flatten()(keras.layers.MaxPooling2D()(out))\n"
            "    return keras.Model(inputs, keras.layers.Dense(10)(out))\n",
            "    with keras.ipu.PipelineStage(0):\n        out = keras.layers.Flatten()(inputs)\n"
            "    with keras.ipu.PipelineStage(1):\n        out = keras.layers.Dense(10)(out)\n    return keras.Model(inputs, out)\n")
        options = "model.set_pipelining_options(gradient_accumulation_steps_per_replica=4, pipeline_schedule=" \
                  "ipu.ops.pipelining_ops.PipelineSchedule.Grouped)\n"
        steps = COMPILE.replace("=13", "=936")
        self.good(staged + inside(BUILD + options + steps + FIT))
        self.bad("tf-ipu.pipeline", staged + inside(BUILD + steps + FIT))
        self.bad("tf-ipu.pipeline", staged + inside(BUILD + steps + options + FIT))
        self.bad("tf-ipu.pipeline", staged + inside(BUILD + options.replace("=4", "=2") + steps + FIT))
        self.bad("tf-ipu.pipeline", staged + inside(BUILD + options + steps.replace("=936", "=6") + FIT))


if __name__ == "__main__":
    unittest.main()
