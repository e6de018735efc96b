//! A section of a guide with its rules: compiled, or rejected with its line; a compiled one ports the section's
//! examples.

use super::guide_page::HEAD;
use super::port_program::ports;
use super::{Mutator, Target, Ways};
use crate::fuzz::seeds;
use codemod::RecipeSet;
use guide::Guide;

pub(super) const TARGET: Target =
    Target { name: "semantic_patch", check, seeds: seeds::sections, mutator: Mutator::Bytes, short: 100 };

/// A program to port in addition to the examples.
const PROGRAM: &str = "import torch\n\nmodel = Net().cuda()\nfor x, y in loader:\n    loss = criterion(model(x.cuda()), y)\n    loss.backward()\n    optimizer.step()\n";

fn check(input: &[u8], ways: Ways) {
    let text = format!("{HEAD}{}", String::from_utf8_lossy(input));
    let lines = text.matches('\n').count() + 1;
    let Ok(guide) = Guide::parse("guides/trial.md", &text) else { return };
    match RecipeSet::compile(std::slice::from_ref(&guide)) {
        Err(faults) => {
            assert!(!faults.is_empty(), "a refusal without a reason");
            for fault in faults {
                assert!(
                    fault.line <= lines + 1 && !fault.message.is_empty(),
                    "{}:{} {}",
                    fault.path,
                    fault.line,
                    fault.message
                );
            }
        }
        Ok(recipes) => {
            let examples =
                guide.sections.iter().flat_map(|section| &section.examples).map(|example| example.text.as_str());
            for text in examples.chain([PROGRAM]).take(6) {
                ports(text, &recipes, ways);
            }
        }
    }
}
