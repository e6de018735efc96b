//! Which of a target's named options matter to the open project. Found out by trying other values, so that it holds for any
//! project; the worker does that one option at a time, while nothing else is wanted.

use codemod::Options;

/// How far the trying is, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Trials {
    /// The options are in sight.
    pub wanted: bool,
    /// The port that is varied, and how many options its target has.
    of: Options,
    count: usize,
    /// For each option tried so far, whether another value makes another port.
    found: Vec<bool>,
    /// The last whole round, and its target. It is shown until the next is whole.
    known: (String, Vec<bool>),
}

impl Trials {
    /// Whether an option of the target matters, by its place in the list; `None` as long as that is not known.
    pub fn matters(&self, target: &str, option: usize) -> Option<bool> {
        self.known.1.get(option).copied().filter(|_| self.known.0 == target)
    }

    /// The option to try next, of so many, in a port with these options.
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

    /// Takes what came of the trial that [`Trials::next`] asked for.
    pub fn take(&mut self, differs: bool) {
        self.found.push(differs);
        if self.found.len() == self.count {
            self.known = (self.of.target.clone(), self.found.clone());
        }
    }

    /// The project is another one.
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
        // Another choice or another text begins a round; the former stays in sight.
        assert_eq!(trials.next(options("hpu", Some("1.8")), 2).map(|(_, option)| option), Some(0));
        trials.take(false);
        trials.forget();
        assert_eq!(trials.next(options("hpu", Some("1.8")), 2).map(|(_, option)| option), Some(0));
        assert_eq!(trials.matters("hpu", 0), Some(true));
    }
}
