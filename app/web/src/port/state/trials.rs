//! Which of a target's named options affect the open project. This is found by trying other values, so it works for any
//! project; the worker tries one option at a time when it is idle.

use codemod::Options;

/// The progress of the trials, and their results.
#[derive(Clone, Debug, Default)]
pub struct Trials {
    /// Whether the options are visible.
    pub wanted: bool,
    /// The port whose options are varied, and the number of options of its target.
    of: Options,
    count: usize,
    /// For each option tried so far, whether another value gives a different port.
    found: Vec<bool>,
    /// The last complete round, and its target. It is shown until the next round is complete.
    known: (String, Vec<bool>),
}

impl Trials {
    /// Whether an option of the target, by its position in the list, has an effect; `None` while that is not known.
    pub fn matters(&self, target: &str, option: usize) -> Option<bool> {
        self.known.1.get(option).copied().filter(|_| self.known.0 == target)
    }

    /// The next of `count` options to try, in a port with these options.
    pub fn next(&mut self, options: Options, count: usize) -> Option<(Options, usize)> {
        if !self.wanted {
            return None;
        }
        if self.of != options {
            self.found.clear();
            (self.of, self.count) = (options, count);
        }
        (self.found.len() < count).then(|| (self.of.clone(), self.found.len()))
    }

    /// Stores the result of the trial that [`Trials::next`] requested.
    pub fn take(&mut self, differs: bool) {
        self.found.push(differs);
        if self.found.len() == self.count {
            self.known = (self.of.target.clone(), self.found.clone());
        }
    }

    /// The project has changed.
    pub fn forget(&mut self) {
        self.found.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(target: &str, sdk: Option<&str>) -> Options {
        Options { target: target.into(), sdk: sdk.map(str::to_owned), ..Options::default() }
    }

    #[test]
    fn a_round_is_shown_when_it_is_whole() {
        let mut trials = Trials::default();
        let hpu = options("hpu", None);
        assert_eq!(trials.next(hpu.clone(), 2), None);
        trials.wanted = true;
        for (turn, differs) in [(0, true), (1, false)] {
            assert_eq!(trials.next(hpu.clone(), 2), Some((hpu.clone(), turn)));
            assert_eq!(trials.matters("hpu", 0), None);
            trials.take(differs);
        }
        assert_eq!([0, 1].map(|option| trials.matters("hpu", option)), [Some(true), Some(false)]);
        assert_eq!(trials.matters("ipu", 0), None);
        assert_eq!(trials.next(hpu.clone(), 2), None);
        // A change of the options or the text starts a new round; the results of the previous one stay visible.
        assert_eq!(trials.next(options("hpu", Some("1.8")), 2).map(|(_, option)| option), Some(0));
        trials.take(false);
        trials.forget();
        assert_eq!(trials.next(options("hpu", Some("1.8")), 2).map(|(_, option)| option), Some(0));
        assert_eq!(trials.matters("hpu", 0), Some(true));
    }
}
