//! What belongs to the user and what was only opened from a link: the project that the current one replaced, and the
//! options that came with one.

use crate::port::state::fragment::Share;
use crate::port::state::{Choice, Notice, State, guides};
use crate::port::twin_result::TwinResult;
use python::SourceFile;
use serde::{Deserialize, Serialize};
use sorting::SortedSet;
use std::sync::Arc;

/// A project that was replaced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Former {
    own: Replaced,
    twin: Option<TwinResult>,
    #[serde(skip)]
    originals: Vec<SourceFile>,
}

/// The part of a replaced project that all versions saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Replaced {
    share: Share,
    given: bool,
    own_choice: Option<Choice>,
}

/// The request in the address.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) target: Option<String>,
    sdk: Option<String>,
}

/// What a browser saves in addition to the open project.
#[derive(Serialize, Deserialize)]
struct Beside {
    former: Option<Box<Former>>,
    given: bool,
    own_choice: Option<Choice>,
    ticked: SortedSet<u64>,
    twin: Option<TwinResult>,
    originals: Vec<SourceFile>,
    originals_of_former: Vec<SourceFile>,
}

/// Changed whenever the format of what follows it changes; [`as_now`] must then also read the previous version.
const VERSION: u8 = 4;
/// The same, followed by the guides of the choices in it.
const WITH_GUIDES: u8 = 5;

impl Beside {
    /// The choices in it, whose guides follow it.
    fn choices(&mut self) -> impl Iterator<Item = &mut Choice> {
        let former = self.former.iter_mut().map(|former| &mut former.own);
        let of_former = former.flat_map(|own| [Some(&mut own.share.choice), own.own_choice.as_mut()]);
        self.own_choice.iter_mut().chain(of_former.flatten())
    }

    fn written(&mut self) -> Vec<u8> {
        let without = self.choices().all(|choice| choice.guides.is_empty());
        let mut bytes = vec![if without { VERSION } else { WITH_GUIDES }];
        bytes.extend(postcard::to_allocvec(self).unwrap_or_default());
        if !without {
            self.choices().for_each(|choice| guides::append(&mut bytes, &choice.guides));
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let now = as_now(bytes)?;
        let (mut beside, mut rest) = postcard::take_from_bytes::<Self>(&now).ok()?;
        if bytes[0] == WITH_GUIDES {
            for choice in beside.choices() {
                choice.guides = guides::take(&mut rest)?;
            }
        }
        Some(beside)
    }
}

/// Converts the data of any version to the current one: at first there were no ticks, no twin runs before version 3,
/// and no originals before version 4.
fn as_now(beside: &[u8]) -> Option<Vec<u8>> {
    let (version, bytes) = beside.split_first()?;
    let mut now = bytes.to_vec();
    if matches!(version, 1 | 2) {
        let (former, rest) = postcard::take_from_bytes::<Option<Replaced>>(bytes).ok()?;
        if former.is_some() {
            now.insert(bytes.len() - rest.len(), 0);
        }
    }
    if *version < VERSION {
        now.resize(now.len() + usize::from(VERSION + 1 - version), 0);
    }
    (1..=WITH_GUIDES).contains(version).then_some(now)
}

impl State {
    /// Called when the user changes the project or the options: from now on, the project is the user's own.
    pub(super) fn touch(&mut self) {
        self.edits += 1;
        self.given = false;
    }

    /// Copies the project so that it can be restored.
    fn aside(&self) -> Option<Box<Former>> {
        let own = || Replaced { share: self.share(), given: self.given, own_choice: self.own_choice.clone() };
        (!self.is_blank()).then(|| Box::new(Former { own: own(), twin: self.kept_twin(), originals: self.originals() }))
    }

    /// Makes the current project the previous one. One that came from a link and was not changed is available
    /// elsewhere, so it does not displace the user's own.
    pub(super) fn set_aside(&mut self) {
        if !self.given || self.former.as_ref().is_none_or(|former| former.own.given) {
            // Guides alone do not displace a project.
            let aside = self.aside().filter(|_| !self.is_empty() || self.former.is_none());
            self.former = aside.or_else(|| self.former.take());
        }
    }

    /// Whether [`State::bring_back`] has something to restore.
    pub fn has_former(&self) -> bool {
        self.former.is_some()
    }

    /// Swaps the project with the one it replaced.
    pub fn bring_back(&mut self) {
        if let Some(former) = self.former.take() {
            let aside = self.aside();
            self.touch();
            let Former { own, twin, originals } = *former;
            self.put(own.share);
            self.put_originals(originals);
            (self.former, self.given, self.own_choice) = (aside, own.given, own.own_choice);
            self.twin = twin.map(Arc::new);
        }
    }

    /// Discards the project that was replaced.
    pub fn forget_former(&mut self) {
        self.former = None;
    }

    /// Saves the user's options, because a project comes with its own.
    pub(super) fn lend_choice(&mut self) {
        self.given = true;
        self.own_choice.get_or_insert_with(|| self.choice.clone());
    }

    /// Restores the user's options.
    pub(super) fn choose_as_before(&mut self) {
        if let Some(own) = self.own_choice.take() {
            self.choice = own;
            self.settle_choice();
        }
    }

    /// Stores that the address names a target, an SDK version or both, unless a target was chosen while the page was loading.
    pub fn ask_for(&mut self, target: Option<String>, sdk: Option<String>) {
        if !self.has_begun && self.early.target.is_some() {
            return;
        }
        self.asked = Some(Asked { target, sdk });
        self.heed_address();
    }

    /// Selects what the address names as soon as the available targets are known.
    pub(super) fn heed_address(&mut self) {
        let catalogue = self.catalogue.clone();
        let Some(asked) = self.asked.take_if(|_| !catalogue.targets.is_empty()) else { return };
        let unknown = |what: &str, name: &str| Notice {
            bad: true,
            text: format!("There is no {what} “{name}” here."),
            undo: None,
        };
        if let Some(name) = asked.target {
            match catalogue.targets.iter().any(|target| target.id == name) {
                true => self.set_choice(&|choice| choice.target.clone_from(&name)),
                false => return self.notice = Some(unknown("target", &name)),
            }
        }
        if let Some(name) = asked.sdk {
            match self.target().is_some_and(|target| target.sdks.contains(&name)) {
                true => self.set_choice(&|choice| choice.sdk = Some(name.clone())),
                false => self.notice = Some(unknown("SDK", &name)),
            }
        }
    }

    fn kept_twin(&self) -> Option<TwinResult> {
        self.twin.as_deref().cloned()
    }

    /// What is saved in addition to the project; empty if there is nothing else.
    pub fn beside(&self) -> Vec<u8> {
        let originals = self.originals();
        let originals_of_former = self.former.as_ref().map(|former| former.originals.clone()).unwrap_or_default();
        let nothing_besides =
            self.own_choice.is_none() && self.ticked.is_empty() && self.twin.is_none() && originals.is_empty();
        if !self.given && !self.has_former() && nothing_besides {
            return Vec::new();
        }
        let (former, own_choice) = (self.former.clone(), self.own_choice.clone());
        let (ticked, twin) = (self.ticked.clone(), self.kept_twin());
        Beside { former, given: self.given, own_choice, ticked, twin, originals, originals_of_former }.written()
    }

    /// Restores what was saved: the project, and the result of [`State::beside`]. What was typed before that stays open, and
    /// the saved project can be brought back; its options are those of the next project. Returns whether the saved project
    /// is the open one.
    pub fn restore(&mut self, open: Option<Share>, beside: &[u8]) -> bool {
        if !self.is_empty() {
            let mut saved = State::default();
            let is_kept = open.is_some();
            saved.restore(open, beside);
            if let Some(choice) = saved.own_choice.clone().or_else(|| is_kept.then(|| saved.choice.clone())) {
                self.choice = choice;
                self.apply_early();
            }
            self.former = saved.aside().or(saved.former).or(self.former.take());
            return false;
        }
        if let Some(share) = open {
            self.set_aside();
            self.put(share);
        }
        if let Some(beside) = Beside::from_bytes(beside) {
            if let Some(mut former) = beside.former {
                former.originals = beside.originals_of_former;
                self.former = Some(former);
            }
            (self.given, self.own_choice, self.ticked) = (beside.given, beside.own_choice, beside.ticked);
            self.twin = beside.twin.map(Arc::new);
            self.put_originals(beside.originals);
        }
        self.apply_early();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::state::lines::Splice;

    fn file(path: &str) -> SourceFile {
        SourceFile { path: path.into(), text: "x = 1\ny = 2\n".into() }
    }

    #[test]
    fn originals_are_kept_and_come_back() {
        let mut state = State::default();
        let edit = |state: &mut State, text: &str| {
            state.type_text(&Splice { start: 0, end: 0, text: text.into() }, false);
        };
        state.open(vec![file("a.py"), file("b.py")]);
        assert!(!state.is_edited() && state.bases().is_empty());
        edit(&mut state, "# 1\n");
        state.rename("c.py");
        let bases = vec![file("").text; 2];
        assert_eq!(state.bases(), bases);
        let (open, beside) = (state.share(), state.beside());
        let mut other = State::default();
        other.restore(Some(open.clone()), &beside);
        assert_eq!(other.bases(), bases);
        // A link to what is already open does nothing.
        assert!(!other.open_share(open));
        assert_eq!(other.bases(), bases);
        other.open(vec![file("d.py")]);
        let (open, beside) = (other.share(), other.beside());
        let mut third = State::default();
        third.restore(Some(open), &beside);
        assert!(!third.is_edited());
        third.bring_back();
        assert_eq!(third.bases(), bases);
        third.close(1);
        third.restore_removed();
        assert_eq!(third.bases(), bases);
    }

    #[test]
    fn guides_alone_do_not_displace_a_project() {
        let mut state = State::default();
        state.open(vec![file("a.py")]);
        state.start_over();
        let guides = state.with_guides(vec![file("events.md")]);
        state.use_guides(guides);
        state.open(vec![file("b.py")]);
        state.bring_back();
        assert_eq!(state.files.first().map(|file| file.path.as_str()), Some("a.py"));
    }

    #[test]
    fn what_was_kept_without_originals_is_read() {
        let former = Replaced { share: Share { files: vec![file("a.py")], ..Share::default() }, ..Replaced::default() };
        let rest = (true, Some(Choice::default()));
        let ticked = SortedSet::from([7]);
        let check = |version: u8, bytes: Vec<u8>, ticks: usize| {
            let mut state = State::default();
            state.restore(None, &[vec![version], bytes].concat());
            assert_eq!((state.has_former(), state.given, state.ticked.len()), (true, true, ticks), "version {version}");
            state.bring_back();
            assert_eq!(state.files.len(), 1);
        };
        check(1, postcard::to_allocvec(&(Some(&former), rest.clone())).unwrap_or_default(), 0);
        let ticks = postcard::to_allocvec(&(Some(&former), rest.clone(), &ticked)).unwrap_or_default();
        check(2, ticks, 1);
        let twins = (Some((&former, None::<TwinResult>)), rest, &ticked, None::<TwinResult>);
        check(3, postcard::to_allocvec(&twins).unwrap_or_default(), 1);
    }
}
