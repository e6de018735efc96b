//! The report as a page in Markdown, and as a few lines for the terminal.

use crate::arguments::Arguments;
use crate::faults::Kind;
use crate::report::{LONG_ENOUGH, Numbers, Report};
use std::fmt::Write;

/// What a run found, in a few lines.
pub(crate) fn summary(report: &Report, seconds: f64) -> String {
    let ports: usize = report.ways.len();
    let mut out = format!(
        "    {} files, {} lines, in {ports} ways, in {seconds:.0} s; no text: {}, not Python of this CPython: {}",
        thousands(report.files),
        thousands(report.lines),
        report.skipped,
        report.not_python
    );
    for kind in Kind::ALL {
        let _ = write!(out, "\n    {:<20} {}", kind.name(), thousands(report.count(kind)));
    }
    out
}

/// The page of a whole run.
pub(crate) fn page(report: &Report, arguments: &Arguments, seconds: f64, listed: usize) -> String {
    let mut out = format!(
        "# Robustness\n\n\
         Made by `{}` up to [Fuzzing](#fuzzing); do not edit. Python files of published packages (`tests/corpus/packages.txt`: names, versions, hashes) are \
         ported to every target in both styles, each file by itself, and every port is checked. {} files with {} lines took {:.0} \
         minutes on {} processes.",
        arguments.command,
        thousands(report.files),
        thousands(report.lines),
        seconds / 60.0,
        arguments.jobs,
    );
    if report.files < listed {
        let _ = write!(
            out,
            " The run was ended before its list was: {} files were left.",
            thousands(listed - report.files)
        );
    }
    let _ = write!(
        out,
        " {} files could not be read as UTF-8, and {} are not Python of the CPython that was asked; of those is wanted only that the port \
         leaves their other bytes alone and comes to an end.\n\n\
         ## What held\n\nPorts with such a fault. `read` are files that the engine ported to the end; branch style ports only files in which a \
         program chooses its compute mode.\n\n\
         | target, style | read | changed |",
        thousands(report.skipped),
        thousands(report.not_python)
    );
    for kind in Kind::ALL {
        let _ = write!(out, " {} |", kind.name());
    }
    out.push_str("\n|---|--:|--:|");
    out.push_str(&"--:|".repeat(Kind::ALL.len()));
    for ((target, style), numbers) in &report.ways {
        let _ = write!(out, "\n| {target}, {style} | {} | {} |", thousands(numbers.ported), thousands(numbers.changed));
        for kind in Kind::ALL {
            let count = numbers.faults.get(&kind).copied().unwrap_or_default();
            let count = if matches!(kind, Kind::Residue | Kind::Word) && style == "branch" {
                "–".to_owned()
            } else {
                thousands(count)
            };
            let _ = write!(out, " {count} |");
        }
    }
    out.push_str(WHAT_IS_CHECKED);
    let _ = write!(
        out,
        "\n## Time and memory\n\nMilliseconds for 1,000 lines, of files of at least {LONG_ENOUGH} lines, as they pass on the clock while all \
         processes work; and the most memory that a process had during one port, where the system tells it.\n\n\
         | target, style | median | 99th percentile | worst | longest port | most memory |\n|---|--:|--:|--:|---|---|"
    );
    for ((target, style), numbers) in &report.ways {
        let Numbers { longest, most, .. } = numbers;
        let mut times = numbers.times.clone();
        times.sort_by(f64::total_cmp);
        let at = |part: f64| times.get(((times.len().max(1) - 1) as f64 * part) as usize).copied().unwrap_or_default();
        let _ = write!(
            out,
            "\n| {target}, {style} | {:.1} | {:.1} | {:.1} | {:.2} s, `{}` | {} MiB, `{}` |",
            at(0.5),
            at(0.99),
            at(1.0),
            longest.0 / 1e3,
            longest.1,
            most.0,
            most.1
        );
    }
    let sorts: Vec<_> = report.sorts.iter().filter(|((kind, _), _)| *kind != Kind::TimeOut).collect();
    if !sorts.is_empty() {
        out.push_str("\n\n## What was found\n\nBy what it is, with the number of ports.\n\n| fault | what | ports |\n|---|---|--:|");
        for ((kind, class), cases) in sorts {
            let _ = write!(out, "\n| {} | {} | {} |", kind.name(), class.replace('|', "\\|"), thousands(cases.len()));
        }
    }
    out.push('\n');
    out
}

const WHAT_IS_CHECKED: &str = "\n
- **does not parse**: CPython compiles the original and not the port.
- **bytes lost**: the edits applied to the original do not give the port; or the line ends or the byte order mark are not the original's.
- **comment lost**: CPython's `tokenize` finds a comment in the original that the port lacks, and the certificate does not say so.
- **patch refused**: `git apply` refuses the patch or makes something else of it, or its reverse does not give the original.
- **residue missed**: a scan of its own, with CPython's `ast`, finds a name of `torch.cuda`, a call of `.cuda()` or a string `cuda` or `cuda:N` on
  a line that was neither edited nor reported. In branch style the code of other modes stays on purpose, so it is not scanned.
- **word untold**: the same of a string that stands as a key, is looked up or is shown to people, and of what stands under a
  test for CUDA. Counted, no failure.
- **file refused**: CPython compiles the file, and the engine leaves it alone with an error. Counted, no failure.
";

fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
