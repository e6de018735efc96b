//! The port next to existing code: in a project that selects between compute modes, a program behaves in every other
//! mode as before. Original and port are run in CPython, with stand-ins that record calls.

use super::port_program::RECIPES;
use super::{Mutator, Target, Ways, chosen};
use crate::fuzz::seeds::Seed;
use codemod::{Options, SourceFile, Style, port};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(super) const TARGET: Target =
    Target { name: "lifting", check, seeds: Vec::<Seed>::new, mutator: Mutator::Program, short: 100 };

/// The modes in the seeds; their programs read that of the run from the name `MODE`.
const MODES: [&str; 2] = ["GPU", "CPU"];

fn check(input: &[u8], ways: Ways) {
    let text = String::from_utf8_lossy(input).into_owned();
    let targets: Vec<String> = RECIPES.targets().into_iter().map(|target| target.id).collect();
    for target in chosen(&targets, input, ways) {
        let options = Options { target: target.clone(), style: Style::Branch, ..Options::default() };
        let file = SourceFile { path: "train.py".into(), text: text.clone() };
        let ported = port(&[file], &RECIPES, &options);
        if !ported.files[0].changed {
            continue;
        }
        let ported = &ported.files[0].text;
        // A program that crashes CPython itself is skipped.
        let Some(done) =
            PYTHON.with_borrow_mut(|python| python.ask(&json!({ "texts": [text, ported], "modes": MODES })))
        else {
            continue;
        };
        for (mode, done) in MODES.iter().zip(done.as_array().into_iter().flatten()) {
            let (before, after) = (&done[0], &done[1]);
            assert!(
                same(before, after),
                "another behaviour in a mode [{mode}, {target}]\n{}",
                first_difference(before, after)
            );
        }
    }
}

/// Whether the port behaves like the original, if that is a program. If the original does not find a name, the port may
/// continue: an import of the port may define it.
fn same(before: &Value, after: &Value) -> bool {
    let (Some(before), Some(after)) = (before.as_array(), after.as_array()) else { return before.is_null() };
    let at = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    before == after || before.get(at).and_then(Value::as_str).is_some_and(|step| step.starts_with("no name "))
}

fn first_difference(before: &Value, after: &Value) -> String {
    let lines = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (before, after) = (lines(before), lines(after));
    let at = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let shown = |all: &[Value]| all.get(at).map_or("the end".to_owned(), Value::to_string);
    format!("step {at}: {} became {}", shown(&before), shown(&after))
}

thread_local! {
    static PYTHON: RefCell<Python> = const { RefCell::new(Python(None)) };
}

/// A persistent CPython; it ends with its standard input.
struct Python(Option<(Child, ChildStdin, BufReader<ChildStdout>)>);

impl Python {
    fn ask(&mut self, question: &Value) -> Option<Value> {
        let answer = self.line(question);
        if answer.is_none()
            && let Some((mut child, input, _)) = self.0.take()
        {
            drop(input);
            let _ = child.wait();
        }
        answer
    }

    fn line(&mut self, question: &Value) -> Option<Value> {
        if self.0.is_none() {
            let mut command = Command::new("python3");
            command.args(["-I", "-W", "ignore", "-c", include_str!("../behaviour.py")]);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("CPython starts");
            let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
                panic!("CPython has no standard streams");
            };
            self.0 = Some((child, input, BufReader::new(output)));
        }
        let (_, input, output) = self.0.as_mut()?;
        writeln!(input, "{question}").and_then(|()| input.flush()).ok()?;
        let mut line = String::new();
        output.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        if let Some((mut child, input, _)) = self.0.take() {
            drop(input);
            let _ = child.wait();
        }
    }
}
