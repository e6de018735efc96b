use super::*;
use crate::port::protocol::EditNote;
use crate::port::protocol::FileOutcome;
use crate::port::state::fragment::Share;
use crate::port::state::lines::Splice;
use codemod::Applicability;
use codemod::{Diagnostic, Severity, Span, Style, TargetInfo};
use python::SourceFile;

fn source(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.into(), text: text.into() }
}

fn edit(recipe: &str, start: usize) -> EditNote {
    EditNote {
        id: format!("{recipe}@{start}"),
        recipe: recipe.into(),
        applicability: Applicability::Safe,
        start,
        comments_removed: Vec::new(),
    }
}

fn message(severity: Severity) -> Diagnostic {
    Diagnostic {
        original: Span::START,
        ported: Span::START,
        severity,
        recipe: "engine#residue".into(),
        message: "x".into(),
        stops_step: false,
    }
}

/// A project of two files after a port.
fn ported() -> State {
    let mut state = State { engine: Engine::Ready, ..State::default() };
    state.open(vec![source("a.py", "net.cuda()\nx = 1\nnet.cuda()\n"), source("b.py", "y\n")]);
    let a = FileOutcome {
        path: "a.py".into(),
        changed: true,
        hunks: 2,
        parts: vec![("hpu#device".into(), 2)],
        edits: vec![edit("hpu#device", 0), edit("hpu#device", 17)],
        diagnostics: vec![message(Severity::Warning), message(Severity::Hint)],
    };
    let b = FileOutcome { path: "b.py".into(), ..FileOutcome::default() };
    state.outcome = Some(Arc::new(Outcome { style: Style::InPlace, files: vec![a, b], ..Outcome::default() }));
    state.view = Some(Arc::default());
    state
}

#[test]
fn the_summary_counts_what_is_there() {
    let mut state = ported();
    assert_eq!(state.summary(), "2 changes in 1 file, 1 to do");
    let outcome = Arc::make_mut(state.outcome.as_mut().unwrap());
    outcome.files[1].diagnostics = vec![message(Severity::Error), message(Severity::Warning)];
    outcome.files[0].hunks = 1;
    assert_eq!(state.summary(), "1 change in 1 file, 3 to do; 1 file could not be ported");
    Arc::make_mut(state.outcome.as_mut().unwrap()).new_files = vec!["c.py".into()];
    assert_eq!(state.summary(), "1 change in 1 file, new file c.py, 3 to do; 1 file could not be ported");
    assert_eq!(State::default().summary(), "");
}

#[test]
fn phases() {
    let mut state = State::default();
    assert_eq!(state.phase(), Phase::Empty);
    state.open(vec![source("a.py", "x = 1\n")]);
    assert_eq!(state.phase(), Phase::Starting);
    state.engine = Engine::Ready;
    assert_eq!(state.phase(), Phase::Working);
    state.run = Run::Stopped;
    assert_eq!(state.phase(), Phase::Stopped);
    let mut state = ported();
    assert_eq!(state.phase(), Phase::Changes);
    state.selected = 1;
    assert_eq!(state.phase(), Phase::Nothing);
    Arc::make_mut(state.outcome.as_mut().unwrap()).files[1].diagnostics = vec![message(Severity::Error)];
    assert_eq!(state.phase(), Phase::Failed { message: "x".into(), line: 1, column: 1 });
    state.engine = Engine::Broken("gone".into());
    assert_eq!(state.phase(), Phase::Broken("gone".into()));
}

#[test]
fn refusing_and_taking_back() {
    let mut state = ported();
    state.reject_edits(&["hpu#device@17".into()]);
    assert_eq!(state.options().rejected_edits, ["a.py:hpu#device@17"]);
    assert_eq!(state.tally(), [Tally { id: "hpu#device".into(), applied: 2, refused: 1, off: false }]);
    state.switch_recipe("hpu#device", false);
    assert_eq!(state.options().rejected_recipes, ["hpu#device"]);
    assert!(state.undo());
    assert!(state.options().rejected_recipes.is_empty());
    assert_eq!(state.options().rejected_edits, ["a.py:hpu#device@17"]);
    assert!(state.undo());
    assert!(!state.undo());
    assert!(state.options().rejected_edits.is_empty());
    assert!(state.redo());
    assert_eq!(state.options().rejected_edits, ["a.py:hpu#device@17"]);
    state.accept_edits(&["hpu#device@17".into()]);
    assert!(state.options().rejected_edits.is_empty());
    assert_eq!(state.can_undo(), (true, false));
}

/// One click accepts what one click rejected, and it counts as one change.
#[test]
fn a_change_is_rejected_and_accepted_whole() {
    let mut state = ported();
    let both = ["hpu#device@0".to_owned(), "hpu#device@17".to_owned()];
    let refused = |state: &State| {
        let groups = state.rejected.together("a.py", &state.files[0].lines);
        (groups.iter().map(Vec::len).collect::<Vec<_>>(), state.tally()[0].refused)
    };
    state.reject_edits(&both);
    assert_eq!(refused(&state), (vec![2], 1));
    state.undo();
    for edit in &both {
        state.reject_edits(std::slice::from_ref(edit));
    }
    assert_eq!(refused(&state), (vec![1, 1], 2));
    // A link does not record what was one change: edits in adjacent lines are.
    let mut other = State::default();
    other.open_share(state.share());
    other.outcome = state.outcome.clone();
    assert_eq!(refused(&other), (vec![1, 1], 2));
    other.type_text(&Splice { start: 11, end: 17, text: String::new() }, false);
    assert_eq!(refused(&other), (vec![2], 1));
}

#[test]
fn turning_a_recipe_on_takes_its_single_refusals_back() {
    let mut state = ported();
    state.reject_edits(&["hpu#device@0".into()]);
    state.switch_recipe("hpu#device", true);
    assert_eq!(state.rejected, Rejected::default());
}

#[test]
fn refused_edits_follow_the_text() {
    let mut state = ported();
    state.reject_edits(&["hpu#device@0".into(), "hpu#device@17".into()]);
    state.type_text(&Splice { start: 11, end: 12, text: "long".into() }, false);
    assert_eq!(state.options().rejected_edits, ["a.py:hpu#device@0", "a.py:hpu#device@20"]);
    state.type_text(&Splice { start: 0, end: 3, text: String::new() }, false);
    assert_eq!(state.options().rejected_edits, ["a.py:hpu#device@17"]);
    assert_eq!(state.files[0].lines.text().as_ref(), ".cuda()\nlong = 1\nnet.cuda()\n");
}

#[test]
fn the_worker_gets_what_it_lacks() {
    let mut state = ported();
    assert_eq!(state.take_unsent(), Delivery::All);
    assert_eq!(state.take_unsent(), Delivery::Some(vec![]));
    state.type_text(&Splice { start: 0, end: 0, text: "#".into() }, false);
    state.type_text(&Splice { start: 0, end: 0, text: "#".into() }, false);
    assert_eq!(state.take_unsent(), Delivery::Some(vec![0]));
    state.rename("c.py");
    assert_eq!(state.take_unsent(), Delivery::All);
    state.forget_sent();
    assert_eq!(state.take_unsent(), Delivery::All);
}

#[test]
fn a_share_brings_everything_back() {
    let mut state = ported();
    state.reject_edits(&["hpu#device@17".into()]);
    state.choice.target = "hpu".into();
    state.select(1);
    let bytes = state.share().to_bytes();
    let mut other = State::default();
    other.open_share(Share::from_bytes(&bytes).unwrap());
    assert_eq!(other.share(), state.share());
    assert_eq!(other.options(), state.options());
    assert_eq!(Share::from_bytes(&bytes[1..]), None);
    assert_eq!(Share::from_bytes(&bytes[..bytes.len() - 1]), None);
}

#[test]
fn the_choice_stays_within_what_there_is() {
    let mut state = State::default();
    state.choice.target = "abacus".into();
    state.choice.sdk = Some("9".into());
    state.choice.options.insert("lazy".into(), "on".into());
    let target = TargetInfo {
        id: "hpu".into(),
        name: "HPU".into(),
        title: "HPU".into(),
        sdks: vec!["1.8".into(), "1.23".into()],
        options: Vec::new(),
        is_device: true,
    };
    state.learn(Guides::default(), Catalogue { targets: vec![target], ..Catalogue::default() });
    assert_eq!(state.choice, Choice { target: "hpu".into(), ..Choice::default() });
    state.choice.sdk = Some("1.8".into());
    state.settle_choice();
    assert_eq!(state.choice.sdk.as_deref(), Some("1.8"));
}

#[test]
fn one_program_for_all_devices_is_for_targets_that_are_devices() {
    let target = |id: &str, is_device| TargetInfo {
        id: id.into(),
        name: id.to_uppercase(),
        title: id.to_uppercase(),
        sdks: vec!["1".into()],
        options: Vec::new(),
        is_device,
    };
    let mut state = State::default();
    state.learn(
        Guides::default(),
        Catalogue { targets: vec![target("hpu", true), target("ipu", false)], ..Catalogue::default() },
    );
    state.choose(|choice| choice.style = Style::Agnostic);
    assert_eq!(state.choice.style, Style::Agnostic);
    state.choose_target("ipu");
    assert_eq!(state.choice.style, Style::Auto);
}

#[test]
fn closing_a_file_shows_the_one_before() {
    let mut state = ported();
    state.select(1);
    state.close(1);
    assert_eq!(state.file().unwrap().path, "a.py");
    state.close(0);
    assert!(state.is_empty());
}

#[test]
fn typing_into_nothing_makes_a_file() {
    let mut state = State::default();
    state.type_text(&Splice { start: 0, end: 0, text: "import torch\n".into() }, false);
    assert_eq!(state.file().unwrap().path, "trainer.py");
    assert!(!state.is_empty());
}

#[test]
fn a_replaced_project_comes_back() {
    let mut state = ported();
    state.reject_edits(&["hpu#device@17".into()]);
    let before = state.share();
    state.open(vec![source("other.py", "z\n")]);
    assert!(state.has_former());
    state.bring_back();
    assert_eq!(state.share(), before);
    state.bring_back();
    assert_eq!(state.file().unwrap().path, "other.py");
    let mut state = State::default();
    state.open(vec![source("a.py", "x\n")]);
    assert!(!state.has_former());
}

fn shared(path: &str, style: Style) -> Share {
    let choice = Choice { style, ..Choice::default() };
    Share { files: vec![source(path, "x\n")], choice, ..Share::default() }
}

fn path(state: &State) -> &str {
    &state.file().unwrap().path
}

#[test]
fn what_is_given_takes_no_place_from_the_users_own() {
    let mut state = State::default();
    state.open(vec![source("own.py", "z\n")]);
    assert!(state.open_share(shared("one.py", Style::Branch)));
    assert!(state.open_share(shared("two.py", Style::Branch)));
    assert!(!state.open_share(shared("two.py", Style::Branch)), "it is open already");
    state.open_sample(source("sample.py", "y\n"));
    state.bring_back();
    assert_eq!((path(&state), state.choice.style), ("own.py", Style::Auto));
    // Looking at another target does not change the project.
    state.open_share(shared("one.py", Style::Branch));
    state.choose(|choice| choice.target = "ipu".into());
    state.open_share(shared("two.py", Style::Branch));
    state.bring_back();
    assert_eq!(path(&state), "own.py");
    // Once it is changed, it counts as the user's own.
    state.open_share(shared("one.py", Style::Branch));
    state.type_text(&Splice { start: 0, end: 0, text: "y\n".into() }, false);
    state.open_share(shared("two.py", Style::Branch));
    state.bring_back();
    assert_eq!((path(&state), state.choice.style), ("one.py", Style::Branch));
}

#[test]
fn a_choice_that_came_along_goes_with_what_it_came_with() {
    let mut state = State::default();
    state.choose(|choice| choice.switches.allow_unsafe = true);
    state.open_share(shared("one.py", Style::Branch));
    assert_eq!((state.choice.style, state.choice.switches.allow_unsafe), (Style::Branch, false));
    state.choose(|choice| choice.sdk = Some("1.8".into()));
    state.open(vec![source("own.py", "z\n")]);
    let own = Choice { switches: Switches::from(1), sdk: Some("1.8".into()), ..Choice::default() };
    assert_eq!(state.choice, own);
    state.open_share(shared("one.py", Style::Branch));
    state.type_text(&Splice { start: 0, end: 2, text: String::new() }, false);
    assert_eq!(state.choice, own, "another script follows");
}

#[test]
fn what_is_kept_comes_back_whole() {
    let mut state = State::default();
    assert!(state.beside().is_empty());
    state.open(vec![source("own.py", "z\n")]);
    assert!(state.beside().is_empty());
    state.open_share(shared("one.py", Style::Branch));
    let (open, beside) = (state.share(), state.beside());
    let mut state = State::default();
    state.restore(Some(open.clone()), &beside);
    assert_eq!((state.share(), state.beside()), (open, beside));
    state.open_share(shared("two.py", Style::InPlace));
    state.bring_back();
    assert_eq!((path(&state), state.choice.style), ("own.py", Style::Auto));
    // Data of another version, or no data at all, does no harm.
    state.restore(None, &[99, 1, 2]);
    assert_eq!(path(&state), "own.py");
    assert!(state.has_former());
}

#[test]
fn what_is_typed_before_the_saved_work_is_found_stays_open() {
    let mut saved = State::default();
    saved.open(vec![source("own.py", "z\n")]);
    saved.open_share(shared("one.py", Style::Branch));
    let (open, beside) = (saved.share(), saved.beside());
    let mut state = State::default();
    assert!(!state.open_typed("x = 1\n"), "nothing was open");
    assert!(!state.restore(Some(open.clone()), &beside));
    assert_eq!(state.sources()[0].text, "x = 1\n");
    state.bring_back();
    assert_eq!((path(&state), state.choice.style), ("one.py", Style::Branch));
    // Where it was found first, it is what can be brought back.
    let mut state = State::default();
    assert!(state.restore(Some(open.clone()), &[]));
    assert!(state.open_typed("x = 1\n"));
    state.bring_back();
    assert_eq!(path(&state), "one.py");
    // A choice without a text is one for the saved work.
    let mut state = State::default();
    state.choose(|choice| choice.style = Style::InPlace);
    assert!(state.restore(Some(open), &[]));
    assert_eq!((path(&state), state.choice.style), ("one.py", Style::InPlace));
}

#[test]
fn edits_are_counted_and_openings_of_links_are_not() {
    let mut state = ported();
    let mut check = |counts: bool, act: fn(&mut State)| {
        let before = state.edits;
        act(&mut state);
        assert_eq!(state.edits > before, counts);
    };
    check(true, |state| state.reject_edits(&["hpu#device@17".into()]));
    check(true, |state| assert!(state.undo()));
    check(true, |state| assert!(state.redo()));
    check(true, |state| state.choose(|choice| choice.target = "ipu".into()));
    check(true, |state| state.rename("c.py"));
    check(true, |state| state.close(1));
    check(true, |state| state.open(vec![source("own.py", "z\n")]));
    check(false, |state| assert!(state.open_share(shared("one.py", Style::Branch))));
    check(true, State::bring_back);
    check(false, |state| state.select(0));
}

#[test]
fn comments_at_open_places_are_shared_and_older_links_have_none() {
    let with = |switches| Share { choice: Choice { switches, ..Choice::default() }, ..shared("one.py", Style::Auto) };
    for bits in 0..4 {
        let share = with(Switches::from(bits));
        let bytes = share.to_bytes();
        assert_eq!(Share::from_bytes(&bytes).as_ref(), Some(&share));
        let mut state = State::default();
        state.open_share(share);
        assert_eq!((state.options().allow_unsafe, state.options().annotate), (bits & 1 != 0, bits & 2 != 0));
    }
    assert_eq!(u8::from(Switches { allow_unsafe: true, annotate: false }), u8::from(true), "as links had it at first");
}

#[test]
fn the_matrix_is_made_of_the_project_as_it_is() {
    let mut state = ported();
    assert_eq!(state.take_unsent(), Delivery::All);
    assert_eq!(state.next_column(), None, "not in sight");
    state.panel = Panel::Matrix;
    let column = |state: &mut State| state.next_column().map(|(_, column)| column);
    assert_eq!(column(&mut state), Some(0));
    (state.matrix.done, state.matrix.total) = (1, 2);
    assert_eq!(column(&mut state), Some(1));
    state.matrix.done = 2;
    state.choice.target = "ipu".into();
    assert_eq!(column(&mut state), None, "the chosen target is one of the columns");
    state.choice.switches.allow_unsafe = true;
    assert_eq!(column(&mut state), Some(0));
    (state.matrix.done, state.run) = (2, Run::Waiting);
    state.type_text(&Splice { start: 0, end: 0, text: "y = 2\n".into() }, false);
    assert_eq!(column(&mut state), None, "what was typed is ported first");
    state.run = Run::Idle;
    assert_eq!(state.take_unsent(), Delivery::Some(vec![0]));
    assert_eq!(column(&mut state), Some(0));
}

#[test]
fn a_place_of_another_port() {
    let mut state = ported();
    state.panel = Panel::Matrix;
    assert!(!state.go_to_port("ipu".into(), 7, 1));
    assert_eq!(state.panel, Panel::Matrix);
    assert!(state.go_to_port("ipu".into(), 1, 5));
    assert_eq!((state.selected, state.choice.target.as_str(), state.panel), (1, "ipu", Panel::Changes));
    assert_eq!(state.jump_after_port, Some(Jump::New(4)));
}

/// The project after a port that changed nothing and gave these messages.
fn unchanged(text: &str, diagnostics: Vec<Diagnostic>, residue: &[&str]) -> State {
    let mut state = State { engine: Engine::Ready, ..State::default() };
    state.open(vec![SourceFile { path: "a.py".into(), text: text.into() }]);
    let files = vec![FileOutcome { path: "a.py".into(), diagnostics, ..FileOutcome::default() }];
    let residue = residue.iter().map(|line| line.to_string()).collect();
    state.set_outcome(Some(Arc::new(Outcome { files, residue, ..Outcome::default() })));
    state.set_view(View::default());
    state
}

fn told(severity: Severity) -> Diagnostic {
    let place = Span { line: 3, column: 5, end_line: 3, end_column: 6, cell: None };
    let (recipe, message) = ("engine#x".into(), "a < b".into());
    Diagnostic { original: place, ported: place, severity, recipe, message, stops_step: false }
}

#[test]
fn that_nothing_remains_is_said_only_when_it_is_true() {
    let nothing = "no CUDA or NVIDIA references";
    assert!(unchanged("x = 1\n", vec![], &[]).unchanged().contains(nothing));
    assert!(!unchanged("x = 1\n", vec![], &["a.py:1:1 torch.cuda"]).unchanged().contains(nothing));
    assert!(!unchanged("x = 1\n", vec![told(Severity::Warning)], &[]).unchanged().contains(nothing));
    assert!(unchanged("{\"cells\": [], \"nbformat\": 4}", vec![], &[]).unchanged().contains("notebook"));
}

#[test]
fn a_failure_has_its_place() {
    let failed = unchanged("x = 1\n", vec![told(Severity::Error)], &[]).phase();
    assert_eq!(failed, Phase::Failed { message: "a < b".into(), line: 3, column: 5 });
}

#[test]
fn the_last_good_port_stays_while_the_file_does_not_parse() {
    let mut state = unchanged("x = 1\n", vec![], &[]);
    let port = |state: &mut State, changed: bool, diagnostics: Vec<Diagnostic>| {
        let file = FileOutcome { path: "a.py".into(), changed, diagnostics, ..FileOutcome::default() };
        state.set_outcome(Some(Arc::new(Outcome { files: vec![file], ..Outcome::default() })));
        state.set_view(View { serial: u64::from(changed), ..View::default() });
    };
    port(&mut state, false, vec![told(Severity::Error)]);
    assert!(!state.is_stale(), "there was none before");
    port(&mut state, true, vec![]);
    port(&mut state, false, vec![told(Severity::Error)]);
    assert!(state.is_stale() && state.in_sight().is_some_and(|(file, view, _)| file.changed && view.serial == 1));
    port(&mut state, false, vec![]);
    assert!(!state.is_stale(), "the file parses, and nothing changes");
}

#[test]
fn a_removed_file_comes_back() {
    let file = |path: &str| SourceFile { path: path.into(), text: "x\n".into() };
    let mut state = State::default();
    state.open(vec![file("a.py"), file("b.py")]);
    state.close(0);
    assert_eq!(state.notice.as_ref().and_then(|notice| notice.undo), Some(Undo::Removal));
    state.restore_removed();
    assert_eq!(state.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["a.py", "b.py"]);
}

#[test]
fn what_is_pasted_is_named_by_its_own_text() {
    let paste = |text: &str| {
        let mut state = State::default();
        state.type_text(&Splice { start: 0, end: 0, text: text.into() }, false);
        (state.files[0].path.clone(), state.is_named())
    };
    assert_eq!(paste("# fit.py\nimport torch\n"), ("fit.py".to_owned(), true));
    assert_eq!(paste("import torch\n"), ("trainer.py".to_owned(), false));
}
