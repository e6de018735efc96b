//! `/port/` in the browser: the skeleton, what fills its places, and what controls do.
//!
//! The skeleton is mounted once. A place is filled by a function of the state, again whenever its HTML changes; what
//! had the focus there keeps it. The editor's lines and the diff's rows are many and follow scrolling, so they have
//! files of their own.

mod acts;
mod editor;
mod table;

use crate::browser;
use crate::port::app::Session;
use crate::port::fragment;
use crate::port::opening;
use crate::port::parts::{bar, diff, files, result};
use crate::port::state::State;
use reactive_graph::effect::Effect;
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use std::cell::{Cell, RefCell};
use wasm_bindgen::prelude::*;
use web_sys::{AddEventListenerOptions, Element, Event, EventTarget, HashChangeEvent, HtmlElement, HtmlInputElement};

/// A part of the page.
type Html = fn(&State) -> String;

/// Places of the skeleton, and what fills them. A place that stands inside another comes after it.
const PLACES: [(&str, Html); 17] = [
    ("target", bar::targets),
    ("style", bar::styles),
    ("sdk", bar::sdks),
    ("options-chosen", bar::chosen),
    ("named", bar::named),
    ("unsafe-switch", bar::unsafe_switch),
    ("notice", bar::notice),
    ("spoken", bar::spoken),
    ("take", bar::take),
    ("former", files::former),
    ("way", result::way),
    ("file-list", files::list),
    ("file-name-place", files::name),
    ("summary", result::summary),
    ("tabs", |state| result::tabs(state) + &result::progress(state)),
    ("panel", result::panel),
    ("tools", diff::tools),
];

/// Puts the page into its place and keeps it up to date.
pub(crate) fn start(session: Session, place: &HtmlElement) {
    // Nothing in the skeleton changes but what fills its places, so it is plain HTML.
    place.set_inner_html(include_str!("skeleton.html"));
    let moved = RwSignal::new(0u32);
    Effect::new(move |_| session.state.with(fill));
    editor::start(session, moved);
    table::start(session, moved);
    follow_edits(session);
    listen(session, moved);
}

/// An address that names what was opened is not true any more once that is changed: a page that is loaded anew would open
/// the old instead of what was kept.
fn follow_edits(session: Session) {
    Effect::new(move |before: Option<u64>| {
        let edits = session.state.with(|state| state.edits);
        let hash = browser::window().location().hash().unwrap_or_default();
        if before.is_some_and(|before| before != edits) && fragment::names_work(&hash) {
            browser::clear_fragment();
        }
        edits
    });
}

thread_local! {
    /// The file that the list was last scrolled to.
    static SELECTED: Cell<Option<usize>> = const { Cell::new(None) };
    /// What each place was filled with, and the element it was.
    static FILLED: RefCell<Vec<Option<(HtmlElement, String)>>> = const { RefCell::new(Vec::new()) };
}

/// Scrolls the list of files, and nothing around it, to the file shown.
fn show_selected_file() {
    let place = browser::element("file-list");
    let find = |selector: &str| place.as_ref()?.query_selector(selector).ok().flatten();
    let (Some(list), Some(file)) = (find(".scroll"), find("[aria-current]")) else { return };
    let file: HtmlElement = file.unchecked_into();
    let (top, bottom) = (file.offset_top(), file.offset_top() + file.offset_height());
    if top < list.scroll_top() || bottom > list.scroll_top() + list.client_height() {
        list.set_scroll_top(top - list.client_height() / 2);
    }
}

/// Fills every place whose HTML changed.
fn fill(state: &State) {
    FILLED.with_borrow_mut(|filled| {
        filled.resize(PLACES.len(), None);
        for ((id, html), filled) in PLACES.iter().zip(filled) {
            let Some(place) = browser::element(id) else {
                *filled = None;
                continue;
            };
            let html = html(state);
            let same = filled.as_ref().is_some_and(|(element, before)| *element == place && *before == html);
            if same || holds_unfinished(&place) {
                continue;
            }
            let focus = focused_in(&place);
            let scrolled = scroll_of(&place).map(|(name, scroller)| (name, scroller.scroll_top()));
            place.set_inner_html(&html);
            if let (Some((name, top)), Some((now, scroller))) = (scrolled, scroll_of(&place))
                && name == now
            {
                scroller.set_scroll_top(top);
            }
            if let Some(selector) = focus {
                // Where the control is gone, its place keeps the reader from being thrown back to the page's top.
                let control = place.query_selector(&selector).ok().flatten().map(JsCast::unchecked_into);
                let control: HtmlElement = control.unwrap_or_else(|| place.clone());
                if control == place {
                    let _ = place.set_attribute("tabindex", "-1");
                }
                let _ = control.focus();
            }
            *filled = Some((place, html));
        }
    });
    if SELECTED.replace(Some(state.selected)) != Some(state.selected) {
        show_selected_file();
    }
    let class = |id: &str, name: &str, on: bool| {
        browser::element(id).map(|element| element.class_list().toggle_with_force(name, on));
    };
    class("port-page", "alone", state.source_hidden);
    if let Some(pane) = browser::element("source-pane") {
        pane.set_hidden(state.source_hidden);
    }
    if let (Some(button), Some(named)) = (browser::element("options"), browser::element("named")) {
        let _ = button.set_attribute("aria-expanded", if state.trials.wanted { "true" } else { "false" });
        named.set_hidden(!state.trials.wanted);
    }
    if let Some(pane) = browser::element("result-pane") {
        let _ = pane.set_attribute("aria-busy", if state.is_busy() { "true" } else { "false" });
    }
    if let Some(panel) = browser::element("panel") {
        let name = result::PANELS.iter().find(|(panel, ..)| *panel == state.panel).map_or("", |(_, name, _)| name);
        let _ = panel.set_attribute("aria-labelledby", &format!("tab-{name}"));
    }
    if let Some(hint) = browser::element("editor-empty") {
        hint.set_hidden(!state.file().is_none_or(|file| file.lines.text().is_empty()));
    }
}

/// Whether someone is at a field of the place and has not told what it is to be: filled anew it would lose that.
fn holds_unfinished(place: &HtmlElement) -> bool {
    let focused = browser::document().active_element().filter(|focused| place.contains(Some(focused)));
    let field = focused.and_then(|focused| focused.dyn_into::<HtmlInputElement>().ok());
    // The default of a tick is no text.
    field.is_some_and(|field| field.type_() != "checkbox" && field.value() != field.default_value())
}

/// What scrolls inside a place, and its name.
fn scroll_of(place: &HtmlElement) -> Option<(Option<String>, Element)> {
    let scroller = place.query_selector(".scroll").ok().flatten()?;
    Some((scroller.get_attribute("aria-label"), scroller))
}

/// A selector for the control that has the focus, when it stands inside a place.
fn focused_in(place: &Element) -> Option<String> {
    let focused = browser::document().active_element()?;
    if *place == focused || !place.contains(Some(&focused)) {
        return None;
    }
    let attribute =
        |name: &str| focused.get_attribute(name).map(|value| format!("[{name}={}]", browser::quoted(&value)));
    let act = || Some(format!("{}{}", attribute("data-do")?, attribute("data-to").unwrap_or_default()));
    attribute("id").or_else(act).or_else(|| attribute("href")).or_else(|| Some(":not(*)".to_owned()))
}

/// All events of the page go through here, once.
fn listen(session: Session, moved: RwSignal<u32>) {
    let window: EventTarget = browser::window().into();
    on(&window, "click", false, move |event| acts::click(session, &event));
    on(&window, "change", false, move |event| acts::change(session, &event));
    on(&window, "keydown", false, move |event| acts::key(session, event.unchecked_ref()));
    on(&window, "input", false, move |event| editor::typed(session, &event));
    on(&window, "paste", false, move |event| editor::paste(session, event.unchecked_ref()));
    on(&window, "mousedown", false, |event| table::choose_side(&event));
    // Scrolling does not bubble.
    on(&window, "scroll", true, move |_| moved.update(|n| *n = n.wrapping_add(1)));
    on(&window, "resize", false, move |_| moved.update(|n| *n = n.wrapping_add(1)));
    on(&window, "hashchange", false, move |event| {
        session.read_fragment();
        // Back from a place: to the entry that led there.
        let event: &HashChangeEvent = event.unchecked_ref();
        let from = event.old_url().rsplit_once('#').map(|(_, from)| format!("a[href=\"#{from}\"]"));
        browser::later(0, move || {
            let entry = from.and_then(|from| browser::element("panel")?.query_selector(&from).ok().flatten());
            if let Some(entry) = entry {
                let _ = entry.unchecked_into::<HtmlElement>().focus();
            }
        });
    });
    for name in ["dragover", "dragleave", "drop"] {
        on(&window, name, false, move |event| opening::drag(session, event.unchecked_ref()));
    }
}

/// Listens for as long as the page is open. A control that the page clicks itself is heard while the first click still is,
/// so a listener may be called again before it is done.
fn on(target: &EventTarget, name: &str, capture: bool, then: impl Fn(Event) + 'static) {
    let then: Box<dyn Fn(Event)> = Box::new(then);
    let then = Closure::wrap(then);
    let options = AddEventListenerOptions::new();
    options.set_capture(capture);
    let function = then.as_ref().unchecked_ref();
    let _ = target.add_event_listener_with_callback_and_add_event_listener_options(name, function, &options);
    then.forget();
}

/// The element an event is about, or the one around it that has this attribute, and the attribute's value.
fn about(event: &Event, attribute: &str) -> Option<(HtmlElement, String)> {
    let target: Element = event.target()?.dyn_into().ok()?;
    let element = target.closest(&format!("[{attribute}]")).ok().flatten()?;
    let value = element.get_attribute(attribute)?;
    Some((element.dyn_into().ok()?, value))
}
