//! Usage errors: exit status 2.

use std::fmt;

/// A message about a usage error.
#[derive(Debug)]
pub(crate) struct Usage(String);

pub(crate) fn usage(message: impl Into<String>) -> Usage {
    Usage(message.into())
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}
