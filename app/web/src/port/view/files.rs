//! The project's files as a tree.

use crate::port::state::State;
use crate::port::state::tree::{Node, Sums};
use crate::port::work::Session;
use crate::shared::browser;
use crate::shared::text::{count, hash_of};
use leptos::html::Ul;
use leptos::prelude::*;
use web_sys::HtmlUListElement;

/// A list longer than this has elements for the lines in sight alone.
const MANY: usize = 200;
/// Lines made above and below those in sight.
const SPARE: usize = 20;

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
    let nodes = session.memo_of_port(State::tree);
    let label = session.memo(|state| count(state.files.len(), "file"));
    let changed_only = session.memo(|state| state.tree.changed_only);
    let list = NodeRef::<Ul>::new();
    // Of a long list, the first line in sight, and how many there are.
    let window = RwSignal::new((0usize, MANY));
    let look = move || {
        if let Some(list) = list.try_get_untracked().flatten() {
            let row = row_height(&list);
            let first = (list.scroll_top().max(0) / row) as usize;
            let now = (first.saturating_sub(SPARE), (list.client_height() / row) as usize + 2 * SPARE);
            if window.get_untracked() != now {
                window.set(now);
            }
        }
    };
    list.on_load(move |list| browser::when_resized(&list, look));
    let shown = Memo::new(move |_| {
        let length = nodes.with(Vec::len);
        let (first, count) = if length > MANY { window.get() } else { (0, length) };
        first.min(length)..(first + count).min(length)
    });
    let rows = move || nodes.with(|nodes| nodes.get(shown.get()).map(<[Node]>::to_vec).unwrap_or_default());
    let space = |lines: usize| view! { <li aria-hidden="true" style:height=format!("{}rem", 1.9 * lines as f64)></li> };
    let above = move || Some(shown.get().start).filter(|lines| *lines > 0).map(space);
    let below = move || Some(nodes.with(Vec::len) - shown.get().end).filter(|lines| *lines > 0).map(space);
    scroll_to_selected(session, nodes, list);
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
        <ul class="files scroll" aria-label=label node_ref=list on:scroll=move |_| look()>
            {above}
            <For each=rows key=key let(node)>
                {line(node)}
            </For>
            {below}
        </ul>
    }
}

/// A line is made anew when anything in it changes.
fn key(node: &Node) -> u64 {
    hash_of(node)
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
        {number(sums.changes, false, None, if sums.changes == 1 { " change" } else { " changes" })}
        {number(sums.todo, true, None, " to do")}
    }
}

/// Scrolls the list, and nothing around it, to the file shown.
fn scroll_to_selected(session: Session, nodes: Memo<Vec<Node>>, list: NodeRef<Ul>) {
    let selected = session.memo(|state| state.selected);
    Effect::new(move |before: Option<usize>| {
        let selected = selected.get();
        if before != Some(selected) {
            request_animation_frame(move || {
                let Some(list) = list.try_get_untracked().flatten() else { return };
                let is_it = |node: &Node| matches!(node, Node::File { index, .. } if *index == selected);
                let Some(place) = nodes.with_untracked(|nodes| nodes.iter().position(is_it)) else { return };
                let (top, row) = (list.scroll_top(), row_height(&list));
                let at = place as i32 * row;
                if at < top || at + row > top + list.client_height() {
                    list.set_scroll_top(at - list.client_height() / 2);
                }
            });
        }
        selected
    });
}

/// Height of a line, pixels: all have the same.
fn row_height(list: &HtmlUListElement) -> i32 {
    let row = list.query_selector("li:not([aria-hidden])").ok().flatten();
    row.map_or(0, |row| row.client_height()).max(16)
}
