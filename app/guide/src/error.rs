//! Errors in a guide.

use std::fmt;

/// An error in a guide, with its location and what its author can do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuideError {
    /// Path of the guide as passed.
    pub path: String,
    /// Line in the file, from 1.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for GuideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

impl std::error::Error for GuideError {}

/// Errors of one page, collected while it is read so that its author sees all of them at once.
pub(crate) struct Faults<'a> {
    path: &'a str,
    found: Vec<GuideError>,
}

impl<'a> Faults<'a> {
    pub(crate) fn of(path: &'a str) -> Faults<'a> {
        Faults { path, found: Vec::new() }
    }

    pub(crate) fn add(&mut self, line: usize, message: impl Into<String>) {
        self.found.push(GuideError { path: self.path.to_string(), line, message: message.into() });
    }

    /// The errors in page order.
    pub(crate) fn into_sorted(mut self) -> Vec<GuideError> {
        sorting::by_key(&mut self.found, |fault| fault.line);
        self.found
    }
}
