//! The twin run of the port: the result that was opened, whether it belongs to the current port, and how it is
//! displayed.

use crate::port::state::State;
use crate::port::twin_result::{Number, TwinResult, Verdict};
use crate::shared::text::count;
use std::sync::Arc;

/// A result as it is displayed.
#[derive(Clone, Debug, PartialEq)]
pub struct TwinRun {
    /// The result.
    pub result: Arc<TwinResult>,
    /// Whether it belongs to other files, or to another target, than the current port.
    pub stale: bool,
}

/// Points of a curve in the plot, relative to its lower left corner, from 0 to 1 in both directions.
pub type Points = Vec<(f64, f64)>;

/// The two losses over the steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// The original's.
    pub original: Points,
    /// The port's.
    pub port: Points,
    /// Lowest and highest loss.
    pub range: (f64, f64),
    /// Number of steps.
    pub steps: usize,
}

impl State {
    /// Stores a result that was opened.
    pub fn take_twin(&mut self, result: TwinResult) {
        self.twin = Some(Arc::new(result));
        self.edits += 1;
    }

    /// Removes the result.
    pub fn drop_twin(&mut self) {
        self.twin = None;
    }

    /// The result, compared with the current port.
    pub fn twin_run(&self) -> Option<TwinRun> {
        let (result, outcome) = (self.twin.clone()?, self.outcome.as_ref()?);
        let certificate = &outcome.certificate.as_ref()?.certificate;
        let ran = |path: &String, input: &str, output: &str| {
            let sums = result.files.get(path);
            let is_original = |original: &Option<String>| match original {
                Some(original) => original == input,
                None => outcome.new_files.contains(path),
            };
            sums.is_some_and(|sums| is_original(&sums.original) && sums.port.as_deref() == Some(output))
        };
        // The run may not list a file that the port did not change.
        let same = certificate.files.iter().all(|(path, hashes)| {
            ran(path, &hashes.input, &hashes.output)
                || hashes.input == hashes.output && !result.files.contains_key(path)
        });
        let known = result.files.keys().all(|path| certificate.files.contains_key(path));
        let stale = result.target != outcome.target || !same || !known;
        Some(TwinRun { result, stale })
    }
}

impl TwinRun {
    /// The verdict in a few words.
    pub fn verdict(&self) -> String {
        match (&self.result.failed, self.result.verdict) {
            _ if self.stale => "This run was of a different port".to_owned(),
            (Some(_), _) => "There is nothing to compare".to_owned(),
            (None, Verdict::Differs) => "The port differs from the original".to_owned(),
            (None, Verdict::Equal) if !self.result.contracts.is_empty() => {
                "The port breaks the vendor’s rules".to_owned()
            }
            (None, Verdict::Equal) if self.result.reasons.is_empty() => {
                "The port trained to the same losses".to_owned()
            }
            (None, Verdict::Equal) => {
                format!("The port trained to the same losses, up to {}", self.result.reasons.join(", "))
            }
        }
    }

    /// Whether the verdict is good.
    pub fn is_good(&self) -> bool {
        let TwinResult { verdict, failed, contracts, .. } = &*self.result;
        !self.stale && *verdict == Verdict::Equal && failed.is_none() && contracts.is_empty()
    }

    /// What was run, and with which software.
    pub fn ran(&self) -> String {
        let TwinResult { ran, trained, .. } = &*self.result;
        let steps = match trained {
            [original, port] if original == port => count(*port, "step"),
            [original, port] => format!("{original} (original) and {port} (port) steps"),
        };
        let mut out = format!("{}: {steps} on a CPU with {}", ran.program, ran.framework);
        out += if ran.precision == "target" { ", in the programs’ own number types" } else { ", in float32" };
        if ran.instances > 1 {
            out += &format!(", the port as {} processes", ran.instances);
        }
        if !ran.stand_ins.is_empty() {
            out += &format!(", with stand-ins for {}", ran.stand_ins.join(", "));
        }
        if ran.fake_data > 0 || !ran.fake_images.is_empty() {
            out += ", on generated data";
        }
        out + "."
    }

    /// The curves; `None` if no step has a finite loss.
    pub fn curves(&self) -> Option<Curves> {
        let steps = &self.result.steps;
        let losses =
            || steps.iter().flat_map(|step| step.loss).map(|Number(loss)| loss).filter(|loss| loss.is_finite());
        let (low, high) = (losses().reduce(f64::min)?, losses().reduce(f64::max)?);
        // A flat line if the loss never changes.
        let span = if high > low { high - low } else { 1.0 };
        let across = |at: usize| if steps.len() > 1 { at as f64 / (steps.len() - 1) as f64 } else { 0.5 };
        let points = |side: usize| {
            let loss = steps.iter().enumerate().map(|(at, step)| (across(at), step.loss[side].0));
            loss.filter(|(_, loss)| loss.is_finite()).map(|(x, loss)| (x, (loss - low) / span)).collect()
        };
        Some(Curves { original: points(0), port: points(1), range: (low, high), steps: steps.len() })
    }
}

/// A number of a result as displayed.
pub fn shown(Number(value): Number) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "not a number".to_owned() } else { "infinite".to_owned() };
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) { format!("{value:.6e}") } else { format!("{value:.7}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::protocol::{Checked, Outcome};
    use crate::port::twin_result::{read, tests::RESULT};
    use codemod::{Certificate, FileHashes};

    /// The state with that result and a port of `a.py` with these hashes.
    fn beside(target: &str, hashes: &[(&str, &str, &str)]) -> State {
        let file = |(path, input, output): &(&str, &str, &str)| {
            ((*path).to_owned(), FileHashes { input: (*input).to_owned(), output: (*output).to_owned() })
        };
        let certificate = Certificate { files: hashes.iter().map(file).collect(), ..Certificate::default() };
        let certificate = Some(Checked { sdk: "1".into(), certificate });
        let outcome = Outcome { target: target.to_owned(), certificate, ..Outcome::default() };
        let mut state = State::default();
        state.set_outcome(Some(Arc::new(outcome)));
        state.take_twin(read(RESULT).expect("it is one"));
        state
    }

    #[track_caller]
    fn check_stale(target: &str, hashes: &[(&str, &str, &str)], stale: bool) {
        assert_eq!(beside(target, hashes).twin_run().expect("it is there").stale, stale);
    }

    #[test]
    fn a_run_of_other_files_is_stale() {
        check_stale("hpu", &[("a.py", "00", "11")], false);
        check_stale("ipu", &[("a.py", "00", "11")], true);
        check_stale("hpu", &[("a.py", "00", "12")], true);
        check_stale("hpu", &[("a.py", "01", "11")], true);
        check_stale("hpu", &[("b.py", "00", "11")], true);
        check_stale("hpu", &[("a.py", "00", "11"), ("b.py", "5", "5")], false);
        check_stale("hpu", &[("a.py", "00", "11"), ("b.py", "5", "6")], true);
    }

    #[test]
    fn words_say_what_was_run_and_no_more() {
        let mut run = beside("hpu", &[("a.py", "00", "11")]).twin_run().expect("it is there");
        assert_eq!(run.verdict(), "The port differs from the original");
        assert_eq!(run.ran(), "a.py: 2 steps on a CPU with PyTorch 2.9, in float32, with stand-ins for made_up.");
        assert!(!run.is_good());
        let result = Arc::make_mut(&mut run.result);
        (result.verdict, result.first) = (Verdict::Equal, None);
        assert_eq!((run.verdict().as_str(), run.is_good()), ("The port trained to the same losses", true));
        let result = Arc::make_mut(&mut run.result);
        result.reasons = vec!["rounding".to_owned()];
        result.ran.fake_data = 10;
        assert_eq!(run.verdict(), "The port trained to the same losses, up to rounding");
        assert!(run.ran().ends_with("on generated data."));
        Arc::make_mut(&mut run.result).failed = Some("a.py ended".to_owned());
        assert_eq!((run.verdict().as_str(), run.is_good()), ("There is nothing to compare", false));
        run.stale = true;
        assert_eq!(run.verdict(), "This run was of a different port");
    }

    #[test]
    fn curves_leave_out_what_is_not_finite() {
        let run = beside("hpu", &[("a.py", "00", "11")]).twin_run().expect("it is there");
        let curves = run.curves().expect("there are losses");
        assert_eq!(curves.range, (0.25, 1.0));
        assert_eq!((curves.original, curves.port), (vec![(0.0, 1.0), (1.0, 0.0)], vec![(0.0, 1.0)]));
        let shown: Vec<String> = [1.0, 0.000_012, f64::NAN, f64::INFINITY, 0.0].map(|n| shown(Number(n))).into();
        assert_eq!(shown, ["1.0000000", "1.200000e-5", "not a number", "infinite", "0.0000000"]);
    }

    #[test]
    fn a_result_goes_with_its_project() {
        let mut state = beside("hpu", &[("a.py", "00", "11")]);
        state.drop_twin();
        assert_eq!(state.twin_run(), None);
    }
}
