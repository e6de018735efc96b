//! Errors in recipes.

/// An error in a recipe, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeError {
    /// The guide, `guides/hpu.md`.
    pub path: String,
    /// Line in the guide.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl std::fmt::Display for RecipeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

impl std::error::Error for RecipeError {}
