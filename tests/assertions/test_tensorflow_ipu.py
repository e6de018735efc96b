"""Tests of tensorflow_ipu.py: a manual port passes, and each way of breaking it is detected.

    python3 tests/assertions/test_tensorflow_ipu.py
"""

import pathlib
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import tensorflow_ipu  # noqa: E402
from small_project import written  # noqa: E402

BEFORE = """\
from tensorflow import keras
from tensorflow.keras.layers import Dense, Flatten

(x, y), (x_test, y_test) = keras.datasets.mnist.load_data()
BATCH = 64


def build():
    return keras.Sequential([Flatten(), Dense(10)])


model = build()
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=BATCH, epochs=2)
model.evaluate(x_test, y_test, batch_size=BATCH)
"""
COMPILE = "model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), "
AFTER = f"""\
from tensorflow import keras
from tensorflow.keras.layers import Dense, Flatten
from tensorflow.python import ipu

(x, y), (x_test, y_test) = keras.datasets.mnist.load_data()
BATCH = 64


def build():
    return keras.Sequential([Flatten(), Dense(10)])


config = ipu.config.IPUConfig()
config.auto_select_ipus = 2
config.configure_ipu_system()
strategy = ipu.ipu_strategy.IPUStrategy()
x, y = x[:len(x) // (BATCH * 2) * BATCH * 2], y[:len(y) // (BATCH * 2) * BATCH * 2]
x_test = x_test[:len(x_test) // (BATCH * 2) * BATCH * 2]
y_test = y_test[:len(y_test) // (BATCH * 2) * BATCH * 2]
with strategy.scope():
    model = build()
    {COMPILE}steps_per_execution=len(x) // BATCH // 2)
    model.fit(x, y, batch_size=BATCH, epochs=2)
    {COMPILE}steps_per_execution=len(x_test) // BATCH // 2)
    model.evaluate(x_test, y_test, batch_size=BATCH)
"""


class Ports(unittest.TestCase):
    def report(self, after, ipus=2):
        folders = written(BEFORE), written(after)
        for folder in folders:
            self.addCleanup(shutil.rmtree, folder)
        return tensorflow_ipu.check(*folders, ["train.py"], ipus)

    def test_a_right_port(self):
        self.assertEqual([line for line in self.report(AFTER).lines if " FAIL " in line], [])

    def test_the_original_is_no_port(self):
        self.assertLessEqual({"a", "b", "c", "d", "IPUs"}, set(self.report(BEFORE).failed))

    def test_faults(self):
        for expected, old, new in (
            ("a", "from tensorflow.python import ipu\n", "from tensorflow.python import ipu\nfrom tensorflow.python import ipu\n"),
            ("b", "x_test = x_test[:len(x_test) // (BATCH * 2) * BATCH * 2]\n", "x_test = x_test[:9999]\n"),
            ("c", "config.configure_ipu_system()\nstrategy = ipu.ipu_strategy.IPUStrategy()\n",
             "strategy = ipu.ipu_strategy.IPUStrategy()\nconfig.configure_ipu_system()\n"),
            ("d", "    model.evaluate(", "model.evaluate("),
            ("e", "Dense(10)])", "Dense(12)])"),
            ("e", "Adam(1e-3)", "SGD(1e-3)"),
            ("e", "batch_size=BATCH, epochs=2", "batch_size=BATCH, epochs=1"),
            ("f", "BATCH = 64\n", "BATCH = 64  # Todo\n"),
            ("IPUs", "auto_select_ipus = 2", "auto_select_ipus = 4"),
            ("replicated", ", steps_per_execution=len(x_test) // BATCH // 2)", ")"),
            ("replicated", "steps_per_execution=len(x) // BATCH // 2)", "steps_per_execution=len(x) // BATCH)"),
        ):
            with self.subTest(expected=expected, old=old):
                self.assertIn(old, AFTER)
                self.assertIn(expected, self.report(AFTER.replace(old, new)).failed)


if __name__ == "__main__":
    unittest.main()
