//! Reads a script that somebody else wrote for faults that published scripts are known to have.

use crate::request::Target;
use crate::word::split_words;
use std::fmt::Write;

/// A fault in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its line, from 1.
    pub line: usize,
    /// A name for this kind of fault.
    pub rule: &'static str,
    /// What is wrong, and what to do.
    pub message: String,
}

/// What a look at a script found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linted {
    /// The faults, by line.
    pub findings: Vec<Finding>,
    /// The script with those faults mended that have one right answer.
    pub fixed: String,
}

/// Words that no machine knows, and what was meant. The first column is matched as a whole word.
const NAMES: [(&str, &str, &str); 2] = [
    ("ONM_NUM_THREADS", "OMP_NUM_THREADS", "no library reads this variable; OMP_NUM_THREADS is meant"),
    ("snstat", "sntilestat", "there is no such command; sntilestat shows the tiles"),
];

/// Checks a script for a target.
pub fn lint(script: &str, target: Target) -> Linted {
    let mut look = Look { findings: Vec::new(), lines: script.split_inclusive('\n').map(String::from).collect() };
    let assigned = |name: &str| script.lines().any(|line| uncommented(line).contains(&format!("{name}=")));
    let knows_cache = assigned("PYTORCH_CACHE_DIR");
    for at in 0..look.lines.len() {
        if !uncommented(&look.lines[at]).trim().is_empty() {
            look.line(at, target, knows_cache);
        }
    }
    let mut start = 0;
    while start < look.lines.len() {
        let mut end = start;
        while end + 1 < look.lines.len() && look.lines[end].trim_end_matches(['\n', '\r']).ends_with('\\') {
            end += 1;
        }
        look.command(start, end, target);
        start = end + 1;
    }
    look.findings.sort_by_key(|finding| finding.line);
    Linted { findings: look.findings, fixed: look.lines.concat() }
}

impl Linted {
    /// The mended lines as a patch without context; empty when nothing was mended.
    pub fn diff(&self, script: &str, name: &str) -> String {
        let mut out = String::new();
        let pairs = script.split_inclusive('\n').zip(self.fixed.split_inclusive('\n'));
        for (at, (old, new)) in pairs.enumerate().filter(|(_, (old, new))| old != new) {
            if out.is_empty() {
                let _ = write!(out, "--- a/{name}\n+++ b/{name}\n");
            }
            let _ = writeln!(out, "@@ -{0} +{0} @@", at + 1);
            for (sign, line) in [('-', old), ('+', new)] {
                let _ = write!(out, "{sign}{line}");
                if !line.ends_with('\n') {
                    out.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
        out
    }
}

struct Look {
    findings: Vec<Finding>,
    lines: Vec<String>,
}

impl Look {
    fn found(&mut self, at: usize, rule: &'static str, message: impl Into<String>) {
        self.findings.push(Finding { line: at + 1, rule, message: message.into() });
    }

    fn mend(&mut self, at: usize, old: &str, new: &str) {
        self.lines[at] = self.lines[at].replace(old, new);
    }

    /// Faults that one line shows.
    fn line(&mut self, at: usize, target: Target, knows_cache: bool) {
        let line = uncommented(&self.lines[at]).to_string();
        if line.contains(['“', '”', '‘', '’']) {
            self.found(at, "curly-quotes", "curly quotes are letters to a shell; use straight ones");
            for (curly, straight) in [("“", "\""), ("”", "\""), ("‘", "'"), ("’", "'")] {
                self.mend(at, curly, straight);
            }
        }
        if line.contains("--executable_cache_path=~/") {
            let message = "a shell leaves ~ alone in the middle of a word; write $HOME";
            self.found(at, "literal-tilde", message);
            if !line.contains('\'') {
                self.mend(at, "--executable_cache_path=~/", "--executable_cache_path=$HOME/");
            }
        }
        if !knows_cache && ["$PYTORCH_CACHE_DIR", "${PYTORCH_CACHE_DIR}"].iter().any(|name| line.contains(name)) {
            let message = "PYTORCH_CACHE_DIR is set nowhere here; PopTorch's variable is POPTORCH_CACHE_DIR";
            self.found(at, "cache-variable", message);
            self.mend(at, "PYTORCH_CACHE_DIR", "POPTORCH_CACHE_DIR");
        }
        if let Some(number) = single_brace(&line) {
            self.found(at, "literal-braces", format!("{{{number}}} is not a range: the loop sees the braces"));
            self.mend(at, &format!("{{{number}}}"), number);
        }
        for (name, right, message) in NAMES {
            if words_of(&line).any(|word| word == name) {
                self.found(at, "unknown-name", message);
                self.mend(at, name, right);
            }
        }
        if words_of(&line).any(|word| word == "snrun") {
            self.found(at, "unknown-name", "there is no command snrun; srun or MPICH's mpirun starts the processes");
        }
        for folder in ["/home/", "/Users/"] {
            let user = line.split(folder).nth(1).and_then(|rest| words_of(rest).next());
            if let Some(user) = user.filter(|_| !line.contains(&format!("{folder}$"))) {
                self.found(at, "home-folder", format!("{folder}{user} is somebody's own folder; use $HOME"));
            }
        }
        if target == Target::Hpu && line.contains("PT_HPU_LAZY_MODE=2") {
            let message = "2 meant eager until release 1.11; since 1.13 it is 0";
            self.found(at, "lazy-mode", message);
            self.mend(at, "PT_HPU_LAZY_MODE=2", "PT_HPU_LAZY_MODE=0");
        }
    }

    /// Faults of a whole command, which may be on several lines.
    fn command(&mut self, start: usize, end: usize, target: Target) {
        let text: String = self.lines[start..=end].iter().map(|line| uncommented(line)).collect();
        let Some(words) = split_words(&text) else { return };
        let line_of = |look: &Look, needle: &str| (start..=end).find(|at| look.lines[*at].contains(needle));
        for at in start..=end {
            let line = uncommented(&self.lines[at]).to_string();
            let own: Vec<&str> = line.trim().trim_end_matches('\\').split_whitespace().collect();
            let next = self.lines.get(at + 1).filter(|_| at < end).map(|line| line.trim_start().to_string());
            for (n, word) in own.iter().enumerate().filter(|(_, word)| **word == "--mca") {
                let follower = own.get(n + 1).map(|word| (*word).to_string()).or_else(|| next.clone());
                if follower.is_some_and(|word| word.starts_with('-')) {
                    self.found(
                        at,
                        "bare-mca",
                        "--mca takes the next two words as name and value: these flags are lost",
                    );
                    let bare = format!("{word} ");
                    if let Some(from) = self.lines[at].find(&bare) {
                        self.lines[at].replace_range(from..from + bare.len(), "");
                    }
                }
            }
        }
        let runs = |name: &str| words.iter().any(|word| word.rsplit('/').next() == Some(name));
        let count = |names: &[&str]| number_after(&words, names);
        let distributed = words
            .iter()
            .find(|word| word.split_once('=').is_some_and(|(key, _)| key.rsplit('.').next() == Some("distributed")));
        let says = |value: &str| distributed.filter(|word| word.to_ascii_lowercase().ends_with(value)).cloned();
        let several = runs("mpirun") && count(&["-n", "-np"]).is_some_and(|count| count > 1);
        if target == Target::Hpu
            && several
            && let Some(word) = says("=false")
        {
            let at = line_of(self, &word).unwrap_or(start);
            self.found(at, "separate-trainings", "each process trains a model of its own; this must be True");
            let key = word.split('=').next().unwrap_or_default().to_string();
            self.mend(at, &word, &format!("{key}=True"));
        }
        if runs("poprun") {
            if let Some(word) = says("=true") {
                let at = line_of(self, &word).unwrap_or(start);
                self.found(at, "joined-twice", "poprun joins the instances, not the program; this must be False");
                let key = word.split('=').next().unwrap_or_default().to_string();
                self.mend(at, &word, &format!("{key}=False"));
            }
            let instances = count(&["--num-instances"]).unwrap_or(1);
            let replicas = count(&["--num-replicas"]).unwrap_or(1);
            if instances == 0 || replicas % instances != 0 {
                let message = format!("{replicas} replicas can't be shared evenly by {instances} instances");
                self.found(line_of(self, "--num-replicas").unwrap_or(start), "uneven-replicas", message);
            }
        }
        if words.iter().any(|word| word == "--hmp")
            && words.iter().any(|word| word.contains('=') && !word.starts_with('-'))
        {
            let at = line_of(self, "--hmp").unwrap_or(start);
            self.found(at, "unknown-flag", "Hydra refuses flags it does not know, and hmp ended with release 1.12");
        }
    }
}

/// The number that one of the flags has, as `--flag N` or `--flag=N`.
fn number_after(words: &[String], flags: &[&str]) -> Option<u64> {
    words.iter().enumerate().find_map(|(at, word)| {
        let (flag, value) = word.split_once('=').map_or((&**word, None), |(flag, value)| (flag, Some(value)));
        let value = value.or_else(|| words.get(at + 1).map(String::as_str));
        flags.contains(&flag).then(|| value?.parse().ok()).flatten()
    })
}

/// The number of `for i in {1}`.
fn single_brace(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("for ")?;
    let (_, rest) = rest.split_once(" in ")?;
    let (number, _) = rest.trim_start().strip_prefix('{')?.split_once('}')?;
    (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit())).then_some(number)
}

fn words_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The line, or nothing when all of it is a comment.
fn uncommented(line: &str) -> &str {
    if line.trim_start().starts_with('#') { "" } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(target: Target, before: &str, after: &str, rules: &[&str]) {
        let done = lint(before, target);
        assert_eq!(done.fixed, after);
        assert_eq!(done.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), rules);
        let left = lint(after, target).findings;
        assert!(left.iter().all(|finding| done.findings.contains(finding)), "{left:?}");
    }

    #[test]
    fn published_faults() {
        use Target::*;
        let tilde = "export TF_POPLAR_FLAGS=--executable_cache_path=~/tmp\n";
        check(Ipu, tilde, "export TF_POPLAR_FLAGS=--executable_cache_path=$HOME/tmp\n", &["literal-tilde"]);
        let cache = "poprun --num-replicas=4 --executable-cache-path=$PYTORCH_CACHE_DIR python3 t.py";
        check(Popdist, cache, &cache.replace("PYTORCH", "POPTORCH"), &["cache-variable"]);
        check(Popdist, &format!("PYTORCH_CACHE_DIR=/x\n{cache}"), &format!("PYTORCH_CACHE_DIR=/x\n{cache}"), &[]);
        let mca = "mpirun -n 16 --mca \\\n  --bind-to core python t.py\n";
        check(Hpu, mca, "mpirun -n 16 \\\n  --bind-to core python t.py\n", &["bare-mca"]);
        check(Ipu, "for i in {1}; do\n", "for i in 1; do\n", &["literal-braces"]);
        check(Ipu, "for i in {1..4}; do\n", "for i in {1..4}; do\n", &[]);
        check(Rdu, "python a.py --pef=“x.pef”\n", "python a.py --pef=\"x.pef\"\n", &["curly-quotes"]);
        check(Rdu, "ONM_NUM_THREADS=4 srun a\n", "OMP_NUM_THREADS=4 srun a\n", &["unknown-name"]);
        let apart = "mpirun -n 8 python e.py \\\n run.distributed=False\n";
        check(Hpu, apart, &apart.replace("False", "True"), &["separate-trainings"]);
        let twice = "poprun --num-instances=3 --num-replicas 4 python e.py run.distributed=True\n";
        check(Popdist, twice, &twice.replace("True", "False"), &["joined-twice", "uneven-replicas"]);
        check(Ipu, "cd /home/jane/x\n", "cd /home/jane/x\n", &["home-folder"]);
        check(Ipu, "# for i in {1}\n", "# for i in {1}\n", &[]);
    }

    #[test]
    fn the_diff_names_lines() {
        let script = "a\nfor i in {1}; do";
        let diff = lint(script, Target::Ipu).diff(script, "run.sh");
        assert!(diff.contains("@@ -2 +2 @@\n-for i in {1}; do\n\\ No newline"), "{diff}");
    }
}
