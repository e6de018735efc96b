//! The right-hand side of a rule: text with metavariables and facts to fill in.

/// A piece of a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text as written.
    Text(String),
    /// `$X`.
    One(String),
    /// `$$$XS`.
    Many(String),
    /// `{{name}}`.
    Fact(String),
}

/// One line of a replacement, without its indentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
}

impl Template {
    pub(crate) fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let (part, len) = if let Some(name) = rest.strip_prefix("$$$").map(variable_name) {
                (Part::Many(name.to_owned()), 3 + name.len())
            } else if let Some(name) = rest.strip_prefix('$').map(variable_name).filter(|n| !n.is_empty()) {
                (Part::One(name.to_owned()), 1 + name.len())
            } else if let Some((name, _)) = rest.strip_prefix("{{").and_then(|r| r.split_once("}}")) {
                (Part::Fact(name.trim().to_owned()), name.len() + 4)
            } else {
                plain.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            };
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(part);
            rest = &rest[len..];
        }
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Self { parts }
    }

    /// Names of the metavariables in it.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|p| match p {
            Part::One(name) | Part::Many(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Names of the facts in it.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|p| match p {
            Part::Fact(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// `$$$XS` after a keyword argument of the same call.
    pub(crate) fn behind_keywords(&self) -> Vec<&Part> {
        let mut open: Vec<bool> = Vec::new();
        let mut behind = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => text.chars().for_each(|c| match (c, open.last_mut()) {
                    ('(' | '[' | '{', _) => open.push(false),
                    (')' | ']' | '}', _) => _ = open.pop(),
                    ('=', Some(keyword)) => *keyword = true,
                    _ => {}
                }),
                Part::Many(_) if open.last() == Some(&true) => behind.push(part),
                _ => {}
            }
        }
        behind
    }

    /// Fills in; `None` if a value is missing.
    pub(crate) fn fill(&self, value: &dyn Fn(&Part) -> Option<String>) -> Option<String> {
        let mut out = String::new();
        for (n, part) in self.parts.iter().enumerate() {
            match part {
                Part::Text(text) => {
                    // An argument list that lost an argument: `f(, x)` and `f(x, )` are the result of an empty `$$$`.
                    let after_empty = n > 0 && matches!(&self.parts[n - 1], Part::Many(_)) && ends_open(&out);
                    let text =
                        if after_empty { text.strip_prefix(',').map_or(text.as_str(), str::trim_start) } else { text };
                    out.push_str(text);
                }
                Part::Many(_) => {
                    let filled = value(part)?;
                    if filled.is_empty() && out.ends_with(", ") {
                        out.truncate(out.len() - 2);
                    }
                    out.push_str(&filled);
                }
                _ => {
                    let filled = value(part)?;
                    // Text that begins on a line of its own leaves no trailing space on the one above.
                    if filled.starts_with(['\n', '\r']) {
                        out.truncate(out.trim_end_matches(' ').len());
                    }
                    out.push_str(&filled);
                }
            }
        }
        Some(out)
    }
}

fn ends_open(out: &str) -> bool {
    out.ends_with(['(', '[', '{'])
}

/// The longest name of a metavariable at the start of the text: capitals, digits and `_`.
pub(crate) fn variable_name(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())).unwrap_or(text.len());
    if text[..end].starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

/// Lines of a replacement with their indentation, in spaces of the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines(pub(crate) Vec<(usize, Template)>);

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, many: &str, expected: &str) {
        let filled = Template::parse(template).fill(&|part| match part {
            Part::One(name) => Some(name.to_lowercase()),
            Part::Many(_) => Some(many.to_owned()),
            Part::Fact(name) => Some(format!("<{name}>")),
            Part::Text(_) => None,
        });
        assert_eq!(filled.as_deref(), Some(expected));
    }

    #[test]
    fn arguments_behind_keywords() {
        let template = Template::parse("f($$$A, x=g($$$B), $$$C)");
        assert_eq!(template.behind_keywords(), [&Part::Many("C".to_owned())]);
        assert!(Template::parse("[$$$A]").behind_keywords().is_empty());
    }

    #[test]
    fn filling() {
        check("$MODEL.to(\"hpu\")", "", "model.to(\"hpu\")");
        check("f($$$A, x=$X)", "a, b", "f(a, b, x=x)");
        check("f($$$A, x=$X)", "", "f(x=x)");
        check("f(x=$X, $$$A)", "", "f(x=x)");
        check("f($$$A, x=$X, $$$A)", "", "f(x=x)");
        check("if {{guard}}:", "", "if <guard>:");
        check("cost = '$5'", "", "cost = '$5'");
    }
}
