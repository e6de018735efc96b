//! One row of the table.

use super::marks;
use super::paper::Paper;
use crate::rows::Row;
use codemod::html_line;
use leptos::prelude::*;
use std::fmt::Write;
use std::sync::Arc;

/// A row with the name by which it is known again.
#[derive(Clone)]
pub(super) struct Keyed {
    pub(super) key: u64,
    index: usize,
    paper: Arc<Paper>,
}

impl Keyed {
    pub(super) fn of(paper: &Arc<Paper>, index: usize) -> Keyed {
        Keyed { key: paper.hash_of(index), index, paper: paper.clone() }
    }
}

/// The row's element.
pub(super) fn show(row: Keyed) -> AnyView {
    let Keyed { key, index, paper } = row;
    let height = format!("{}px", paper.layout.height_of(index));
    let (key, number) = (format!("{key:x}"), (index + 2).to_string());
    let span = if paper.unified { "3" } else { "4" };
    let (class, inside) = match paper.layout.rows[index] {
        Row::Head(hunk) => ("about", marks::head(paper.hunks[hunk].clone())),
        Row::Ghost(ghost) => ("ghost", marks::ghost(paper.ghosts[ghost].clone())),
        Row::Note(note) => ("remark", marks::note(paper.notes[note].clone())),
        code => {
            let (class, html) = code_row(&paper, code);
            return view! {
                <tr class=class data-key=key aria-rowindex=number style:height=height inner_html=html></tr>
            }
            .into_any();
        }
    };
    view! {
        <tr class=class data-key=key aria-rowindex=number style:height=height><td colspan=span>{inside}</td></tr>
    }
    .into_any()
}

/// Class and cells of a row of code.
fn code_row(paper: &Paper, row: Row) -> (&'static str, String) {
    let view = &paper.view;
    let code = |line: u32, old: bool, words: &[(u32, u32)]| {
        let (lines, colours) = if old { (&view.old, &view.old_colours) } else { (&view.new, &view.new_colours) };
        html_line(lines.line(line as usize), colours.line(line as usize), words)
    };
    let mut html = String::new();
    match row {
        Row::Same { old, new } => {
            let text = code(old, true, &[]);
            let (old, new) = (old + 1, new + 1);
            let _ = match paper.unified {
                true => write!(
                    html,
                    "<td class=\"num old\">{old}</td><td class=\"num\">{new}</td><td class=\"code\">{text}</td>"
                ),
                false => write!(
                    html,
                    "<td class=\"num old\">{old}</td><td class=\"code old\">{text}</td><td class=\"num\">{new}</td><td class=\"code\">{text}</td>"
                ),
            };
            ("same", html)
        }
        Row::Change { old, new, hunk } => {
            let pair = paper.pair(hunk, old, new);
            let number = |line: Option<u32>| line.map(|line| (line + 1).to_string()).unwrap_or_default();
            let removed = old.map(|line| {
                let words = pair.map_or(&[][..], |pair| &pair.old_words);
                format!(
                    "<td class=\"code old del\"><span class=\"visually-hidden\">removed: </span>{}</td>",
                    code(line, true, words)
                )
            });
            let added = new.map(|line| {
                let words = pair.filter(|pair| pair.new == line).map_or(&[][..], |pair| &pair.new_words);
                format!(
                    "<td class=\"code add\"><span class=\"visually-hidden\">added: </span>{}</td>",
                    code(line, false, words)
                )
            });
            let (left, right) = (number(old), number(new));
            if paper.unified {
                let cell = removed.or(added).unwrap_or_default();
                let _ = write!(html, "<td class=\"num old\">{left}</td><td class=\"num\">{right}</td>{cell}");
            } else {
                let none = |side: &str| format!("<td class=\"code {side} none\"></td>");
                let (removed, added) = (removed.unwrap_or_else(|| none("old")), added.unwrap_or_else(|| none("new")));
                let _ = write!(html, "<td class=\"num old\">{left}</td>{removed}<td class=\"num\">{right}</td>{added}");
            }
            ("change", html)
        }
        Row::Fold { old, count, .. } => {
            let span = if paper.unified { 3 } else { 4 };
            let _ = write!(
                html,
                "<td colspan=\"{span}\"><button data-fold=\"{old}-{}\">Show {count} unchanged lines</button></td>",
                old + count
            );
            ("fold", html)
        }
        Row::Head(_) | Row::Ghost(_) | Row::Note(_) => ("", html),
    }
}
