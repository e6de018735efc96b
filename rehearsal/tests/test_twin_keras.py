"""Twin runs of Keras on the real TensorFlow: what is compared, and which faults are found.

    python3 rehearsal/tests/test_twin_keras.py
"""

import unittest

from test_twin_command import Twin

ORIGINAL = """
import numpy as np
import tensorflow as tf
from tensorflow import keras

draw = np.random.default_rng(1)
x, y = draw.normal(size=(96, 6)).astype("float32"), draw.integers(0, 3, 96)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dropout(0.2), keras.layers.Dense(3)])
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(x, y, batch_size=16, epochs=1, verbose=0)
print("loss", history.history["loss"][-1])
print("test", model.evaluate(x[:32], y[:32], batch_size=16, verbose=0)[0])
"""
LOAD = "from habana_frameworks.tensorflow import load_habana_module\nload_habana_module()\n"
HPU = ORIGINAL.replace("draw = np", LOAD + "draw = np")

CONFIGURE = """
from tensorflow.python import ipu

config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()
strategy = ipu.ipu_strategy.IPUStrategy()
"""


def on_the_ipu(program, ipus=1):
    head, body = program.split("model = ", 1)
    body = "".join(f"    {line}\n" if line else "\n" for line in ("model = " + body).splitlines())
    return head + CONFIGURE.replace("ipus = 1", f"ipus = {ipus}") + "with strategy.scope():\n" + body


LOOP = """
import numpy as np
import tensorflow as tf

draw = np.random.default_rng(1)
x, y = draw.normal(size=(64, 4)).astype("float32"), draw.normal(size=(64, 1)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(16)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = tf.keras.layers.Dense(5, activation="tanh"), tf.keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.hidden(x))


net, optimizer = Net(), tf.keras.optimizers.SGD(0.1, momentum=0.9)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x) - y))
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    return loss


for epoch in range(2):
    for x, y in data:
        print("loss", float(step(x, y)))
"""


class Keras(unittest.TestCase):
    def run_both(self, original, port, target="hpu", *options):
        return Twin({"train.py": original}, {"train.py": port}, *options, target=target)

    def equal(self, original, port, target="hpu", reasons=(), options=()):
        run = self.run_both(original, port, target, *options)
        self.assertEqual(run.status, 0, run.out + run.err)
        told = [reason.partition(" (")[0] for reason in run.result["reasons"]]
        self.assertEqual([reason for reason in told if reason != "rounding"], list(reasons), run.out)
        return run.result

    def differs(self, finds, original, port, target="hpu", options=()):
        run = self.run_both(original, port, target, *options)
        self.assertEqual(run.status, 1, run.out + run.err)
        self.assertTrue(any(finding.startswith(finds) for finding in run.result["findings"]), run.out)
        return run.result


class Gaudi(Keras):
    def test_fit(self):
        result = self.equal(ORIGINAL, HPU)
        self.assertEqual((result["trained"], result["printed"], result["steps"][0]["samples"]), ([6, 6], 2, [16, 16]))
        self.assertEqual(result["steps"][0]["rate"], [[0.009999999776482582]] * 2)
        self.assertTrue(result["ran"]["framework"].startswith("TensorFlow 2"))
        self.assertEqual(result["ran"]["stand_ins"], ["habana_frameworks"])

    def test_a_loop_with_a_tape(self):
        port = LOOP.replace("draw = np", LOAD + "draw = np")
        self.assertEqual(self.equal(LOOP, port)["trained"], [8, 8])
        self.differs("step 1: momentum of the optimizer", LOOP, port.replace("=0.9", "=0.5"))
        self.differs("step 1: the loss", LOOP, port.replace("reduce_mean", "reduce_sum"))
        result = self.differs("step 1: the gradient", LOOP, port.replace("optimizer.apply", "gradients = [g * 2 for g in gradients]\n    optimizer.apply"))
        self.assertEqual(result["first"]["place"], ["train.py", 30])

    def test_faults(self):
        self.differs("step 1: the learning rate", ORIGINAL, HPU.replace("Adam(0.01)", "Adam(0.02)"))
        self.differs("step 1: samples", ORIGINAL, HPU.replace("batch_size=16, epochs", "batch_size=32, epochs"))
        self.differs("step 1: the batch has other data", ORIGINAL, HPU.replace("fit(x, y", "fit(x[::-1], y[::-1]"))
        self.differs("step 1: the loss", ORIGINAL, HPU.replace("from_logits=True", "from_logits=False"))
        self.differs("steps trained", ORIGINAL, HPU.replace("epochs=1", "epochs=2"))
        self.differs("step 6: accuracy of an evaluation", ORIGINAL, HPU.replace("evaluate(x[:32], y[:32]", "evaluate(x[:32], y[32:64]"))

    def test_without_the_module(self):
        self.differs("the port trained without the target's software", ORIGINAL, ORIGINAL + "# ported\n")
        late = ORIGINAL.replace("model.compile", LOAD + "model.compile")
        run = self.run_both(ORIGINAL, late)
        self.assertEqual([rule["rule"] for rule in run.result["contracts"]], ["tf-hpu.load-first"])

    def test_other_start_weights(self):
        drawn = HPU.replace("model = keras", "keras.layers.Dense(3).build((None, 4))\nmodel = keras")
        self.equal(ORIGINAL, drawn, reasons=["the start weights"])

    def test_mixed_precision(self):
        policy = "keras.mixed_precision.set_global_policy('mixed_float16')\nmodel = keras"
        self.equal(ORIGINAL.replace("model = keras", policy), HPU.replace("model = keras", policy.replace("float16", "bfloat16")))


class Ipu(Keras):
    def test_fit(self):
        port = on_the_ipu(ORIGINAL).replace('metrics=["accuracy"]', 'metrics=["accuracy"], steps_per_execution=2')
        result = self.equal(ORIGINAL, port, "ipu")
        self.assertEqual((result["trained"], result["ran"]["stand_ins"]), ([6, 6], ["tensorflow.python.ipu"]))

    def test_a_loop_with_a_tape(self):
        head, loop = LOOP.split("for epoch", 1)
        port = head + CONFIGURE + "with strategy.scope():\n  for epoch" + loop.replace("step(x, y)", "strategy.run(step, args=(x, y))")
        self.equal(LOOP, port, "ipu")

    def test_outside_the_scope(self):
        head, body = ORIGINAL.split("model = ", 1)
        self.differs("the port trained only on the host", ORIGINAL, f"{head}{CONFIGURE}model = {body}", "ipu")

    def test_an_update_of_several_batches(self):
        plain = ORIGINAL.replace("keras.layers.Dropout(0.2), ", "")
        options = "model.set_gradient_accumulation_options(gradient_accumulation_steps_per_replica=2)\nmodel.compile"
        port = on_the_ipu(plain.replace("model.compile", options)).replace('metrics=["accuracy"]', 'metrics=["accuracy"], steps_per_execution=2')
        result = self.equal(plain, port, "ipu", ["the batch of an update"])
        self.assertEqual((result["trained"], result["steps"][0]["samples"]), ([3, 3], [32, 32]))
        self.assertIn("whose gradients are summed", result["told"])
        mean = port.replace("replica=2", "replica=2, gradient_accumulation_reduction_method='mean'")
        self.assertIn("whose gradients are averaged", self.equal(plain, mean, "ipu", ["the batch of an update"])["told"])

    def test_replicas(self):
        plain = ORIGINAL.replace("keras.layers.Dropout(0.2), ", "")
        result = self.equal(plain, on_the_ipu(plain, 2), "ipu", ["the batch of an update"])
        self.assertIn("2 batches, whose gradients are summed", result["told"])
        instances = on_the_ipu(plain).replace("config.auto_select_ipus = 1", "import popdist.tensorflow\npopdist.tensorflow.set_ipu_config(config)")
        instances = instances.replace("ipu.ipu_strategy.IPUStrategy", "popdist_strategy.PopDistStrategy").replace(
            "import ipu\n", "import ipu\nfrom tensorflow.python.ipu.distributed import popdist_strategy\n")
        self.equal(plain, instances, "popdist")
        result = self.equal(plain, instances, "popdist", ["the batch of an update"], ("--replicas", "2"))
        self.assertIn("2 batches, whose gradients are averaged", result["told"])

    def test_whole_batches(self):
        original = ORIGINAL.replace("(96, 6)", "(90, 6)").replace("0, 3, 96", "0, 3, 90")
        cut = on_the_ipu(original.replace("model = keras", "x, y = x[:80], y[:80]\nmodel = keras"))
        self.equal(original, cut, "ipu", ["the last incomplete batch"])
        run = self.run_both(original, on_the_ipu(original), "ipu")
        self.assertIn("[tf-ipu.static-shapes]", run.result["failed"])
        few = on_the_ipu(ORIGINAL).replace('metrics=["accuracy"]', 'metrics=["accuracy"], steps_per_execution=len(x) // 100')
        self.assertIn("steps_per_execution is 0", self.run_both(ORIGINAL, few, "ipu").result["failed"])


class Refused(unittest.TestCase):
    def test_several_instances(self):
        run = Twin({"train.py": ORIGINAL}, {"train.py": HPU}, "--instances", "2", target="popdist")
        self.assertEqual((run.status, run.result), (2, None))
        self.assertIn("one instance is compared", run.err)


if __name__ == "__main__":
    unittest.main()
