//! The API lookup page: every API name in a recipe, and what happens to it on each target.

use crate::filter::{self, Choice, Filter};
use crate::search::Entry;
use crate::shell::{Frame, shell};
use codemod::{ApiNames, ApiResult, api_names};
use guide::html::escape;
use guide::{FrontMatter, Guide};
use sorting::SortedSet;

/// A target as the page shows it.
struct Column<'a> {
    target: &'a str,
    /// Its name.
    name: String,
}

fn columns<'a>(guides: &[Guide], targets: &[&'a str]) -> Vec<Column<'a>> {
    let column = |target: &&'a str| Column { target, name: named(guides, target).1 };
    targets.iter().map(column).collect()
}

/// The names for the search, each with its results.
fn entries(columns: &[Column<'_>], rows: ApiNames<'_>) -> Vec<Entry> {
    let on = |(target, results): (&&str, &SortedSet<ApiResult>)| {
        let mut words: Vec<&str> = results.iter().map(|result| &*result.text).collect();
        words.dedup();
        let name = columns.iter().find(|column| column.target == *target).map_or(*target, |column| &*column.name);
        format!("{name}: {}", words.join(", "))
    };
    rows.into_iter()
        .map(|(name, by_target)| Entry {
            group: "API names",
            to: format!("apis/#{}", anchor(&name)),
            place: "API lookup".to_string(),
            text: by_target.iter().map(on).collect::<Vec<_>>().join("\n"),
            title: name,
            says: Vec::new(),
        })
        .collect()
}

/// The page at `apis/`, and its search entries. `targets` are those offered by the port.
pub(crate) fn write(guides: &[Guide], targets: &[&str]) -> (String, Vec<Entry>) {
    let columns = columns(guides, targets);
    let rows = api_names(guides, targets);
    let narrowed_by = Filter {
        items: ".apis tbody tr",
        noun: ("name", "names"),
        choices: vec![Choice {
            name: "target",
            label: "Target",
            values: targets.iter().map(|target| named(guides, target)).collect(),
        }],
    };
    let main = format!(
        "<div class=\"wrap band\">\n<div class=\"prose\">\n<h1>API lookup</h1>\n\
         <p class=\"lead\">Every API name that a recipe covers, and what happens to it on each target. Each cell links to the \
         recipe, with the reason, the SDK versions and what remains to be done by hand. An empty cell means that no \
         recipe for that target mentions the name: the code is unchanged, and remaining references to CUDA are reported.</p>\n</div>\n{}{}</div>\n",
        filter::form(&narrowed_by, rows.len()),
        table(&columns, &rows)
    );
    let page = shell(&Frame {
        path: "apis/",
        title: "API lookup",
        description: "What happens to each PyTorch, TensorFlow or Lightning API on each target, side by side.",
        head: &filter::script("../"),
        main: &main,
        ..Frame::default()
    });
    (page, entries(&columns, rows))
}

/// A target's id and name.
pub(crate) fn named(guides: &[Guide], target: &str) -> (String, String) {
    (target.to_string(), FrontMatter::target_name(target, guides.iter().map(|guide| &guide.front)))
}

fn table(columns: &[Column<'_>], rows: &ApiNames<'_>) -> String {
    let mut html = String::from(
        "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"APIs by target\"><table class=\"apis\">\n\
         <thead><tr><th scope=\"col\">Name</th>",
    );
    for column in columns {
        html += &format!("<th scope=\"col\">{}</th>", escape(&column.name));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (name, by_target) in rows {
        let on: Vec<&str> = by_target.keys().copied().collect();
        html += &format!(
            "<tr data-words=\"{words}\" data-target=\"{}\"><th scope=\"row\" id=\"{}\"><code>{}</code></th>",
            on.join(" "),
            anchor(name),
            breakable(name),
            words = escape(name),
        );
        for column in columns {
            let cell = by_target.get(column.target).map(cell).unwrap_or_default();
            html += &format!("<td data-label=\"{}\">{cell}</td>", escape(&column.name));
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

/// A long name is broken between its parts.
fn breakable(name: &str) -> String {
    let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
    escape(first) + &escape(rest).replace('.', "<wbr>.").replace('_', "_<wbr>")
}

/// The result for a name on one target. Identical results of several recipes are shown once, with a link to each.
fn cell(results: &SortedSet<ApiResult>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut before: Option<(&str, usize)> = None;
    // Sorted by text.
    for result in results {
        match (&mut before, lines.last_mut()) {
            (Some((text, times)), Some(line)) if *text == result.text => {
                *times += 1;
                *line += &format!(
                    " <a href=\"{}\" aria-label=\"{}, recipe {times}\">({times})</a>",
                    link(result),
                    escape(&result.text)
                );
            }
            _ => {
                let link = link(result);
                let text = escape(&result.text);
                let text = if result.is_code { format!("<code>{}</code>", breakable(&result.text)) } else { text };
                lines.push(format!("<a href=\"{link}\">{text}</a>"));
                before = Some((&result.text, 1));
            }
        }
    }
    lines.join("<br>")
}

/// From the page to the recipe.
fn link(result: &ApiResult) -> String {
    format!("../guides/{}", result.recipe.replacen('#', "/#", 1))
}

/// `torch.cuda.amp.GradScaler` as it is, `.cuda()` as `method-cuda`.
fn anchor(name: &str) -> String {
    match name.strip_prefix('.') {
        Some(method) => format!("method-{}", method.trim_end_matches("()")),
        None => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{breakable, cell};
    use codemod::ApiResult;
    use sorting::SortedSet;

    #[test]
    fn what_several_recipes_do_alike_is_said_once() {
        let result = |text: &str, recipe: &str| ApiResult {
            text: text.to_string(),
            recipe: recipe.to_string(),
            title: String::new(),
            is_code: false,
        };
        let results =
            SortedSet::from([result("rewritten", "g#a"), result("removed", "g#b"), result("rewritten", "g#c")]);
        assert_eq!(
            cell(&results),
            "<a href=\"../guides/g/#b\">removed</a><br><a href=\"../guides/g/#a\">rewritten</a> \
             <a href=\"../guides/g/#c\" aria-label=\"rewritten, recipe 2\">(2)</a>"
        );
    }

    #[test]
    fn a_name_breaks_inside_and_not_before_its_first_part() {
        assert_eq!(breakable(".load_state_dict()"), ".load_<wbr>state_<wbr>dict()");
        assert_eq!(breakable("torch.cuda"), "torch<wbr>.cuda");
    }
}
