//! What would let the training step be ported, as far as this has been tried. The worker makes one attempt at a time
//! when it is idle.

use crate::port::protocol::{Unblocked, Unblocking};
use crate::port::state::{Run, State};
use codemod::{Options, Style};

/// The progress of the attempts, and their results.
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    /// The port that the attempts try to improve, by [`State::ports`].
    of: u64,
    made: usize,
    total: Option<usize>,
    /// The best attempt.
    pub found: Vec<Unblocked>,
}

impl State {
    /// The next attempt, if the training step is not ported.
    pub fn next_attempt(&mut self) -> Option<(Options, usize)> {
        let is_stopped = self.outcome.as_ref().is_some_and(|outcome| outcome.overview.is_some());
        if self.run != Run::Idle || !is_stopped {
            return None;
        }
        if self.attempts.of != self.ports {
            self.attempts = Attempts { of: self.ports, ..Attempts::default() };
        }
        let Attempts { made, total, found, .. } = &self.attempts;
        let is_over = total.is_some_and(|total| *made >= total) || found.iter().any(|found| found.stops == 0);
        (!is_over).then(|| (self.options(), *made))
    }

    /// Stores the result of the attempt that [`State::next_attempt`] requested.
    pub fn take_attempt(&mut self, found: Option<Unblocked>, total: usize) {
        if self.attempts.of == self.ports {
            self.attempts.made += 1;
            self.attempts.total = Some(total);
            self.attempts.found.extend(found);
        }
    }

    /// The best attempt for the current port; `None` for a newer port.
    pub fn unblocked(&self) -> Option<Unblocked> {
        let found = self.attempts.found.iter().filter(|_| self.attempts.of == self.ports);
        found.min_by_key(|found| found.stops).cloned()
    }

    /// Selects the option that lets the step be ported.
    pub fn unblock(&mut self, by: &Unblocking) {
        self.choose(|choice| match by {
            Unblocking::Style(style) => choice.style = *style,
            Unblocking::Unsafe => choice.switches.allow_unsafe = true,
            Unblocking::Option { name, value, .. } => drop(choice.options.insert(name.clone(), value.clone())),
            Unblocking::Sdk(sdk) => choice.sdk = Some(sdk.clone()),
            Unblocking::Target { id, .. } => choice.target.clone_from(id),
            Unblocking::Without(_) => {}
        });
    }
}

impl Unblocking {
    /// The label of the button that selects it; `None` if only changing the code helps.
    pub fn label(&self) -> Option<String> {
        match self {
            Unblocking::Style(Style::Agnostic) => Some("One program for all".to_owned()),
            Unblocking::Style(Style::Branch) => Some("Keep CUDA, add a branch".to_owned()),
            Unblocking::Style(_) => Some("Replace CUDA code".to_owned()),
            Unblocking::Unsafe => Some("Include changes that may alter results".to_owned()),
            Unblocking::Option { label, value, .. } => Some(format!("{label}: {value}")),
            Unblocking::Sdk(sdk) => Some(format!("SDK {sdk}")),
            Unblocking::Target { name, .. } => Some(format!("Port to {name}")),
            Unblocking::Without(_) => None,
        }
    }
}
