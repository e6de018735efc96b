//! Signals that end a process, such as that of Ctrl-C, while files are written.
//!
//! The first one is a request: the run completes the file that it is at, removes what it has prepared and says what was
//! done. The second ends the process as usual. Where nothing is written, so does the first.

use std::fmt;

/// A run that was interrupted, with a sentence about what was written.
#[derive(Debug)]
pub(crate) struct Interrupted(String);

impl Interrupted {
    pub(crate) fn saying(message: impl Into<String>) -> Interrupted {
        Interrupted(message.into())
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interrupted; {}", self.0)
    }
}

impl std::error::Error for Interrupted {}

#[cfg(unix)]
pub(crate) use signals::{came, let_writes_fail, watch};

#[cfg(unix)]
mod signals {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, Once};

    /// The signal that came while a run was watching; zero if none has.
    static CAME: AtomicUsize = AtomicUsize::new(0);
    /// Whether the next signal ends the process.
    static ENDS: AtomicBool = AtomicBool::new(true);

    /// While it exists, the first signal ends nothing.
    pub(crate) struct Watch(());

    /// Begins to watch. A signal that is ignored, as `nohup` and shells arrange it, still is.
    pub(crate) fn watch() -> Watch {
        static REGISTERED: Once = Once::new();
        ENDS.store(false, Ordering::SeqCst);
        REGISTERED.call_once(|| {
            for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)) {
                // In this order: the second one finds what the first has left. If one can't be registered, it ends the process as usual.
                let ends = flag::register_conditional_default(signal, &ENDS);
                let came = ends.and_then(|_| flag::register_usize(signal, &CAME, signal as usize));
                came.and_then(|_| flag::register(signal, &ENDS)).ok();
            }
        });
        Watch(())
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            ENDS.store(true, Ordering::SeqCst);
        }
    }

    /// The exit status after a signal, if one came while a run was watching.
    pub(crate) fn came() -> Option<u8> {
        let signal = CAME.load(Ordering::SeqCst);
        u8::try_from(signal).ok().filter(|signal| *signal > 0).map(|signal| 128 + signal)
    }

    /// Lets a write beyond the limit on the size of files fail like one to a full disk. By default, it ends the process.
    pub(crate) fn let_writes_fail() {
        // Any handler will do; nothing reads its flag. If the signal were ignored instead, it would also be in the programs
        // that this one starts.
        if !is_ignored(signal_hook::consts::SIGXFSZ) {
            flag::register(signal_hook::consts::SIGXFSZ, Arc::default()).ok();
        }
    }

    /// Whether a process was started with the signal ignored. Not known if the system does not list processes as files.
    fn is_ignored(signal: i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
        mask.unwrap_or(0) >> (signal - 1) & 1 == 1
    }
}

#[cfg(not(unix))]
pub(crate) use no_signals::{came, let_writes_fail, watch};

#[cfg(not(unix))]
mod no_signals {
    /// Nothing is watched for here.
    pub(crate) struct Watch(());

    pub(crate) fn watch() -> Watch {
        Watch(())
    }

    /// The exit status after a signal.
    pub(crate) fn came() -> Option<u8> {
        None
    }

    /// Writes beyond a limit fail.
    pub(crate) fn let_writes_fail() {}
}
