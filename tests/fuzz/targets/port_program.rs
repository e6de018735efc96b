//! Ports of grammar-mutated programs, to every target, in both styles and with different options.

use super::{Mutator, Target, Ways, chosen};
use crate::fuzz::seeds;
use codemod::{Options, RecipeSet, Style, TargetInfo};
use std::cell::RefCell;
use std::sync::LazyLock;
use tests::cpython::{CPython, Said};
use tests::examine::{Subject, examine};
use tests::faults::Kind;

pub(super) const TARGET: Target = Target {
    name: "port_program",
    check: |input, ways| ports(&String::from_utf8_lossy(input), &RECIPES, ways),
    seeds: seeds::programs,
    mutator: Mutator::Program,
    short: 60,
};

pub(super) static RECIPES: LazyLock<&RecipeSet> = LazyLock::new(RecipeSet::embedded);

thread_local! {
    pub(super) static CPYTHON: RefCell<CPython> = RefCell::new(CPython::new("python3"));
}

/// The properties of every port; if CPython rejects the original, only that no bytes are lost. Unreported CUDA use is
/// only checked for real programs.
const NEVER: &[Kind] = &[Kind::DoesNotParse, Kind::SecondPort, Kind::LostBytes, Kind::OtherTree, Kind::LostComment];

/// Ports a text, and checks each port like the sweep over published programs.
pub(super) fn ports(text: &str, recipes: &RecipeSet, ways: Ways) {
    let all: Vec<Options> = recipes.targets().into_iter().flat_map(options).collect();
    CPYTHON.with_borrow_mut(|cpython| {
        let original = look(cpython, text);
        let is_python = original.refused.is_none();
        let mut subject = Subject::new("train.py", text, original);
        for options in chosen(&all, text.as_bytes(), ways) {
            let seen = examine(&mut subject, recipes, &options, cpython);
            let never = if is_python { NEVER } else { &[Kind::LostBytes] };
            if let Some(fault) = seen.faults.iter().find(|fault| never.contains(&fault.kind)) {
                panic!("{}: {} [{options:?}] {}", fault.kind.name(), fault.class, fault.detail);
            }
        }
    });
}

/// Both styles, with unsafe changes and without, for the newest SDK; and for the oldest.
pub(super) fn options(target: TargetInfo) -> Vec<Options> {
    let newest = [
        (Style::InPlace, false),
        (Style::InPlace, true),
        (Style::Auto, false),
        (Style::Branch, true),
        (Style::Agnostic, false),
    ];
    let newest = newest.map(|(style, allow_unsafe)| (style, allow_unsafe, None));
    let oldest = (Style::Auto, true, target.sdks.first().cloned());
    let all = newest.into_iter().chain([oldest]);
    all.map(|(style, allow_unsafe, sdk)| Options {
        target: target.id.clone(),
        style,
        allow_unsafe,
        sdk,
        ..Options::default()
    })
    .collect()
}

/// CPython's answer; a text that can't be sent to it counts as not compiling.
pub(super) fn look(cpython: &mut CPython, text: &str) -> Said {
    cpython.look(text, true).unwrap_or_else(|fault| Said { refused: Some(fault), ..Said::default() })
}
