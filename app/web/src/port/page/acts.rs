//! What controls do: `data-do` for buttons, `data-set` for fields.

use super::{about, editor, table};
use crate::browser;
use crate::port::app::Session;
use crate::port::parts::result::PANELS;
use crate::port::state::{Jump, Panel, Phase, State};
use crate::port::{opening, take_away};
use codemod::Style;
use reactive_graph::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Event, HtmlInputElement, HtmlSelectElement, KeyboardEvent};

/// A click anywhere.
pub(super) fn click(session: Session, event: &Event) {
    if let Some((button, act)) = about(event, "data-do") {
        let to = button.get_attribute("data-to").unwrap_or_default();
        act_on(session, &act, &to);
    }
}

fn act_on(session: Session, act: &str, to: &str) {
    let state = session.state;
    let numbers: Vec<usize> = to.split(' ').filter_map(|word| word.parse().ok()).collect();
    let edits = || to.split(' ').map(str::to_owned).collect::<Vec<String>>();
    match (act, &numbers[..]) {
        ("open-files" | "open-folder", _) => opening::pick(act),
        ("sample", _) => opening::open_sample(session),
        ("port", _) => session.port_now(),
        ("options", _) => session.flip_options(),
        ("cancel", _) => session.stop(),
        ("bring-back", _) => session.change_and_port(|state| state.bring_back()),
        ("dismiss", _) => session.state.update(|state| state.notice = None),
        ("select", &[index]) => session.select(index),
        ("close", &[index]) => session.change_and_port(|state| state.close(index)),
        ("panel", _) => show_panel(session, to),
        ("source", &[line, column]) => go_to_source(session, line, column),
        ("go", &[file, line, column]) => {
            session.select(file);
            let failed = state.with_untracked(|state| matches!(state.phase(), Phase::Failed { .. }));
            if failed {
                return go_to_source(session, line, column);
            }
            state.update(|state| {
                state.panel = Panel::Changes;
                state.jump_to(Jump::New(line.saturating_sub(1) as u32));
            });
        }
        ("style", _) => session.change_and_port(|state| choose_style(state, to)),
        ("to-result", _) => to_result(),
        ("reject", _) => session.change_and_port(|state| {
            state.reject_edits(&edits());
            state.jump_after_port = edits().into_iter().next().map(Jump::Edit);
        }),
        ("accept", _) => session.change_and_port(|state| {
            state.accept_edits(&edits());
            state.jump_after_port = edits().into_iter().next().map(Jump::Edit);
        }),
        ("unfold", &[from, to]) => state.update(|state| state.unfolded.push(from as u32..to as u32)),
        ("rows", &[rows]) => session.more_rows(rows),
        ("previous" | "next", _) => state.update(|state| state.step(act == "next")),
        ("undo" | "redo", _) => back(session, act == "redo"),
        ("whole", _) => state.update(|state| state.flip_whole()),
        ("unified", _) => state.update(|state| state.unified ^= true),
        ("wide", _) => {
            state.update(|state| state.source_hidden ^= true);
            editor::moved(session);
        }
        ("copy", _) => take_away::copy(session),
        ("share", _) => take_away::share(session),
        ("patch", _) => take_away::patch(session),
        ("download-file", _) => take_away::file(session),
        ("download-zip", _) => take_away::zip(session),
        ("download-report", _) => take_away::report(session),
        _ => {}
    }
}

fn go_to_source(session: Session, line: usize, column: usize) {
    session.state.update(|state| {
        state.source_hidden = false;
        state.jump_to(Jump::Source(line.saturating_sub(1), column.saturating_sub(1)));
    });
}

/// Where the panes stand one under the other, the port may be far below.
fn to_result() {
    if let Some(head) = browser::element("result-head") {
        head.scroll_into_view();
        let _ = head.focus();
    }
}

fn show_panel(session: Session, name: &str) {
    if let Some((panel, ..)) = PANELS.iter().find(|(_, this, _)| *this == name) {
        session.show(*panel);
    }
}

fn back(session: Session, forward: bool) {
    let done = session.state.try_update(|state| if forward { state.redo() } else { state.undo() });
    if done == Some(true) {
        session.port_now();
    }
}

/// A field has another value.
pub(super) fn change(session: Session, event: &Event) {
    if let Some(input) = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok())
        && let Some(list) = input.files().filter(|list| list.length() > 0)
    {
        opening::open_list(session, &list);
        // So that the same file can be chosen again after it changed.
        return input.set_value("");
    }
    let Some((field, what)) = about(event, "data-set") else { return };
    let to = field.get_attribute("data-to").unwrap_or_default();
    let (value, on) = match field.dyn_into::<HtmlSelectElement>() {
        Ok(select) => (select.value(), false),
        Err(field) => {
            let input: HtmlInputElement = field.unchecked_into();
            // What was typed is taken, so its place may be filled again.
            if input.type_() != "checkbox" {
                input.set_default_value(&input.value());
            }
            (input.value(), input.checked())
        }
    };
    session.change_and_port(|state| match what.as_str() {
        "target" => state.choose(|choice| choice.target.clone_from(&value)),
        "sdk" => state.choose(|choice| choice.sdk = Some(value.clone())),
        "style" => choose_style(state, &value),
        "option" if value.is_empty() => state.choose(|choice| drop(choice.options.remove(&to))),
        // A value that the option doesn't have falls back to the default.
        "option" => state.choose(|choice| drop(choice.options.insert(to.clone(), value.clone()))),
        "unsafe" => state.choose(|choice| choice.allow_unsafe = on),
        "recipe" => state.switch_recipe(&to, on),
        "name" => state.rename(&value),
        _ => {}
    });
}

fn choose_style(state: &mut State, name: &str) {
    state.choose(|choice| {
        choice.style = match name {
            "in-place" => Style::InPlace,
            "branch" => Style::Branch,
            _ => Style::Auto,
        }
    });
}

/// A key anywhere.
pub(super) fn key(session: Session, event: &KeyboardEvent) {
    let key = event.key();
    let command = event.ctrl_key() || event.meta_key();
    let inside = |selector: &str| {
        let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        target.and_then(|target| target.closest(selector).ok().flatten())
    };
    match key.as_str() {
        "Enter" if command => session.port_now(),
        "F8" => session.state.update(|state| {
            state.panel = Panel::Changes;
            state.step(!event.shift_key());
        }),
        _ if inside("#source").is_some() => return editor::key(event),
        "z" | "Z" if command && inside("#result-pane").is_some() => back(session, event.shift_key()),
        "y" if command && inside("#result-pane").is_some() => back(session, true),
        "ArrowRight" | "ArrowLeft" | "Home" | "End" => {
            let Some(tab) = inside("[role=tab]") else { return };
            let at = PANELS.iter().position(|(_, name, _)| tab.id() == format!("tab-{name}")).unwrap_or(0);
            let to = match key.as_str() {
                "ArrowRight" => (at + 1) % PANELS.len(),
                "ArrowLeft" => (at + PANELS.len() - 1) % PANELS.len(),
                "Home" => 0,
                _ => PANELS.len() - 1,
            };
            show_panel(session, PANELS[to].1);
            if let Some(tab) = browser::element(&format!("tab-{}", PANELS[to].1)) {
                let _ = tab.focus();
            }
        }
        "Escape" => return table::close_menu(),
        _ => return,
    }
    event.prevent_default();
}
