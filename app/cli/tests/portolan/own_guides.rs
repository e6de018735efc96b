//! Guides of a site's own, beside the built-in ones.

use crate::{folder, portolan, portolan_with, read};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

/// The guide in `writing-a-recipe.md`.
fn example() -> String {
    let page = read(Path::new(env!("CARGO_MANIFEST_DIR")), "../../guides/writing-a-recipe.md");
    let (_, section) = page.split_once("{#own-site}\n").expect("the section");
    let (_, rest) = section.split_once("````markdown\n").expect("an example");
    rest.split_once("````").expect("its end").0.to_owned()
}

const SCRIPT: &str = "import fastevents\n\nevents = fastevents.load_gpu(\"a.h5\")\nnet = build().cuda()\n";

fn site(guide: &str) -> TempDir {
    folder(&[("mysite/events.md", guide), ("p/train.py", SCRIPT)])
}

#[test]
fn the_example_is_tested_and_ports_with_the_built_in_recipes() {
    let home = site(&example());
    let ran = portolan(home.path(), &["recipes", "test", "--added", "mysite"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, "portolan: 1 recipe, 2 examples, 0 samples of messages: all hold\n"));
    let words = ["port", "--target", "hpu", "--guides", "mysite", "--format", "json", "p"];
    let ran = portolan(home.path(), &words);
    assert_eq!(ran.code, 0, "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    crate::schema::check(&report);
    let edits = report["files"][0]["edits"].as_array().unwrap();
    let by = |recipe: &str| edits.iter().any(|edit| edit["recipe"] == recipe);
    assert!(by("events#read-events") && by("hpu#model-to-device"), "{edits:#?}");
    assert_eq!(report["recipes"]["events#read-events"]["source"], "its README, 3.2.");
    let built_in = portolan(home.path(), &["--version"]).out;
    assert!(!built_in.contains(report["certificate"]["recipes"].as_str().unwrap()), "the hash has the folder's, too");
    let without = portolan(home.path(), &["port", "--target", "hpu", "p"]);
    assert!(without.code == 0 && !without.out.contains("fastevents.load("), "{without:?}");
    let rejected = portolan(home.path(), &[&words[..], &["--reject", "events#read-events"]].concat());
    assert!(rejected.code == 0 && !rejected.out.contains("\"events#read-events\""), "{rejected:?}");
    let series = portolan(home.path(), &["port", "--target", "hpu", "--guides", "mysite", "--series", "q", "p"]);
    assert_eq!(series.code, 0, "{series:?}");
    let patch = read(home.path(), "q/0002-hpu-Read-events-on-the-host.patch");
    assert!(
        patch.contains("\nSource: its README, 3.2.\n") && patch.contains("\nRecipe: events#read-events\n"),
        "{patch}"
    );
    let other = portolan(home.path(), &["port", "--target", "xpu", "--guides", "mysite", "p"]);
    assert!(other.code == 0 && !other.out.contains("fastevents.load("), "{other:?}");
}

#[test]
fn a_target_of_its_own_extends_another() {
    let guide = example().replace("target = \"hpu\"", "target = \"ours\"\nextends = \"hpu\"");
    let home = site(&guide);
    let ran = portolan(home.path(), &["port", "--target", "ours", "--guides", "mysite", "p"]);
    assert!(ran.code == 0 && ran.out.contains("fastevents.load(") && ran.out.contains(".to(\"hpu\")"), "{ran:?}");
    let ran = portolan(home.path(), &["port", "--target", "ours", "p"]);
    assert!(ran.code == 2 && ran.err.contains("no recipes for target `ours`"), "{ran:?}");
}

#[test]
fn faults_are_named_by_file_and_line() {
    let check = |from: &str, to: &str, expected: &str| {
        let guide = example().replace(from, to);
        assert_ne!(guide, example(), "{from}");
        let home = site(&guide);
        for words in
            [&["port", "--target", "hpu", "--guides", "mysite", "p"][..], &["recipes", "test", "--added", "mysite"]]
        {
            let ran = portolan(home.path(), words);
            assert!(ran.code != 0 && ran.out.is_empty(), "{ran:?}");
            assert!(ran.err.starts_with(&format!("mysite/events.md:{expected}")), "{ran:?}");
        }
    };
    check("diff rule", "diff rule usafe", "17: unknown word `usafe`");
    check("+ fastevents.load($FILE", "+ fastevents.load($PATH", "19: `$PATH` is written but never matched");
    check("target = \"hpu\"", "target = \"hpuu\"", "3: `target = \"hpuu\"`: unknown target");
    check("target = \"hpu\"", "", "1: no `target = \"…\"` says to which target");
    check(
        "target = \"hpu\"",
        "target = \"hpu\"\nsdks = [\"9.0\"]",
        "4: the versions of `hpu` are those of its built-in guide",
    );
    check("target = \"hpu\"", "target = \"ours\"\nextends = \"hpuu\"", "4: `extends = \"hpuu\"`: unknown target");
}

#[test]
fn what_is_no_folder_of_guides_and_a_name_that_is_taken() {
    let home = folder(&[("hpu/hpu.md", &example()), ("p/train.py", SCRIPT)]);
    let port = |guides: &str| portolan(home.path(), &["port", "--target", "hpu", "--guides", guides, "p"]);
    let taken = port("hpu");
    assert!(
        taken.code == 2 && taken.err.starts_with("hpu/hpu.md:1: the built-in guides have a page `hpu`"),
        "{taken:?}"
    );
    for (guides, said) in [("no", "no: "), ("p", "p: no guides (*.md) in this folder")] {
        let ran = port(guides);
        assert!(ran.code == 2 && ran.err.contains(said), "{ran:?}");
    }
}

#[test]
fn update_fills_an_example_of_an_added_guide() {
    let guide = example().replace("events = fastevents.load(\"run7.h5\", shuffle=True)\n", "");
    let home = site(&guide);
    let test = ["recipes", "test", "--added", "mysite"];
    assert_eq!(portolan(home.path(), &test).code, 1);
    let ran = portolan_with(home.path(), &test, b"", &[("UPDATE", "1")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(read(home.path(), "mysite/events.md"), example());
}
