//! The lines of a `where` fence: a small closed vocabulary over facts.

mod cuda_device;
mod imports;
mod surroundings;
mod types;

pub(crate) use cuda_device::cuda_devices;
pub(crate) use imports::imports;
pub(crate) use surroundings::{inside_with, table_values};
pub(crate) use types::{Type, nodes_of_type};

use crate::facts::readers::only_evaluation_reads;
use crate::facts::{FileView, ProjectFacts};
use crate::matching::Match;
use crate::pattern::{Env, NodePattern, node_pattern, plain_string};
use crate::settings::Settings;
use crate::template::variable_name;
use crate::tree::{Id, Root, Tree, kinds};
use surroundings::{assigns, contains, followed_by, has_keyword, trains, unused};
use types::is_of_type;

/// A compiled condition.
pub(crate) struct Condition {
    negated: bool,
    test: Test,
}

enum Test {
    Typed(String, Type),
    OneOf(String, Vec<String>),
    Unused(String),
    InsideDef(String),
    InsideTraining,
    InsideValidation,
    InsideWith(NodePattern),
    InsideLoop,
    InsideComparison,
    InsideDecorator,
    UnderScope,
    OnlyEvaluation,
    HasKeyword(String),
    FileDefines(String),
    FileImports(String),
    FileTrains,
    LeadsToTraining,
    StepLeft,
    ComputeModes,
    ProjectImports(String),
    FollowedBy(NodePattern),
    Option(String, String),
    FileContains(NodePattern),
}

/// What every condition may look at.
pub(crate) struct Situation<'a, 't> {
    pub(crate) view: &'a FileView<'t>,
    pub(crate) project: &'a ProjectFacts,
    pub(crate) settings: &'a Settings<'a>,
    /// The port is in branch style.
    pub(crate) branch: bool,
}

impl Condition {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (negated, rest) = match text.strip_prefix("not ") {
            Some(rest) => (true, rest.trim()),
            None => (false, text.trim()),
        };
        let unknown =
            || Err(format!("`{text}` is no condition: see the list in guides/writing-a-recipe.md#conditions"));
        if let Some(variable) = rest.strip_prefix('$') {
            let name = variable_name(variable);
            let tail = &variable[name.len()..];
            let name = name.to_owned();
            if let Some(kind) = tail.strip_prefix(':') {
                let Some(kind) = Type::parse(kind.trim()) else {
                    return Err(format!("`{}` is no type of a metavariable", kind.trim()));
                };
                return Ok(Self { negated, test: Test::Typed(name, kind) });
            }
            for (word, not) in [(" is not one of ", true), (" is one of ", false)] {
                if let Some(list) = tail.strip_prefix(word) {
                    let list = list.split(',').map(|v| v.trim().to_owned()).collect();
                    return Ok(Self { negated: negated != not, test: Test::OneOf(name, list) });
                }
            }
            if tail.trim() == "is unused" {
                return Ok(Self { negated, test: Test::Unused(name) });
            }
            return unknown();
        }
        let test = match rest {
            "inside the training step" => Test::InsideTraining,
            "inside the validation step" => Test::InsideValidation,
            "inside a loop" => Test::InsideLoop,
            "inside a comparison" => Test::InsideComparison,
            "inside a decorator" => Test::InsideDecorator,
            "under a strategy's scope" => Test::UnderScope,
            "only evaluation reads it" => Test::OnlyEvaluation,
            "file trains" => Test::FileTrains,
            "file leads to training" => Test::LeadsToTraining,
            "a training step is left" => Test::StepLeft,
            "project has compute modes" => Test::ComputeModes,
            _ => {
                let option = rest.strip_prefix("option ").and_then(|o| o.split_once(" is "));
                if let Some((name, value)) = option {
                    Test::Option(name.trim().to_owned(), value.trim().to_owned())
                } else if let Some(name) = rest.strip_prefix("inside def ") {
                    Test::InsideDef(name.to_owned())
                } else if let Some(pattern) = rest.strip_prefix("inside with ") {
                    Test::InsideWith(pattern_of(pattern)?)
                } else if let Some(name) = rest.strip_prefix("call has keyword ") {
                    Test::HasKeyword(name.to_owned())
                } else if let Some(name) = rest.strip_prefix("call has no keyword ") {
                    return Ok(Self { negated: !negated, test: Test::HasKeyword(name.to_owned()) });
                } else if let Some(name) = rest.strip_prefix("file defines ") {
                    Test::FileDefines(name.to_owned())
                } else if let Some(name) = rest.strip_prefix("file imports ") {
                    Test::FileImports(name.to_owned())
                } else if let Some(name) = rest.strip_prefix("project imports ") {
                    Test::ProjectImports(name.to_owned())
                } else if let Some(pattern) = rest.strip_prefix("file contains ") {
                    Test::FileContains(pattern_of(pattern)?)
                } else if let Some(pattern) = rest.strip_prefix("followed by ") {
                    Test::FollowedBy(pattern_of(pattern)?)
                } else {
                    return unknown();
                }
            }
        };
        Ok(Self { negated, test })
    }

    /// The type it gives to a metavariable, when that is what it does.
    pub(crate) fn typed(&self, variable: &str) -> Option<Type> {
        match &self.test {
            Test::Typed(name, kind) if name == variable && !self.negated => Some(kind.clone()),
            _ => None,
        }
    }

    /// The metavariable it speaks of.
    pub(crate) fn variable(&self) -> Option<&str> {
        match &self.test {
            Test::Typed(name, _) | Test::OneOf(name, _) | Test::Unused(name) => Some(name),
            _ => None,
        }
    }

    /// Whether it can hold in a file at all, before anything is matched.
    pub(crate) fn holds_for_file(&self, s: &Situation<'_, '_>) -> bool {
        let holds = match &self.test {
            Test::FileDefines(name) => {
                s.view.defines(name) || s.view.names.bindings.iter().any(|b| b.local == *name) || assigns(s.view, name)
            }
            Test::FileImports(name) => imports(s.view, name),
            Test::FileTrains => trains(s),
            Test::LeadsToTraining => trains(s) || imports::leads_to_training(s),
            Test::StepLeft => {
                let ported = s.project.target_modules.iter().any(|module| s.view.names.imports(module));
                s.project.step_is_left && !ported
            }
            Test::ComputeModes => s.project.modes.is_some(),
            Test::ProjectImports(name) => s.project.imports(name),
            Test::Option(name, value) => s.settings.is(name, value),
            Test::FileContains(pattern) => contains(s.view, pattern),
            _ => return true,
        };
        holds != self.negated
    }

    /// Whether it holds for a match.
    pub(crate) fn holds(&self, s: &Situation<'_, '_>, found: &Match<'_>) -> bool {
        let view = s.view;
        let holds = match &self.test {
            Test::Typed(name, kind) => captured(view, &found.env, name).is_some_and(|id| is_of_type(s, id, kind)),
            Test::OneOf(name, list) => captured(view, &found.env, name).is_some_and(|id| {
                let text = view.index.text_of(id);
                let content = plain_string(view.index.text, view.index.item(id).node);
                let same =
                    |v: &str| content.is_some_and(|c| v.strip_prefix('"').and_then(|v| v.strip_suffix('"')) == Some(c));
                list.iter()
                    .any(|v| v == text || same(v) || (v.contains('.') && view.names.stands_for(&view.index, id, v)))
            }),
            Test::Unused(name) => captured(view, &found.env, name).is_some_and(|id| unused(s, id)),
            Test::InsideDef(name) => view
                .index
                .ancestors(found.node)
                .any(|a| view.index.kind(a) == kinds().function_definition && view.name_of(a) == name),
            Test::InsideTraining => view.steps.in_training(view, found.node),
            Test::InsideValidation => view.steps.in_validation(view, found.node),
            Test::InsideWith(pattern) => inside_with(view, found.node, pattern),
            Test::InsideLoop => view.index.ancestors(found.node).any(|a| {
                let kind = view.index.kind(a);
                kind == kinds().for_statement || kind == kinds().while_statement
            }),
            Test::UnderScope => s.project.keras.in_scope(view, found.node),
            Test::OnlyEvaluation => only_evaluation_reads(view, found.node),
            Test::InsideDecorator => view.index.ancestors(found.node).any(|a| view.index.kind(a) == kinds().decorator),
            Test::InsideComparison => view.index.ancestors(found.node).any(|a| {
                view.index.kind(a) == kinds().comparison_operator
                    || (view.index.kind(a) == kinds().call
                        && crate::names::called_name(&view.index, a) == Some("startswith"))
            }),
            Test::HasKeyword(name) => has_keyword(view, found.node, name),
            Test::FollowedBy(pattern) => followed_by(view, found, pattern),
            Test::FileDefines(_)
            | Test::FileImports(_)
            | Test::FileTrains
            | Test::LeadsToTraining
            | Test::FileContains(_)
            | Test::StepLeft
            | Test::ComputeModes
            | Test::ProjectImports(_)
            | Test::Option(..) => {
                return true;
            }
        };
        holds != self.negated
    }
}

fn pattern_of(text: &str) -> Result<NodePattern, String> {
    let source: String = text.replace('$', &crate::tree::EXPANDO.to_string());
    if Tree::parse(&source).has_error() {
        return Err(format!("`{text}` is no Python expression"));
    }
    let root = Root::doc(ast_grep_core::tree_sitter::StrDoc::new(&source, crate::tree::Python));
    let module = root.root().get_inner_node();
    let mut node = module;
    while node.named_child_count() == 1 && (node.id() == module.id() || node.kind_id() == kinds().expression_statement)
    {
        match node.named_child(0) {
            Some(child) => node = child,
            None => break,
        }
    }
    Ok(node_pattern(&root, node, &mut 1000))
}

fn captured(view: &FileView<'_>, env: &Env<'_>, name: &str) -> Option<Id> {
    let node = env.get_match(name)?;
    view.index.find(node.get_inner_node())
}
