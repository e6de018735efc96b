//! What the page asks the readers of the user's own files. One answers with a site or what is wrong with its file, the
//! other with what it found in a script.

use serde::{Deserialize, Serialize};

/// A site file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteFile(pub String);

/// A script to be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Its text.
    pub text: String,
    /// The name of the target it is for.
    pub target: String,
}
