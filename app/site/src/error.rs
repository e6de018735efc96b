//! What stops a build.

use codemod::RecipeError;
use guide::GuideError;
use std::fmt;

/// A fault of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteError {
    /// A guide's: it does not parse, or a link leads nowhere.
    Guide(GuideError),
    /// A recipe's: the engine does not understand it.
    Recipe(RecipeError),
    /// Two guides would become the same page.
    SameName {
        /// The later one's path.
        path: String,
        /// The name both have.
        name: String,
    },
    /// The page that ports, as Trunk wrote it, lacks something.
    PortPage(&'static str),
    /// What the search looks through could not be written down.
    Index(String),
    /// The site can't become one file; why.
    OneFile(String),
    /// The rehearsal kit can't be packed; why.
    Kit(String),
    /// The list of licences can't be read; why.
    Licences(String),
}

impl fmt::Display for SiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SiteError::Guide(fault) => fault.fmt(f),
            SiteError::Recipe(fault) => fault.fmt(f),
            SiteError::SameName { path, name } => {
                write!(f, "{path}:1: there is another guide named `{name}`; rename one")
            }
            SiteError::Index(why) => write!(f, "the search's file can't be written: {why}"),
            SiteError::PortPage(what) => write!(f, "app/web/index.html:1: the built page {what}"),
            SiteError::OneFile(why) => write!(f, "the site as one file: {why}"),
            SiteError::Licences(why) => write!(f, "app/site/src/texts/licences.json: {why}"),
            SiteError::Kit(why) => write!(f, "rehearsal/: the kit can't be packed: {why}"),
        }
    }
}

impl std::error::Error for SiteError {}
