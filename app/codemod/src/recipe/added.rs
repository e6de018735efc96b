//! Guides of a site's own, which are added to the built-in ones.

use super::{RecipeSet, embedded_guides, unpacked_guides};
use crate::error::RecipeError;
use guide::Guide;

impl RecipeSet {
    /// The recipes of the built-in guides and of these, and all these guides, in this order; all errors are returned
    /// together.
    pub fn with_added(guides: Vec<Guide>) -> Result<(Self, Vec<Guide>), Vec<RecipeError>> {
        let mut errors: Vec<RecipeError> = guides.iter().filter_map(unfit).collect();
        // Unpacked anew, since code that copies guides would be part of each download.
        let mut all = unpacked_guides();
        all.extend(guides);
        match Self::compile(&all) {
            Ok(set) if errors.is_empty() => return Ok((set, all)),
            Ok(_) => {}
            Err(more) => errors.extend(more),
        }
        Err(errors)
    }
}

/// Why a guide can't be added to the built-in ones.
fn unfit(guide: &Guide) -> Option<RecipeError> {
    let known: Vec<String> = RecipeSet::embedded().targets().into_iter().map(|target| target.id).collect();
    let front = &guide.front;
    let is_known = front.target.as_ref().is_some_and(|target| known.contains(target));
    let (line, message) = match &front.target {
        _ if embedded_guides().iter().any(|built_in| built_in.name == guide.name) => {
            (1, format!("the built-in guides have a page `{}`; give this file another name", guide.name))
        }
        None => (1, format!("no `target = \"…\"` says to which target these recipes are added: {}", known.join(", "))),
        Some(target) if !is_known && front.extends.is_none() => {
            let message = "unknown target; name one of these, or the one that this target `extends`";
            (front.target_line, format!("`target = \"{target}\"`: {message}: {}", known.join(", ")))
        }
        Some(target) if is_known && !front.sdks.is_empty() => {
            (front.sdks_line, format!("the versions of `{target}` are those of its built-in guide; remove `sdks`"))
        }
        _ => return None,
    };
    Some(RecipeError { path: guide.path.clone(), line, message })
}
