use super::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Asks as the page does: over the wire and back.
fn ask(desk: &mut Desk, head: Ask, texts: &[&str]) -> Parcel<Answer> {
    let texts = texts.iter().map(|text| text.to_string()).collect();
    let answer = desk.answer(Parcel { head: wired(head), texts, colours: Vec::new() });
    Parcel { head: wired(answer.head), ..answer }
}

fn wired<T: Serialize + DeserializeOwned + PartialEq + Debug>(head: T) -> T {
    let bytes = postcard::to_allocvec(&head).unwrap();
    let back: T = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(back, head);
    back
}

fn port(desk: &mut Desk, text: &str) -> Parcel<Answer> {
    ask(desk, Ask::Files(vec!["a.py".into()]), &[text]);
    let options = Options { target: "hpu".into(), ..Options::default() };
    ask(desk, Ask::Port { options, show: 0 }, &[])
}

#[test]
fn the_catalogue_has_titles_and_reasons() {
    let answer = ask(&mut Desk::default(), Ask::Catalogue, &[]);
    let Answer::Catalogue(catalogue) = answer.head else { panic!("{:?}", answer.head) };
    assert!(catalogue.targets.iter().any(|target| target.id == "hpu" && !target.sdks.is_empty()));
    assert!(catalogue.recipes.iter().all(|recipe| !recipe.title.is_empty() && !recipe.reason.is_empty()));
}

#[test]
fn a_port_comes_with_what_is_shown() {
    let mut desk = Desk::default();
    let answer = port(&mut desk, "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n");
    let Answer::Ported(outcome, shown) = answer.head else { panic!("{:?}", answer.head) };
    assert!(outcome.files[0].changed);
    assert_eq!(outcome.files[0].hunks, shown.diff.hunks.len());
    let ids: Vec<&String> = shown.diff.hunks.iter().flat_map(|hunk| &hunk.edits).collect();
    assert!(outcome.files[0].edits.iter().all(|edit| ids.contains(&&edit.id)));
    assert!(answer.texts[0].contains("hpu"));
    assert_eq!(answer.colours.len(), 4);
    let patch = ask(&mut desk, Ask::Patch, &[]).texts.remove(0);
    assert!(patch.starts_with("diff --git a/a.py b/a.py\n"), "{patch}");
    assert!(ask(&mut desk, Ask::Report, &[]).texts[0].contains("\"target\": \"hpu\""));
    assert_eq!(ask(&mut desk, Ask::Texts, &[]).texts, answer.texts);
}

#[test]
fn what_was_ported_is_what_is_shown_even_after_typing() {
    let mut desk = Desk::default();
    port(&mut desk, "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n");
    let before = ask(&mut desk, Ask::Patch, &[]).texts;
    ask(&mut desk, Ask::Text(0), &["x = 1\n"]);
    assert_eq!(ask(&mut desk, Ask::Patch, &[]).texts, before);
}

#[test]
fn an_edit_is_refused_in_its_own_file_alone() {
    let mut desk = Desk::default();
    let text = "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n";
    ask(&mut desk, Ask::Files(vec!["a.py".into(), "b.py".into()]), &[text, text]);
    let port = |desk: &mut Desk, rejected: Vec<String>| {
        let options = Options { target: "hpu".into(), rejected_edits: rejected, ..Options::default() };
        let Answer::Ported(outcome, _) = ask(desk, Ask::Port { options, show: 0 }, &[]).head else { panic!() };
        outcome.files.iter().map(|file| file.edits.len()).collect::<Vec<_>>()
    };
    let all = port(&mut desk, vec![]);
    assert_eq!(all[0], all[1]);
    let Answer::Ported(outcome, _) =
        ask(&mut desk, Ask::Port { options: Options { target: "hpu".into(), ..Options::default() }, show: 0 }, &[])
            .head
    else {
        panic!()
    };
    let edit = outcome.files[0].edits.iter().find(|edit| edit.recipe == "hpu#model-to-device").unwrap();
    let some = port(&mut desk, vec![format!("a.py:{}", edit.id)]);
    assert!(some[0] < all[0]);
    assert_eq!(some[1], all[1]);
    assert!(port(&mut desk, vec![edit.id.clone()])[1] < all[1]);
}

#[test]
fn nothing_asked_too_early_breaks_it() {
    let mut desk = Desk::default();
    assert_eq!(ask(&mut desk, Ask::Patch, &[]).texts, [""]);
    assert_eq!(ask(&mut desk, Ask::Show(7), &[]).head, Answer::Shown(Box::default()));
    ask(&mut desk, Ask::Text(3), &["x"]);
    port(&mut desk, "");
    ask(&mut desk, Ask::Show(7), &[]);
}

#[test]
fn examples_open_as_they_are_meant() {
    let id = |section: &str, number| ExampleId { guide: "hpu".into(), section: section.into(), number };
    let guides = embedded_guides();
    let guide = guides.iter().find(|guide| guide.name == "hpu").unwrap();
    for section in &guide.sections {
        for (index, case) in section.cases().iter().enumerate() {
            let answer = ask(&mut Desk::default(), Ask::Example(id(&section.id, index + 1)), &[]);
            let Answer::Example(Some(example)) = answer.head else { panic!("{}", section.id) };
            assert_eq!(answer.texts, [case.input.text.as_str()]);
            assert_eq!(example.allow_unsafe, case.is_unsafe);
        }
    }
    assert_eq!(ask(&mut Desk::default(), Ask::Example(id("none", 1)), &[]).head, Answer::Example(None));
    assert_eq!(ask(&mut Desk::default(), Ask::Example(id("model-to-device", 99)), &[]).head, Answer::Example(None));
}
