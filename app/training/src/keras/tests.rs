use super::{is_model, is_scope};
use crate::marked;

/// Whether the marked expression is a Keras model.
#[track_caller]
fn check(program: &str, expected: bool) {
    marked::check(program, expected, |at| is_model(at.file().view, &at.project.keras, at.node()));
}

#[test]
fn what_is_a_keras_model() {
    let of = |value: &str| format!("from tensorflow import keras\na = {value}\na.fit(x)\n^\n");
    check(&of("keras.Sequential([])"), true);
    check(&of("keras.applications.ResNet50()"), true);
    check(&of("keras.layers.Dense(2)"), false);
    check(&of("sklearn.SVC()"), false);
    check("a = Sequential()\na.fit(x)\n^\n", false);
    check("from tensorflow import keras\ndef run(a):\n    a.fit(x, epochs=2)\n    ^\n", true);
    check("from tensorflow import keras\ndef run(a):\n    a.fit(x)\n    ^\n", false);
    let class = concat!(
        "from tensorflow import keras\n",
        "class Net(keras.Model):\n",
        "    def run(self):\n",
        "        self.fit(x)\n",
        "        ^^^^\n",
    );
    check(class, true);
    check(&class.replace("keras.Model", "Other"), false);
    let build = "def build():\n    return keras.Sequential([])\n";
    check(&format!("from tensorflow import keras\n{build}a = build()\na.fit(x)\n^\n"), true);
}

#[test]
fn statements_that_work_with_a_model() {
    let check = |program: &str, expected: &str| {
        marked::check(&format!("from tensorflow import keras\n{program}"), expected, |at| {
            let work = at.project.keras.work(at.file().view);
            at.lines(work.into_iter().flat_map(|work| [work.first, work.last]))
        });
    };
    let build = "a = keras.Sequential([])\n";
    check(&format!("n = 2\n{build}n = 3\na.fit(x)\nprint(n)\n"), "a = keras.Sequential([])\na.fit(x)");
    check("n = 2\n", "");
    let main = format!("def main():\n    n = 2\n    {build}    a.fit(x)\n");
    check(&format!("{main}main()\n"), "a = keras.Sequential([])\na.fit(x)");
    check(&format!("{main}main()\nmain()\n"), "main()\nmain()");
    check(&main, "a = keras.Sequential([])\na.fit(x)");
}

#[test]
fn code_under_a_strategy() {
    let check = |program: &str, expected: bool| {
        marked::check(&format!("from tensorflow import keras\n{program}"), expected, |at| {
            at.project.keras.in_scope(at.file().view, at.node())
        });
    };
    check("with strategy.scope():\n    a = keras.Sequential([])\n        ^^^^^^^^^^^^^^^^^^^^\n", true);
    check("with open(p):\n    a = keras.Sequential([])\n        ^^^^^^^^^^^^^^^^^^^^\n", false);
    let build = "def build():\n    return keras.Sequential([])\n           ^^^^^^^^^^^^^^^^^^^^\n";
    check(&format!("{build}with strategy.scope():\n    a = build()\n"), true);
    check(&format!("{build}a = build()\n"), false);
}

#[test]
fn a_with_statement_of_a_strategy() {
    let check = |header: &str, expected: bool| {
        marked::check(&format!("with {header}:\n^^^^\n    f()\n"), expected, |at| is_scope(at.file().view, at.node()));
    };
    check("strategy.scope()", true);
    check("tf.name_scope('a')", false);
    check("strategy.scope(2)", false);
    check("scope()", false);
}

#[test]
fn where_methods_begin_to_make_models() {
    let class = concat!(
        "from tensorflow import keras\n",
        "class Run:\n",
        "    def make(self):\n",
        "        n = 2\n",
        "        self.a = keras.Sequential([])\n",
    );
    marked::check(class, "n = 2", |at| at.lines(at.project.keras.beginnings(at.file().view)));
    marked::check(&format!("{class}        super().make()\n"), "", |at| {
        at.lines(at.project.keras.beginnings(at.file().view))
    });
}
