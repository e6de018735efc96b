//! The tree as HTML text.

use super::tree::{Kind, Node, plain};
use pulldown_cmark::Alignment;

/// Escapes text for HTML, in an element or between double quotes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

pub(super) fn html(nodes: &[Node]) -> String {
    let mut out = String::new();
    for node in nodes {
        write(node, &mut out);
    }
    out
}

fn write(node: &Node, out: &mut String) {
    let inner = || html(&node.children);
    match &node.kind {
        Kind::Paragraph { class: None } => block("p", &inner(), out),
        Kind::Paragraph { class: Some(class) } => *out += &format!("<p class=\"{class}\">{}</p>\n", inner()),
        Kind::Heading { level, id, below } => {
            *out += &format!(
                "<div class=\"heading\"><h{level} id=\"{id}\">{}</h{level}>\
                 <a class=\"anchor\" href=\"#{id}\" aria-labelledby=\"{id}\">#</a></div>\n{below}",
                inner()
            );
        }
        Kind::Quote => block("blockquote", &format!("\n{}", inner()), out),
        Kind::List { start: None } => block("ul", &format!("\n{}", inner()), out),
        Kind::List { start: Some(1) } => block("ol", &format!("\n{}", inner()), out),
        Kind::List { start: Some(start) } => *out += &format!("<ol start=\"{start}\">\n{}</ol>\n", inner()),
        Kind::Item => block("li", &inner(), out),
        Kind::Table { columns } => table(node, columns, out),
        // They are written by their table, because a cell needs its column's alignment.
        Kind::Head | Kind::Row | Kind::Cell => {}
        Kind::Emphasis => *out += &format!("<em>{}</em>", inner()),
        Kind::Strong => *out += &format!("<strong>{}</strong>", inner()),
        Kind::Link { to } => *out += &format!("<a href=\"{}\">{}</a>", escape(to), inner()),
        Kind::Image { to } => {
            *out += &format!("<img src=\"{}\" alt=\"{}\">", escape(to), escape(&plain(&node.children)));
        }
        Kind::Fence(fence) => *out += &format!("<pre><code>{}</code></pre>\n", escape(&fence.body)),
        Kind::Text(text) => *out += &escape(text),
        Kind::Code(code) => *out += &format!("<code>{}</code>", escape(code)),
        Kind::Break => out.push_str("<br>\n"),
        Kind::Line => out.push_str("<hr>\n"),
        Kind::Html(html) => out.push_str(html),
    }
}

fn block(tag: &str, inner: &str, out: &mut String) {
    *out += &format!("<{tag}>{inner}</{tag}>\n");
}

/// A table in a frame of its own: a wide one scrolls inside it, by keyboard too, and the page does not.
fn table(node: &Node, columns: &[Alignment], out: &mut String) {
    let heads: Vec<String> = node
        .children
        .first()
        .map(|head| head.children.iter().map(|cell| plain(&cell.children)).collect())
        .unwrap_or_default();
    let name = heads.iter().filter(|name| !name.is_empty()).cloned().collect::<Vec<_>>().join(", ");
    // Two tables of a page may have the same columns, and regions are distinguished by their names.
    let number = out.matches("<div class=\"table\"").count() + 1;
    *out += &format!(
        "<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"Table {number}: {}\">\n",
        escape(&name)
    );
    out.push_str("<table>\n");
    // A first column with an empty header contains the names of the rows.
    let names_rows =
        node.children.first().and_then(|head| head.children.first()).is_some_and(|cell| cell.children.is_empty());
    for row in &node.children {
        let is_head = matches!(row.kind, Kind::Head);
        out.push_str(if is_head { "<thead><tr>" } else { "<tr>" });
        for (index, cell) in row.children.iter().enumerate() {
            let class = match columns.get(index) {
                Some(Alignment::Right) => " class=\"right\"",
                Some(Alignment::Center) => " class=\"center\"",
                _ => "",
            };
            let (tag, scope) = match (is_head, index == 0 && names_rows) {
                // A column without a name has no header.
                (true, false) if !cell.children.is_empty() => ("th", " scope=\"col\""),
                (false, true) => ("th", " scope=\"row\""),
                _ => ("td", ""),
            };
            // On a narrow page a row is shown as a list, and each cell is labelled.
            let label = match heads.get(index).filter(|head| !is_head && tag == "td" && !head.is_empty()) {
                Some(head) => format!(" data-label=\"{}\"", escape(head)),
                None => String::new(),
            };
            *out += &format!("<{tag}{scope}{class}{label}>{}</{tag}>", html(&cell.children));
        }
        out.push_str(if is_head { "</tr></thead>\n<tbody>\n" } else { "</tr>\n" });
    }
    out.push_str("</tbody>\n</table></div>\n");
}
