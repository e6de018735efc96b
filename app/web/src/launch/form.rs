//! The form as HTML.

use super::escape;
use launch::form::{FieldKind, Fields, FormField, form};

/// All fields, by group. What is wrong with a field is written beside it later, into `problem-NAME`. A folded group is
/// open when something is written in it, or when it was so before.
pub fn html(fields: &Fields, unfolded: bool) -> String {
    let groups = form(fields).into_iter().map(|group| {
        let shown: String = group.fields.iter().map(|field| control(field, fields)).collect();
        if group.folded {
            let is_written =
                group.fields.iter().any(|field| fields.get(&field.name).is_some_and(|text| !text.is_empty()));
            let open = if unfolded || is_written { " open" } else { "" };
            return format!("<details id=\"folded\"{open}><summary>{}</summary>{shown}</details>", group.title);
        }
        format!("<fieldset><legend>{}</legend>{shown}</fieldset>", group.title)
    });
    groups.collect()
}

/// What decides which fields there are; as long as it stays, so does the form.
pub fn shape(fields: &Fields) -> Vec<String> {
    form(fields).into_iter().flat_map(|group| group.fields).map(|field| format!("{field:?}")).collect()
}

fn control(field: &FormField, fields: &Fields) -> String {
    let name = escape(&field.name);
    let value = fields.get(&field.name).map(String::as_str).unwrap_or_default();
    let help = if field.help.is_empty() { String::new() } else { format!(" help-{name}") };
    let acts = format!("id=\"field-{name}\" name=\"{name}\" aria-describedby=\"problem-{name}{help}\"");
    let required = if field.required { " aria-required=\"true\"" } else { "" };
    let default = escape(&field.default);
    let written = escape(value);
    let control = match &field.kind {
        FieldKind::Choice(values) => {
            let chosen = if value.is_empty() { &field.default } else { value };
            let mut options = String::new();
            // A value that the list lacks came with a link: it is shown, and the problem beside it says more.
            if !values.iter().any(|(value, _)| value == chosen) {
                options += &format!("<option value=\"{0}\" selected>{0}</option>", escape(chosen));
            }
            for (value, label) in values {
                let selected = if value == chosen { " selected" } else { "" };
                options += &format!("<option value=\"{}\"{selected}>{}</option>", escape(value), escape(label));
            }
            format!("<select {acts}>{options}</select>")
        }
        FieldKind::Number => format!(
            "<input type=\"text\" inputmode=\"numeric\" autocomplete=\"off\" size=\"6\" placeholder=\"{default}\" \
             value=\"{written}\" {acts}{required}>"
        ),
        FieldKind::Text => format!(
            "<input type=\"text\" autocomplete=\"off\" autocapitalize=\"off\" spellcheck=\"false\" \
             placeholder=\"{default}\" value=\"{written}\" {acts}{required}>"
        ),
        FieldKind::Lines => {
            format!("<textarea rows=\"9\" spellcheck=\"false\" {acts}{required}>\n{written}</textarea>")
        }
        FieldKind::Switch => {
            let checked = if value == "on" { " checked" } else { "" };
            format!("<input type=\"checkbox\" value=\"on\" {acts}{checked}>")
        }
    };
    let mark = if field.required { " <span class=\"needed\">required</span>" } else { "" };
    let about = if field.help.is_empty() {
        String::new()
    } else {
        format!("<p class=\"help\" id=\"help-{name}\">{}</p>", escape(&field.help))
    };
    let kind = match field.kind {
        FieldKind::Switch => " switched",
        FieldKind::Number => " narrow",
        _ => "",
    };
    format!(
        "<div class=\"field{kind}\"><label for=\"field-{name}\">{}{mark}</label>{control}{about}\
         <p class=\"problem\" id=\"problem-{name}\"></p></div>",
        escape(&field.label)
    )
}

#[cfg(test)]
mod tests {
    use super::html;
    use launch::form::Fields;

    fn check(of: &[(&str, &str)], expected: &[&str]) {
        let fields: Fields = of.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
        let html = html(&fields, false);
        for part in expected {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn controls_hold_what_was_written() {
        check(&[("entry", "a \"b\" <c>.py")], &["value=\"a &quot;b&quot; &lt;c&gt;.py\"", "for=\"field-entry\""]);
        check(&[("target", "rdu")], &["<option value=\"rdu\" selected>"]);
        check(&[("lazy", "on")], &["name=\"lazy\" aria-describedby=\"problem-lazy help-lazy\" checked"]);
        let folded = "<details id=\"folded\"><summary>More about the project</summary>";
        check(&[("entry", "a.py"), ("batch", "8")], &[folded]);
        check(&[("batch-from", "a.py:3")], &["<details id=\"folded\" open>"]);
        check(&[("alone", "on")], &["<details id=\"folded\" open>"]);
        check(&[("target", "tpu")], &["<option value=\"tpu\" selected>tpu</option>"]);
    }
}
