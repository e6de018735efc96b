//! Keras programs that train in functions of TensorFlow's graphs.

mod said;

use said::{check_said, ported};

const PROGRAM: &str = "import tensorflow as tf

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
    let (after, said) = ported("ipu", &[("a.py", PROGRAM)]);
    let called = "    print(strategy.run(train_step, args=[x, y]).numpy(), strategy.run(test_step, args=[x], kwargs=dict(y=y)).numpy())";
    assert!(after[0].contains(called), "{said}{}", after[0]);
    assert!(after[0].contains("@tf.function(experimental_compile=True)\n    def train_step"), "{}", after[0]);
    assert!(after[0].contains("@tf.function(jit_compile=True)\n    def test_step"), "{}", after[0]);
    assert!(!said.contains("Run a custom training loop"), "{said}");
    let main = PROGRAM.replace("for x, y in", "def main():\n    for x, y in").replace("    print(", "        print(")
        + "\n\nif __name__ == \"__main__\":\n    main()\n";
    let (after, said) = ported("ipu", &[("a.py", &main)]);
    assert!(after[0].contains("strategy.run(train_step, args=[x, y])"), "{said}{}", after[0]);
    let (after, said) = ported("popdist", &[("a.py", PROGRAM)]);
    assert!(after[0].contains("strategy.run(train_step") && said.contains("on the same batch"), "{said}{}", after[0]);
}

#[test]
fn other_steps_stay() {
    for (from, to) in [
        ("@tf.function\n", ""),
        ("    update.apply_gradients", "    print"),
        ("train_step(x, y).numpy()", "train_step(*x).numpy()"),
        ("print(train_step(x, y)", "print(run(train_step, x, y)"),
        ("@tf.function\n", "@tf.function\n@timed\n"),
    ] {
        let program = PROGRAM.replace(from, to);
        let (after, said) = ported("ipu", &[("a.py", &program)]);
        assert!(!after[0].contains("strategy.run("), "{said}{}", after[0]);
        check_said("ipu", &program, "Run a custom training loop on the IPU");
    }
}
