//! A page of a guide: parsed, or rejected with existing lines; a parsed page survives packing, and becomes HTML.

use super::{Mutator, Target, Ways};
use crate::fuzz::seeds::{self, Seed};
use guide::html::Document;
use guide::{Guide, fill_after, pack, unpack};

pub(super) const TARGET: Target = Target { name: "guide_page", check, seeds, mutator: Mutator::Bytes, short: 200 };

fn seeds() -> Vec<Seed> {
    let page = |(name, section): Seed| (name, [HEAD.as_bytes(), &section].concat());
    seeds::sections().into_iter().map(page).collect()
}

/// The part above the sections of a page.
pub(super) const HEAD: &str = "+++\ntitle = \"Trial\"\ntarget = \"trial\"\ndescription = \"A page.\"\nsdks = [\"1.0\", \"2.0\"]\norder = 9\n+++\n\nProse.\n\n";

fn check(input: &[u8], _: Ways) {
    let text = String::from_utf8_lossy(input);
    // The part after the last line break is a line too.
    let lines = text.matches('\n').count() + 1;
    match Guide::parse("guides/trial.md", &text) {
        Err(faults) => {
            assert!(!faults.is_empty(), "a refusal without a reason");
            for fault in faults {
                assert!((1..=lines + 1).contains(&fault.line) && !fault.message.is_empty(), "{fault}");
            }
        }
        Ok(guide) => {
            let (packed, texts) = pack(vec![guide.clone()]);
            if !text.contains('\0') {
                assert_eq!(unpack(packed, &texts), std::slice::from_ref(&guide), "packed and unpacked");
            }
            let html = Document::new(&guide, &text).html();
            assert!(!html.contains("<script"), "a script of the page's own");
            for section in &guide.sections {
                for example in &section.examples {
                    let filled = fill_after(&text, example.line, "x = 1\n");
                    assert!(filled.len() + text.len() > 0);
                }
            }
        }
    }
}
