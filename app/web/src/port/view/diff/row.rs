//! One row of the table.

use super::hunk::{head, refused, remark};
use super::sheet::{InSight, Sheet};
use crate::port::state::lines::breaks;
use crate::port::state::paper::Paper;
use crate::port::state::rows::Row as Kind;
use crate::port::work::Session;
use crate::shared::browser;
use crate::shared::view::{Code, coloured};
use leptos::prelude::*;

/// A row by its index, created once; its position in the table may change while its contents stay the same.
#[component]
pub(super) fn Row(sheet: Sheet, rows: Memo<Vec<InSight>>, key: String, index: usize) -> impl IntoView {
    let paper = sheet.paper;
    let (class, cells) = match paper.layout.rows[index] {
        Kind::Head(hunk) => ("about", across(&paper, head(paper.hunks[hunk].clone(), paper.stale))),
        Kind::Ghost(ghost) => ("ghost", across(&paper, refused(paper.ghosts[ghost].clone()))),
        Kind::Note(note) => ("remark", across(&paper, remark(paper.notes[note].clone()))),
        Kind::Fold { old, count, .. } => ("fold", across(&paper, fold(old, count))),
        Kind::Same { old, new } => ("same", same(&paper, old, new)),
        Kind::Change { old, new, hunk } => ("change", change(&paper, old, new, hunk)),
    };
    let height = format!("{}px", paper.layout.height_of(index));
    let place = {
        let key = key.clone();
        move || rows.with(|rows| rows.iter().find(|row| row.0 == key).map(|row| (row.1 + 2).to_string()))
    };
    view! {
        <tr class=class data-key=key style:height=height aria-rowindex=place>
            {cells}
        </tr>
    }
}

fn across(paper: &Paper, inside: AnyView) -> AnyView {
    view! { <td colspan=if paper.unified { "3" } else { "4" }>{inside}</td> }.into_any()
}

fn code(paper: &Paper, line: u32, old: bool, words: &[(u32, u32)]) -> impl IntoView + use<> {
    let view = &paper.view;
    let (lines, colours) = if old { (&view.old, &view.old_colours) } else { (&view.new, &view.new_colours) };
    let (text, colours) = (lines.line(line as usize), colours.line(line as usize));
    let line = coloured(text, colours, words, &breaks(text, paper.columns));
    view! { <Code line/> }
}

fn same(paper: &Paper, old: u32, new: u32) -> AnyView {
    let (left, right) = (old + 1, new + 1);
    match paper.unified {
        true => view! {
            <td class="num old">{left}</td>
            <td class="num">{right}</td>
            <td class="code">{code(paper, old, true, &[])}</td>
        }
        .into_any(),
        false => view! {
            <td class="num old">{left}</td>
            <td class="code old">{code(paper, old, true, &[])}</td>
            <td class="num">{right}</td>
            <td class="code">{code(paper, old, true, &[])}</td>
        }
        .into_any(),
    }
}

fn change(paper: &Paper, old: Option<u32>, new: Option<u32>, hunk: usize) -> AnyView {
    let pair = paper.pair(hunk, old, new);
    let number = |line: Option<u32>| line.map(|line| (line + 1).to_string()).unwrap_or_default();
    let removed = old.map(|line| {
        let words = pair.map_or(&[][..], |pair| &pair.old_words);
        view! {
            <td class="code old del">
                <span class="visually-hidden">"removed: "</span>
                {code(paper, line, true, words)}
            </td>
        }
        .into_any()
    });
    let added = new.map(|line| {
        let words = pair.filter(|pair| pair.new == line).map_or(&[][..], |pair| &pair.new_words);
        view! {
            <td class="code add">
                <span class="visually-hidden">"added: "</span>
                {code(paper, line, false, words)}
            </td>
        }
        .into_any()
    });
    let (left, right) = (number(old), number(new));
    if paper.unified {
        return view! {
            <td class="num old">{left}</td>
            <td class="num">{right}</td>
            {removed.or(added)}
        }
        .into_any();
    }
    let removed = removed.unwrap_or_else(|| view! { <td class="code old none"></td> }.into_any());
    let added = added.unwrap_or_else(|| view! { <td class="code none"></td> }.into_any());
    view! {
        <td class="num old">{left}</td>
        {removed}
        <td class="num">{right}</td>
        {added}
    }
    .into_any()
}

/// Folded unchanged lines. A keyboard user who unfolds them stays in the table.
fn fold(old: u32, count: u32) -> AnyView {
    let session: Session = expect_context();
    let unfold = move |_| {
        if let Some(table) = browser::element("diff-scroll") {
            let _ = table.focus();
        }
        session.state.update(|state| state.unfolded.push(old..old + count));
    };
    view! { <button on:click=unfold>{format!("Show {count} unchanged lines")}</button> }.into_any()
}
