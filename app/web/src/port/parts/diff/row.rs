//! One row of the table: its class and what is inside, as HTML.

use super::paper::{Ghost, HunkInfo, HunkRecipe, Note, Paper};
use crate::port::parts::{escape, guide_address};
use crate::port::rows::Row;
use codemod::html_line;

/// Class and cells of a row.
pub fn show(paper: &Paper, index: usize) -> (&'static str, String) {
    let across = |inside: String| format!("<td colspan=\"{}\">{inside}</td>", if paper.unified { 3 } else { 4 });
    match paper.layout.rows[index] {
        Row::Head(hunk) => ("about", across(head(&paper.hunks[hunk]))),
        Row::Ghost(index) => ("ghost", across(ghost(&paper.ghosts[index]))),
        Row::Note(index) => ("remark", across(note(&paper.notes[index]))),
        Row::Fold { old, count, .. } => {
            let button = format!(
                "<button data-do=\"unfold\" data-to=\"{old} {}\">Show {count} unchanged lines</button>",
                old + count
            );
            ("fold", across(button))
        }
        Row::Same { old, new } => ("same", same(paper, old, new)),
        Row::Change { old, new, hunk } => ("change", change(paper, old, new, hunk)),
    }
}

fn code(paper: &Paper, line: u32, old: bool, words: &[(u32, u32)]) -> String {
    let view = &paper.view;
    let (lines, colours) = if old { (&view.old, &view.old_colours) } else { (&view.new, &view.new_colours) };
    html_line(lines.line(line as usize), colours.line(line as usize), words)
}

fn same(paper: &Paper, old: u32, new: u32) -> String {
    let text = code(paper, old, true, &[]);
    let (old, new) = (old + 1, new + 1);
    match paper.unified {
        true => format!("<td class=\"num old\">{old}</td><td class=\"num\">{new}</td><td class=\"code\">{text}</td>"),
        false => format!(
            "<td class=\"num old\">{old}</td><td class=\"code old\">{text}</td><td class=\"num\">{new}</td>\
             <td class=\"code\">{text}</td>"
        ),
    }
}

fn change(paper: &Paper, old: Option<u32>, new: Option<u32>, hunk: usize) -> String {
    let pair = paper.pair(hunk, old, new);
    let number = |line: Option<u32>| line.map(|line| (line + 1).to_string()).unwrap_or_default();
    let removed = old.map(|line| {
        let words = pair.map_or(&[][..], |pair| &pair.old_words);
        let text = code(paper, line, true, words);
        format!("<td class=\"code old del\"><span class=\"visually-hidden\">removed: </span>{text}</td>")
    });
    let added = new.map(|line| {
        let words = pair.filter(|pair| pair.new == line).map_or(&[][..], |pair| &pair.new_words);
        let text = code(paper, line, false, words);
        format!("<td class=\"code add\"><span class=\"visually-hidden\">added: </span>{text}</td>")
    });
    let (left, right) = (number(old), number(new));
    if paper.unified {
        let cell = removed.or(added).unwrap_or_default();
        return format!("<td class=\"num old\">{left}</td><td class=\"num\">{right}</td>{cell}");
    }
    let removed = removed.unwrap_or_else(|| "<td class=\"code old none\"></td>".to_owned());
    let added = added.unwrap_or_else(|| "<td class=\"code none\"></td>".to_owned());
    format!("<td class=\"num old\">{left}</td>{removed}<td class=\"num\">{right}</td>{added}")
}

/// What a hunk is about, and the button that refuses it.
fn head(hunk: &HunkInfo) -> String {
    let recipe = |r: &HunkRecipe| {
        let (class, word) = if r.is_unsafe { ("unsafe", "unsafe") } else { ("safe", "safe") };
        let title = escape(&r.title);
        let title = match r.reason.is_empty() {
            true => title,
            false => format!("<a href=\"{}\" target=\"_blank\">{title}</a>", guide_address(&r.id)),
        };
        let prose = |class: &str, html: &str| match html.is_empty() {
            true => String::new(),
            false => format!("<p class=\"{class}\">{html}</p>"),
        };
        let reason = match r.again {
            true => prose("grounds brief", &r.grounds_html),
            false => prose("reason", &escape(&r.reason)) + &prose("grounds", &r.grounds_html),
        };
        format!("<div><p class=\"title\">{title}<span class=\"badge {class}\">{word}</span></p>{reason}</div>")
    };
    let titles: Vec<&str> = hunk.recipes.iter().map(|recipe| recipe.title.as_str()).collect();
    let refuse = match hunk.edits.is_empty() {
        true => String::new(),
        false => button("reject", "Reject", &hunk.edits, &titles.join(", ")),
    };
    let recipes: String = hunk.recipes.iter().map(recipe).collect();
    format!("<div class=\"head\"><div class=\"whys\">{recipes}</div>{refuse}</div>")
}

/// A refused change, and the button that takes it back.
fn ghost(ghost: &Ghost) -> String {
    let accept = button("accept", "Accept", &ghost.edits, &ghost.title);
    format!("<div class=\"head\"><p class=\"title\">Rejected: {}</p>{accept}</div>", escape(&ghost.title))
}

fn button(act: &str, label: &str, edits: &[String], about: &str) -> String {
    format!(
        "<button class=\"button quiet small {act}\" data-do=\"{act}\" data-to=\"{}\" aria-label=\"{label}: {}\">{label}</button>",
        escape(&edits.join(" ")),
        escape(about)
    )
}

/// A message at its line.
fn note(note: &Note) -> String {
    let class = if note.needs { "note-text needs" } else { "note-text" };
    format!("<p class=\"{class}\"><b>{}: </b>{} {}</p>", note.kind, escape(&note.message), note.link)
}
