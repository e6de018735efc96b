//! The recipes of a port: the built-in ones, and those of the user's own guides.

use super::Desk;
use crate::port::work::guide_file::Read;
use crate::shared::text::count;
use codemod::{RecipeSet, embedded_guides};
use guide::{FrontMatter, Guide};
use std::ops::Deref;
use std::rc::Rc;

/// Reads a guide's path and text.
pub(super) type ReadGuide = Box<dyn Fn(&str, &str) -> Read>;

/// The recipes, and what reads guides.
#[derive(Default)]
pub(super) struct Recipes {
    /// `None` until the first guide: few users have any.
    reader: Option<ReadGuide>,
    /// With the built-in guides, the user's own at the end.
    added: Option<(Rc<RecipeSet>, Vec<Guide>)>,
}

/// A set of recipes.
pub(super) enum Set {
    BuiltIn,
    Added(Rc<RecipeSet>),
}

impl Deref for Set {
    type Target = RecipeSet;

    fn deref(&self) -> &RecipeSet {
        match self {
            Set::BuiltIn => RecipeSet::embedded(),
            Set::Added(set) => set,
        }
    }
}

impl Desk {
    /// Whether guides can be read.
    pub fn can_read_guides(&self) -> bool {
        self.recipes.reader.is_some()
    }

    /// Sets what reads guides.
    pub fn read_guides_with(&mut self, reader: Option<ReadGuide>) {
        self.recipes.reader = reader;
    }
}

impl Recipes {
    pub(super) fn set(&self) -> Set {
        self.added.as_ref().map_or(Set::BuiltIn, |(set, _)| Set::Added(set.clone()))
    }

    pub(super) fn are_added(&self) -> bool {
        self.added.is_some()
    }

    /// All guides.
    pub(super) fn guides(&self) -> &[Guide] {
        self.added.as_ref().map_or(embedded_guides(), |(_, guides)| guides)
    }

    /// Adds the recipes of guides to the built-in ones, in place of earlier guides. Returns what each adds, or the errors;
    /// then all that is left are the built-in ones.
    pub(super) fn compile(&mut self, paths: &[String], texts: &[String]) -> (Vec<String>, Vec<String>) {
        self.added = None;
        let (mut own, mut faults) = (Vec::new(), Vec::new());
        for (path, text) in paths.iter().zip(texts) {
            match self.reader.as_ref().map(|read| read(path, text)) {
                Some(Ok(guide)) => own.push(guide),
                Some(Err(errors)) => faults.extend(errors),
                None => {}
            }
        }
        let number = own.len();
        if number == 0 {
            return (Vec::new(), faults);
        }
        match RecipeSet::with_added(own) {
            Ok((set, guides)) if faults.is_empty() => {
                let added = guides[guides.len() - number..].iter().map(|guide| about(guide, &set)).collect();
                self.added = Some((Rc::new(set), guides));
                return (added, faults);
            }
            Ok(_) => {}
            Err(errors) => faults.extend(errors.iter().map(ToString::to_string)),
        }
        (Vec::new(), faults)
    }
}

/// `Our cluster's readers: 2 recipes for HPU`.
fn about(guide: &Guide, set: &RecipeSet) -> String {
    let FrontMatter { title, target, .. } = &guide.front;
    let recipes = guide.sections.iter().filter(|section| section.is_recipe()).count();
    let target = target.as_deref().unwrap_or_default();
    let names = set.targets().into_iter().filter(|other| other.id == target).map(|target| target.name);
    format!("{title}: {} for {}", count(recipes, "recipe"), names.collect::<String>())
}
