//! What was typed, pasted or chosen in the stand-ins of `index.html` while the page's program was being loaded.

use crate::port::state::project::check_text;
use crate::port::work::Session;
use crate::shared::browser;
use codemod::Style;
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement};

fn stand_in<T: JsCast>(selector: &str) -> Option<T> {
    browser::document().query_selector(selector).ok().flatten()?.dyn_into().ok()
}

fn has_focus<T: AsRef<web_sys::Element>>(element: &T) -> bool {
    browser::document().active_element().as_ref() == Some(element.as_ref())
}

/// Applies what was chosen in the bar. Returns the id of the control that continues the focused one.
pub(super) fn choose(session: Session) -> Option<&'static str> {
    let lists = [("target", ".port-bar.stand-in .target"), ("style", ".port-bar.stand-in .style")];
    let lists = lists.map(|(id, selector)| (id, stand_in::<HtmlSelectElement>(selector)));
    let of = |list: &Option<HtmlSelectElement>| {
        list.as_ref().filter(|list| list.selected_index() > 0).map(HtmlSelectElement::value)
    };
    let (target, style) = (of(&lists[0].1), of(&lists[1].1).and_then(|word| Style::named(&word)));
    let switch = stand_in::<HtmlInputElement>(".port-bar.stand-in input");
    let is_unsafe = switch.as_ref().is_some_and(HtmlInputElement::checked);
    if target.is_some() || style.is_some() || is_unsafe {
        session.change_and_port(|state| {
            state.choose(|choice| {
                choice.target = target.clone().unwrap_or_else(|| choice.target.clone());
                choice.style = style.unwrap_or(choice.style);
                choice.switches.allow_unsafe |= is_unsafe;
            });
        });
    }
    let focused = lists.iter().find(|(_, list)| list.as_ref().is_some_and(has_focus)).map(|(id, _)| *id);
    focused.or_else(|| switch.filter(has_focus).map(|_| "unsafe"))
}

/// Opens what was typed or pasted, with the cursor where it was. Returns the id of the field if its stand-in has the focus.
pub(super) fn open_text(session: Session) -> Option<&'static str> {
    let field: HtmlTextAreaElement = stand_in(".port-source.stand-in textarea")?;
    let (text, is_focused) = (field.value(), has_focus(&field));
    match check_text(&text) {
        _ if text.is_empty() => {}
        Err(why) => session.say(true, format!("The pasted text {why} It was not opened.")),
        Ok(()) => {
            session.open_given("Opened what you pasted while the page was loading.", |state| state.open_typed(&text));
            if is_focused {
                let (line, column) = place(&text, field.selection_end().ok().flatten().unwrap_or(0));
                session.go_to_source(line, column);
            }
        }
    }
    is_focused.then_some("source")
}

/// The line and the column, counted from 1, of an offset in UTF-16 units.
fn place(text: &str, offset: u32) -> (usize, usize) {
    let (mut units, mut line, mut column) = (0, 1, 1);
    for letter in text.chars().take_while(|letter| {
        units += letter.len_utf16();
        units <= offset as usize
    }) {
        (line, column) = if letter == '\n' { (line + 1, 1) } else { (line, column + 1) };
    }
    (line, column)
}
