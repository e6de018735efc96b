//! The user's choices: target, style and so on.

use crate::port::state::{Guides, State};
use codemod::{Style, TargetInfo};
use serde::{Deserialize, Serialize};
use sorting::SortedMap;
use std::hash::{Hash, Hasher};

/// Target, style and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Target id.
    pub target: String,
    /// Port style.
    pub style: Style,
    /// SDK version; `None` means the newest.
    pub sdk: Option<String>,
    /// Unsafe edits, and comments.
    pub switches: Switches,
    /// Named options of the recipes.
    pub options: SortedMap<String, String>,
    /// The user's own guides; saved apart from the rest, which is older.
    #[serde(skip)]
    pub guides: Guides,
}

/// What a port contains beside the safe edits. Kept as one byte, which was `allow_unsafe` alone at first: a page that knows
/// no more than that rejects links that want comments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
pub struct Switches {
    /// Whether to apply unsafe edits.
    pub allow_unsafe: bool,
    /// Whether to put a comment above each place that is left to the user.
    pub annotate: bool,
}

impl From<u8> for Switches {
    fn from(bits: u8) -> Self {
        Self { allow_unsafe: bits & 1 != 0, annotate: bits & 2 != 0 }
    }
}

impl From<Switches> for u8 {
    fn from(switches: Switches) -> Self {
        u8::from(switches.allow_unsafe) | u8::from(switches.annotate) << 1
    }
}

impl Hash for Choice {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.target, self.style as u8, &self.sdk, self.switches, &self.options).hash(state);
    }
}

impl State {
    /// The display name of a target; its id if it is unknown.
    pub fn target_name(&self, id: &str) -> String {
        let target = self.catalogue.targets.iter().find(|target| target.id == id);
        target.map_or_else(|| id.to_owned(), |target| target.name.clone())
    }

    /// Restricts the choice to what is available.
    pub fn settle_choice(&mut self) {
        let catalogue = self.catalogue.clone();
        if catalogue.targets.is_empty() || !self.knows_recipes() || self.lacks_target() {
            return;
        }
        let target = match catalogue.targets.iter().find(|t| t.id == self.choice.target) {
            Some(target) => target,
            None => &catalogue.targets[0],
        };
        self.choice.target = target.id.clone();
        let known = |sdk: &String| target.sdks.contains(sdk) && target.sdks.last() != Some(sdk);
        self.choice.sdk = self.choice.sdk.take().filter(known);
        let admits = |name: &String, value: &String| {
            target.options.iter().any(|option| option.name == *name && option.kind.admits(value))
        };
        self.choice.options.retain(|name, value| admits(name, value));
        if self.choice.style == Style::Agnostic && !target.is_device {
            self.choice.style = Style::Auto;
        }
    }

    /// Applies a choice of the user. It is kept for the next project.
    pub fn choose(&mut self, change: impl Fn(&mut Choice)) {
        self.choose_by(&change);
    }

    /// Not generic, so that the module contains this code only once.
    fn choose_by(&mut self, change: &dyn Fn(&mut Choice)) {
        // This does not count as a change of a project that was opened from a link.
        self.edits += 1;
        self.before_place = None;
        let before = self.choice_before_work();
        self.set_choice(change);
        self.note_early(before);
    }

    /// Applies the user's choice of a target.
    pub fn choose_target(&mut self, target: &str) {
        self.asked = None;
        self.choose(|choice| choice.target = target.to_owned());
    }

    pub(super) fn set_choice(&mut self, change: &dyn Fn(&mut Choice)) {
        change(&mut self.choice);
        self.own_choice.iter_mut().for_each(change);
        self.settle_choice();
    }

    /// The id of the target that is chosen, or will be once it is known that there is such a target.
    pub fn shown_target(&self) -> String {
        self.asked.as_ref().and_then(|asked| asked.target.clone()).unwrap_or_else(|| self.choice.target.clone())
    }

    /// The chosen target.
    pub fn target(&self) -> Option<&TargetInfo> {
        self.catalogue.targets.iter().find(|t| t.id == self.choice.target)
    }
}
