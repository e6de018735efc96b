//! What is said on stderr. A message that nobody can read, because stderr is closed or on a full disk, stops nothing: the work goes
//! on, and the exit status tells.

use std::fmt::Arguments;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static LOST: AtomicBool = AtomicBool::new(false);

/// Writes to stderr; [`say!`] and [`say_line!`] are the usual ways here.
pub(crate) fn write(text: Arguments<'_>) {
    if std::io::stderr().lock().write_fmt(text).is_err() {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Whether a message was lost.
pub(crate) fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// `eprint!` that ends no work.
macro_rules! say {
    ($($text:tt)*) => { $crate::said::write(format_args!($($text)*)) };
}

/// `eprintln!` that ends no work.
macro_rules! say_line {
    ($($text:tt)*) => { $crate::said::write(format_args!("{}\n", format_args!($($text)*))) };
}

pub(crate) use {say, say_line};
