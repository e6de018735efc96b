//! What the page shows, as HTML: every function here takes the state and gives a string, so all of it is tested
//! without a browser. A control says what it does in `data-do`, and to what in `data-to`; `page` acts on that.

pub mod bar;
pub mod certificate;
pub mod diff;
pub mod files;
pub mod ledger;
pub mod matrix;
pub mod needs;
pub mod overview;
pub mod recipes;
pub mod result;

use crate::port::state::State;
use codemod::RecipeInfo;
use guide::Citation;

/// What people call a target.
pub fn target_name(id: &str) -> String {
    match id {
        "popdist" => "PopDist".to_owned(),
        id => id.to_ascii_uppercase(),
    }
}

/// Text as HTML, also inside quotes.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '&' => html.push_str("&amp;"),
            '"' => html.push_str("&quot;"),
            c => html.push(c),
        }
    }
    html
}

/// A message as HTML; what stands between backticks is code.
fn marked(message: &str) -> String {
    let parts: Vec<&str> = message.split('`').collect();
    // A backtick without a second is a backtick.
    if parts.len().is_multiple_of(2) {
        return escape(message);
    }
    let code = |(index, part): (usize, &&str)| match index % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    parts.iter().enumerate().map(code).collect()
}

/// `html` when `when`, else nothing.
fn only(when: bool, html: &str) -> &str {
    if when { html } else { "" }
}

/// A link to the guide's section about a recipe, its title as text; nothing for the engine's own messages.
fn guide_link(state: &State, recipe: &str) -> String {
    match state.recipe(recipe) {
        Some(known) => format!(
            "<a class=\"guide-link\" href=\"{}\" target=\"_blank\">{}</a>",
            guide_address(recipe),
            escape(&known.title)
        ),
        None => String::new(),
    }
}

/// What a recipe holds for and is drawn from, in words.
fn grounds(recipe: &RecipeInfo) -> String {
    format!("Holds for: {} Source: {}", recipe.holds_for, recipe.source)
}

/// The same as HTML: what is cited is a link.
fn grounds_html(recipe: &RecipeInfo) -> String {
    let mut html = format!("Holds for: {} Source: ", escape(&recipe.holds_for));
    let mut rest = recipe.source.as_str();
    for Citation { text, url } in &recipe.citations {
        let Some((before, after)) = rest.split_once(text.as_str()) else { continue };
        html += &format!("{}<a href=\"{}\" target=\"_blank\">{}</a>", escape(before), escape(url), escape(text));
        rest = after;
    }
    html + &escape(rest)
}

/// The same, short: the SDK versions, and what is cited, or the guide where that is the source.
fn grounds_brief(recipe: &RecipeInfo) -> String {
    let link = |url: &str, text: &str| format!("<a href=\"{url}\" target=\"_blank\">{text}</a>");
    let cited: Vec<String> = recipe.citations.iter().map(|c| link(&escape(&c.url), &escape(&c.text))).collect();
    let source = if cited.is_empty() { link(&guide_address(&recipe.id), "the guide") } else { cited.join(", ") };
    format!("For SDK {}. Source: {source}", escape(&recipe.sdks.join(", ")))
}

/// The address of a recipe's section, seen from the page.
fn guide_address(recipe: &str) -> String {
    let (guide, section) = recipe.split_once('#').unwrap_or((recipe, ""));
    escape(&format!("../guides/{guide}/#{section}"))
}

#[cfg(test)]
mod tests;
