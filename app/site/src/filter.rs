//! The filter form above a long list. Without JavaScript no form is shown and the list is complete. With it, the form
//! has its final height from the first paint on: if it came later it would move the list.

use crate::theme;
use guide::html::escape;

/// A select of the form: its name is the `data-` attribute of the items, which contains their values, separated by
/// spaces.
pub(crate) struct Choice<'a> {
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    /// Value and label.
    pub(crate) values: Vec<(String, String)>,
}

/// The list that is filtered, and the criteria.
pub(crate) struct Filter<'a> {
    /// CSS selector of the items. Each has `data-words`, the text that is searched.
    pub(crate) items: &'a str,
    /// The words for one item and for several.
    pub(crate) noun: (&'a str, &'a str),
    pub(crate) choices: Vec<Choice<'a>>,
}

/// The form above this many items.
pub(crate) fn form(filter: &Filter<'_>, items: usize) -> String {
    let (one, many) = filter.noun;
    let mut html = format!(
        "<form class=\"filter\" data-filters=\"{}\" data-noun=\"{one}|{many}\" role=\"search\">\n\
         <label class=\"field wide\"><span>Find {many}</span>\
         <input type=\"search\" name=\"words\" autocomplete=\"off\" spellcheck=\"false\"></label>\n",
        escape(filter.items)
    );
    for choice in &filter.choices {
        html += &format!("<label class=\"field\"><span>{}</span><select name=\"{}\">", choice.label, choice.name);
        html += "<option value=\"\">Any</option>";
        for (value, label) in &choice.values {
            html += &format!("<option value=\"{}\">{}</option>", escape(value), escape(label));
        }
        html += "</select></label>\n";
    }
    html += "<button class=\"button quiet small\" type=\"reset\">Clear</button>\n";
    html + &format!("<p role=\"status\">{items} of {items} {many}</p>\n</form>\n")
}

/// The tags that load the list's style and the form's script; `up` is the path to the site's root.
pub(crate) fn script(up: &str) -> String {
    let names = theme::names();
    format!(
        "<link rel=\"stylesheet\" href=\"{up}{}\">\n<script defer src=\"{up}{}\"></script>\n",
        names.parts, names.filter
    )
}
