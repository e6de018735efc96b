//! `portolan recipes`, on guides written for the test.

use crate::{folder, portolan, portolan_with, read};
use serde_json::Value;

/// A guide with one recipe and this example.
fn guide(example: &str) -> String {
    format!(
        "+++\ntitle = \"Port to a test machine\"\ntarget = \"hpu\"\ndescription = \"For tests.\"\nsdks = [\"1.0\"]\norder = 1\n+++\n\n\
         ## Move the model {{#move}}\n\nIt has to be there.\n\n\
         ```diff rule\n- $M.to_gpu()\n+ $M.to_test()\n```\n\n{example}\nHolds for: every version.\n\nSource: made up.\n"
    )
}

#[test]
fn examples_that_hold_are_a_summary() {
    let home = folder(&[(
        "guides/t.md",
        &guide("```python before\nnet.to_gpu()\n```\n```python after\nnet.to_test()\n```\n"),
    )]);
    let ran = portolan(home.path(), &["recipes", "test"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
}

#[test]
fn faults_are_named_by_page_and_line() {
    let home =
        folder(&[("guides/t.md", &guide("```python before\nnet.to_gpu()\n```\n```python after\nnet.to_gpu()\n```\n"))]);
    let ran = portolan(home.path(), &["recipes", "test", "guides"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.starts_with("guides/t.md:22: "), "{ran:?}");

    let home = folder(&[("guides/t.md", &guide("").replace("diff rule", "diff rule usafe"))]);
    let ran = portolan(home.path(), &["recipes", "test"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.starts_with("guides/t.md:13: ") && ran.err.contains("usafe"), "{ran:?}");

    let sound = "```python before\nnet.to_gpu()\n```\n```python after\nnet.to_test()\n```\n";
    for word in ["Source:", "Holds for:"] {
        let home = folder(&[("guides/t.md", &guide(sound).replace(word, "Note:"))]);
        let ran = portolan(home.path(), &["recipes", "test"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.starts_with("guides/t.md:9: ") && ran.err.contains(word), "{ran:?}");
    }

    let home = folder(&[("guides/t.md", &guide("").replace("+ $M.to_test()", "+ $N.to_test()"))]);
    let ran = portolan(home.path(), &["recipes", "test"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.starts_with("guides/t.md:1") && ran.err.contains("$N"), "{ran:?}");
}

#[test]
fn a_folder_without_guides_is_told_with_the_remedy() {
    let ran = portolan(folder(&[]).path(), &["recipes", "test"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("run this in a checkout, or name the folder of guides"), "{ran:?}");
}

#[test]
fn update_fills_what_is_empty_or_stale() {
    let empty = "```python before\nnet.to_gpu()\n```\n```python after\n```\n";
    let stale = "```python before\nnet.to_gpu()\nx = 1\n```\n```python after\nnet.to_gpu()\n```\n";
    let home = folder(&[("guides/t.md", &guide(&format!("{empty}\n{stale}")))]);
    let ran = portolan_with(home.path(), &["recipes", "test"], b"", &[("UPDATE", "1")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = read(home.path(), "guides/t.md");
    assert!(text.contains("```python after\nnet.to_test()\n```\n"), "{text}");
    assert!(text.contains("```python after\nnet.to_test()\nx = 1\n```\n"), "{text}");
    assert_eq!(portolan(home.path(), &["recipes", "test"]).code, 0);
}

#[test]
fn text_that_guides_share_is_filled_and_reported_where_it_is() {
    let shared = |rule: &str| {
        format!(
            "+++\ntitle = \"Shared\"\nshared = true\n+++\n## Move {{#move}}\n\n```diff rule\n- $M.to_gpu()\n+ {rule}\n```\n\n\
             ```python before\nnet.to_gpu()\n```\n```python after\n```\n"
        )
    };
    let target = |name: &str| {
        format!(
            "+++\ntitle = \"{name}\"\ntarget = \"{name}\"\ndescription = \"For tests.\"\nsdks = [\"1.0\"]\norder = 1\n[facts]\ndevice = \"{name}\"\n+++\n\n\
             ## Move the model {{#move}}\n\nIt has to be there.\n\n```include devices#move\n```\n\nHolds for: every version.\n\nSource: made up.\n"
        )
    };
    let right = shared("$M.to(\"{{fact.device}}\")");
    let pages = [("guides/one.md", &*target("one")), ("guides/two.md", &target("two")), ("guides/devices.md", &right)];
    let home = folder(&pages);
    let ran = portolan_with(home.path(), &["recipes", "test"], b"", &[("UPDATE", "1")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = read(home.path(), "guides/devices.md");
    assert!(text.contains("```python after\nnet.to(\"{{fact.device}}\")\n```\n"), "{text}");

    let wrong = shared("$N.to(\"{{fact.device}}\")");
    let home = folder(&[pages[0], pages[1], ("guides/devices.md", &wrong)]);
    let ran = portolan(home.path(), &["recipes", "test"]);
    assert_eq!((ran.code, ran.err.lines().count()), (1, 1), "{ran:?}");
    assert!(ran.err.starts_with("guides/devices.md:9: ") && ran.err.contains("$N"), "{ran:?}");
}

#[test]
fn a_shared_fence_is_only_filled_with_what_is_right_for_all_targets() {
    let shared = "+++\ntitle = \"Shared\"\nshared = true\n+++\n## Move {#move}\n\n\
                  ```python before\nimport os\nnet.to_gpu()\n```\n```python after\n{{fact.prologue}}\n```\n";
    let target = |name: &str, prologue: &str, to: &str| {
        format!(
            "+++\ntitle = \"{name}\"\ntarget = \"{name}\"\ndescription = \"For tests.\"\nsdks = [\"1.0\"]\norder = 1\n\
             [facts]\nprologue = \"{prologue}\"\n+++\n\n## Move the model {{#move}}\n\nIt has to be there.\n\n\
             ```diff rule\n- $M.to_gpu()\n+ $M.to({to})\n```\n\n```include devices#move\n```\n\nHolds for: every version.\n\nSource: made up.\n"
        )
    };
    let update = |two: &str| {
        let one = target("one", "import os\\n", "1");
        let home = folder(&[("guides/one.md", &*one), ("guides/two.md", two), ("guides/devices.md", shared)]);
        let ran = portolan_with(home.path(), &["recipes", "test"], b"", &[("UPDATE", "1")]);
        (ran, read(home.path(), "guides/devices.md"))
    };
    // What the first target calls its prologue is the program's own.
    let (ran, text) = update(&target("two", "", "1"));
    assert!(text.ends_with("```python after\nimport os\nnet.to(1)\n```\n"), "{text}");
    assert!(ran.err.contains("no shared text has `{{fact.prologue}}`"), "{ran:?}");

    let (ran, text) = update(&target("two", "", "2"));
    assert_eq!((ran.code, &*text), (1, shared), "{ran:?}");
    assert!(ran.err.contains("guides/devices.md:11: this `after` is not the same for all targets"), "{ran:?}");
}

#[test]
fn the_list_has_every_recipe() {
    let home = folder(&[]);
    let text = portolan(home.path(), &["recipes", "list"]);
    let json = portolan(home.path(), &["recipes", "list", "--format", "json"]);
    assert_eq!((text.code, json.code), (0, 0));
    let json: Value = serde_json::from_str(&json.out).unwrap();
    let recipes = json["recipes"].as_array().unwrap();
    assert!(recipes.len() > 10);
    for recipe in recipes {
        for said in ["source", "holds_for"] {
            assert!(!recipe[said].as_str().unwrap().is_empty(), "{recipe}");
        }
        assert!(!recipe["sdks"].as_array().unwrap().is_empty(), "{recipe}");
        assert!(text.out.contains(recipe["id"].as_str().unwrap()), "{recipe}");
    }
    for target in json["coverage"].as_array().unwrap() {
        let count = |key: &str| target[key].as_u64().unwrap();
        let listed = recipes.iter().filter(|recipe| recipe["target"] == target["target"]).count() as u64;
        assert_eq!(count("recipes"), listed);
        assert_eq!(count("applied") + count("unsafe") + count("reported"), listed, "{target}");
    }
    assert!(json["targets"].as_array().unwrap().iter().any(|target| target["id"] == "hpu"));
}
