//! The project's files as a tree.

use crate::port::state::State;
use crate::port::state::tree::{Node, Of, Step, Sums, step};
use crate::port::work::Session;
use crate::shared::browser;
use crate::shared::text::{count, hash_of};
use crate::shared::view::{When, each, live};
use leptos::ev::KeyboardEvent;
use leptos::html::{Li, Ul};
use leptos::prelude::*;
use web_sys::HtmlUListElement;

/// In a list longer than this, only the visible lines have elements.
const MANY: usize = 60;
/// The number of lines created above and below the visible ones.
const SPARE: usize = 10;

/// The tree; empty for a single file.
#[component]
pub(super) fn Files() -> impl IntoView {
    let session: Session = expect_context();
    let several = session.memo(|state| state.files.len() > 1);
    view! {
        <When holds=several>
            <Tree/>
        </When>
    }
}

#[component]
fn Tree() -> impl IntoView {
    let session: Session = expect_context();
    let nodes = session.memo_of_port(State::tree);
    let label = session.memo(|state| count(state.files.len(), "file"));
    let changed_only = session.memo(|state| state.tree.changed_only);
    let list = NodeRef::<Ul>::new();
    // For a long list, the first visible line, and the number of visible lines.
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
    // The line to which keys apply; by default it is the current file.
    let cursor = RwSignal::new(None::<String>);
    let selected = session.memo(|state| state.selected);
    Effect::new(move |_| {
        selected.track();
        cursor.set(None);
    });
    let at = Memo::new(move |_| {
        let (cursor, selected) = (cursor.get(), selected.get());
        let is_it = |node: &Node| match &cursor {
            Some(path) => node.path == *path,
            None => matches!(node.of, Of::File { index, .. } if index == selected),
        };
        nodes.with(|nodes| nodes.iter().position(is_it))
    });
    scroll_to(at, list);
    let active = move || {
        let at = at.get().filter(|at| shown.get().contains(at))?;
        nodes.with(|nodes| nodes.get(at).map(id_of))
    };
    let key = move |event: KeyboardEvent| {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        match nodes.with_untracked(|nodes| step(nodes, at.get_untracked(), &event.key())) {
            Some(Step::To(path)) => cursor.set(Some(path)),
            Some(Step::Flip(path)) => session.state.update(|state| state.flip_folder(&path)),
            Some(Step::Show(index)) => session.select(index),
            Some(Step::Remove(index)) => session.close(index),
            None => return,
        }
        event.prevent_default();
    };
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
        <ul
            class="files scroll"
            id="files"
            role="tree"
            tabindex="0"
            aria-label=label
            aria-activedescendant=active
            node_ref=list
            on:scroll=move |_| look()
            on:keydown=key
        >
            {live(above)}
            {each(rows, hash_of, move |node| view! { <Line node selected cursor active=Signal::derive(active)/> })}
            {live(below)}
        </ul>
    }
}

/// The id of a line's element.
fn id_of(node: &Node) -> String {
    match node.of {
        Of::File { index, .. } => format!("file-{index}"),
        Of::Folder { .. } | Of::New => format!("folder-{:x}", hash_of(&node.path)),
    }
}

/// A line, recreated when any part of it changes.
#[component]
fn Line(
    node: Node,
    selected: Memo<usize>,
    cursor: RwSignal<Option<String>>,
    active: Signal<Option<String>>,
) -> impl IntoView {
    let session: Session = expect_context();
    let id = id_of(&node);
    let is_active = {
        let id = id.clone();
        move || active.with(|active| active.as_ref() == Some(&id))
    };
    let Node { of, path, name, depth, sums, place: (number, among) } = node;
    let (shown, open, badge) = match of {
        Of::Folder { open } => (format!("{} {name}/", if open { "▾" } else { "▸" }), Some(open), None),
        Of::File { is_program, .. } => (name.clone(), None, is_program.then_some("entry")),
        Of::New => (name.clone(), None, Some("new")),
    };
    let is_shown = move || matches!(of, Of::File { index, .. } if selected.get() == index);
    let label = format!("{name}{}{}", badge.map(|badge| format!(", {badge}")).unwrap_or_default(), said(sums));
    let press = {
        let path = path.clone();
        move |_| match of {
            Of::File { index, .. } => session.select(index),
            Of::Folder { .. } => {
                cursor.set(Some(path.clone()));
                session.state.update(|state| state.flip_folder(&path));
            }
            Of::New => cursor.set(Some(path.clone())),
        }
    };
    // The macro has no such attribute.
    let line = NodeRef::<Li>::new();
    line.on_load(move |line| drop(line.set_attribute("aria-level", &(depth + 1).to_string())));
    let remove = match of {
        Of::File { index, .. } => Some(view! {
            <button
                class="close"
                tabindex="-1"
                aria-label=format!("Remove {path}")
                on:click=move |event| {
                    event.stop_propagation();
                    session.close(index);
                }
            >
                "×"
            </button>
        }),
        Of::Folder { .. } | Of::New => None,
    };
    view! {
        <li
            role="treeitem"
            node_ref=line
            id=id
            class="file"
            class:folder=open.is_some()
            class:active=is_active
            title=path
            aria-label=label
            aria-posinset=number.to_string()
            aria-setsize=among.to_string()
            aria-expanded=open.map(|open| open.to_string())
            aria-selected=move || is_shown().to_string()
            style:--depth=depth.to_string()
            on:click=press
        >
            <span class="path">{shown}</span>
            {badge.map(|badge| view! { <span class="badge">{badge}</span> })}
            {count_of(sums.failed, true, Some("!"))}
            {count_of(sums.changes, false, None)}
            {count_of(sums.todo, true, None)}
            {remove}
        </li>
    }
}

/// A count for a file or a folder, or a sign in its place.
fn count_of(number: usize, warn: bool, sign: Option<&'static str>) -> Option<impl IntoView> {
    let shown = sign.map_or_else(|| number.to_string(), str::to_owned);
    (number > 0).then(|| view! { <span class="count" class:warn=warn>{shown}</span> })
}

/// The counts in words.
fn said(Sums { changes, todo, failed }: Sums) -> String {
    let parts = [
        (failed, ", could not be ported".to_owned()),
        (changes, format!(", {}", count(changes, "change"))),
        (todo, format!(", {todo} to do")),
    ];
    parts.into_iter().filter(|(number, _)| *number > 0).map(|(_, words)| words).collect()
}

/// Scrolls the list, and nothing around it, to the current line.
fn scroll_to(at: Memo<Option<usize>>, list: NodeRef<Ul>) {
    Effect::new(move |_| {
        let Some(place) = at.get() else { return };
        request_animation_frame(move || {
            let Some(list) = list.try_get_untracked().flatten() else { return };
            let (top, row) = (list.scroll_top(), row_height(&list));
            let line = place as i32 * row;
            if line < top || line + row > top + list.client_height() {
                list.set_scroll_top(line - list.client_height() / 2);
            }
        });
    });
}

/// The height of a line in pixels; it is the same for all.
fn row_height(list: &HtmlUListElement) -> i32 {
    let row = list.query_selector("li:not([aria-hidden])").ok().flatten();
    row.map_or(0, |row| row.client_height()).max(16)
}
