//! The names in a recipe's examples, if its rules don't contain them. A handler's rule does not show which of them it
//! removes, but its examples do.

use super::dotted::names;
use guide::{ExampleKind, Section};
use sorting::{SortedMap, SortedSet};

/// Names in the `before` examples of a section that are missing in the `after` ones, if a handler makes the difference.
pub(super) fn gone(section: &Section) -> SortedSet<String> {
    if !section.rules.iter().any(|rule| rule.handler.is_some() && !rule.manual) {
        return SortedSet::new();
    }
    let kept = of(section, ExampleKind::After);
    before(section).into_iter().filter(|name| !kept.contains(name)).collect()
}

/// Names that the `before` examples of a section use.
pub(super) fn before(section: &Section) -> SortedSet<String> {
    of(section, ExampleKind::Before)
}

fn of(section: &Section, kind: ExampleKind) -> SortedSet<String> {
    section.examples.iter().filter(|example| example.kind == kind).flat_map(|example| used(&example.text)).collect()
}

/// The names that a script uses, with imports resolved; a name that is not imported is a method, `.backward()`.
fn used(script: &str) -> SortedSet<String> {
    let imported = imported(script);
    let is_import = |line: &&str| line.starts_with("import ") || line.starts_with("from ");
    let mut used = SortedSet::new();
    for line in script.lines().map(str::trim).filter(|line| !is_import(line)) {
        for name in names(line) {
            let (head, rest) = name.split_once('.').unwrap_or((&name, ""));
            used.insert(match imported.get(head) {
                Some(module) => format!("{module}.{rest}"),
                None => format!(".{}()", rest.rsplit('.').next().unwrap_or(rest).trim_end_matches("()")),
            });
        }
        for word in line.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            let is_head = line.contains(&format!("{word}."));
            used.extend(imported.get(word).filter(|name| name.contains('.') && !is_head).cloned());
        }
    }
    used
}

/// The meanings of the names that a script imports.
fn imported(script: &str) -> SortedMap<&str, String> {
    let mut names = SortedMap::new();
    for line in script.lines().map(str::trim) {
        let (module, list) = match line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
            Some((module, list)) => (Some(module), list),
            None => match line.strip_prefix("import ") {
                Some(list) => (None, list),
                None => continue,
            },
        };
        for item in list.trim_matches(['(', ')']).split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, local) = item.split_once(" as ").unwrap_or((item, item));
            match module {
                Some(module) => names.insert(local, format!("{module}.{name}")),
                None if local == name => {
                    let root = name.split('.').next().unwrap_or(name);
                    names.insert(root, root.to_string())
                }
                None => names.insert(local, name.to_string()),
            };
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::used;

    fn check(script: &str, expected: &[&str]) {
        let used: Vec<String> = used(script).into_iter().collect();
        assert_eq!(used, expected, "{script}");
    }

    #[test]
    fn names_of_a_script() {
        check("from torch.cuda.amp import GradScaler as S, autocast\ns = S()", &["torch.cuda.amp.GradScaler"]);
        check("import torch\nx = torch.cuda.amp.autocast()", &["torch.cuda.amp.autocast"]);
        check("import torch.optim as optim\no = optim.SGD(p)\nloss.backward()", &[".backward()", "torch.optim.SGD"]);
    }
}
