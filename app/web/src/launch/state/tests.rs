use super::*;
use crate::launch::own_files;
use crate::launch::protocol::{Script, SiteFile};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn state(fields: &[(&str, &str)]) -> State {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    State { fields, ..State::default() }
}

/// The value after packing and unpacking, as between the page and a worker.
fn carried<T: Serialize + DeserializeOwned>(sent: &T) -> T {
    postcard::from_bytes(&postcard::to_allocvec(sent).unwrap()).unwrap()
}

/// Checks the user's own script.
fn check(state: &mut State) {
    let (text, target) = state.script_to_check().expect("a script to check");
    let script = Script { text: text.clone(), target: target.name().to_owned() };
    let linted = carried(&own_files::check(carried(&script)));
    assert_eq!(linted, launch::lint(&text, target));
    state.script_checked(text, target, Ok(linted));
    assert_eq!(state.script_to_check(), None);
}

fn field(state: &State, name: &str) -> FormField {
    let fields = state.form().into_iter().flat_map(|group| group.fields);
    fields.into_iter().find(|field| field.name == name).unwrap_or_else(|| panic!("no field {name}"))
}

#[test]
fn a_list_without_a_choice_has_its_default() {
    let state = state(&[("entry", "a.py")]);
    assert_eq!(state.value(&field(&state, "target")), "hpu");
    assert_eq!(state.value(&field(&state, "entry")), "a.py");
    assert_eq!(state.value(&field(&state, "batch")), "");
}

#[test]
fn an_empty_field_is_no_problem_until_somebody_was_there() {
    let mut state = state(&[]);
    let problems = state.written().unwrap_err();
    let entry = field(&state, "entry");
    assert_eq!(state.problem_at(&entry, &problems), "");
    state.touch("entry");
    assert_ne!(state.problem_at(&entry, &problems), "");
}

#[test]
fn what_few_need_is_folded_unless_something_is_there() {
    let check = |fields: &[(&str, &str)], open: bool| {
        let state = state(fields);
        let groups = state.form();
        let folded = groups.iter().find(|group| group.folded).expect("a folded group");
        let problems = state.written().err().unwrap_or_default();
        assert_eq!(state.is_unfolded(folded, &problems), open, "{fields:?}");
    };
    check(&[("entry", "a.py"), ("batch", "8")], false);
    check(&[("entry", "a.py"), ("batch-key", "--batch")], true);
    check(&[("alone", "on")], true);
}

#[test]
fn the_history_has_an_entry_for_what_is_finished() {
    let mut state = State::at("#launch?target=ipu");
    assert!(state.is_at("#launch?x=1") && !state.is_at("#port"));
    state.edit("entry", "a".to_owned());
    assert_eq!(state.entry(false), Entry::Replace("#launch?entry=a&target=ipu".to_owned()));
    let before = "#launch?target=ipu".to_owned();
    assert_eq!(state.entry(true), Entry::Push(before, "#launch?entry=a&target=ipu".to_owned()));
    assert_eq!(state.entry(true), Entry::Keep);
}

#[test]
fn a_script_of_ones_own_is_fixed_and_that_is_undone() {
    let mut state = state(&[("target", "rdu")]);
    assert_eq!(state.linted(), None);
    assert_eq!(state.script_to_check(), None);
    state.type_own("export ONM_NUM_THREADS=4\n".to_owned());
    state.fix_own();
    assert!(!state.is_fixed(), "it is not checked yet");
    check(&mut state);
    let linted = state.linted().expect("a script").expect("a check");
    assert_eq!(linted.findings.len(), 1);
    let lines = fixed_lines(&linted);
    assert_eq!(lines, [(1, "export ONM_NUM_THREADS=4".to_owned(), "export OMP_NUM_THREADS=4".to_owned())]);
    state.fix_own();
    assert!(state.is_fixed() && state.own.text.contains("OMP"));
    state.unfix_own();
    assert!(!state.is_fixed() && state.own.text.contains("ONM"));
    state.fix_own();
    state.type_own("ls\n".to_owned());
    assert!(!state.is_fixed(), "what was typed would be lost");
    state.fix_own();
    assert_eq!(state.own.text, "ls\n");
    state.type_own(" \n".to_owned());
    assert_eq!(state.linted(), None);
}

#[test]
fn a_script_of_ones_own_is_for_the_forms_target_unless_one_says_otherwise() {
    let mut state = state(&[("target", "rdu")]);
    assert_eq!(state.own_target().name(), "rdu");
    state.choose_own_target("popdist");
    state.edit("target", "ipu".to_owned());
    assert_eq!(state.own_target().name(), "popdist");
}

#[test]
fn a_line_is_selected_in_the_browsers_units() {
    assert_eq!(units_of_line("a\n\u{1f600}b\nc", 2), (2, 5));
    assert_eq!(units_of_line("a", 1), (0, 1));
}

#[test]
fn no_script_is_written_of_a_site_file_before_it_is_read() {
    let mut state = state(&[("entry", "a.py"), ("site", "own"), ("site-file", "name = 3")]);
    let read = |state: &mut State| {
        let text = state.site_file_to_read().expect("a file to read").to_owned();
        let site = carried(&own_files::read_site(carried(&SiteFile(text.clone()))));
        assert_eq!(site, launch::read_site(&text));
        state.site_file_read(text, site);
    };
    let problem = |state: &State| match state.written() {
        Ok(_) => String::new(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(problem(&state), "site-file is being read");
    read(&mut state);
    assert_eq!(state.site_file_to_read(), None);
    assert!(problem(&state).starts_with("site-file: line 1"), "{}", problem(&state));

    let good = "name = \"mine\"\ntitle = \"Mine\"\nstatus = \"template\"\nsource = \"https://example.org/\"\n\
                targets = [\"hpu\"]\nschedulers = [\"bash\"]\nfield = [{ name = \"queue\", label = \"Queue\" }]\n";
    state.edit("site-file", good.to_owned());
    read(&mut state);
    assert_eq!(problem(&state), "");
    assert_eq!(field(&state, "queue").help, "Queue.");
    // While its changes are being read, the fields stay; a script is not written.
    state.edit("site-file", good.replace("Mine", "Ours"));
    assert_eq!(problem(&state), "site-file is being read");
    assert_eq!(field(&state, "queue").help, "Queue.");
    state.edit("site", String::new());
    assert_eq!((state.site_file_to_read(), problem(&state)), (None, String::new()));
}

#[test]
fn a_label_is_not_repeated_behind_itself() {
    let check = |message: &str, label: Option<&str>, expected: &str| {
        assert_eq!(behind_label(message.to_owned(), label), expected);
    };
    check("is required: Poplar folder", Some("Poplar folder"), "is required");
    check("is required: the training program", Some("Program"), "is required: the training program");
    check("is required: Poplar folder", None, "is required: Poplar folder");
}
