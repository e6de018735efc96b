//! Everything the table shows, computed from the state.

use crate::port::protocol::EditNote;
use crate::port::state::lines::{Lines, breaks};
use crate::port::state::rows::{Layout, Mark, Row, Shape, Sheet, prose_lines};
use crate::port::state::{RejectedEdit, State, View, needs_person};
use codemod::{Applicability, Diagnostic, Pair, RecipeInfo, RemovedComment, Severity};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The diff of one file, laid out.
#[derive(Clone, Default)]
pub struct Paper {
    /// Index of the file.
    pub file: usize,
    /// Texts and colours.
    pub view: Arc<View>,
    /// The rows.
    pub layout: Layout,
    /// The description of each hunk.
    pub hunks: Vec<HunkInfo>,
    /// Messages, by line.
    pub notes: Vec<Note>,
    /// Rejected changes, by line.
    pub ghosts: Vec<Ghost>,
    /// Whether there is one column.
    pub unified: bool,
    /// The number of characters that fit into a row of code.
    pub columns: usize,
    /// Whether this is an earlier port, in which nothing can be rejected.
    pub stale: bool,
}

impl PartialEq for Paper {
    fn eq(&self, other: &Paper) -> bool {
        self.view.serial == other.view.serial
            && (self.unified, self.columns) == (other.unified, other.columns)
            && self.stale == other.stale
            && self.layout == other.layout
            && self.hunks == other.hunks
            && self.ghosts == other.ghosts
            && self.notes == other.notes
    }
}

/// A message.
#[derive(Clone, PartialEq, Hash)]
pub struct Note {
    /// Line of the port, from 0.
    pub line: u32,
    /// Whether it requires action by the user.
    pub needs: bool,
    /// Its severity in words.
    pub kind: &'static str,
    /// Its text.
    pub message: String,
    /// The recipe whose section is the help, and its title; `None` for the engine's own messages.
    pub recipe: Option<(String, String)>,
    /// The location in the original, counted from 0: line and column.
    pub source: (usize, usize),
}

/// A rejected change.
#[derive(Clone, PartialEq, Hash)]
pub struct Ghost {
    /// Line of the original, from 0.
    pub line: u32,
    /// Titles of its recipes.
    pub title: String,
    /// Ids of its edits.
    pub edits: Vec<String>,
}

/// The description of a hunk.
#[derive(Clone, Default, PartialEq, Hash)]
pub struct HunkInfo {
    /// Ids of its edits.
    pub edits: Vec<String>,
    /// The recipes that made them.
    pub recipes: Vec<HunkRecipe>,
    /// The comments that it removes, in a sentence; empty if there are none.
    pub comments: String,
}

/// One of the recipes that contributed to a hunk.
#[derive(Clone, PartialEq, Hash)]
pub struct HunkRecipe {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The reason for it.
    pub reason: String,
    /// The SDK versions that it applies to.
    pub sdks: String,
    /// What is shown as its source if that has no citations: the guide or, for the user's own, the source's text.
    pub source: String,
    /// The citations of its source: text and address.
    pub citations: Vec<(String, String)>,
    /// Whether one of its edits here is unsafe.
    pub is_unsafe: bool,
}

impl HunkRecipe {
    /// The words of its scope and source, as the page shows them.
    fn grounds(&self) -> String {
        if self.sdks.is_empty() {
            return String::new();
        }
        let sources: Vec<&str> = self.citations.iter().map(|(words, _)| words.as_str()).collect();
        let sources = if sources.is_empty() { self.source.clone() } else { sources.join(", ") };
        format!("For SDK {}. Source: {sources}", self.sdks)
    }
}

impl Paper {
    /// Lays out the current file.
    pub fn of(state: &State, shape: Shape) -> Paper {
        let Some((file, view, stale)) = state.in_sight() else { return Paper::default() };
        let view = view.clone();
        let hunks = hunk_infos(state, &file.edits, &view);
        let notes = notes(state, &file.diagnostics, &view.new);
        let ghosts = ghosts(state, &file.path, &view.old);
        let heads: Vec<u32> = hunks.iter().map(|hunk| head_height(hunk, shape.prose)).collect();
        let note_height = |note: &Note| {
            let title = note.recipe.as_ref().map_or("", |(_, title)| title);
            let text = format!("{}: {} {title} Edit source", note.kind, note.message);
            prose_lines(&text, shape.prose - 44.0) * 18 + 18
        };
        let note_marks: Vec<Mark> = notes.iter().map(|n| Mark { line: n.line, height: note_height(n) }).collect();
        let ghost_marks: Vec<Mark> = ghosts.iter().map(|g| Mark { line: g.line, height: GHOST }).collect();
        let sheet = Sheet {
            diff: &view.shown.diff,
            old: &view.old,
            new: &view.new,
            heads: &heads,
            notes: &note_marks,
            ghosts: &ghost_marks,
            unfolded: &state.unfolded,
        };
        let layout = Layout::new(sheet, shape);
        Paper {
            file: state.selected,
            layout,
            hunks,
            notes,
            ghosts,
            unified: shape.unified,
            columns: shape.columns,
            stale,
            view,
        }
    }

    /// The number of digits of the highest line number.
    pub fn digits(view: &View) -> usize {
        view.old.len().max(view.new.len()).max(100).to_string().len()
    }

    /// The word differences of a changed row.
    pub fn pair(&self, hunk: usize, old: Option<u32>, new: Option<u32>) -> Option<&Pair> {
        let pairs = &self.view.shown.diff.hunks.get(hunk)?.pairs;
        pairs.iter().find(|pair| old == Some(pair.old) || (old.is_none() && new == Some(pair.new)))
    }

    /// The row of an edit: its hunk's head, or the row that replaces it after the edit was rejected.
    pub fn row_of_edit(&self, id: &str) -> Option<usize> {
        self.layout.rows.iter().position(|row| match row {
            Row::Ghost(index) => self.ghosts[*index].edits.iter().any(|edit| edit == id),
            Row::Head(index) => self.hunks[*index].edits.iter().any(|edit| edit == id),
            _ => false,
        })
    }

    /// The line of the original to which a hunk's head or a rejected change belongs.
    pub fn line_about(&self, row: usize) -> u32 {
        match self.layout.rows[row] {
            Row::Head(index) => self.view.shown.diff.hunks[index].old_start,
            Row::Ghost(index) => self.ghosts[index].line,
            _ => 0,
        }
    }

    /// A key for a row's element that stays the same as long as its contents do.
    pub fn key_of(&self, index: usize) -> String {
        format!("{:x}", self.hash_of(index))
    }

    /// Equal for rows with the same contents.
    pub fn hash_of(&self, index: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        let row = self.layout.rows[index];
        (self.unified, self.layout.height_of(index)).hash(&mut hasher);
        let mut side = |line: Option<u32>, old: bool| {
            let Some(line) = line.map(|line| line as usize) else { return };
            let (lines, colours) = match old {
                true => (&self.view.old, &self.view.old_colours),
                false => (&self.view.new, &self.view.new_colours),
            };
            (lines.line(line), colours.line(line), breaks(lines.line(line), self.columns)).hash(&mut hasher);
        };
        if let Row::Change { old, new, .. } = row {
            side(old, true);
            side(new, false);
        } else if let Row::Same { old, .. } = row {
            side(Some(old), true);
        }
        match row {
            Row::Head(index) => (0, &self.hunks[index], self.stale).hash(&mut hasher),
            Row::Ghost(index) => (1, &self.ghosts[index]).hash(&mut hasher),
            Row::Note(index) => (2, &self.notes[index]).hash(&mut hasher),
            Row::Change { old, new, hunk } => {
                let words = self.pair(hunk, old, new).map(|pair| (&pair.old_words, &pair.new_words));
                (3, old, new, words).hash(&mut hasher);
            }
            row => row.hash(&mut hasher),
        }
        hasher.finish()
    }
}

/// Shown for a hunk of several recipes.
pub const TOGETHER: &str = "These recipes change the same lines. They are rejected and accepted together:";

/// The height of a rejected change.
const GHOST: u32 = 44;

/// The style sheet's numbers: 8 px above and below, 26 px for a title, 18 px for a line of prose.
fn head_height(hunk: &HunkInfo, width: f64) -> u32 {
    let narrow = width < 560.0;
    let prose = if narrow { width - 32.0 } else { width - 150.0 };
    let lines = |text: &str| if text.is_empty() { 0 } else { prose_lines(text, prose) };
    let one = |recipe: &HunkRecipe| {
        // A badge does not wrap, and has space around its word.
        let badge = if recipe.is_unsafe { "_opt-in:_may_alter_results" } else { "_automatic" };
        let titles = prose_lines(&format!("{} {badge}", recipe.title), prose * 0.95);
        titles * 26 + (lines(&recipe.reason) + lines(&recipe.grounds())) * 18
    };
    let recipes: u32 = hunk.recipes.iter().map(one).sum();
    let together = if hunk.recipes.len() > 1 { prose_lines(TOGETHER, prose) * 18 } else { 0 };
    let comments = lines(&hunk.comments) * 18;
    let buttons = if narrow { 36 } else { 0 };
    recipes.max(26) + 18 + together + comments + buttons
}

fn hunk_infos(state: &State, edits: &[EditNote], view: &View) -> Vec<HunkInfo> {
    // Hunks list their edits in file order, so the next edit is close to the last one.
    let mut near = 0;
    let mut find = |id: &str| {
        let at = (near..edits.len()).chain(0..near).find(|at| edits[*at].id == id)?;
        near = at;
        Some(&edits[at])
    };
    let info = |hunk: &codemod::Hunk| {
        let of_file = edits.iter().flat_map(|edit| &edit.comments_removed);
        let here: Vec<_> = of_file.filter(|c| (hunk.old_start..hunk.old_end).contains(&(c.line as u32 - 1))).collect();
        let mut info = HunkInfo { edits: hunk.edits.clone(), recipes: Vec::new(), comments: about_comments(&here) };
        for edit in hunk.edits.iter().filter_map(|id| find(id)) {
            let is_unsafe = edit.applicability == Applicability::Unsafe;
            if let Some(known) = info.recipes.iter_mut().find(|r| r.id == edit.recipe) {
                known.is_unsafe |= is_unsafe;
                continue;
            }
            let recipe = state.recipe(&edit.recipe);
            info.recipes.push(HunkRecipe {
                id: edit.recipe.clone(),
                title: state.title(&edit.recipe),
                reason: recipe.map(|r| r.reason.clone()).unwrap_or_default(),
                sdks: recipe.map(|r| r.sdks.join(", ")).unwrap_or_default(),
                source: recipe.filter(|r| state.is_own(&r.id)).map_or("the guide", |r| &r.source).to_owned(),
                citations: recipe.map(citations).unwrap_or_default(),
                is_unsafe,
            });
        }
        info
    };
    view.shown.diff.hunks.iter().map(info).collect()
}

/// What is said of the comments that a change removes, of each the first line.
fn about_comments(removed: &[&RemovedComment]) -> String {
    let mut comments: Vec<String> = Vec::new();
    let mut next = 0;
    for RemovedComment { line, text, .. } in removed {
        if *line != next {
            comments.push(text.replace('`', "'"));
        } else if let Some(first) = comments.last_mut().filter(|first| !first.ends_with(" …")) {
            first.push_str(" …");
        }
        next = line + 1;
    }
    let comments: Vec<String> = comments.iter().map(|comment| format!("`{comment}`")).collect();
    match comments.as_slice() {
        [] => String::new(),
        [only] => format!("The comment {only} was removed with the line that it describes."),
        [others @ .., last] => {
            format!("The comments {} and {last} were removed with the lines that they describe.", others.join(", "))
        }
    }
}

/// The scope and source of a recipe, in words.
pub fn grounds(recipe: &RecipeInfo) -> String {
    format!("Holds for: {} Source: {}", recipe.holds_for, recipe.source)
}

/// The citations of a recipe's source: text and address.
pub fn citations(recipe: &RecipeInfo) -> Vec<(String, String)> {
    recipe.citations.iter().map(|citation| (citation.text.clone(), citation.url.clone())).collect()
}

fn notes(state: &State, diagnostics: &[Diagnostic], new: &Lines) -> Vec<Note> {
    let last = new.len().saturating_sub(1) as u32;
    // The worker returns them in line order.
    diagnostics
        .iter()
        .map(|d| Note {
            line: (d.ported.line.saturating_sub(1) as u32).min(last),
            needs: needs_person(d),
            kind: match d.severity {
                Severity::Error => "Error",
                Severity::Warning => "To do",
                Severity::Info => "Worth knowing",
                Severity::Hint => "Optional improvement",
            },
            message: d.message.clone(),
            recipe: state.recipe(&d.recipe).map(|recipe| (recipe.id.clone(), recipe.title.clone())),
            source: (d.original.line.saturating_sub(1), d.original.column.saturating_sub(1)),
        })
        .collect()
}

fn ghosts(state: &State, path: &str, old: &Lines) -> Vec<Ghost> {
    let ghost = |edits: Vec<&RejectedEdit>| {
        let mut titles: Vec<String> = Vec::new();
        for edit in &edits {
            let title = state.title(&edit.recipe);
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
        let line = edits.first().map_or(0, |edit| old.line_of(edit.start)) as u32;
        Ghost { line, title: titles.join(", "), edits: edits.into_iter().map(|edit| edit.id.clone()).collect() }
    };
    state.rejected.together(path, old).into_iter().map(ghost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(removed: &[(usize, &str)], said: &str) {
        let comment = |(line, text): &(usize, &str)| RemovedComment { line: *line, cell: None, text: (*text).into() };
        let comments: Vec<RemovedComment> = removed.iter().map(comment).collect();
        assert_eq!(about_comments(&comments.iter().collect::<Vec<_>>()), said);
    }

    #[test]
    fn a_change_names_the_comments_that_it_removes() {
        check(&[], "");
        check(&[(3, "# room")], "The comment `# room` was removed with the line that it describes.");
        check(
            &[(3, "# room"), (4, "# for"), (5, "# all"), (9, "# `b`")],
            "The comments `# room …` and `# 'b'` were removed with the lines that they describe.",
        );
    }

    #[test]
    fn a_card_has_the_comments_of_its_own_change() {
        let (old, new) = ("a\n# room\nb\nc\nd\ne  # now\n", "a\nc\nd\n");
        let mut view = View::default();
        view.shown.diff = codemod::diff_texts(old, new, &[]);
        // The comment above a statement may be the part of another edit than the statement.
        let edit = |id: &str, line: usize, text: &str| EditNote {
            id: id.into(),
            recipe: "t#r".into(),
            applicability: Applicability::Safe,
            start: 0,
            comments_removed: vec![RemovedComment { line, cell: None, text: text.into() }],
        };
        let infos = hunk_infos(&State::default(), &[edit("t#r@9", 2, "# room"), edit("t#r@20", 6, "# now")], &view);
        let said: Vec<&str> = infos.iter().map(|info| info.comments.as_str()).collect();
        let sentence = |comment| format!("The comment `{comment}` was removed with the line that it describes.");
        assert_eq!(said, [sentence("# room"), sentence("# now")]);
        let bare = HunkInfo { comments: String::new(), ..infos[0].clone() };
        assert!(head_height(&infos[0], 800.0) > head_height(&bare, 800.0));
    }
}
