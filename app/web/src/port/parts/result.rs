//! The right-hand pane: what came out, and every way in which nothing did.

use super::{diff, escape, matrix, needs, only, recipes, target_name};
use crate::port::state::{Panel, Phase, Run, State, count, needs_person};

/// The tabs, in order: panel, name for ids, label.
pub const PANELS: [(Panel, &str, &str); 5] = [
    (Panel::Changes, "changes", "Changes"),
    (Panel::Needs, "needs", "Needs you"),
    (Panel::Recipes, "recipes", "Recipes"),
    (Panel::Certificate, "certificate", "Ledger, certificate"),
    (Panel::Matrix, "matrix", "All targets"),
];

/// The numbers of the port.
pub fn summary(state: &State) -> String {
    escape(&state.summary())
}

/// Says that something is under way, and offers to stop it.
pub fn progress(state: &State) -> String {
    if state.run != Run::Working {
        return String::new();
    }
    "<span class=\"progress on\"><span class=\"spinner\" aria-hidden=\"true\"></span><span>Porting…</span>\
     <button class=\"button quiet small\" id=\"cancel\" data-do=\"cancel\">Cancel</button></span>"
        .to_owned()
}

/// The tabs, once there is a port.
pub fn tabs(state: &State) -> String {
    if state.outcome.is_none() {
        return String::new();
    }
    let (changes, needs) = state.totals();
    let recipes = state.tally().len();
    let flags = state.outcome.as_ref().map_or(0, |outcome| outcome.flags);
    let tab = |(panel, name, label): (Panel, &str, &str)| {
        let number = match panel {
            Panel::Changes => Some(changes),
            Panel::Needs => Some(needs),
            Panel::Recipes => Some(recipes),
            Panel::Certificate => Some(flags).filter(|n| *n > 0),
            Panel::Matrix => None,
        };
        let warn = only((panel == Panel::Needs && needs > 0) || (panel == Panel::Certificate && flags > 0), " warn");
        let number = number.map(|n| format!("<span class=\"count{warn}\">{n}</span>")).unwrap_or_default();
        let on = state.panel == panel;
        format!(
            "<button role=\"tab\" id=\"tab-{name}\" data-do=\"panel\" data-to=\"{name}\" aria-controls=\"panel\" \
             aria-selected=\"{on}\" tabindex=\"{}\">{label}{number}</button>",
            if on { 0 } else { -1 }
        )
    };
    format!("<div class=\"tabs\" role=\"tablist\" aria-label=\"Result\">{}</div>", PANELS.map(tab).concat())
}

/// What the chosen tab shows.
pub fn panel(state: &State) -> String {
    match state.panel {
        _ if state.outcome.is_none() => changes(state),
        Panel::Changes => changes(state),
        Panel::Needs => needs::list(state),
        Panel::Recipes => recipes::list(state),
        Panel::Certificate => state.outcome.as_ref().map(|o| o.certificate.clone()).unwrap_or_default(),
        Panel::Matrix => matrix::panel(state),
    }
}

/// The changes, or why there are none.
fn changes(state: &State) -> String {
    let said = |bad: bool, title: &str, text: &str, button: &str| {
        format!("<div class=\"state{}\"><h3>{title}</h3><p>{text}</p>{button}</div>", only(bad, " bad"))
    };
    match state.phase() {
        Phase::Changes => format!("{}{}", overview(state), diff::SHELL),
        Phase::Nothing => nothing(state),
        Phase::Empty => said(
            false,
            "No script yet",
            "Paste a training script on the left, open files, or start from the sample. The port appears here as you \
             type. The page sends your code nowhere.",
            "<p><button class=\"button\" data-do=\"sample\">Start from the sample</button></p>",
        ),
        Phase::Starting => said(false, "Loading the engine…", "Your text is ported as soon as it is here.", ""),
        Phase::Working => said(false, "Porting…", "", ""),
        Phase::Stopped => said(
            false,
            "Stopped",
            "You cancelled this port. Your text is as it was.",
            "<p><button class=\"button\" data-do=\"port\">Port it after all</button></p>",
        ),
        Phase::Broken(why) => said(
            true,
            "The engine stopped",
            &format!(
                "It could not cope with this input, or could not be loaded. Your text is as it was.{}",
                if why.is_empty() { String::new() } else { format!(" <code>{}</code>", escape(&why)) }
            ),
            "<p><button class=\"button\" data-do=\"port\">Start it again</button></p>",
        ),
        Phase::Failed { message, line, column } => said(
            true,
            "This file can't be ported yet",
            &escape(&message),
            &match wants_in_place(state) {
                true => "<p><button class=\"button\" data-do=\"style\" data-to=\"in-place\">Port in place</button></p>"
                    .to_owned(),
                false => format!(
                    "<p><button class=\"button\" data-do=\"source\" data-to=\"{line} {column}\">Go to line {line}, \
                     column {column}</button></p>"
                ),
            },
        ),
    }
}

/// Whether another style is the remedy: the fault is at no line of the file.
fn wants_in_place(state: &State) -> bool {
    let messages = state.outcome_of(state.selected).map(|file| &file.diagnostics[..]).unwrap_or_default();
    messages.iter().any(|message| message.recipe == "engine#no-compute-modes")
}

/// The way from the source to the port, for pages on which it is below.
pub fn way(state: &State) -> String {
    match state.phase() {
        Phase::Changes | Phase::Nothing => format!(
            "<button class=\"link\" data-do=\"to-result\">{}<span class=\"visually-hidden\">: go to the port</span> \
             <span aria-hidden=\"true\">↓</span></button>",
            escape(&state.summary())
        ),
        Phase::Failed { .. } | Phase::Broken(_) => {
            "<button class=\"link\" data-do=\"to-result\">Not ported: see why <span aria-hidden=\"true\">↓</span></button>"
                .to_owned()
        }
        _ => String::new(),
    }
}

/// A file that stays as it is.
fn nothing(state: &State) -> String {
    let messages = state.outcome_of(state.selected).map(|file| &file.diagnostics[..]).unwrap_or_default();
    let needs = messages.iter().filter(|d| needs_person(d)).count();
    let path = state.file().map(|file| file.path.as_str()).unwrap_or_default();
    let here = |line: &&String| line.strip_prefix(path).is_some_and(|rest| rest.starts_with(':'));
    let residue = state.outcome.iter().flat_map(|o| &o.residue).filter(here).count();
    let off = !state.rejected.recipes.is_empty() || state.rejected.edits.iter().any(|edit| edit.path == path);
    let target = escape(&target_name(&state.choice.target));
    let text = match (needs, residue) {
        (0, 0) if off => format!("No {target} recipe changes this file, with what you turned off."),
        (0, 0) => format!("No {target} recipe changes this file, and no name of the source vendor was found in it."),
        (0, _) => format!("No {target} recipe changes this file, but names of the source vendor are left in it."),
        (1, _) => format!("No {target} recipe changes this file by itself; 1 place is left for you."),
        (n, _) => format!("No {target} recipe changes this file by itself; {n} places are left for you."),
    };
    let elsewhere = state.outcome.iter().flat_map(|o| o.files.iter().enumerate()).filter(|(_, file)| file.hunks > 0);
    let elsewhere: String = elsewhere
        .map(|(index, file)| {
            let changes = count(file.hunks, "change");
            let path = escape(&file.path);
            format!("<li><button class=\"link\" data-do=\"select\" data-to=\"{index}\">{path}</button>: {changes}</li>")
        })
        .collect();
    let elsewhere = match elsewhere.is_empty() {
        true => elsewhere,
        false => format!("<ul>{elsewhere}</ul>"),
    };
    let shell = only(!messages.is_empty() || off, diff::SHELL);
    let overview = overview(state);
    format!("{overview}<div class=\"state\"><h3>Nothing changed</h3><p>{text}</p>{elsewhere}</div>{shell}")
}

/// What the port begins with when its training step is not in it.
fn overview(state: &State) -> &str {
    state.outcome.as_ref().map_or("", |outcome| &outcome.overview)
}
