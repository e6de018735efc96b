//! Saving under poprun: one instance writes, in whichever file the save is, and no file gets a function that it does
//! not call.

use codemod::{Options, RecipeSet, SourceFile, port};

const ENGINE: &str = "import torch\n\n\ndef train(net, loader, criterion, optimizer):\n    for x, y in loader:\n        \
    optimizer.zero_grad()\n        loss = criterion(net(x), y)\n        loss.backward()\n        optimizer.step()\n";
const UTILS: &str = "import torch\n\n\ndef save_checkpoint(path, net):\n    torch.save(net.state_dict(), path)\n";

fn ported(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<SourceFile> =
        files.iter().map(|(path, text)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() }).collect();
    let options = Options { target: "popdist".to_owned(), ..Options::default() };
    let ported = port(&files, RecipeSet::embedded(), &options);
    ported.files.into_iter().map(|file| file.text).collect()
}

#[test]
fn a_save_in_another_file_is_the_first_instances() {
    let files = ported(&[("engine.py", ENGINE), ("utils.py", UTILS)]);
    let [engine, utils] = &files[..] else { panic!("{files:?}") };
    assert!(engine.contains("def distributed_options("), "{engine}");
    assert!(!engine.contains("first_instance"), "a function that nothing calls:\n{engine}");
    assert!(utils.contains("    save_on_first_instance(net.state_dict(), path)\n"), "{utils}");
    for definition in ["    import popdist\n", "def is_first_instance():", "def save_on_first_instance("] {
        assert_eq!(utils.matches(definition).count(), 1, "{utils}");
    }
}

#[test]
fn a_save_beside_the_step_is_the_first_instances() {
    let files = ported(&[("train.py", &format!("{ENGINE}    torch.save(net.state_dict(), \"net.pt\")\n"))]);
    assert!(files[0].contains("    save_on_first_instance(net.state_dict(), \"net.pt\")\n"), "{}", files[0]);
    assert_eq!(files[0].matches("def is_first_instance():").count(), 1);
}

#[test]
fn a_save_in_a_project_that_does_not_train_stays() {
    assert_eq!(ported(&[("utils.py", UTILS)]), [UTILS]);
}

#[test]
fn constructors_that_call_one_another_end_the_search_for_a_test() {
    let logger = |name: &str| {
        format!(
            "\n\nclass {name}(Base):\n    def __init__(self):\n        super().__init__()\n        self.log = open(\"log\", \"w\")\n"
        )
    };
    let files = ported(&[("train.py", &format!("{ENGINE}{}{}", logger("First"), logger("Second")))]);
    assert!(files[0].contains("def distributed_options("), "{}", files[0]);
}
