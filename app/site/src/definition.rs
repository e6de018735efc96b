//! A guide's named definitions, as shown on the page.

use crate::figure;
use guide::html::escape;
use guide::{Condition, Defined, Definition};

/// A definition in place of its fence. Signatures of one fence are shown together.
pub(crate) fn html(definitions: &[&Definition]) -> String {
    let Some(first) = definitions.first() else { return String::new() };
    let name = escape(&first.name);
    match &first.what {
        Defined::Message(text) => format!("<blockquote>\n<p>{}</p>\n</blockquote>\n", sentence(text)),
        Defined::Names(names) => {
            let items = names.iter().map(|listed| {
                let remark =
                    if listed.remark.is_empty() { String::new() } else { format!(": {}", escape(&listed.remark)) };
                format!("<li><code>{}</code>{remark}</li>\n", escape(&listed.name))
            });
            folded(&format!("The names <code>@{name}</code>"), &format!("<ul>\n{}</ul>\n", items.collect::<String>()))
        }
        Defined::Words(words) => {
            let items = words.iter().map(|word| format!("<li><code>{}</code></li>\n", escape(word)));
            let items: String = items.collect();
            format!(
                "<figure class=\"words\">\n<figcaption>The words <code>{name}</code></figcaption>\n<ul>\n{items}</ul>\n</figure>\n"
            )
        }
        Defined::Block(text) => {
            folded(&format!("Python code that a port adds: <code>{name}</code>"), &figure::code("python", text))
        }
        Defined::Module(text) => figure::code("python", text),
        Defined::Conditions(named) => folded(&format!("The conditions <code>@{name}</code>"), &conditions(named)),
        Defined::Signature(_) => {
            let line = |definition: &&Definition| match &definition.what {
                Defined::Signature(parameters) => format!("{}({})\n", definition.name, parameters.join(", ")),
                _ => String::new(),
            };
            let lines: String = definitions.iter().map(line).collect();
            folded("Arguments that may be positional", &figure::code("python", &lines))
        }
    }
}

/// Conditions as a list; those below `any of:` as a nested list.
pub(crate) fn conditions(conditions: &[Condition]) -> String {
    let items = conditions.iter().map(|condition| {
        let inner = if condition.any_of.is_empty() {
            String::new()
        } else {
            format!("\n{}", self::conditions(&condition.any_of))
        };
        format!("<li><code>{}</code>{inner}</li>\n", escape(&condition.text))
    });
    format!("<ul>\n{}</ul>\n", items.collect::<String>())
}

fn folded(summary: &str, body: &str) -> String {
    format!("<details class=\"rule\"><summary>{summary}</summary>\n{body}</details>\n")
}

/// A message with its code and its slots highlighted.
fn sentence(text: &str) -> String {
    let marked = |words: &str| words.replace("{{", "<var>").replace("}}", "</var>");
    let parts = text.split('`').enumerate().map(|(n, part)| match n % 2 {
        0 => marked(&escape(part)),
        _ => format!("<code>{}</code>", marked(&escape(part))),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::html;
    use guide::Guide;

    #[track_caller]
    fn check(fence: &str, expected: &str) {
        let page = format!("+++\ntitle = \"T\"\n+++\n## A\n{fence}");
        let guide = Guide::parse("t.md", &page).expect("it is right");
        assert_eq!(html(&guide.sections[0].definitions.iter().collect::<Vec<_>>()), expected);
    }

    #[test]
    fn definitions() {
        check(
            "```message left\n`{{name}}` is left & {{more}}\n```\n",
            "<blockquote>\n<p><code><var>name</var></code> is left &amp; <var>more</var></p>\n</blockquote>\n",
        );
        check(
            "```names lists\na.b  # of a\nc\n```\n",
            "<details class=\"rule\"><summary>The names <code>@lists</code></summary>\n\
             <ul>\n<li><code>a.b</code>: of a</li>\n<li><code>c</code></li>\n</ul>\n</details>\n",
        );
        check(
            "```words verbs\nget\nmake\n```\n",
            "<figure class=\"words\">\n<figcaption>The words <code>verbs</code></figcaption>\n\
             <ul>\n<li><code>get</code></li>\n<li><code>make</code></li>\n</ul>\n</figure>\n",
        );
        check(
            "```conditions named\nany of:\n  file trains\n```\n",
            "<details class=\"rule\"><summary>The conditions <code>@named</code></summary>\n\
             <ul>\n<li><code>any of:</code>\n<ul>\n<li><code>file trains</code></li>\n</ul>\n</li>\n</ul>\n</details>\n",
        );
    }
}
