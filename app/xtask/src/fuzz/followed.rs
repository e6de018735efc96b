//! The parts of libFuzzer's output that are counted.

use std::time::Instant;

/// The heading of [`Followed::row`].
pub(super) const HEAD: &str = "\
| target | executions | a second | minutes | edges at first | edges at the end | new in the last half of the executions | last new edge at execution | failures |
|---|--:|--:|--:|--:|--:|--:|--:|--:|";

/// A run, according to its output.
pub(super) struct Followed {
    name: String,
    start: Instant,
    /// Until the last line.
    seconds: f64,
    executions: u64,
    /// Executions of the initial inputs.
    first: u64,
    /// Edges that were reached: by the initial inputs, and by now.
    began: u64,
    edges: u64,
    /// The executions after which there were more edges than before, and their number.
    grown: Vec<(u64, u64)>,
    pub(super) failures: usize,
}

impl Followed {
    pub(super) fn begin(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            start: Instant::now(),
            seconds: 0.0,
            executions: 0,
            first: 0,
            began: 0,
            edges: 0,
            grown: Vec::new(),
            failures: 0,
        }
    }

    /// Processes a line; returns whether it should be shown.
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
                (self.first, self.began) = (self.executions, edges);
            }
            if edges > self.edges {
                self.edges = edges;
                self.grown.push((self.executions, edges));
            }
        }
        false
    }

    /// The execution that added the last new edge.
    fn last_new(&self) -> u64 {
        self.grown.last().map_or(0, |(executions, _)| *executions)
    }

    /// Edges that the second half of the executions added, without those of the initial inputs. Half of the time would
    /// mean something else on a busy machine than on an idle one.
    fn in_last_half(&self) -> u64 {
        let half = self.first + self.executions.saturating_sub(self.first) / 2;
        let before = self.grown.iter().take_while(|(executions, _)| *executions <= half).last();
        self.edges - before.map_or(self.began, |(_, edges)| *edges)
    }

    /// The run as a sentence.
    pub(super) fn told(&self) -> String {
        format!(
            "{} executions, {:.0} a second; {} edges, {} of them new, {} in the last half; the last new one at execution {}; {} failures",
            self.executions,
            self.executions as f64 / self.seconds,
            self.edges,
            self.edges - self.began,
            self.in_last_half(),
            self.last_new(),
            self.failures
        )
    }

    /// The run as a row of a table.
    pub(super) fn row(&self) -> String {
        format!(
            "| {} | {} | {:.0} | {:.1} | {} | {} | {} | {} | {} |",
            self.name,
            self.executions,
            self.executions as f64 / self.seconds,
            self.seconds / 60.0,
            self.began,
            self.edges,
            self.in_last_half(),
            self.last_new(),
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

    #[test]
    fn edges_of_the_last_half() {
        let check = |grown: &[(u64, u64)], new: u64| {
            let edges = grown.last().map_or(400, |(_, edges)| *edges);
            let counted = Followed { executions: 160, first: 100, began: 400, ..Followed::begin("port") };
            let run = Followed { edges, grown: grown.to_vec(), ..counted };
            assert_eq!(run.in_last_half(), new);
        };
        check(&[(1, 400), (120, 404), (131, 405), (159, 407)], 3);
        check(&[(1, 400), (120, 404)], 0);
        check(&[(1, 400), (140, 401)], 1);
    }
}
