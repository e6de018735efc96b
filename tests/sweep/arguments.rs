//! What `cargo xtask` says to this program.

use std::num::NonZero;
use std::path::PathBuf;

/// `VERB [--NAME VALUE]…`
pub(crate) struct Arguments {
    pub(crate) verb: String,
    /// The Python that is asked.
    pub(crate) python: String,
    /// Processes.
    pub(crate) jobs: usize,
    /// A file that names the files to port: what is shown, a tab, the path; a line each.
    pub(crate) list: PathBuf,
    /// Where faults and small cases are written.
    pub(crate) out: PathBuf,
    /// Where the table is written.
    pub(crate) table: Option<PathBuf>,
    /// The command that repeats the run, for the table.
    pub(crate) command: String,
    /// Seconds that one port may take.
    pub(crate) limit: u64,
    /// How many files of each sort of fault are made small.
    pub(crate) small: usize,
    /// Minutes after which no more files are begun.
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
            out: std::env::temp_dir().join("portolan-sweep"),
            table: None,
            command: String::new(),
            limit: 30,
            small: 1,
            minutes: None,
        };
        while let Some(name) = words.next() {
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
