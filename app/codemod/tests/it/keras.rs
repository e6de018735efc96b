//! Keras programs, and training loops of TensorFlow.

use crate::ports::{check_said, check_silent, ported};

const GRAPH_FUNCTIONS: &str = "import tensorflow as tf

net = tf.keras.Sequential([tf.keras.layers.Dense(2)])
update = tf.keras.optimizers.SGD()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x) - y))
    update.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


@tf.function(jit_compile=True)
def test_step(x, y):
    return tf.reduce_mean(tf.square(net(x) - y))


for x, y in batches():
    print(train_step(x, y).numpy(), test_step(x, y=y).numpy())
";

#[test]
fn a_strategy_runs_the_step() {
    let (after, said) = ported("ipu", &[("a.py", GRAPH_FUNCTIONS)]);
    let called = "    print(strategy.run(train_step, args=[x, y]).numpy(), strategy.run(test_step, args=[x], kwargs=dict(y=y)).numpy())";
    assert!(after[0].contains(called), "{said}{}", after[0]);
    assert!(after[0].contains("@tf.function(experimental_compile=True)\n    def train_step"), "{}", after[0]);
    assert!(after[0].contains("@tf.function(jit_compile=True)\n    def test_step"), "{}", after[0]);
    assert!(!said.contains("Run a custom training loop"), "{said}");
    let main =
        GRAPH_FUNCTIONS.replace("for x, y in", "def main():\n    for x, y in").replace("    print(", "        print(")
            + "\n\nif __name__ == \"__main__\":\n    main()\n";
    let (after, said) = ported("ipu", &[("a.py", &main)]);
    assert!(after[0].contains("strategy.run(train_step, args=[x, y])"), "{said}{}", after[0]);
    let (after, said) = ported("popdist", &[("a.py", GRAPH_FUNCTIONS)]);
    assert!(after[0].contains("strategy.run(train_step") && said.contains("on the same batch"), "{said}{}", after[0]);
}

#[test]
fn steps_that_a_strategy_can_not_run_stay() {
    for (from, to) in [
        ("@tf.function\n", ""),
        ("    update.apply_gradients", "    print"),
        ("train_step(x, y).numpy()", "train_step(*x).numpy()"),
        ("print(train_step(x, y)", "print(run(train_step, x, y)"),
        ("@tf.function\n", "@tf.function\n@timed\n"),
    ] {
        let program = GRAPH_FUNCTIONS.replace(from, to);
        let (after, said) = ported("ipu", &[("a.py", &program)]);
        assert!(!after[0].contains("strategy.run("), "{said}{}", after[0]);
        check_said("ipu", &program, "Run a custom training loop on the IPU");
    }
}

#[test]
fn tapes_of_one_with_get_one_message() {
    let program = |tapes: &str| {
        format!(
            "import tensorflow as tf\n\n\ndef step(net, x):\n    with {tapes}:\n        y = net(x)\n    return a.gradient(y, net.trainable_variables)\n"
        )
    };
    for (tapes, count) in [("tf.GradientTape() as a", 1), ("tf.GradientTape() as a, tf.GradientTape() as b", 1)] {
        let said = ported("ipu", &[("a.py", &program(tapes))]).1;
        assert_eq!(said.matches("Run a custom training loop").count(), count, "{said}");
    }
    let nested = program("tf.GradientTape() as a:\n      with tf.GradientTape() as b");
    assert_eq!(ported("ipu", &[("a.py", &nested)]).1.matches("Run a custom").count(), 2);
}

#[test]
fn a_model_that_is_trained_batch_by_batch() {
    let program = "from tensorflow import keras\n\nstrategy = make()\nwith strategy.scope():\n    \
                   net = keras.Sequential([keras.layers.Dense(4)])\n    net.compile(\"sgd\", \"mse\")\n    \
                   words.fit(texts)\n    net.train_on_batch(x, y)\n";
    check_silent("ipu", program);
    let also = format!("{program}    net.fit(x, y)\n");
    check_said("ipu", &also, "returns to the host after every batch");
}

const KERAS_MODEL: &str = "from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Model


class Coder:
    def __init__(self, width):
        inputs = Input(shape=(width,))
        self.model = Model(inputs, Dense(width)(inputs))
        self.model.compile(\"adam\", \"mse\")

    def train(self, data):
        return self.model.fit(data, data, batch_size=32)


def make(width):
    inputs = Input(shape=(width,))
    return Model(inputs, Dense(width)(inputs))
";

#[test]
fn a_keras_program_that_does_not_import_the_framework_itself() {
    let by_class = "import numpy as np\nfrom model import Coder\n\n\ndef main():\n    data = np.load(\"data.npy\")\n    \
                    coder = Coder(data.shape[1])\n    coder.train(data)\n\n\nif __name__ == \"__main__\":\n    main()\n";
    let by_function = "import numpy as np\nfrom model import make\n\ndata = np.load(\"data.npy\")\n\
                       net = make(data.shape[1])\nnet.compile(\"adam\", \"mse\")\nnet.fit(data, data, epochs=2)\n";
    for main in [by_class, by_function] {
        for target in ["ipu", "popdist"] {
            let (texts, said) = ported(target, &[("model.py", KERAS_MODEL), ("train.py", main)]);
            let (_, rest) = texts[1].split_once("configure_ipu_system()\n").expect(&said);
            let (_, scope) = rest.split_once("with strategy.scope():\n").expect(rest);
            assert!(["train(data)", "epochs=2)"].iter().any(|last| scope.contains(last)), "{scope}");
        }
        let (_, said) = ported("hpu", &[("model.py", KERAS_MODEL), ("train.py", main)]);
        assert!(said.contains("has had no TensorFlow"), "{said}");
    }
    // The class has a program of its own, and methods with other names than a model's.
    let class = "from tensorflow import keras\n\n\nclass Coder:\n    def make(self, width):\n        \
                 self.model = keras.Sequential([keras.layers.Dense(width)])\n\n    def train(self, data):\n        \
                 self.model.fit(data, data, epochs=2)\n\n\nif __name__ == \"__main__\":\n    Coder().make(3)\n";
    let main = "from model import Coder\n\ncoder = Coder()\ncoder.make(3)\ncoder.train(data)\n";
    let (texts, said) = ported("ipu", &[("model.py", class), ("train.py", main)]);
    assert!(texts[1].contains("with strategy.scope():\n    coder.make(3)\n"), "{said}{}", texts[1]);
    // A function of that name in another package makes no model.
    let other = by_function.replace("from model", "from shop");
    let (texts, _) = ported("ipu", &[("model.py", KERAS_MODEL), ("train.py", &other)]);
    assert_eq!(texts[1], other);
}
