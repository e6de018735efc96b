//! The script, and what there is to know about it, as HTML.

use super::escape;
use launch::form::{Fields, Written, form};
use launch::{Flag, Plan, Problem, Step, directives};

/// A shell script with colours: comments, directives, strings, variables and words of the shell.
pub fn coloured(script: &str) -> String {
    let mut html = String::with_capacity(script.len() * 2);
    for line in script.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        match body.trim_start() {
            text if ["#!", "#SBATCH", "#PBS"].iter().any(|mark| text.starts_with(mark)) => {
                html += &span("hd", body);
            }
            text if text.starts_with('#') => html += &span("hc", body),
            _ => words(&mut html, body),
        }
        html += end;
    }
    html
}

fn span(class: &str, text: &str) -> String {
    format!("<span class=\"{class}\">{}</span>", escape(text))
}

const SHELL: [&str; 9] = ["if", "then", "else", "fi", "for", "do", "done", "export", "set"];

fn words(html: &mut String, line: &str) {
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            '"' => escaped(rest, '"'),
            '$' if rest.starts_with("$'") => 1 + escaped(&rest[1..], '\''),
            '$' => variable(rest),
            c if c.is_alphanumeric() || c == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        match first {
            '\'' | '"' => *html += &span("hs", word),
            '$' if word.starts_with("$'") => *html += &span("hs", word),
            '$' if length > 1 => *html += &span("hn", word),
            _ if SHELL.contains(&word) => *html += &span("hk", word),
            _ => *html += &escape(word),
        }
        rest = after;
    }
}

/// Length of a text in quotes that has backslashes, the quotes included.
fn escaped(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn variable(text: &str) -> usize {
    match text[1..].chars().next() {
        Some('{') => text.find('}').map_or(text.len(), |end| end + 1),
        Some('@') => 2,
        _ => 1 + text[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len() - 1),
    }
}

/// The numbers and how they follow from one another; what to know; what to watch.
pub fn about(written: &Written) -> String {
    let plan = &written.plan;
    let list = |title: &str, class: &str, lines: Vec<String>| match lines.is_empty() {
        true => String::new(),
        false => format!("<h3>{title}</h3><ul class=\"{class}\"><li>{}</li></ul>", lines.join("</li><li>")),
    };
    let numbers = list("Numbers", "numbers", plan.arithmetic.iter().map(|line| escape(line)).collect());
    let notes = list("To know", "", plan.notes.iter().map(|line| linked(line)).collect());
    let monitor =
        |monitor: &launch::Monitor| format!("<code>{}</code> {}", escape(&monitor.command), escape(&monitor.why));
    let monitors = list("While it runs, in a second terminal", "", plan.monitors.iter().map(monitor).collect());
    let try_it = format!(
        "<h3>Try it without running it</h3><p><code>DRY_RUN=1 bash {}</code> shows its commands and runs none of them.</p>",
        escape(&written.file)
    );
    format!("{numbers}{notes}{monitors}{try_it}<h3>Every line, and why</h3>{}", explained(plan))
}

fn explained(plan: &Plan) -> String {
    let mut rows = String::new();
    let mut row = |what: &str, why: &str, source: &str, flags: &[Flag]| {
        let parts: String = flags.iter().map(flag).collect();
        let parts = if parts.is_empty() { parts } else { format!("<ul>{parts}</ul>") };
        rows += &format!("<dt><code>{}</code></dt><dd>{} {}{parts}</dd>", escape(what), escape(why), linked(source));
    };
    if let Some((mark, source)) = launch::mark(plan.scheduler) {
        row(mark, "What the job asks for.", source, &directives(&plan.resources, plan.scheduler));
    }
    let words = |words: &[launch::Word]| words.iter().map(launch::Word::quoted).collect::<Vec<_>>().join(" ");
    for step in &plan.steps {
        match step {
            Step::Source { files, why, source, .. } => {
                let files: Vec<String> = files.iter().map(|file| format!(". {}", file.quoted())).collect();
                row(&files.join("\n"), why, source, &[]);
            }
            Step::Require { name, message } => row(&format!("${{{name}}} must be set"), message, "", &[]),
            Step::Set(setting) => {
                row(&format!("{}={}", setting.name, setting.value.quoted()), &setting.why, &setting.source, &[]);
            }
            Step::Run { argv, flags, why, source } => row(&words(argv), why, source, flags),
            Step::Take { file, why, source, .. } => row(&file.quoted(), why, source, &[]),
            Step::Keep { argv, why, source, .. } => row(&words(argv), why, source, &[]),
        }
    }
    format!("<dl class=\"why\">{rows}</dl>")
}

fn flag(flag: &Flag) -> String {
    format!("<li><code>{}</code> {} {}</li>", escape(&flag.words), escape(&flag.why), linked(&flag.source))
}

/// A text with its addresses as links.
fn linked(text: &str) -> String {
    let Some(at) = text.find("https://") else { return escape(text) };
    let (before, rest) = text.split_at(at);
    let end = rest.find([' ', ')', ',']).unwrap_or(rest.len());
    let (address, after) = rest.split_at(end);
    let host = address.trim_start_matches("https://").split('/').next().unwrap_or_default();
    format!("{}<a href=\"{}\" rel=\"external\">{}</a>{}", escape(before), escape(address), escape(host), linked(after))
}

/// What stands in the script's place while there is none.
pub fn missing(problems: &[Problem], fields: &Fields) -> String {
    let shown: Vec<_> = form(fields).into_iter().flat_map(|group| group.fields).collect();
    let line = |problem: &Problem| {
        let field = shown.iter().find(|field| field.name == problem.field);
        let name = match field {
            Some(field) => format!(
                "<button class=\"link\" type=\"button\" data-do=\"field\" data-to=\"{}\">{}</button>",
                escape(&field.name),
                escape(&field.label)
            ),
            None => format!("<code>{}</code>", escape(&problem.field)),
        };
        format!("<li>{name}: {}</li>", escape(&problem.message))
    };
    format!(
        "<div class=\"state\"><h3>No script yet</h3><p>This needs you:</p><ul>{}</ul></div>",
        problems.iter().map(line).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::{coloured, linked};

    #[test]
    fn colours_change_no_letter() {
        let script = "#!/usr/bin/env bash\n#SBATCH --nodes=1\n# why 'not\nif [ -z \"${A:-}\" ]; then\n  run 'a'\\''b' \"x \\\" $y\" $z $'a\\'b'\nfi\n";
        let html = coloured(script);
        let mut text = String::new();
        let mut inside = false;
        for c in html.chars() {
            match c {
                '<' => inside = true,
                '>' => inside = false,
                c if !inside => text.push(c),
                _ => {}
            }
        }
        let text = text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        assert_eq!(text, script);
        assert!(html.contains("<span class=\"hk\">if</span>"), "{html}");
        assert!(html.contains("<span class=\"hc\"># why 'not</span>"), "{html}");
    }

    #[test]
    fn addresses_are_links() {
        let html = linked("Site: X (https://a.b/c?d) and <more>");
        assert_eq!(html, "Site: X (<a href=\"https://a.b/c?d\" rel=\"external\">a.b</a>) and &lt;more&gt;");
    }
}
