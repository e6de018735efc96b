//! Tests with a name and a time.

use libtest_mimic::{Failed, Trial};
use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;
use std::time::Instant;

/// A test that is made from data. Its name is a path: module, fixture, target.
pub(crate) fn trial(name: impl Into<String>, test: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    let name = name.into();
    Trial::test(name.clone(), move || {
        let _timed = Timed { name, start: Instant::now() };
        test().map_err(Failed::from)
    })
}

/// The functions of a module as tests.
macro_rules! trials {
    ($($test:ident)*) => {
        vec![$($crate::trials::trial(
            format!("{}::{}", module_path!().split_once("::").unwrap().1, stringify!($test)),
            || {
                $test();
                Ok(())
            },
        )),*]
    };
}
pub(crate) use trials;

/// Appends the test's seconds, the binary and the name to the file that `PORTOLAN_TEST_TIMES` names, also if the test
/// fails.
struct Timed {
    name: String,
    start: Instant,
}

impl Drop for Timed {
    fn drop(&mut self) {
        let Some(file) = std::env::var_os("PORTOLAN_TEST_TIMES") else { return };
        let line = format!("{:.3}\ttwins\t{}\n", self.start.elapsed().as_secs_f64(), self.name);
        // In one piece: other tests write into it at the same time.
        let written = OpenOptions::new().create(true).append(true).open(&file);
        if let Err(error) = written.and_then(|mut file| file.write_all(line.as_bytes())) {
            eprintln!("PORTOLAN_TEST_TIMES: {}: {error}", file.display());
        }
    }
}

pub(crate) fn own() -> Vec<Trial> {
    trials!(a_filter_that_selects_nothing_fails)
}

fn a_filter_that_selects_nothing_fails() {
    let run = |words: &[&str]| Command::new(std::env::current_exe().unwrap()).args(words).output().unwrap();
    let ran = run(&["no_such_program"]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.code() == Some(101) && said.contains("No test has `no_such_program` in its name"), "{said}");
    assert!(run(&["no_such_program", "--list"]).status.success());
}
