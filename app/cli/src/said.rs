//! What is said on stderr. A message that nobody can read, because stderr is closed or on a full disk, stops nothing: the work goes
//! on, and the exit status tells.

use std::fmt::Arguments;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static LOST: AtomicBool = AtomicBool::new(false);

/// Writes to stderr; [`say!`] and [`say_line!`] are the usual ways here. Names of files and lines of code stand in messages: what of
/// them would move a terminal's cursor or turn its text around is written out.
pub(crate) fn write(text: Arguments<'_>) {
    let text = text.to_string();
    let mut plain = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\t' => plain.push(char),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => plain.extend(char.escape_unicode()),
            char if char.is_control() => plain.extend(char.escape_unicode()),
            char => plain.push(char),
        }
    }
    if std::io::stderr().lock().write_all(plain.as_bytes()).is_err() {
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
