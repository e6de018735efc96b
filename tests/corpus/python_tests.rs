//! Runs the tests of the Python code that these tests use.

use crate::server::Framework;
use crate::sound::here;

fn assert_python_tests(script: &str) {
    assert_tests_on(Framework::PyTorch, script);
}

fn assert_tests_on(framework: Framework, script: &str) {
    let output = framework.command().arg(here().join(script)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_assertions_are_tested() {
    assert_python_tests("assertions/test_hpu.py");
    assert_python_tests("assertions/test_compiled.py");
    assert_python_tests("assertions/test_tensorflow_ipu.py");
}

#[test]
fn the_stand_ins_are_tested() {
    for of in [
        "gaudi",
        "ipu",
        "ipu_numbers",
        "lightning",
        "machines",
        "popdist",
        "rdu",
        "rdu_numbers",
        "rehearse",
        "tensorflow_ipu",
        "twin_command",
        "xpu",
    ] {
        assert_python_tests(&format!("../rehearsal/tests/test_{of}.py"));
    }
}

#[test]
fn twin_runs_of_keras_are_tested() {
    assert_tests_on(Framework::TensorFlow, "../rehearsal/tests/test_twin_keras.py");
}
