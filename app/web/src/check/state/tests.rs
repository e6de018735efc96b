use super::*;
use crate::check::state::choice::OTHERS;

fn chosen(name: &str, bytes: u64) -> Chosen {
    Chosen { name: name.to_owned(), bytes }
}

#[test]
fn every_key_has_a_value() {
    let state = State::at("");
    for key in FIELDS.iter().chain(&OTHERS) {
        assert_ne!(state.value(key), "", "{key}");
    }
}

#[test]
fn what_is_no_value_stays_to_be_corrected() {
    let mut state = State::at("");
    state.choose("depth", "three");
    assert_eq!(state.value("depth"), "three");
    assert!(state.said_of("depth").problem.contains("“three”") && state.fields_are_wrong());
    assert_eq!(state.check(), Err("f-depth".to_owned()));
    state.choose("preset", "small");
    assert_eq!(state.said_of("depth"), Said::default());
    assert_eq!(state.check(), Ok(()));
}

#[test]
fn a_size_that_fits_is_offered_and_taken() {
    let mut state = State::at("#preset=uresnet&height=160&width=256");
    let next = state.said_of("height").next_size.expect("a size that fits");
    state.take_size(next);
    assert_eq!((state.value("height"), state.value("width")), ("192".to_owned(), "256".to_owned()));
    assert_eq!(state.said_of("height"), Said::default());
}

#[test]
fn files_are_asked_for() {
    let mut state = State::at("#weights=file&input=file");
    assert!(
        state.notice.starts_with("Choose the file with the weights and the file with the event below"),
        "{}",
        state.notice
    );
    assert_eq!(state.check(), Err("file-weights".to_owned()));
    assert!(state.choose_file(Slot::Weights, chosen("w.pt", 10)));
    assert!(!state.choose_file(Slot::Input, chosen("e.npy", 3_000_000_000)));
    let problem = state.fault(Place::File(Slot::Input));
    assert!(problem.starts_with("e.npy has 2.8 GiB"), "{problem}");
    assert!(state.choose_file(Slot::Input, chosen("e.npy", 3)));
    assert_eq!(state.check(), Ok(()));
    assert!(State::at("#filters=3&depth=2").notice.contains("filters"));
}
