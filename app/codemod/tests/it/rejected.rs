//! Recipes and edits that the user rejects.

use crate::ports::{in_place, port_files};
use codemod::Options;

#[test]
fn a_rejected_recipe_takes_its_import_along() {
    let text = "import torch\n\nwith torch.cuda.device(1):\n    run()\n";
    let with = port_files(&[("a.py", text)], &in_place("hpu"));
    assert!(with.files[0].text.contains("import contextlib"));
    let options = Options { rejected_recipes: vec!["hpu#device-context".to_owned()], ..in_place("hpu") };
    let without = port_files(&[("a.py", text)], &options);
    assert_eq!(without.files[0].text, text);
    assert!(!without.certificate.residue.is_empty(), "what was refused is still CUDA's");
}

#[test]
fn a_rejected_edit_leaves_the_others() {
    let text = "a = a.cuda()\nb = b.cuda()\n";
    let first = port_files(&[("a.py", text)], &in_place("hpu")).files[0].edits[0].id.clone();
    let options = Options { rejected_edits: vec![first], ..in_place("hpu") };
    assert_eq!(port_files(&[("a.py", text)], &options).files[0].text, "a = a.cuda()\nb = b.to(\"hpu\")\n");
}
