//! What libFuzzer says while it runs, as far as it is counted.

use std::time::Instant;

/// The heading of [`Followed::row`].
pub(super) const HEAD: &str = "\
| target | executions | a second | minutes | edges of the seeds | edges at the end | last new edge after | failures |
|---|--:|--:|--:|--:|--:|--:|--:|";

/// A run, as its lines tell it.
pub(super) struct Followed {
    name: String,
    start: Instant,
    /// Until the last line.
    seconds: f64,
    executions: u64,
    /// Edges that were reached: by what it began with, and by now.
    began: u64,
    edges: u64,
    /// Seconds until the last edge that was new.
    last_new: f64,
    pub(super) failures: usize,
}

impl Followed {
    pub(super) fn begin(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            start: Instant::now(),
            seconds: 0.0,
            executions: 0,
            began: 0,
            edges: 0,
            last_new: 0.0,
            failures: 0,
        }
    }

    /// Takes a line in; says whether somebody should see it.
    pub(super) fn read(&mut self, line: &str) -> bool {
        self.seconds = self.start.elapsed().as_secs_f64();
        if let Some(number) = line.strip_prefix("stat::number_of_executed_units:") {
            self.executions = number.trim().parse().unwrap_or(self.executions);
        }
        let Some((number, rest)) = line.strip_prefix('#').and_then(|line| line.split_once('\t')) else {
            return line.starts_with("FAILURE") || line.starts_with("==") || line.starts_with("SUMMARY");
        };
        self.executions = number.trim().parse().unwrap_or(self.executions);
        let edges = rest.split_once("cov: ").and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
        if let Some(edges) = edges {
            if rest.starts_with("INITED") {
                self.began = edges;
            }
            if edges > self.edges {
                (self.edges, self.last_new) = (edges, self.seconds);
            }
        }
        false
    }

    /// The run in a sentence.
    pub(super) fn told(&self) -> String {
        format!(
            "{} executions, {:.0} a second; {} edges, {} of them new; the last new one after {:.0} s; {} failures",
            self.executions,
            self.executions as f64 / self.seconds,
            self.edges,
            self.edges - self.began,
            self.last_new,
            self.failures
        )
    }

    /// The run as a row of a table.
    pub(super) fn row(&self) -> String {
        format!(
            "| {} | {} | {:.0} | {:.1} | {} | {} | {:.0} s | {} |",
            self.name,
            self.executions,
            self.executions as f64 / self.seconds,
            self.seconds / 60.0,
            self.began,
            self.edges,
            self.last_new,
            self.failures
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted() {
        let mut run = Followed::begin("port");
        assert!(!run.read("#12\tINITED cov: 400 ft: 900 corp: 12/2Kb exec/s: 0 rss: 50Mb"));
        assert!(
            !run.read("#20\tNEW    cov: 404 ft: 910 corp: 13/2Kb lim: 4096 exec/s: 0 rss: 50Mb L: 1/2 MS: 1 Custom-")
        );
        assert!(run.read("FAILURE panicked at x.rs:1"));
        run.read("stat::number_of_executed_units: 31");
        assert_eq!((run.executions, run.began, run.edges), (31, 400, 404));
    }
}
