//! The results of all ports: numbers for the table, and faults by class.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tests::examine::Mentions;
use tests::faults::{Fault, Kind};

/// A way of porting: target and style.
pub(crate) type Way = (String, String);

/// Files shorter than this are not representative for the time per 1,000 lines.
pub(crate) const LONG_ENOUGH: usize = 100;

#[derive(Default)]
pub(crate) struct Report {
    pub(crate) files: usize,
    pub(crate) lines: usize,
    /// Files that are not valid Python for the CPython that is used.
    pub(crate) not_python: usize,
    /// Files that could not be read as text.
    pub(crate) skipped: usize,
    pub(crate) ways: BTreeMap<Way, Numbers>,
    /// By kind and class, the cases.
    pub(crate) sorts: BTreeMap<(Kind, String), Vec<Case>>,
}

/// For one way of porting.
#[derive(Default)]
pub(crate) struct Numbers {
    /// Files that the engine parsed completely.
    pub(crate) ported: usize,
    pub(crate) changed: usize,
    /// Ports with a fault of a kind.
    pub(crate) faults: BTreeMap<Kind, usize>,
    /// Places that only mention CUDA.
    pub(crate) mentions: Mentions,
    /// Places of every kind.
    pub(crate) places: Mentions,
    /// Milliseconds per 1,000 lines, for files that are long enough.
    pub(crate) times: Vec<f64>,
    /// The longest port, and its file.
    pub(crate) longest: (f64, String),
    /// The peak memory, in MiB, and its file.
    pub(crate) most: (u64, String),
}

/// One fault in one port of one file.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) shown: String,
    pub(crate) file: PathBuf,
    pub(crate) way: Way,
    pub(crate) lines: usize,
    pub(crate) detail: String,
}

impl Report {
    /// Adds a worker's results for a file.
    pub(crate) fn add(&mut self, shown: &str, file: &std::path::Path, result: &Value) {
        self.files += 1;
        let lines = result["lines"].as_u64().unwrap_or_default() as usize;
        self.lines += lines;
        if result["skipped"].is_string() {
            self.skipped += 1;
            return;
        }
        self.not_python += usize::from(result["python"] == false);
        for port in result["ports"].as_array().into_iter().flatten() {
            let text = |name: &str| port[name].as_str().unwrap_or_default().to_owned();
            let way = (text("target"), text("style"));
            let numbers = self.ways.entry(way.clone()).or_default();
            numbers.ported += usize::from(port["ported"] == true);
            numbers.changed += usize::from(port["changed"] == true);
            let milliseconds = port["ms"].as_f64().unwrap_or_default();
            if lines >= LONG_ENOUGH {
                numbers.times.push(milliseconds * 1000.0 / lines as f64);
            }
            if milliseconds > numbers.longest.0 {
                numbers.longest = (milliseconds, shown.to_owned());
            }
            let mib = port["mib"].as_u64().unwrap_or_default();
            if mib > numbers.most.0 {
                numbers.most = (mib, shown.to_owned());
            }
            for (name, counts) in [("mentions", &mut numbers.mentions), ("places", &mut numbers.places)] {
                let number = |n: usize| port[name][n].as_u64().unwrap_or_default() as usize;
                counts.add(Mentions { all: number(0), unreported: number(1) });
            }
            let faults: Vec<Fault> =
                port["faults"].as_array().into_iter().flatten().filter_map(Fault::from_json).collect();
            for kind in Kind::ALL.into_iter().filter(|kind| faults.iter().any(|fault| fault.kind == *kind)) {
                *numbers.faults.entry(kind).or_default() += 1;
            }
            for fault in faults {
                let case = Case {
                    shown: shown.to_owned(),
                    file: file.to_owned(),
                    way: way.clone(),
                    lines,
                    detail: fault.detail,
                };
                self.sorts.entry((fault.kind, fault.class)).or_default().push(case);
            }
        }
    }

    /// Counts of all ports together.
    pub(crate) fn sum(&self, counts: impl Fn(&Numbers) -> Mentions) -> Mentions {
        let mut sum = Mentions::default();
        self.ways.values().for_each(|numbers| sum.add(counts(numbers)));
        sum
    }

    /// Ports with a fault of a kind, of all ways.
    pub(crate) fn count(&self, kind: Kind) -> usize {
        self.ways.values().filter_map(|numbers| numbers.faults.get(&kind)).sum()
    }
}
