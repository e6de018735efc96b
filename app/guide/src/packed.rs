//! Guides as they are built into a program: small once the whole is compressed for a download.
//!
//! Compression finds what is alike among the last 32 KiB. So texts of one kind stand together, apart from the rest: rules
//! by rules, reasons by reasons, code by code.

use crate::model::{Guide, Section};

/// Between two texts. No guide has it: it stands in no text file.
const END: char = '\0';

/// Takes the texts of all sections out.
#[must_use]
pub fn pack(mut guides: Vec<Guide>) -> (Vec<Guide>, String) {
    let mut packed = String::new();
    for text in texts(&mut guides) {
        packed.push_str(text);
        packed.push(END);
        text.clear();
    }
    (guides, packed)
}

/// Puts them back.
#[must_use]
pub fn unpack(mut guides: Vec<Guide>, packed: &str) -> Vec<Guide> {
    for (text, own) in texts(&mut guides).into_iter().zip(packed.split(END)) {
        own.clone_into(text);
    }
    guides
}

/// The texts of all sections, kind by kind.
fn texts(guides: &mut [Guide]) -> Vec<&mut String> {
    let [mut names, mut reasons, mut bounds, mut sources, mut links, mut patches, mut conditions, mut code] =
        [const { Vec::new() }; 8];
    for section in guides.iter_mut().flat_map(|guide| &mut guide.sections) {
        let Section { id, title, reason, holds_for, source, citations, rules, examples, level: _, line: _ } = section;
        names.extend([id, title]);
        reasons.push(reason);
        bounds.push(holds_for);
        sources.push(source);
        links.extend(citations.iter_mut().flat_map(|citation| [&mut citation.text, &mut citation.url]));
        for rule in rules {
            patches.push(&mut rule.patch);
            conditions.extend(rule.conditions.iter_mut().map(|condition| &mut condition.text));
        }
        code.extend(examples.iter_mut().map(|example| &mut example.text));
    }
    [names, reasons, bounds, sources, links, patches, conditions, code].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        let page = |name: &str| {
            let text = format!(
                "---\ntitle: {name}\ndescription: A page.\norder: 1\n---\n## One {{#one}}\n\nWhy {name}.\n\n\
                 ```diff rule\n- a($X)\n+ b($X)\n```\n\n```where\n$X: optimizer\n```\n\n```python before\na(1)\n```\n\n\
                 ```python after\nb(1)\n```\n\n## Two\n\nMore.\n"
            );
            Guide::parse(&format!("guides/{name}.md"), &text).unwrap()
        };
        let guides = vec![page("first"), page("second")];
        let (skeleton, packed) = pack(guides.clone());
        assert!(skeleton[1].sections[0].rules[0].patch.is_empty() && packed.contains("Why second."));
        assert_eq!(unpack(skeleton, &packed), guides);
    }
}
