//! The page in the browser: reads the controls, shows what follows from them.

use super::{check, form, fragment, script};
use crate::browser;
use crate::port::archive;
use codemod::SourceFile;
use launch::form::{Fields, Written, all, command, form as fields_of, put, write};
use launch::{Problem, Target, lint};
use std::cell::RefCell;
use std::collections::BTreeSet;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, Event, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement};

#[derive(Default)]
struct Page {
    fields: Fields,
    /// Of the form on the screen.
    shape: Vec<String>,
    /// Fields that the user has been in: an empty one is no fault before.
    touched: BTreeSet<String>,
    /// What the page's fragments begin with.
    view: &'static str,
    /// The fragment of the latest entry of the history.
    entry: String,
    written: Option<Written>,
    /// Whether the user said which target a script of their own is for; before that it is the form's.
    check_chosen: bool,
    /// The user's script before its lines were mended.
    before_mending: Option<String>,
}

thread_local! {
    static PAGE: RefCell<Page> = RefCell::default();
}

fn with<T>(act: impl FnOnce(&mut Page) -> T) -> T {
    PAGE.with_borrow_mut(act)
}

/// Fills the page and listens, for as long as it is open.
pub fn mount() {
    with(|page| page.view = fragment::view(&hash()));
    open_address();
    listen("launch-form", "input", |event| edited(event, false));
    listen("launch-form", "change", |event| edited(event, true));
    listen("launch-form", "submit", |event| event.prevent_default());
    listen("launch-form", "reset", |event| {
        event.prevent_default();
        start_again();
    });
    listen("launch", "click", clicked);
    listen("check-text", "input", |_| {
        // What was typed since would be lost with it.
        if with(|page| page.before_mending.take()).is_some() {
            set_html("check-undo", "");
        }
        show_check();
    });
    listen("check-target", "change", |_| {
        with(|page| page.check_chosen = true);
        show_check();
    });
    let back = Closure::<dyn FnMut(Event)>::new(|_| {
        // In one file, the way back may lead to another view.
        if with(|page| page.view) == fragment::view(&hash()) {
            open_address();
        }
    });
    let _ = browser::window().add_event_listener_with_callback("popstate", back.as_ref().unchecked_ref());
    back.forget();
    show_check();
}

fn listen(id: &str, kind: &str, act: impl FnMut(Event) + 'static) {
    let Some(element) = browser::element(id) else { return };
    let act = Closure::<dyn FnMut(Event)>::new(act);
    let _ = element.add_event_listener_with_callback(kind, act.as_ref().unchecked_ref());
    // The listener lives as long as the page.
    act.forget();
}

fn hash() -> String {
    browser::window().location().hash().unwrap_or_default()
}

/// Takes the fields out of the address.
fn open_address() {
    with(|page| {
        page.fields = fragment::read(&hash());
        page.entry = fragment::write(&page.fields);
        page.touched.clear();
        page.shape.clear();
    });
    show();
}

fn start_again() {
    with(|page| {
        page.fields.clear();
        page.touched.clear();
        page.shape.clear();
    });
    show();
    keep(true);
}

/// Something was typed, or is finished.
fn edited(event: Event, finished: bool) {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return };
    let name = target.get_attribute("name").unwrap_or_default();
    let Some(value) = value_of(&target) else { return };
    with(|page| {
        put(&mut page.fields, &name, value);
        if finished {
            page.touched.insert(name);
        }
    });
    show();
    keep(finished);
}

fn value_of(control: &Element) -> Option<String> {
    if let Some(select) = control.dyn_ref::<HtmlSelectElement>() {
        return Some(select.value());
    }
    if let Some(area) = control.dyn_ref::<HtmlTextAreaElement>() {
        return Some(area.value());
    }
    let input = control.dyn_ref::<HtmlInputElement>()?;
    Some(match input.type_().as_str() {
        "checkbox" if input.checked() => "on".to_owned(),
        "checkbox" => String::new(),
        _ => input.value(),
    })
}

/// Puts the fields into the address: a new entry of the history for what is finished.
fn keep(finished: bool) {
    let (view, entry, now) = with(|page| (page.view, page.entry.clone(), fragment::write(&page.fields)));
    let Ok(history) = browser::window().history() else { return };
    let address = |fragment: &str| format!("#{view}{fragment}");
    if !finished {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address(&now)));
    } else if entry != now {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address(&entry)));
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(&address(&now)));
        with(|page| page.entry = now);
    }
}

/// Shows what the fields come to.
fn show() {
    let (fields, new_form) = with(|page| {
        let shape = form::shape(&page.fields);
        let new = shape != page.shape;
        page.shape = shape;
        (page.fields.clone(), new)
    });
    if new_form {
        let focused = browser::document().active_element().map(|element| element.id()).unwrap_or_default();
        let unfolded = browser::element("folded").is_some_and(|folded| folded.has_attribute("open"));
        set_html("launch-form", &form::html(&fields, unfolded));
        if focused.starts_with("field-")
            && let Some(control) = browser::element(&focused)
        {
            let _ = control.focus();
        }
    }
    follow_target(fields.get("target").map_or("hpu", String::as_str));
    let result = write(&fields);
    let problems = result.as_ref().err().cloned().unwrap_or_default();
    show_problems(&problems);
    let said = match &result {
        Ok(written) => format!("{}: {} lines.", written.file, written.script.lines().count()),
        Err(problems) if problems.len() == 1 => "One field needs you.".to_owned(),
        Err(problems) => format!("{} fields need you.", problems.len()),
    };
    set_html("launch-command", &super::escape(&command(&fields)));
    match &result {
        Ok(written) => {
            set_html("script", &script::coloured(&written.script));
            set_html("about", &script::about(written));
            set_html("missing", "");
            set_html("script-name", &super::escape(&written.file));
        }
        Err(problems) => {
            set_html("script", "");
            set_html("about", "");
            set_html("missing", &script::missing(problems, &fields));
            set_html("script-name", "Script");
        }
    }
    for (id, usable) in [("script", result.is_ok()), ("copy-script", result.is_ok()), ("download", result.is_ok())] {
        let Some(element) = browser::element(id) else { continue };
        if id == "script" {
            element.set_hidden(!usable);
        } else {
            let _ = element.toggle_attribute_with_force("disabled", !usable);
        }
    }
    say("script-said", &said);
    with(|page| page.written = result.ok());
}

/// Problems beside their fields.
fn show_problems(problems: &[Problem]) {
    let (names, touched) = with(|page| {
        let names = fields_of(&page.fields).into_iter().flat_map(|group| group.fields).map(|field| field.name);
        (names.collect::<Vec<_>>(), page.touched.clone())
    });
    for name in names {
        let of_field = problems.iter().filter(|problem| problem.field == name);
        let shown = of_field.filter(|problem| touched.contains(&name) || !problem.message.starts_with("is required"));
        let text: Vec<&str> = shown.map(|problem| problem.message.as_str()).collect();
        say(&format!("problem-{name}"), &text.join("; "));
        if let Some(control) = browser::element(&format!("field-{name}")) {
            let _ = control.set_attribute("aria-invalid", if text.is_empty() { "false" } else { "true" });
            if !text.is_empty() {
                unfold(&control);
            }
        }
    }
}

/// Opens the group that a control is in, where that one is folded.
fn unfold(control: &Element) {
    if let Ok(Some(folded)) = control.closest("details") {
        let _ = folded.set_attribute("open", "");
    }
}

fn set_html(id: &str, html: &str) {
    if let Some(element) = browser::element(id) {
        element.set_inner_html(html);
    }
}

/// Text that may be read aloud: set only when it is another.
fn say(id: &str, text: &str) {
    if let Some(element) = browser::element(id)
        && element.text_content().as_deref() != Some(text)
    {
        element.set_text_content(Some(text));
    }
}

fn clicked(event: Event) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let Some(button) = target.and_then(|target| target.closest("[data-do]").ok().flatten()) else { return };
    let to = button.get_attribute("data-to").unwrap_or_default();
    match button.get_attribute("data-do").unwrap_or_default().as_str() {
        "copy" => with_written(|written| copy("The script is", written.script.clone())),
        "download" => with_written(|written| give(&written.file, "text/x-shellscript", written.script.as_bytes())),
        "all" => zip(),
        "link" => {
            keep(true);
            copy("The link is", browser::window().location().href().unwrap_or_default());
        }
        "command" => copy("The command is", command(&with(|page| page.fields.clone()))),
        "field" => {
            if let Some(control) = browser::element(&format!("field-{to}")) {
                unfold(&control);
                let _ = control.focus();
                with(|page| page.touched.insert(to));
            }
        }
        "line" => select_line(to.parse().unwrap_or(1)),
        "mend" => mend(),
        "unmend" => unmend(),
        _ => {}
    }
}

fn with_written(act: impl FnOnce(&Written)) {
    let written = with(|page| page.written.clone());
    if let Some(written) = written {
        act(&written);
    }
}

fn copy(what: &'static str, text: String) {
    spawn_local(async move {
        match browser::copy(&text).await {
            Ok(()) => say("script-said", &format!("{what} on the clipboard.")),
            Err(why) => say("script-said", &format!("It can't be copied: {}", browser::reason(&why))),
        }
    });
}

fn give(name: &str, kind: &str, bytes: &[u8]) {
    match browser::download(name, kind, bytes) {
        Ok(()) => say("script-said", &format!("{name} is in your downloads.")),
        Err(why) => say("script-said", &format!("{name} can't be saved: {}", browser::reason(&why))),
    }
}

fn zip() {
    let fields = with(|page| page.fields.clone());
    let files: Vec<SourceFile> = all(&fields).into_iter().map(|(path, text)| SourceFile { path, text }).collect();
    match archive::write(&files) {
        Ok(bytes) => give("launch-scripts.zip", "application/zip", &bytes),
        Err(why) => say("script-said", &format!("The archive {why}")),
    }
}

fn own_script() -> Option<HtmlTextAreaElement> {
    browser::element("check-text")?.dyn_into().ok()
}

fn checked_target() -> Target {
    let select = browser::element("check-target").and_then(|element| element.dyn_into::<HtmlSelectElement>().ok());
    let name = select.map(|select| select.value()).unwrap_or_default();
    Target::ALL.into_iter().find(|target| target.name() == name).unwrap_or(Target::Hpu)
}

/// A script of the user's own is for the form's target as a rule.
fn follow_target(target: &str) {
    let select = browser::element("check-target").and_then(|element| element.dyn_into::<HtmlSelectElement>().ok());
    let known = Target::ALL.iter().any(|one| one.name() == target);
    if let Some(select) = select.filter(|select| known && select.value() != target && !with(|page| page.check_chosen)) {
        select.set_value(target);
        show_check();
    }
}

fn show_check() {
    let Some(area) = own_script() else { return };
    set_html("check-found", &check::html(&area.value(), checked_target()));
}

/// Selects a line of the user's script.
fn select_line(line: usize) {
    let Some(area) = own_script() else { return };
    let text = area.value();
    // The browser counts in UTF-16.
    let units = |text: &str| u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
    let before: String = text.split_inclusive('\n').take(line - 1).collect();
    let length = text.lines().nth(line - 1).map_or(0, units);
    let start = units(&before);
    let _ = area.focus();
    let _ = area.set_selection_range(start, start + length);
}

fn mend() {
    let Some(area) = own_script() else { return };
    let text = area.value();
    let mended = lint(&text, checked_target()).fixed;
    with(|page| page.before_mending = Some(text));
    area.set_value(&mended);
    show_check();
    set_html(
        "check-undo",
        "The lines are mended. <button class=\"link\" id=\"unmend\" type=\"button\" data-do=\"unmend\">Take that back</button>",
    );
    // The button that was pressed is gone.
    if let Some(button) = browser::element("unmend") {
        let _ = button.focus();
    }
}

fn unmend() {
    let before = with(|page| page.before_mending.take());
    if let (Some(area), Some(before)) = (own_script(), before) {
        area.set_value(&before);
        let _ = area.focus();
    }
    set_html("check-undo", "");
    show_check();
}
