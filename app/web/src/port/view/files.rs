//! The project's files as a tree.

use crate::port::state::State;
use crate::port::state::tree::{Node, Sums};
use crate::port::work::Session;
use crate::shared::text::count;
use leptos::html::Ul;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// The tree; nothing for a single file.
#[component]
pub(super) fn Files() -> impl IntoView {
    let session: Session = expect_context();
    let several = session.memo(|state| state.files.len() > 1);
    view! {
        <Show when=move || several.get()>
            <Tree/>
        </Show>
    }
}

#[component]
fn Tree() -> impl IntoView {
    let session: Session = expect_context();
    let nodes = session.memo(State::tree);
    let label = session.memo(|state| count(state.files.len(), "file"));
    let changed_only = session.memo(|state| state.tree.changed_only);
    let list = NodeRef::<Ul>::new();
    scroll_to_selected(session, list);
    view! {
        <div class="files-head">
            <span>{label}</span>
            <label class="switch">
                <input
                    type="checkbox"
                    id="changed-only"
                    prop:checked=changed_only
                    on:change=move |event| {
                        let on = event_target_checked(&event);
                        session.state.update(|state| state.tree.changed_only = on);
                    }
                />
                "Changed only"
            </label>
        </div>
        <ul class="files scroll" aria-label=label node_ref=list>
            <For each=move || nodes.get() key=key let(node)>
                {line(node)}
            </For>
        </ul>
    }
}

/// A line is made anew when anything in it changes.
fn key(node: &Node) -> String {
    format!("{node:?}")
}

fn line(node: Node) -> AnyView {
    match node {
        Node::Folder { path, name, depth, open, sums } => view! { <Folder path name depth open sums/> }.into_any(),
        Node::File { index, path, name, depth, sums, is_program } => {
            view! { <FileLine index path name depth sums is_program/> }.into_any()
        }
    }
}

#[component]
fn Folder(path: String, name: String, depth: usize, open: bool, sums: Sums) -> impl IntoView {
    let session: Session = expect_context();
    let flip = move |_| session.state.update(|state| state.flip_folder(&path));
    view! {
        <li class="folder" style:--depth=depth.to_string()>
            <button class="file" aria-expanded=open.to_string() on:click=flip>
                <span class="path">{if open { "▾ " } else { "▸ " }} {name} "/"</span>
                <Numbers sums/>
            </button>
        </li>
    }
}

#[component]
fn FileLine(index: usize, path: String, name: String, depth: usize, sums: Sums, is_program: bool) -> impl IntoView {
    let session: Session = expect_context();
    let current = session.memo(move |state| state.selected == index);
    let program = is_program.then(|| view! { <span class="badge">"entry"</span> });
    view! {
        <li style:--depth=depth.to_string()>
            <button
                class="file"
                id=format!("file-{index}")
                title=path.clone()
                aria-current=move || current.get().then_some("true")
                on:click=move |_| session.select(index)
            >
                <span class="path">{name}</span>
                {program}
                <Numbers sums/>
            </button>
            <button class="close" aria-label=format!("Remove {path}") on:click=move |_| session.close(index)>"×"</button>
        </li>
    }
}

/// What the port makes of a file or a folder.
#[component]
fn Numbers(sums: Sums) -> impl IntoView {
    let number = |n: usize, warn: bool, sign: Option<&'static str>, what: &'static str| {
        (n > 0).then(|| {
            let shown = sign.map_or_else(|| n.to_string(), str::to_owned);
            view! { <span class="count" class:warn=warn>{shown} <span class="visually-hidden">{what}</span></span> }
        })
    };
    view! {
        {number(sums.failed, true, Some("!"), " could not be ported")}
        {number(sums.changes, false, None, " changes")}
        {number(sums.todo, true, None, " to do")}
    }
}

/// Scrolls the list, and nothing around it, to the file shown.
fn scroll_to_selected(session: Session, list: NodeRef<Ul>) {
    let selected = session.memo(|state| state.selected);
    Effect::new(move |before: Option<usize>| {
        let selected = selected.get();
        if before != Some(selected) {
            request_animation_frame(move || {
                let Some(list) = list.try_get_untracked().flatten() else { return };
                let Some(file) = list.query_selector("[aria-current]").ok().flatten() else { return };
                let file: HtmlElement = file.unchecked_into();
                let (top, bottom) = (file.offset_top(), file.offset_top() + file.offset_height());
                if top < list.scroll_top() || bottom > list.scroll_top() + list.client_height() {
                    list.set_scroll_top(top - list.client_height() / 2);
                }
            });
        }
        selected
    });
}
