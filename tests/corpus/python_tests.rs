//! The Python that these tests rest on has tests of its own.

use crate::sound::here;
use std::process::Command;

fn assert_python_tests(script: &str) {
    let output = Command::new("python3").arg(here().join(script)).output().unwrap();
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
    for of in ["base", "functions", "ipu", "popdist", "rdu", "tensorflow_ipu", "lightning", "rehearse"] {
        assert_python_tests(&format!("../rehearsal/tests/test_{of}.py"));
    }
}
