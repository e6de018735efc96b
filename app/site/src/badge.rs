//! The badges below a recipe's heading: how safe it is and to which versions it applies.

use guide::html::escape;
use guide::{Rule, Section};

/// Class and text of a rule's badges.
pub(crate) fn of_rule(rule: &Rule) -> Vec<(&'static str, String)> {
    let (class, text) = match (rule.manual || is_report(rule), rule.is_unsafe) {
        (true, _) => ("manual", "Manual"),
        (_, true) => ("unsafe", "Opt-in: may alter results"),
        _ => ("safe", "Automatic"),
    };
    let mut badges = vec![match &rule.sdk {
        Some(sdk) => (class, format!("{text} (SDK {})", range(sdk))),
        None => (class, text.to_string()),
    }];
    if rule.stops_step {
        badges.push(("manual", "Stops the training step".to_string()));
    }
    if !rule.styles.is_empty() {
        let names: Vec<&str> = rule.styles.iter().map(|style| style_name(style)).collect();
        badges.push(("", format!("Only {}", names.join(" or "))));
    }
    match rule.framework.as_deref() {
        Some("torch") => badges.push(("", "PyTorch".to_string())),
        Some("tensorflow") => badges.push(("", "TensorFlow".to_string())),
        Some("lightning") => badges.push(("", "Lightning".to_string())),
        _ => {}
    }
    if let Some((name, value)) = rule.option.as_deref().and_then(|option| option.split_once('=')) {
        badges.push(("", format!("Option {name}: {value}")));
    }
    badges
}

/// The kind of a recipe's rules, as the class of their badges: `safe`, `unsafe`, `manual`.
pub(crate) fn kinds(section: &Section) -> Vec<&'static str> {
    let mut kinds: Vec<&'static str> =
        section.rules.iter().filter_map(|rule| of_rule(rule).first().map(|(class, _)| *class)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// A recipe's badges as a list: how safe each of its rules is, and what all of them require.
pub(crate) fn of_section(section: &Section) -> String {
    let rules: Vec<_> = section.rules.iter().map(of_rule).collect();
    let mut badges: Vec<(&str, String)> = Vec::new();
    for badge in rules.iter().filter_map(|rule| rule.first()) {
        if !badges.contains(badge) {
            badges.push(badge.clone());
        }
    }
    if let Some((first, others)) = rules.split_first() {
        badges.extend(first[1..].iter().filter(|badge| others.iter().all(|rule| rule.contains(badge))).cloned());
    }
    list(&badges)
}

pub(crate) fn list(badges: &[(&str, String)]) -> String {
    if badges.is_empty() {
        return String::new();
    }
    let mut html = String::from("<ul class=\"badges\">");
    for (class, text) in badges {
        let space = if class.is_empty() { "" } else { " " };
        html += &format!("<li class=\"badge{space}{class}\">{}</li>", escape(text));
    }
    html + "</ul>\n"
}

pub(crate) fn style_name(style: &str) -> &str {
    match style {
        "branch" => "in a branch",
        "agnostic" => "in one program for all devices",
        _ => "in place",
    }
}

/// A patch without `+` and `-` lines only reports.
fn is_report(rule: &Rule) -> bool {
    rule.handler.is_none() && !rule.patch.lines().any(|line| line.starts_with(['+', '-']))
}

/// `>=1.8,<1.20` in words for screen readers: `1.8 or newer, older than 1.20`.
fn range(sdk: &str) -> String {
    let words = |comparison: &str| {
        let (operator, version) = comparison.split_at(comparison.find(|c: char| c.is_ascii_digit()).unwrap_or(0));
        let version = version.trim();
        match operator.trim() {
            ">=" => format!("{version} or newer"),
            ">" => format!("newer than {version}"),
            "<=" => format!("{version} or older"),
            "<" => format!("older than {version}"),
            _ => version.to_string(),
        }
    };
    sdk.split(',').map(|comparison| words(comparison.trim())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::of_rule;
    use guide::Rule;

    fn check(rule: &Rule, expected: &str) {
        let badges: Vec<String> = of_rule(rule).into_iter().map(|(_, text)| text).collect();
        assert_eq!(badges.join(" | "), expected);
    }

    #[test]
    fn words() {
        let edit = Rule { patch: "- a\n+ b\n".to_string(), ..Rule::default() };
        check(&edit, "Automatic");
        check(&Rule { patch: "  a\n".to_string(), ..Rule::default() }, "Manual");
        check(
            &Rule {
                is_unsafe: true,
                sdk: Some(">=1.8, <1.20".to_string()),
                styles: vec!["branch".to_string()],
                framework: Some("torch".to_string()),
                option: Some("lazy=on".to_string()),
                ..edit
            },
            "Opt-in: may alter results (SDK 1.8 or newer, older than 1.20) | Only in a branch | \
             PyTorch | Option lazy: on",
        );
    }

    #[test]
    fn a_recipe_asks_only_for_what_all_its_rules_ask() {
        let rule = |style: &str| Rule {
            patch: "- a\n+ b\n".to_string(),
            styles: vec![style.to_string()],
            framework: Some("torch".to_string()),
            ..Rule::default()
        };
        let text = "+++\ntitle = \"T\"\n+++\n## A\n";
        let mut guide = guide::Guide::parse("t.md", text).expect("it is right");
        guide.sections[0].rules = vec![rule("in-place"), rule("branch")];
        assert_eq!(
            super::of_section(&guide.sections[0]),
            "<ul class=\"badges\"><li class=\"badge safe\">Automatic</li><li class=\"badge\">PyTorch</li></ul>\n"
        );
    }
}
