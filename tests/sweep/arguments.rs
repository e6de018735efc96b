//! The arguments that `cargo xtask` passes to this program.

use std::num::NonZero;
use std::path::PathBuf;

/// `VERB [--NAME VALUE]…`
pub(crate) struct Arguments {
    pub(crate) verb: String,
    /// The Python to query.
    pub(crate) python: String,
    /// Processes.
    pub(crate) jobs: usize,
    /// A list of the files to port: display name, a tab, the path; one per line.
    pub(crate) list: PathBuf,
    /// Whether all files of a project, the first part of their display names, are ported together.
    pub(crate) projects: bool,
    /// The folder for faults and small cases.
    pub(crate) out: PathBuf,
    /// The file for the table.
    pub(crate) table: Option<PathBuf>,
    /// The command that repeats the run, for the table.
    pub(crate) command: String,
    /// Maximum number of seconds for one port.
    pub(crate) limit: u64,
    /// The number of files of each kind of fault that are minimized.
    pub(crate) small: usize,
    /// Minutes after which no more files are started.
    pub(crate) minutes: Option<f64>,
}

impl Arguments {
    pub(crate) fn read() -> Result<Self, String> {
        let mut words = std::env::args().skip(1);
        let mut out = Self {
            verb: words.next().unwrap_or_default(),
            python: "python3".to_owned(),
            jobs: std::thread::available_parallelism().map_or(1, NonZero::get),
            list: PathBuf::new(),
            projects: false,
            out: std::env::temp_dir().join("portolan-sweep"),
            table: None,
            command: String::new(),
            limit: 30,
            small: 1,
            minutes: None,
        };
        while let Some(name) = words.next() {
            if name == "--projects" {
                // What is large can't be minimized in reasonable time.
                (out.projects, out.small) = (true, 0);
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{name} has no value"))?;
            let number = || value.parse().map_err(|_| format!("{name}: `{value}` is no number"));
            match name.as_str() {
                "--python" => out.python = value,
                "--jobs" => out.jobs = number()? as usize,
                "--list" => out.list = value.into(),
                "--out" => out.out = value.into(),
                "--table" => out.table = Some(value.into()),
                "--command" => out.command = value,
                "--limit" => out.limit = number()?,
                "--small" => out.small = number()? as usize,
                "--minutes" => out.minutes = Some(value.parse().map_err(|_| format!("`{value}` is no number"))?),
                _ => return Err(format!("unknown: {name}")),
            }
        }
        Ok(out)
    }
}
