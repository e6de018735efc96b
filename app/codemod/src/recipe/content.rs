//! The hash of recipes by their contents. Every part includes its length, so that different recipes have different
//! bytes.

use super::recipe_id;
use crate::digest::hex;
use guide::{Condition, Defined, Guide};
use sha2::{Digest, Sha256};

/// Recipes so far.
#[derive(Default)]
pub(super) struct Content(Sha256);

impl Content {
    /// The hash of all recipes of guides.
    pub(super) fn hash_of(guides: &[Guide]) -> String {
        let mut content = Self::default();
        let definitions = guides.iter().flat_map(|guide| &guide.sections).flat_map(|section| &section.definitions);
        definitions.for_each(|definition| content.definition(definition));
        for guide in guides.iter().filter(|guide| guide.front.target.is_some()) {
            for section in &guide.sections {
                section.rules.iter().for_each(|rule| content.rule(&recipe_id(guide, section), rule));
            }
        }
        content.hash()
    }

    /// Adds the contents of a recipe's rule, without its line number.
    fn rule(&mut self, recipe: &str, rule: &guide::Rule) {
        let guide::Rule {
            line: _,
            patch,
            is_unsafe,
            manual,
            shared,
            neutral,
            stops_step,
            of_step,
            says,
            sdk,
            styles,
            framework,
            option,
            handler,
            conditions,
        } = rule;
        self.text(recipe);
        self.0.update([*is_unsafe, *manual, *shared, *neutral, *stops_step, *of_step].map(u8::from));
        for setting in [says, sdk, framework, option, handler] {
            self.number(setting.iter().len());
            setting.iter().for_each(|text| self.text(text));
        }
        self.number(styles.len());
        styles.iter().for_each(|style| self.text(style));
        self.text(patch);
        self.conditions(conditions);
    }

    /// Adds the definitions of a guide, without their line numbers.
    fn definition(&mut self, definition: &guide::Definition) {
        let guide::Definition { name, line: _, what } = definition;
        let (kind, texts): (_, Vec<&String>) = match what {
            Defined::Names(names) => ("names", names.iter().map(|listed| &listed.name).collect()),
            Defined::Message(text) => ("message", vec![text]),
            Defined::Block(text) => ("block", vec![text]),
            Defined::Module(text) => ("module", vec![text]),
            Defined::Signature(parameters) => ("signature", parameters.iter().collect()),
            Defined::Conditions(conditions) => {
                self.text(name);
                return self.conditions(conditions);
            }
            // They are part of the program, like its code.
            Defined::Words(_) => return,
        };
        self.text(name);
        self.texts(kind, texts);
    }

    fn conditions(&mut self, conditions: &[Condition]) {
        self.number(conditions.len());
        for condition in conditions {
            self.text(&condition.text);
            self.conditions(&condition.any_of);
        }
    }

    fn texts(&mut self, kind: &str, texts: Vec<&String>) {
        self.text(kind);
        self.number(texts.len());
        texts.into_iter().for_each(|text| self.text(text));
    }

    /// SHA-256 in hex.
    fn hash(self) -> String {
        hex(&self.0.finalize())
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.update(text);
    }

    fn number(&mut self, number: usize) {
        self.0.update((number as u64).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::Content;
    use guide::{Condition, Rule};

    fn rule() -> Rule {
        Rule {
            line: 7,
            patch: "- a\n".to_owned(),
            is_unsafe: false,
            manual: false,
            shared: false,
            neutral: false,
            stops_step: false,
            of_step: false,
            says: None,
            sdk: None,
            styles: Vec::new(),
            framework: None,
            option: None,
            handler: None,
            conditions: Vec::new(),
        }
    }

    fn with(change: impl FnOnce(&mut Rule)) -> Rule {
        let mut rule = rule();
        change(&mut rule);
        rule
    }

    fn hash(rules: &[(&str, Rule)]) -> String {
        let mut content = Content::default();
        rules.iter().for_each(|(recipe, rule)| content.rule(recipe, rule));
        content.hash()
    }

    #[test]
    fn what_differs_hashes_apart() {
        let text = |text: &str| Some(text.to_owned());
        let where_ = |lines: &[&str]| {
            let conditions =
                lines.iter().map(|line| Condition { line: 9, text: (*line).to_owned(), any_of: Vec::new() }).collect();
            with(|rule| rule.conditions = conditions)
        };
        let one_of = |inner: &[&str], outer: &[&str]| {
            let mut rule = where_(outer);
            let any_of = where_(inner).conditions;
            rule.conditions.insert(0, Condition { line: 9, text: "any of:".to_owned(), any_of });
            rule
        };
        let sets = [
            vec![],
            vec![("t#a", rule())],
            vec![("t#a", rule()), ("t#a", rule())],
            vec![("t#", with(|r| r.patch = "a- a\n".to_owned()))],
            vec![("t#a", with(|r| r.patch.clear()))],
            vec![("t#a", with(|r| r.is_unsafe = true))],
            vec![("t#a", with(|r| r.manual = true))],
            vec![("t#a", with(|r| r.shared = true))],
            vec![("t#a", with(|r| r.neutral = true))],
            vec![("t#a", with(|r| r.stops_step = true))],
            vec![("t#a", with(|r| r.of_step = true))],
            vec![("t#a", with(|r| r.says = text("")))],
            vec![("t#a", with(|r| r.sdk = text("")))],
            vec![("t#a", with(|r| r.styles = vec![String::new()]))],
            vec![("t#a", with(|r| r.framework = text("")))],
            vec![("t#a", with(|r| r.option = text("")))],
            vec![("t#a", with(|r| r.handler = text("")))],
            vec![("t#a", with(|r| r.sdk = text("x")))],
            vec![("t#a", with(|r| r.styles = vec!["x".to_owned()]))],
            vec![("t#a", where_(&[""]))],
            vec![("t#a", where_(&["", ""]))],
            vec![("t#a", where_(&["b", "c"]))],
            vec![("t#a", where_(&["b\0c"]))],
            vec![("t#a", where_(&["b"])), ("c", rule())],
            vec![("t#a", where_(&["b", "c"])), ("t#a", rule())],
            vec![("t#a", where_(&["b", "c", "t#a"]))],
            vec![("t#a", one_of(&["b"], &["c"]))],
            vec![("t#a", one_of(&["b", "c"], &[]))],
        ];
        let hashes: Vec<String> = sets.iter().map(|rules| hash(rules)).collect();
        for (n, one) in hashes.iter().enumerate() {
            let same = hashes[..n].iter().position(|other| other == one);
            assert_eq!(same, None, "{:?} and {:?}", sets[n], same.map(|at| &sets[at]));
        }
    }

    #[test]
    fn a_line_does_not_count() {
        assert_eq!(hash(&[("t#a", rule())]), hash(&[("t#a", with(|rule| rule.line = 8))]));
    }
}
