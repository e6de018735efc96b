//! What was typed, pasted or chosen in the stand-ins of `index.html` while the page's program was being loaded.

use super::editor::EditorField;
use crate::port::state::Early;
use crate::port::state::project::check_text;
use crate::port::work::Session;
use crate::shared::browser;
use codemod::Style;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement};

fn find(selector: &str) -> Option<Element> {
    browser::document().query_selector(&format!(".stand-in {selector}")).ok().flatten()
}

fn stand_in<T: JsCast>(selector: &str) -> Option<T> {
    find(selector)?.dyn_into().ok()
}

/// The stand-in of the editor.
pub(super) fn field() -> Option<HtmlTextAreaElement> {
    stand_in("textarea")
}

fn has_focus<T: AsRef<Element>>(element: &T) -> bool {
    browser::document().active_element().as_ref() == Some(element.as_ref())
}

/// The targets that are offered until the engine says which there are: values and labels.
pub(super) fn targets() -> Vec<(String, String)> {
    let mut entries = Vec::new();
    let mut option = find(".target").and_then(|list| list.first_element_child());
    while let Some(now) = option {
        entries.push((now.get_attribute("value").unwrap_or_default(), now.text_content().unwrap_or_default()));
        option = now.next_element_sibling();
    }
    entries
}

/// Whether the user has used a control: `keep.js` records that.
fn is_chosen(control: &impl AsRef<Element>) -> bool {
    control.as_ref().has_attribute("data-chosen")
}

/// Applies what was chosen in the bar. Returns the id of the control that continues the focused one.
pub(super) fn choose(session: Session) -> Option<&'static str> {
    let lists = ["target", "style"].map(|id| (id, stand_in::<HtmlSelectElement>(&format!(".{id}"))));
    let of =
        |list: &Option<HtmlSelectElement>| list.as_ref().filter(|list| is_chosen(*list)).map(HtmlSelectElement::value);
    let switch = stand_in::<HtmlInputElement>("input");
    let early = Early {
        target: of(&lists[0].1),
        style: of(&lists[1].1).map(|word| Style::named(&word).unwrap_or_default()),
        allow_unsafe: switch.as_ref().filter(|switch| is_chosen(*switch)).map(HtmlInputElement::checked),
    };
    if early != Early::default() {
        session.change_and_port(|state| state.choose_early(early));
    }
    let focused = lists.iter().find(|(_, list)| list.as_ref().is_some_and(has_focus)).map(|(id, _)| *id);
    focused.or_else(|| switch.filter(has_focus).map(|_| "unsafe"))
}

/// Calls back now, or when the input method has finished the word that is being typed: it would be lost with the field.
pub(super) fn when_composed(call: Box<dyn FnOnce()>) {
    let Some(field) = field().filter(|field| field.has_attribute("data-composing")) else { return call() };
    let mut call = Some(call);
    let ended = move || {
        // By then the next word may have been begun.
        let _ = call.take().map(|call| browser::later(0, move || when_composed(call)));
    };
    on(&field, "compositionend", Box::new(ended));
}

fn on(field: &HtmlTextAreaElement, event: &str, call: Box<dyn FnMut()>) {
    let call = Closure::wrap(call).into_js_value();
    let _ = field.add_event_listener_with_callback(event, call.unchecked_ref());
}

/// Opens what was typed or pasted, with cursor and scroll position as they were, in place of the stand-ins. A text that can't be opened stays in its field until the user has changed it.
pub(super) fn hand_over(session: Session, editor: EditorField) {
    let Some(field) = field() else { return };
    if let Err(why) = check_text(&field.value()) {
        // The notice would go when the saved work is opened.
        if !session.state.with_untracked(|state| state.has_begun) {
            browser::later(50, move || hand_over(session, editor));
            return;
        }
        session.say(true, format!("The pasted text {why} It was not opened, and is still in the field."));
        if !field.has_attribute("data-refused") {
            let _ = field.set_attribute("data-refused", "");
            on(&field, "input", Box::new(move || hand_over(session, editor)));
        }
        return;
    }
    let (text, is_focused) = (field.value(), has_focus(&field));
    let offset = |offset: Result<Option<u32>, JsValue>| offset.ok().flatten().unwrap_or(0) as usize;
    let mut ends = [offset(field.selection_start()), offset(field.selection_end())];
    if field.selection_direction().ok().flatten().as_deref() == Some("backward") {
        ends.reverse();
    }
    let scroll = (field.scroll_left(), field.scroll_top());
    // White space is no script, and would close the saved one.
    let is_script = !text.trim().is_empty();
    if is_script {
        let said = "Opened what you typed or pasted while the page was loading.";
        session.open_given(said, |state| state.open_typed(&text));
        editor.adopt(session, &text);
    }
    // In the same task, so that no key can come in between, but after the effects of the new text: they give the editor
    // its size.
    spawn_local(async move {
        super::remove_source();
        if is_script {
            editor.scroll(scroll);
        }
        if is_focused {
            browser::focus("source");
            if is_script {
                editor.select(ends.map(|end| place(&text, end)));
            }
        }
    });
}

/// Stops offering a text that could not be opened, because something else was.
pub(super) fn give_way() {
    if find("[data-refused]").is_some() {
        super::remove_source();
    }
}

/// The line and the column, counted from 0, of an offset; columns and offsets are in UTF-16 units.
fn place(text: &str, offset: usize) -> (usize, usize) {
    text.encode_utf16()
        .take(offset)
        .fold((0, 0), |(line, column), unit| if unit == u16::from(b'\n') { (line + 1, 0) } else { (line, column + 1) })
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn an_offset_is_a_place() {
        let text = "é😀x\n\nend";
        for (offset, expected) in [(0, (0, 0)), (3, (0, 3)), (4, (0, 4)), (5, (1, 0)), (6, (2, 0)), (99, (2, 3))] {
            assert_eq!(place(text, offset), expected, "{offset}");
        }
    }
}
