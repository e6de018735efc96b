//! Dotted names in the lines of rules.

/// Dotted names of a line of a rule; a method of a metavariable as `.cuda()`.
pub(super) fn names(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut quoted = None;
    let mut word = String::new();
    for c in line.chars().chain([' ']) {
        match quoted {
            Some(quote) if c == quote => quoted = None,
            Some(_) => {}
            None if c.is_alphanumeric() || "_.$".contains(c) => word.push(c),
            None => {
                if let Some(name) = name(&std::mem::take(&mut word), c == '(') {
                    found.push(name);
                }
                if c == '"' || c == '\'' {
                    quoted = Some(c);
                }
            }
        }
    }
    found
}

fn name(word: &str, called: bool) -> Option<String> {
    let (head, rest) = word.split_once('.')?;
    if head.starts_with('$') || head.is_empty() || head == "self" {
        let method = rest.rsplit('.').next().filter(|method| called && !method.is_empty() && !method.contains('$'))?;
        return Some(format!(".{method}()"));
    }
    let is_name = head.starts_with(|c: char| c.is_alphabetic()) && !rest.ends_with('.') && !word.contains('$');
    is_name.then(|| word.to_string())
}
