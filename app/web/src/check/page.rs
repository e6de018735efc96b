//! Acts on the controls of the page.

mod files;
mod larcv;
mod pointer;
mod running;
mod threads;

use crate::browser::{self, document, element, later, window};
use crate::check::choice::{Choice, FIELDS, Fault, Kind, OTHERS, kind};
use crate::check::parts::{escape, form, thousands};
use crate::check::picture::Layer;
use crate::check::planes::Planes;
use files::Files;
use running::Worked;
use std::cell::RefCell;
use std::collections::BTreeMap;
use wasm_bindgen::convert::FromWasmAbi;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, Event, EventTarget, HtmlElement, HtmlInputElement, HtmlSelectElement};

/// What the page knows.
#[derive(Default)]
pub(crate) struct State {
    choice: Choice,
    /// What was typed that is no value, by key.
    refused: BTreeMap<String, String>,
    files: Files,
    worked: Worked,
    planes: Planes,
    pointer: pointer::Pointer,
    /// A drawing is due.
    drawing: bool,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State::default());
}

/// Looks at the state, or changes it. No event of the page may come meanwhile.
pub(crate) fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(act)
}

/// Fills `#check` and listens.
pub fn start() {
    let Some(place) = element("check") else { return };
    place.set_inner_html(&form::html(&Choice::default()));
    threads::offer();
    read_link();
    on(&place, "change", changed);
    on(&place, "click", clicked);
    files::listen(&place);
    pointer::listen();
    on(&window(), "hashchange", |_: Event| read_link());
    browser::when_resized(&["plane-0"], draw_soon);
    if let Ok(Some(scheme)) = window().match_media("(prefers-color-scheme: dark)") {
        on(&scheme, "change", |_: Event| draw_soon());
    }
    if let Some(theme) = element("theme") {
        on(&theme, "click", |_: Event| draw_soon());
    }
}

/// Listens for as long as the page is open.
pub(crate) fn on<E: FromWasmAbi + 'static>(target: &EventTarget, kind: &str, act: impl FnMut(E) + 'static) {
    let act = Closure::<dyn FnMut(E)>::new(act);
    // Refused only for an event that no browser knows.
    let _ = target.add_event_listener_with_callback(kind, act.as_ref().unchecked_ref());
    act.forget();
}

fn read_link() {
    let fragment = window().location().hash().unwrap_or_default();
    let (choice, faults) = Choice::from_fragment(&fragment);
    let named = choice.clone();
    with(|state| {
        state.choice = choice;
        state.refused.clear();
    });
    let mut notice = faults.join("; ");
    if !faults.is_empty() {
        notice = format!("The link says something that this page does not know: {notice}");
    } else {
        let lacking = with(|state| state.files.lacking(&named));
        if !lacking.is_empty() {
            let (them, come) = if lacking.len() == 1 { ("it", "it is") } else { ("them", "they are") };
            notice = format!(
                "Choose {} below. The page does not keep {them}: after a reload, or by a link, {come} not here.",
                lacking.join(" and ")
            );
        }
    }
    text("notice", &notice);
    show_choice();
}

fn changed(event: Event) {
    let Some(target) = event.target().and_then(|t| t.dyn_into::<HtmlElement>().ok()) else { return };
    if let Some(name) = target.get_attribute("data-file") {
        files::chosen(&name, target.unchecked_ref());
        return;
    }
    if let Some(layer) = target.get_attribute("data-layer").and_then(|word| Layer::of(&word)) {
        show_layer(layer);
        return;
    }
    let Some(key) = target.get_attribute("data-key") else { return };
    let value = match target.dyn_ref::<HtmlSelectElement>() {
        Some(select) => select.value(),
        None => {
            let input: &HtmlInputElement = target.unchecked_ref();
            if kind(&key) == Kind::Switch { input.checked().to_string() } else { input.value() }
        }
    };
    with(|state| match state.choice.choose(&key, &value) {
        Ok(()) => drop(state.refused.remove(&key)),
        Err(fault) => drop(state.refused.insert(key.clone(), fault)),
    });
    if key == "preset" {
        with(|state| FIELDS.iter().for_each(|field| drop(state.refused.remove(*field))));
    }
    show_choice();
    let fragment = with(|state| state.choice.fragment());
    let address = if fragment.is_empty() { "#".to_string() } else { format!("#{fragment}") };
    // A browser that refuses many changes in a short time keeps an older address, nothing else.
    let _ = browser::set_address(&address);
    if key == "precision" {
        running::compare_again();
    }
}

fn clicked(event: Event) {
    let Some(target) = event.target().and_then(|t| t.dyn_into::<Element>().ok()) else { return };
    let Ok(Some(control)) = target.closest("[data-do]") else { return };
    match control.get_attribute("data-do").unwrap_or_default().as_str() {
        "run" => running::run(),
        "cancel" => running::cancel(),
        "bundle" => running::bundle(),
        "script" => running::script(),
        "report" => running::report(),
        "print" => drop(window().print()),
        "link" => copy_link(),
        "config" => download_config(),
        "size" => take_size(&control.get_attribute("data-to").unwrap_or_default()),
        "reload" => drop(window().location().reload()),
        "in" => pointer::zoom(1.5),
        "out" => pointer::zoom(1.0 / 1.5),
        "fit" => {
            with(|state| state.planes.fit());
            draw_soon();
        }
        _ => {}
    }
}

/// Takes the size that a fault names.
fn take_size(size: &str) {
    if let Some((height, width)) = size.split_once('x') {
        for (key, value) in [("height", height), ("width", width)] {
            with(|state| {
                state.refused.remove(key);
                state.choice.set(key, value)
            })
            .ok();
        }
    }
    show_choice();
    let _ = browser::set_address(&format!("#{}", with(|state| state.choice.fragment())));
    focus("f-height");
}

/// Puts what the form holds into its controls, and says what is wrong beside them.
fn show_choice() {
    let (choice, refused) = with(|state| (state.choice.clone(), state.refused.clone()));
    for key in FIELDS.iter().chain(&OTHERS).chain(&["preset"]) {
        let Some(control) = element(&format!("f-{key}")) else { continue };
        let value = choice.get(key).unwrap_or_default();
        match control.dyn_ref::<HtmlSelectElement>() {
            Some(select) => select.set_value(&value),
            None if kind(key) == Kind::Switch => {
                control.unchecked_ref::<HtmlInputElement>().set_checked(value == "true");
            }
            // What was refused stays to be mended.
            None if refused.contains_key(*key) => {}
            None => control.unchecked_ref::<HtmlInputElement>().set_value(&value),
        }
        fault(key, refused.get(*key).map_or("", String::as_str));
    }
    for Fault { key, problem, next_size } in choice.faults() {
        if !refused.contains_key(key) {
            fault(key, &problem);
            if let (Some((height, width)), Some(place)) = (next_size, element(&format!("fault-{key}"))) {
                let offer = format!(
                    "{} <button type=\"button\" class=\"button quiet small\" data-do=\"size\" \
                     data-to=\"{height}x{width}\">Take {height} × {width}</button>",
                    escape(&problem)
                );
                place.set_inner_html(&offer);
            }
            open_fields(key);
        }
    }
    if let Some(key) = refused.keys().next() {
        open_fields(key);
    }
    let network = match choice.parameters() {
        Some(count) => format!("{} parameters", thousands(count as u64)),
        None => String::new(),
    };
    text("parameters", &network);
    let (factor, (height, width)) = (choice.downsample.max(1), choice.size);
    let fed = match (choice.input, factor) {
        (0, _) => format!("The network sees {} × {} pixels of each plane.", height / factor, width / factor),
        _ => "A dense picture brings its own size; height and width are those of a sparse one, 1280 × 2048 in the events \
              of CosmicTagger’s data."
            .to_string(),
    };
    text("fed", &fed);
    text("command", &choice.command("config.json"));
    text("port-command", &choice.port_command());
    if let Ok(groups) = document().query_selector_all("[data-when]") {
        for at in 0..groups.length() {
            let Some(group) = groups.get(at).and_then(|node| node.dyn_into::<HtmlElement>().ok()) else { continue };
            let when = group.get_attribute("data-when").unwrap_or_default();
            let (key, value) = when.split_once('=').unwrap_or_default();
            group.set_hidden(choice.get(key).as_deref() != Some(value));
        }
    }
}

/// Shows the fields when one of them is at fault.
fn open_fields(key: &str) {
    if let Some(fields) = element("fields").filter(|_| FIELDS.contains(&key)) {
        let _ = fields.set_attribute("open", "");
    }
}

/// Says what is wrong with a control; nothing takes it back.
pub(crate) fn fault(key: &str, problem: &str) {
    if let Some(place) = element(&format!("fault-{key}"))
        && place.text_content().as_deref() != Some(problem)
    {
        place.set_text_content(Some(problem));
    }
    let control = element(&format!("f-{key}")).or_else(|| element(key));
    if let Some(control) = control {
        let _ = match problem {
            "" => control.remove_attribute("aria-invalid"),
            _ => control.set_attribute("aria-invalid", "true"),
        };
    }
}

/// Sets the text of an element.
pub(crate) fn text(id: &str, text: &str) {
    if let Some(place) = element(id) {
        place.set_text_content(Some(text));
    }
}

/// Sets the content of an element.
pub(crate) fn html(id: &str, html: &str) {
    if let Some(place) = element(id) {
        place.set_inner_html(html);
    }
}

/// Shows or hides an element.
pub(crate) fn shown(id: &str, shown: bool) {
    if let Some(place) = element(id) {
        place.set_hidden(!shown);
    }
}

pub(crate) fn focus(id: &str) {
    if let Some(place) = element(id) {
        // An element that takes no focus leaves it where it is.
        let _ = place.focus();
    }
}

fn show_layer(layer: Layer) {
    let legend = with(|state| {
        state.planes.layer = layer;
        state.planes.legend()
    });
    html("legend", &legend);
    draw_soon();
}

/// The radio buttons for what there is; `layer` is chosen.
pub(crate) fn offer_layers(layer: Layer) {
    for each in Layer::ALL {
        let Ok(Some(button)) = document().query_selector(&format!("[data-layer={}]", each.word())) else { continue };
        let button: HtmlInputElement = button.unchecked_into();
        button.set_disabled(!with(|state| state.planes.has(each)));
        button.set_checked(each == layer);
    }
    show_layer(layer);
}

/// Draws before the screen is next shown, however often it is asked for until then.
pub(crate) fn draw_soon() {
    if with(|state| std::mem::replace(&mut state.drawing, true)) {
        return;
    }
    later(16, || {
        with(|state| {
            state.drawing = false;
            state.planes.draw();
        });
    });
}

fn copy_link() {
    spawn_local(async {
        let address = window().location().href().unwrap_or_default();
        match browser::copy(&address).await {
            Ok(()) => text("said", "The link is on the clipboard. Files are not part of it."),
            Err(why) => text("said", &format!("The address bar holds the link. ({})", browser::reason(&why))),
        }
    });
}

fn download_config() {
    let config = with(|state| state.choice.config_json());
    if let Err(why) = browser::download("config.json", "application/json", config.as_bytes()) {
        text("said", &browser::reason(&why));
    }
}
