//! Errors that stop a build.

use codemod::RecipeError;
use guide::{GuideError, Page};
use std::fmt;

/// An error in the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteError {
    /// In a guide: it can't be parsed, or a link is broken.
    Guide(GuideError),
    /// In a recipe: the engine can't compile it.
    Recipe(RecipeError),
    /// Two guides would be written to the same page.
    SameName {
        /// The later one's path.
        path: String,
        /// Their common name.
        name: String,
    },
    /// The Port page, as Trunk wrote it, lacks something.
    PortPage(&'static str),
    /// The search data could not be serialised.
    Index(String),
    /// The site can't be written as a single file, with the reason.
    OneFile(String),
    /// The twin run kit can't be packed, with the reason.
    Kit(String),
    /// The list of licences can't be read, with the reason.
    Licences(String),
}

impl SiteError {
    /// The error with its place in the files of the guides, which may include text of others.
    pub(crate) fn located(mut self, guides: &[Page]) -> SiteError {
        if let SiteError::Guide(GuideError { path, line, .. }) | SiteError::Recipe(RecipeError { path, line, .. }) =
            &mut self
        {
            let (file, there) = guide::place(guides, path, *line);
            (*path, *line) = (file.to_string(), there);
        }
        self
    }
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
