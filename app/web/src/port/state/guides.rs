//! The user's own guides.

use crate::port::protocol::Catalogue;
use crate::port::state::{Notice, Run, State, Undo, project};
use python::SourceFile;
use std::sync::Arc;

/// Guides, in the order of their names.
pub type Guides = Arc<Vec<SourceFile>>;

/// The folder of guides next to a project that is downloaded, as in `portolan port --guides guides`.
pub const GUIDES_FOLDER: &str = "guides";

/// How many errors are named at once.
const NAMED: usize = 5;

/// The errors of guides as a sentence.
pub fn said_of(faults: &[String]) -> String {
    let more = faults.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("Not used: {}{more}.", faults[..faults.len().min(NAMED)].join("; "))
}

/// Appends guides to saved data.
pub(super) fn append(bytes: &mut Vec<u8>, guides: &Guides) {
    bytes.extend(postcard::to_allocvec(&**guides).unwrap_or_default());
}

/// Reads what [`append`] wrote, at the start of these bytes, and removes it from them.
pub(super) fn take(bytes: &mut &[u8]) -> Option<Guides> {
    let (guides, rest) = postcard::take_from_bytes::<Vec<SourceFile>>(bytes).ok()?;
    *bytes = rest;
    Some(Guides::new(guides))
}

impl State {
    /// The guides in use with others, which replace those of the same name.
    pub fn with_guides(&self, opened: Vec<SourceFile>) -> Guides {
        let mut all = Vec::clone(&self.choice.guides);
        for guide in opened {
            let place = all.partition_point(|other| other.path < guide.path);
            if all.get(place).is_some_and(|other| other.path == guide.path) {
                all.remove(place);
            }
            all.insert(place, guide);
        }
        Arc::new(all)
    }

    /// Ports with these guides.
    pub fn use_guides(&mut self, guides: Guides) {
        self.decide(self.rejected.clone(), guides);
    }

    /// Stops using a guide. What was rejected of its recipes is forgotten.
    pub fn remove_guide(&mut self, index: usize) {
        let mut guides = Vec::clone(&self.choice.guides);
        if index >= guides.len() {
            return;
        }
        let gone = guides.remove(index);
        let mut rejected = self.rejected.clone();
        rejected.recipes.retain(|recipe| !is_of(recipe, &gone));
        rejected.edits.retain(|edit| !is_of(&edit.recipe, &gone));
        self.decide(rejected, Arc::new(guides));
        let text = format!("Removed {}.", gone.path);
        self.notice = Some(Notice { bad: false, text, undo: Some(Undo::Decision) });
    }

    /// Whether a recipe is one of the user's own guides, which are not on the site.
    pub fn is_own(&self, recipe: &str) -> bool {
        self.choice.guides.iter().any(|guide| is_of(recipe, guide))
    }

    /// Has the worker try guides that were opened, unless that is too much, which the notice says.
    pub fn try_guides(&mut self, opened: Vec<SourceFile>) {
        let all = [&self.on_trial[..], &opened].concat();
        match project::check_size(&[&self.sources(), &self.with_guides(all.clone())]) {
            Ok(()) => (self.on_trial, self.asked_for) = (all, None),
            Err(why) => self.add_notice(true, format!("The project with its guides {why}"), None),
        }
    }

    /// Forgets guides that were opened and are not compiled yet.
    pub fn give_up_trial(&mut self) {
        self.on_trial.clear();
    }

    /// Forgets a notice, unless it offers to restore a project.
    pub fn clear_notice(&mut self) {
        self.notice.take_if(|notice| notice.undo != Some(Undo::Project));
    }

    /// The guides in use, and those on trial.
    fn wanted_guides(&self) -> Guides {
        if self.on_trial.is_empty() { self.choice.guides.clone() } else { self.with_guides(self.on_trial.clone()) }
    }

    /// The worker has compiled guides. If that was before what is wanted now, it is asked again. Returns whether this
    /// was a trial.
    pub fn take_recipes(&mut self, guides: Guides, catalogue: Catalogue) -> bool {
        let trial = !self.on_trial.is_empty();
        if !trial {
            self.learn(guides, catalogue);
        } else if guides == self.wanted_guides() {
            self.tried(guides, catalogue);
        }
        trial
    }

    /// The worker has compiled guides that were opened; if one has an error, it has none of the earlier ones any more, and
    /// the page keeps those.
    fn tried(&mut self, guides: Guides, catalogue: Catalogue) {
        self.give_up_trial();
        if !catalogue.faults.is_empty() {
            return self.add_notice(true, said_of(&catalogue.faults), None);
        }
        let opened = guides.iter().filter(|guide| !self.choice.guides.contains(guide));
        let names: Vec<&str> = opened.map(|guide| guide.path.as_str()).collect();
        let (text, undo) = match names.is_empty() {
            true => ("Already in use.".to_owned(), None),
            false => (format!("Opened {}.", names.join(", ")), Some(Undo::Decision)),
        };
        self.use_guides(guides.clone());
        self.learn(guides, catalogue);
        self.add_notice(false, text, undo);
    }

    /// Shows a notice, after one that is bad or offers to restore a project: that is about the same files.
    fn add_notice(&mut self, bad: bool, text: String, undo: Option<Undo>) {
        let earlier = self.notice.take().filter(|notice| notice.bad || notice.undo == Some(Undo::Project));
        self.notice = Some(match earlier {
            Some(notice) => {
                Notice { bad: notice.bad || bad, text: format!("{} {text}", notice.text), undo: notice.undo.or(undo) }
            }
            None => Notice { bad, text, undo },
        });
    }

    /// Whether a port has to wait for recipes, and the guides to send for them, which from now on count as sent.
    pub fn wants_recipes(&mut self) -> (bool, Option<Guides>) {
        let unsent = self.take_unsent_guides();
        (!self.on_trial.is_empty() || unsent.is_some() || !self.knows_recipes(), unsent)
    }

    /// Whether the page knows the recipes of the guides in use.
    pub fn knows_recipes(&self) -> bool {
        self.learned.as_ref() == Some(&self.choice.guides)
    }

    /// The guides to send to the worker; from now on, they count as sent.
    fn take_unsent_guides(&mut self) -> Option<Guides> {
        let wanted = self.wanted_guides();
        let unsent = (self.asked_for.as_ref() != Some(&wanted)).then_some(wanted);
        unsent.inspect(|guides| self.asked_for = Some(guides.clone()))
    }

    /// The worker said what it can do with these guides.
    pub fn learn(&mut self, guides: Guides, catalogue: Catalogue) {
        self.learned = Some(guides);
        self.catalogue = Arc::new(catalogue);
        self.settle_choice();
        self.heed_address();
    }

    /// Whether the chosen target may be one of guides that have errors, or that could not be read.
    pub fn lacks_target(&self) -> bool {
        !self.catalogue.faults.is_empty() && self.target().is_none()
    }

    /// Stops before a port whose target is not there. The next one asks for it again.
    pub fn stop_without_target(&mut self) {
        self.set_outcome(None);
        (self.view, self.run, self.asked_for) = (None, Run::Stopped, None);
    }
}

/// Whether a recipe is one of a guide.
fn is_of(recipe: &str, guide: &SourceFile) -> bool {
    recipe.split_once('#').is_some_and(|(name, _)| guide.path.strip_suffix(".md") == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::state::fragment::Share;
    use codemod::TargetInfo;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), text: text.into() }
    }

    fn names(state: &State) -> Vec<&str> {
        state.choice.guides.iter().map(|guide| guide.path.as_str()).collect()
    }

    /// A project with the guides `a.md` and `b.md`, added one after the other.
    fn with_two() -> State {
        let mut state = State::default();
        state.open(vec![file("train.py", "x = 1\n")]);
        for name in ["b.md", "a.md"] {
            let guides = state.with_guides(vec![file(name, "first")]);
            state.use_guides(guides);
        }
        state
    }

    #[test]
    fn a_guide_of_the_same_name_is_replaced() {
        let mut state = with_two();
        assert_eq!(names(&state), ["a.md", "b.md"]);
        let guides = state.with_guides(vec![file("c.md", ""), file("a.md", "second")]);
        state.use_guides(guides);
        assert_eq!(names(&state), ["a.md", "b.md", "c.md"]);
        assert_eq!(state.choice.guides[0].text, "second");
        state.undo();
        assert_eq!((names(&state), state.choice.guides[0].text.as_str()), (vec!["a.md", "b.md"], "first"));
    }

    #[test]
    fn what_was_rejected_goes_and_comes_with_a_guide() {
        let mut state = with_two();
        state.switch_recipe("a#one", false);
        state.switch_recipe("ab#one", false);
        state.remove_guide(0);
        assert_eq!((names(&state), &state.rejected.recipes[..]), (vec!["b.md"], &["ab#one".to_owned()][..]));
        assert_eq!(state.notice.as_ref().and_then(|notice| notice.undo), Some(Undo::Decision));
        assert!(state.is_own("b#one") && !state.is_own("a#one") && !state.is_own("bb#one"));
        state.undo();
        assert_eq!((names(&state), state.rejected.recipes.len()), (vec!["a.md", "b.md"], 2));
        assert_eq!(state.notice, None, "it would undo something else");
        state.redo();
        assert_eq!(names(&state), ["b.md"]);
        state.remove_guide(7);
        assert_eq!(names(&state), ["b.md"]);
    }

    #[test]
    fn links_and_saved_work_have_them() {
        let mut state = with_two();
        let bytes = state.share().to_bytes();
        let share = Share::from_bytes(&bytes).expect("a share");
        assert_eq!(share, state.share());
        assert_eq!(Share::from_bytes(&bytes[..bytes.len() - 1]), None);
        let mut other = State::default();
        assert!(other.open_share(share.clone()) && !other.open_share(share));
        assert_eq!(names(&other), ["a.md", "b.md"]);
        // A project without guides replaces them, and the user's own come back with the next own project.
        state.open_share(Share { files: vec![file("b.py", "")], ..Share::default() });
        assert!(names(&state).is_empty());
        let (open, beside) = (state.share(), state.beside());
        let mut restored = State::default();
        restored.restore(Some(open), &beside);
        restored.open(vec![file("c.py", "y = 1\n")]);
        assert_eq!(names(&restored), ["a.md", "b.md"]);
        let mut former = State::default();
        former.restore(Some(state.share()), &beside);
        former.bring_back();
        assert_eq!((names(&former), former.files[0].path.as_str()), (vec!["a.md", "b.md"], "train.py"));
    }

    #[test]
    fn without_guides_nothing_is_saved_in_another_form() {
        let mut state = with_two();
        assert_eq!(state.share().to_bytes()[0], 2);
        state.open_share(Share { files: vec![file("b.py", "")], ..Share::default() });
        assert_eq!((state.share().to_bytes()[0], state.beside()[0]), (1, 5));
        state.forget_former();
        state.own_choice = None;
        assert_eq!(state.beside()[0], 4);
    }

    #[test]
    fn limits_hold_for_guides() {
        let check = |guides: Vec<SourceFile>, expected: &str| {
            let mut share = with_two().share();
            share.choice.guides = Arc::new(guides);
            assert_eq!(share.check().err().unwrap_or_default(), expected);
        };
        check(vec![file("a.md", "x")], "");
        check(vec![file("a.md", "\0")], "a.md is a binary file (a zero byte in line 1, column 1).");
        let large = file("a.md", &"x".repeat(4 << 20));
        let said = "it is too big for this page: the limit is 1000 files and 16 MB in total. Open fewer files, or use the command.";
        check(vec![large; 4], said);
    }

    #[test]
    fn the_next_project_has_them_and_an_empty_page_has_none() {
        let mut state = with_two();
        state.open(vec![file("b.py", "y = 1\n")]);
        assert_eq!(names(&state), ["a.md", "b.md"]);
        state.start_over();
        assert!(state.is_blank() && state.has_former());
        state.bring_back();
        assert_eq!(names(&state), ["a.md", "b.md"]);
    }

    /// A target of a guide is known once the guide is compiled.
    #[test]
    fn a_target_of_a_guide_is_not_given_up() {
        let target = |id: &str| TargetInfo {
            id: id.into(),
            name: id.into(),
            title: id.into(),
            sdks: Vec::new(),
            options: Vec::new(),
            is_device: false,
        };
        let catalogue =
            |ids: &[&str]| Catalogue { targets: ids.iter().map(|id| target(id)).collect(), ..Catalogue::default() };
        let mut state = State::default();
        state.learn(Guides::default(), catalogue(&["hpu"]));
        let mut share = with_two().share();
        share.choice.target = "ours".into();
        state.open_share(share);
        assert_eq!((state.choice.target.as_str(), state.knows_recipes()), ("ours", false));
        let guides = state.take_unsent_guides().expect("guides");
        assert_eq!(state.take_unsent_guides(), None);
        state.learn(guides.clone(), catalogue(&["hpu", "ours"]));
        assert_eq!((state.choice.target.as_str(), state.knows_recipes()), ("ours", true));
        // The guides could not be read: the target waits for them.
        state.choice.sdk = Some("1.0".into());
        let unread = Catalogue { faults: vec!["a.md: no".into()], ..catalogue(&["hpu"]) };
        state.learn(guides, unread);
        assert_eq!((state.choice.target.as_str(), state.choice.sdk.as_deref()), ("ours", Some("1.0")));
        assert!(state.lacks_target());
        state.stop_without_target();
        assert!(state.take_unsent_guides().is_some());
        state.choose_target("hpu");
        assert!(!state.lacks_target());
        state.choice.target = "ours".into();
        state.remove_guide(0);
        let guides = state.take_unsent_guides().expect("guides");
        state.learn(guides, catalogue(&["hpu"]));
        assert_eq!(state.choice.target, "hpu");
    }

    #[test]
    fn guides_with_errors_leave_those_in_use() {
        let mut state = with_two();
        let guides = state.take_unsent_guides().expect("guides");
        state.learn(guides, Catalogue::default());
        let other = state.with_guides(vec![file("a.md", "second")]);
        let faulty = || Catalogue { faults: vec!["a.md:1: no".into()], ..Catalogue::default() };
        state.try_guides(vec![file("a.md", "second")]);
        assert_eq!(state.wants_recipes(), (true, Some(other.clone())));
        state.take_recipes(other.clone(), faulty());
        assert_eq!(state.choice.guides[0].text, "first");
        assert_eq!(state.take_unsent_guides(), Some(state.choice.guides.clone()), "the worker has dropped them");
        state.try_guides(vec![file("a.md", "second")]);
        assert_eq!(state.wants_recipes(), (true, Some(other.clone())));
        state.take_recipes(other, Catalogue::default());
        assert_eq!(state.choice.guides[0].text, "second");
        assert_eq!((state.take_unsent_guides(), state.knows_recipes()), (None, true));
    }

    /// What happens while guides are compiled stays.
    #[test]
    fn a_late_answer_overwrites_nothing() {
        let check = |meanwhile: fn(&mut State), expected: &[&str]| {
            let mut state = with_two();
            state.try_guides(vec![file("c.md", "")]);
            let sent = state.take_unsent_guides().expect("guides");
            meanwhile(&mut state);
            let mut next = state.take_unsent_guides();
            state.take_recipes(sent, Catalogue::default());
            while let Some(guides) = next {
                state.take_recipes(guides, Catalogue::default());
                next = state.take_unsent_guides();
            }
            assert_eq!((names(&state), state.knows_recipes()), (expected.to_vec(), true));
        };
        check(|_| (), &["a.md", "b.md", "c.md"]);
        check(|state| state.try_guides(vec![file("d.md", "")]), &["a.md", "b.md", "c.md", "d.md"]);
        check(|state| state.remove_guide(0), &["b.md", "c.md"]);
        check(State::start_over, &[]);
        let other = |state: &mut State| {
            state.open_share(Share { files: vec![file("b.py", "")], ..Share::default() });
        };
        check(other, &[]);
        check(State::forget_sent, &["a.md", "b.md", "c.md"]);
    }

    #[test]
    fn what_was_said_of_a_project_stays_beside_its_guides() {
        let check = |bad: bool, undo: Option<Undo>, expected: &str| {
            let mut state = with_two();
            state.notice = Some(Notice { bad, text: "Opened x.py.".into(), undo });
            state.try_guides(vec![file("c.md", "")]);
            let guides = state.take_unsent_guides().expect("guides");
            state.take_recipes(guides, Catalogue::default());
            let undo = undo.or(Some(Undo::Decision));
            assert_eq!(state.notice, Some(Notice { bad, text: expected.into(), undo }));
        };
        check(false, None, "Opened c.md.");
        check(true, None, "Opened x.py. Opened c.md.");
        check(false, Some(Undo::Project), "Opened x.py. Opened c.md.");
    }

    #[test]
    fn many_errors_are_counted() {
        let check = |faults: usize, expected: &str| {
            let faults: Vec<String> = (1..=faults).map(|line| format!("a.md:{line}: no")).collect();
            assert_eq!(said_of(&faults), expected);
        };
        check(2, "Not used: a.md:1: no; a.md:2: no.");
        check(7, "Not used: a.md:1: no; a.md:2: no; a.md:3: no; a.md:4: no; a.md:5: no; and 2 more.");
    }
}
