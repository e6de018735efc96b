//! The bar above the panes: what to port to. And what is said about opening, copying and sharing.

use super::{escape, only, target_name};
use crate::port::state::{Phase, Run, State, count};
use codemod::{OptionKind, Style, TargetInfo, TargetOption};

fn option(value: &str, label: &str, selected: bool) -> String {
    format!("<option value=\"{}\"{}>{}</option>", escape(value), only(selected, " selected"), escape(label))
}

/// Options of the target's field.
pub fn targets(state: &State) -> String {
    let targets = state.catalogue.targets.iter();
    targets.map(|t| option(&t.id, &target_name(&t.id), t.id == state.choice.target)).collect()
}

/// Options of the style's field; `auto` says what it came to.
pub fn styles(state: &State) -> String {
    let style = state.choice.style;
    let auto = match state.outcome.as_ref().filter(|_| style == Style::Auto).map(|outcome| outcome.style) {
        Some(Style::Branch) => "Auto: branch",
        Some(Style::InPlace) => "Auto: in place",
        _ => "Auto",
    };
    [("auto", auto, Style::Auto), ("in-place", "In place", Style::InPlace), ("branch", "Branch", Style::Branch)]
        .map(|(value, label, this)| option(value, label, this == style))
        .concat()
}

/// Options of the SDK's field, newest first.
pub fn sdks(state: &State) -> String {
    let sdks = state.target().map(|target| &target.sdks[..]).unwrap_or_default();
    let chosen = state.choice.sdk.as_ref().or(sdks.last());
    let label = |sdk: &String| if sdks.last() == Some(sdk) { format!("{sdk} (newest)") } else { sdk.clone() };
    sdks.iter().rev().map(|sdk| option(sdk, &label(sdk), Some(sdk) == chosen)).collect()
}

/// How many of the recipes' own options the user chose.
pub fn chosen(state: &State) -> String {
    match state.choice.options.len() {
        0 => String::new(),
        n => format!(" <span class=\"count\">{n}<span class=\"visually-hidden\"> chosen</span></span>"),
    }
}

/// Fields for the recipes' own options: first those that matter to the open project, the others folded away.
pub fn named(state: &State) -> String {
    let Some(target) = state.target() else { return String::new() };
    let (mut first, mut rest, mut folded) = (String::new(), String::new(), 0);
    let mut known = true;
    for (place, asked) in target.options.iter().enumerate() {
        let matters = state.trials.matters(&target.id, place);
        known &= matters.is_some();
        if matters == Some(false) && !state.choice.options.contains_key(&asked.name) {
            rest += &option_field(state, target, asked);
            folded += 1;
        } else {
            first += &option_field(state, target, asked);
        }
    }
    let name = escape(&target_name(&target.id));
    let said = match (state.outcome.is_some(), known, first.is_empty()) {
        (_, _, _) if target.options.is_empty() => format!("{name} has no options."),
        (true, true, true) => "None of the options changes the port of this project.".to_owned(),
        (true, false, _) => "Trying which of these change the port of this project…".to_owned(),
        _ => String::new(),
    };
    let said = if said.is_empty() { said } else { format!("<p>{said}</p>") };
    let rest = match folded {
        0 => String::new(),
        n => format!(
            "<details><summary>{} that {} nothing here</summary><div class=\"fields\">{rest}</div></details>",
            count(n, "option"),
            if n == 1 { "changes" } else { "change" }
        ),
    };
    format!("{said}<div class=\"fields\">{first}</div>{rest}")
}

/// One of them, with a line of help.
fn option_field(state: &State, target: &TargetInfo, asked: &TargetOption) -> String {
    let chosen = state.choice.options.get(&asked.name);
    let default = escape(&target.default_of(asked, state.choice.sdk.as_deref()));
    let (name, label) = (escape(&asked.name), escape(&asked.label));
    let acts = format!("id=\"option-{name}\" data-set=\"option\" data-to=\"{name}\" aria-describedby=\"about-{name}\"");
    let value = chosen.map(|value| escape(value)).unwrap_or_default();
    let control = match &asked.kind {
        OptionKind::OneOf(values) => {
            let values: String = values.iter().map(|value| option(value, value, Some(value) == chosen)).collect();
            format!("<select {acts}><option value=\"\">default ({default})</option>{values}</select>")
        }
        OptionKind::Number => format!(
            "<input type=\"number\" min=\"1\" max=\"999999999\" step=\"1\" inputmode=\"numeric\" \
             placeholder=\"{default}\" value=\"{value}\" {acts}>"
        ),
        OptionKind::Text => format!("<input type=\"text\" placeholder=\"{default}\" value=\"{value}\" {acts}>"),
    };
    let kind = escape(&asked.kind.to_string());
    format!(
        "<div class=\"field\"><label for=\"option-{name}\">{label}</label>{control}\
         <small id=\"about-{name}\">{kind}; {default} if you choose nothing. <code>--option {name}=…</code></small></div>"
    )
}

/// The switch for unsafe changes.
pub fn unsafe_switch(state: &State) -> String {
    format!(
        "<input type=\"checkbox\" id=\"unsafe\" data-set=\"unsafe\"{}><span>Apply unsafe changes too</span>",
        only(state.choice.allow_unsafe, " checked")
    )
}

/// What happened to the last thing the user asked for.
pub fn notice(state: &State) -> String {
    let Some(notice) = &state.notice else { return String::new() };
    let back = "<button class=\"link\" data-do=\"bring-back\">Bring the former project back</button>";
    format!(
        "<div class=\"port-notice{}\"><span>{}</span>{}<button class=\"link\" data-do=\"dismiss\">Dismiss</button></div>",
        only(notice.bad, " bad"),
        escape(&notice.text),
        only(state.has_former() && !notice.bad, back)
    )
}

/// What is said aloud after a port.
pub fn spoken(state: &State) -> String {
    if state.run != Run::Idle {
        return String::new();
    }
    escape(&match state.phase() {
        Phase::Changes | Phase::Nothing => state.summary(),
        Phase::Failed { message, line, column } => format!("Line {line}, column {column}: {message}"),
        Phase::Broken(_) => "The engine stopped.".to_owned(),
        _ => String::new(),
    })
}

/// What can be taken away.
pub fn take(state: &State) -> String {
    let changed = state.outcome_of(state.selected).is_some_and(|file| file.changed);
    let any_change = state.outcome.as_ref().is_some_and(|o| o.files.iter().any(|file| file.changed));
    let button = |id: &str, class: &str, label: &str, on: bool| {
        format!("<button class=\"{class}\" id=\"{id}\" data-do=\"{id}\"{}>{label}</button>", only(!on, " disabled"))
    };
    let quiet = "button quiet small";
    let launch = state.outcome.as_ref().map(|outcome| {
        let fields = escape(&outcome.launch);
        format!(
            "<a class=\"{quiet}\" id=\"to-launch\" href=\"../launch/#{fields}\" target=\"_blank\">Launch scripts</a>"
        )
    });
    let ported = state.outcome.is_some();
    [
        button("copy", quiet, "Copy port", changed),
        button("share", quiet, "Copy link", !state.is_empty()),
        launch.unwrap_or_default(),
        button("patch", "button small", "Download patch", any_change),
        "<details class=\"menu\"><summary class=\"button quiet small\">More</summary><div>".to_owned(),
        button("download-file", "", "This file, ported", changed),
        button("download-zip", "", "All files (.zip)", ported),
        button("download-report", "", "Report (.json)", ported),
        "<a href=\"../portolan-rehearsal.zip\" id=\"download-kit\" download>Rehearsal kit (.zip)</a></div></details>"
            .to_owned(),
    ]
    .concat()
}
