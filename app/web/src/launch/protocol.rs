//! The requests to the readers of users' own files. One answers with a site or its file's problems, the other with the
//! problems of a script.

use serde::{Deserialize, Serialize};

/// A site file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteFile(pub String);

/// A script to check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Its text.
    pub text: String,
    /// The name of its target.
    pub target: String,
}
