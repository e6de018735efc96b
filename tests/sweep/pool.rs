//! Worker processes, each monitored: one that dies or exceeds its time is replaced, and its current port is known.

use crate::arguments::Arguments;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How a job ended.
pub(crate) enum Outcome {
    Done(Value),
    /// The process died during a port to a target, in a style.
    Died([String; 2]),
    /// It was killed because the port took too long.
    Late([String; 2]),
}

/// One process.
pub(crate) struct Worker<'a> {
    arguments: &'a Arguments,
    open: Option<(Child, ChildStdin, Receiver<String>)>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(arguments: &'a Arguments) -> Self {
        Self { arguments, open: None }
    }

    pub(crate) fn run(&mut self, job: &Value) -> Result<Outcome, String> {
        if self.open.is_none() {
            self.open = Some(self.start()?);
        }
        let Some((_, input, lines)) = &mut self.open else { return Err("no process".to_owned()) };
        let mut at = [String::new(), String::new()];
        // A dead process is detected because it sends no answer.
        let _ = writeln!(input, "{job}").and_then(|()| input.flush());
        loop {
            let said = lines.recv_timeout(Duration::from_secs(self.arguments.limit));
            let outcome = match said.as_deref().map(serde_json::from_str::<Value>) {
                Ok(Ok(mut said)) if said["at"].is_array() => {
                    at = [0, 1].map(|n| said["at"][n].take().as_str().unwrap_or_default().to_owned());
                    continue;
                }
                Ok(Ok(mut said)) => return Ok(Outcome::Done(said["result"].take())),
                Ok(Err(error)) => return Err(format!("a worker says what is no JSON: {error}")),
                Err(RecvTimeoutError::Timeout) => Outcome::Late(at),
                Err(RecvTimeoutError::Disconnected) => Outcome::Died(at),
            };
            self.end();
            return Ok(outcome);
        }
    }

    fn start(&self) -> Result<(Child, ChildStdin, Receiver<String>), String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(["worker", "--python", &self.arguments.python]);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = spawned.map_err(|error| format!("cannot start a worker: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a worker has no standard streams".to_owned());
        };
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok((child, input, lines))
    }

    fn end(&mut self) {
        if let Some((mut child, input, _)) = self.open.take() {
            drop(input);
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Some((mut child, input, _)) = self.open.take() {
            drop(input);
            let _ = child.wait();
        }
    }
}

/// Runs all jobs on all processes; each result is passed to `done`, in the order of completion.
pub(crate) fn run_all<J: Send>(
    arguments: &Arguments,
    jobs: impl Iterator<Item = J> + Send,
    work: impl Fn(&mut Worker<'_>, J) -> Result<(), String> + Sync,
) -> Result<(), String> {
    let jobs = Mutex::new(jobs);
    let first_error = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs {
            scope.spawn(|| {
                let mut worker = Worker::new(arguments);
                loop {
                    let job = jobs.lock().ok().and_then(|mut jobs| jobs.next());
                    let Some(job) = job else { return };
                    if let Err(error) = work(&mut worker, job) {
                        if let Ok(mut first) = first_error.lock() {
                            first.get_or_insert(error);
                        }
                        return;
                    }
                }
            });
        }
    });
    first_error.into_inner().unwrap_or_default().map_or(Ok(()), Err)
}

/// A job: the sources that are ported together, each with its path and its file or text, and the requested ports (all by
/// default).
pub(crate) fn job(sources: &Value, only: Option<(&str, &str)>, patches: bool) -> Value {
    let mut job = json!({ "sources": sources, "patches": patches });
    if let Some((target, style)) = only {
        job["only"] = json!([target, style]);
    }
    job
}
