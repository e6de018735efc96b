//! The progress of a run.

use crate::kernels::{Job, Work};

use super::Plan;

/// The progress of a run when a step begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// Number of the step that begins; `count` at the end.
    pub step: usize,
    /// Steps of the plan.
    pub count: usize,
    /// Module path of the step that begins; empty at the end.
    pub path: &'a str,
    /// The completed share of the work, from 0 to 1. An estimate: steps differ in speed.
    pub share: f64,
}

impl Progress<'_> {
    /// Seconds left, given the time for the completed work; none before anything is completed.
    pub fn left(&self, seconds: f64) -> Option<f64> {
        (self.share > 0.0).then(|| seconds * (1.0 - self.share) / self.share)
    }
}

impl Plan {
    /// The progress of a run when it calls back with the number of a step.
    pub fn progress(&self, step: usize) -> Progress<'_> {
        // Not `sum`, whose empty value is -0.
        let sum = |steps: usize| self.costs.iter().take(steps).fold(0.0, |sum, cost| sum + cost);
        let (done, whole) = (sum(step), sum(usize::MAX));
        Progress {
            step,
            count: self.steps.len(),
            path: self.steps.get(step).map_or("", |step| step.path.as_str()),
            share: if whole > 0.0 { done / whole } else { 1.0 },
        }
    }
}

/// Multiplications that take as long as writing one element to memory.
const WRITE: f64 = 16.0;

/// The cost of a job, in multiplications of the kernels: Winograd's method has fewer than the definition.
pub(crate) fn cost(job: &Job, macs: u64) -> f64 {
    let products = |size: usize| ((size + 2) * (size + 2)) as f64 / (9 * size * size) as f64;
    let saved = match &job.work {
        Work::Winograd { size, .. } => products(*size),
        Work::Chain(chain) => products(chain.size),
        _ => 1.0,
    };
    let written = job.to.images * job.to.height * job.to.width * job.to.channels;
    macs as f64 * saved + WRITE * written as f64
}
