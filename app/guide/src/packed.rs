//! Guides as they are built into a program: small once the whole is compressed for a download.
//!
//! Compression finds repetitions within the last 32 KiB. So texts of one kind are grouped: rules with rules, reasons
//! with reasons, code with code, and in each of them those of sections with one anchor, which are about the same in guides
//! of several targets.

use crate::model::{Condition, Defined, Guide, Section};

/// Separates two texts. It does not occur in guides, which are text files.
const END: char = '\0';

/// Guides without the parts that only readers and tests need: prose, examples, the lines of rules. The site stores the
/// examples next to each guide, for the page to open.
#[must_use]
pub fn for_download(mut guides: Vec<Guide>) -> Vec<Guide> {
    for guide in &mut guides {
        for section in &mut guide.sections {
            // These are already in the program.
            section.definitions.retain(|definition| !matches!(definition.what, Defined::Words(_)));
        }
        // Sections for readers are on the site.
        guide
            .sections
            .retain(|section| !(section.rules.is_empty() && section.definitions.is_empty() && section.says.is_empty()));
    }
    for section in guides.iter_mut().flat_map(|guide| &mut guide.sections) {
        (section.line, section.level) = (0, 0);
        // The location of a rule in its guide is for authors; here it only distinguishes the rule from the section's
        // others.
        for (n, rule) in section.rules.iter_mut().enumerate() {
            rule.line = n + 1;
            without_lines(&mut rule.conditions);
        }
        for definition in &mut section.definitions {
            if let Defined::Conditions(conditions) = &mut definition.what {
                without_lines(conditions);
            }
        }
        if !section.is_recipe() {
            // A page links to the section for these.
            (section.holds_for, section.source) = (String::new(), String::new());
            section.citations.clear();
        }
        section.examples.clear();
        section.says_nothing.clear();
        section.says.iter_mut().for_each(|sample| sample.line = 0);
    }
    guides
}

fn without_lines(conditions: &mut [Condition]) {
    for condition in conditions {
        condition.line = 0;
        without_lines(&mut condition.any_of);
    }
}

/// Removes the texts from all sections.
#[must_use]
pub fn pack(mut guides: Vec<Guide>) -> (Vec<Guide>, String) {
    let mut packed = String::new();
    for text in names(&mut guides) {
        packed.push_str(text);
        packed.push(END);
    }
    for text in texts(&mut guides) {
        packed.push_str(text);
        packed.push(END);
        text.clear();
    }
    names(&mut guides).for_each(String::clear);
    (guides, packed)
}

/// Restores them.
#[must_use]
pub fn unpack(mut guides: Vec<Guide>, packed: &str) -> Vec<Guide> {
    let mut packed = packed.split(END);
    let mut restore = |text: &mut String| packed.next().unwrap_or_default().clone_into(text);
    names(&mut guides).for_each(&mut restore);
    texts(&mut guides).into_iter().for_each(restore);
    guides
}

/// Anchors and titles of all sections.
fn names(guides: &mut [Guide]) -> impl Iterator<Item = &mut String> {
    guides.iter_mut().flat_map(|guide| &mut guide.sections).flat_map(|section| [&mut section.id, &mut section.title])
}

/// The other texts of all sections, by kind and anchor.
fn texts(guides: &mut [Guide]) -> Vec<&mut String> {
    let [
        mut reasons,
        mut bounds,
        mut sources,
        mut links,
        mut patches,
        mut conditions,
        mut lists,
        mut messages,
        mut code,
        mut said,
    ] = [const { Vec::new() }; 10];
    let mut sections: Vec<&mut Section> = guides.iter_mut().flat_map(|guide| &mut guide.sections).collect();
    sorting::by(&mut sections, |a, b| a.id.cmp(&b.id));
    for section in sections {
        let Section { reason, holds_for, source, citations, .. } = section;
        let Section { remedy, says, says_nothing, rules, definitions, examples, .. } = section;
        reasons.push(reason);
        bounds.push(holds_for);
        sources.push(source);
        links.extend(citations.iter_mut().flat_map(|citation| [&mut citation.text, &mut citation.url]));
        said.push(remedy);
        said.extend(says.iter_mut().chain(says_nothing).map(|sample| &mut sample.text));
        for rule in rules {
            patches.push(&mut rule.patch);
            texts_of_conditions(&mut rule.conditions, &mut conditions);
        }
        for definition in definitions {
            match &mut definition.what {
                Defined::Names(list) => lists.extend(list.iter_mut().flat_map(|one| [&mut one.name, &mut one.remark])),
                Defined::Message(text) => messages.push(text),
                Defined::Block(text) | Defined::Module(text) => code.push(text),
                Defined::Conditions(named) => texts_of_conditions(named, &mut conditions),
                Defined::Words(words) | Defined::Signature(words) => lists.extend(words),
            }
        }
        code.extend(examples.iter_mut().map(|example| &mut example.text));
    }
    [reasons, bounds, sources, links, patches, conditions, lists, messages, code, said].into_iter().flatten().collect()
}

fn texts_of_conditions<'g>(conditions: &'g mut [Condition], texts: &mut Vec<&'g mut String>) {
    for condition in conditions {
        texts.push(&mut condition.text);
        texts_of_conditions(&mut condition.any_of, texts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        let page = |name: &str| {
            let text = format!(
                "+++\ntitle = \"{name}\"\ndescription = \"A page.\"\norder = 1\n+++\n## One {{#one}}\n\nWhy {name}.\n\n\
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
