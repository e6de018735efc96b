//! Output on stderr. A message that can't be written, because stderr is closed or on a full disk, stops nothing: the
//! work continues, and the exit status reports it.

use std::fmt::Arguments;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static LOST: AtomicBool = AtomicBool::new(false);

/// Writes to stderr, usually through [`say!`] and [`say_line!`]. Messages contain names of files and lines of code:
/// characters that would move a terminal's cursor or change the text direction are escaped.
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

/// `eprint!` that never panics.
macro_rules! say {
    ($($text:tt)*) => { $crate::said::write(format_args!($($text)*)) };
}

/// `eprintln!` that never panics.
macro_rules! say_line {
    ($($text:tt)*) => { $crate::said::write(format_args!("{}\n", format_args!($($text)*))) };
}

pub(crate) use {say, say_line};
