//! Replaces statements by others.

use super::filler::{Filler, Refusal};
use crate::matching::Aligned;
use crate::patch::{Block, Form, Item};
use python::edit::Change;
use python::tree::{Id, kinds};
use std::ops::Range;
use training::FileView;

impl Filler<'_, '_, '_, '_> {
    pub(super) fn statements(&self, block: &Block, aligned: &[Aligned]) -> Result<Vec<Change>, Refusal> {
        let mut changes = Vec::new();
        let mut met = aligned.iter();
        // Consecutive deleted statements, waiting for their replacement.
        let mut deleted: Vec<Id> = Vec::new();
        let mut previous: Option<Id> = None;
        let mut waiting: Vec<String> = Vec::new();
        for item in &block.items {
            match item {
                Item::Insert(lines) => {
                    let text = self.lines(lines)?;
                    if !deleted.is_empty() {
                        let (first, last) = (deleted[0], deleted[deleted.len() - 1]);
                        deleted.clear();
                        previous = Some(last);
                        changes.push(Change::Replace { first, last, text });
                    } else if let Some(at) = previous {
                        changes.push(Change::Insert { at, after: true, text });
                    } else {
                        waiting.push(text);
                    }
                }
                Item::Statement(statement) => {
                    let Some(aligned) = met.next() else { break };
                    if let Some(at) = aligned.first() {
                        for text in waiting.drain(..) {
                            changes.push(Change::Insert { at, after: false, text });
                        }
                    }
                    if statement.deleted {
                        if let (Some(first), Some(last)) = (aligned.first(), aligned.last()) {
                            deleted.push(first);
                            if last != first {
                                deleted.push(last);
                            }
                        }
                        continue;
                    }
                    flush(&mut changes, &mut deleted);
                    if let (Form::Compound(compound), Aligned::Compound { id, body, clauses }) =
                        (&statement.form, aligned)
                    {
                        if let Some(header) = &compound.new_header {
                            let text = self.fill(header)?;
                            if let Some(range) = header_range(self.cx.view, *id) {
                                changes.push(Change::Expression {
                                    node: *id,
                                    range,
                                    text: text.trim_end_matches(':').to_owned(),
                                });
                            }
                        }
                        changes.extend(self.statements(&compound.body, body)?);
                        for (clause, (id, met)) in compound.clauses.iter().zip(clauses) {
                            if let Some(lines) = &clause.before {
                                changes.push(Change::Clause { before: *id, text: self.lines(lines)? });
                            }
                            changes.extend(self.statements(&clause.body, met)?);
                        }
                    }
                    previous = aligned.last().or(previous);
                }
            }
        }
        flush(&mut changes, &mut deleted);
        Ok(changes)
    }
}

fn flush(changes: &mut Vec<Change>, deleted: &mut Vec<Id>) {
    if let (Some(first), Some(last)) = (deleted.first(), deleted.last()) {
        changes.push(Change::Replace { first: *first, last: *last, text: String::new() });
        deleted.clear();
    }
}

/// A compound statement's text up to its colon.
fn header_range(view: &FileView<'_>, id: Id) -> Option<Range<usize>> {
    let block = view.index.children(id).find(|c| view.index.kind(*c) == kinds().block)?;
    let start = view.index.item(id).start;
    let head = &view.index.text[start..view.index.item(block).start];
    Some(start..start + head.rfind(':')?)
}
