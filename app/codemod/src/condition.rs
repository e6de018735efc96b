//! The lines of a `where` fence: a small closed vocabulary for facts.

mod constant;
mod cuda_device;
mod imports;
mod moved_slice;
mod surroundings;
mod tensor_device;
mod types;
mod used_devices;

pub(crate) use cuda_device::{
    asks_any_device, cuda_devices, is_chosen, is_cuda_device, is_key_with_number, names_cuda_device,
};
pub(crate) use imports::{BUILT_ON_TORCH, WITHOUT_TORCH, first_import, imports};
pub(crate) use surroundings::{Searches, has_fallback, inside_with};
pub(crate) use types::{Type, nodes_of_type};

use crate::definitions::{Definitions, Wanted};
use crate::matching::Match;
use crate::patch::pattern_by_place;
use crate::reached::only_with_cuda;
use crate::settings::Settings;
use crate::step_parts::{Part, StepParts};
use crate::template::variable_name;
use python::newer::Syntax;
use python::pattern::{Captures, NodePattern};
use python::strings::plain_string;
use python::tree::{Id, kinds};
use std::cmp::Ordering;
use surroundings::{
    contains, differs, followed_by, gives_loss_first, has_keyword, is_decided_by, is_tested, only_read, trains, unused,
};
use tensor_device::{gets_type, goes_to_a_tensor};
use training::keras_layers::only_maps_apply;
use training::keras_steps::graph_functions;
use training::module_methods::in_module_method;
use training::step::{is_differentiated, limits_alone};
use training::{FileInProject, FileView, ProjectFacts, comes_from_training, is_read_later, sets_a_rate};
use types::is_of_type;
use used_devices::{keeps_to_cpu, works_on_device};

/// A compiled condition.
pub(crate) struct Condition {
    negated: bool,
    test: Test,
}

enum Test {
    /// Named conditions.
    All(Vec<Condition>),
    /// The conditions below `any of:`.
    Any(Vec<Condition>),
    Typed(String, Type),
    OneOf(String, Vec<String>),
    Unused(String),
    OnlyRead(String, Vec<String>),
    Saved(String),
    Differs(String),
    KeepsModule(String),
    WorksOnDevice(String),
    FromTraining(String),
    ReadLater(String),
    InsideDef(String),
    InsideTraining,
    InsideModule,
    InsideValidation,
    InsideWith(NodePattern),
    InsideFor(NodePattern),
    Guards(NodePattern),
    ForwardReaches,
    StepReaches,
    /// A function that makes batches contains it.
    Collates,
    SetsRate,
    GoesToTensor,
    GetsType,
    /// Some file assigns this text to the name of the metavariable.
    ProjectGives(String, String),
    OnlyWithCuda,
    InsideFunction,
    InsideLoop,
    InsideComparison,
    IsTested,
    HasFallback,
    /// A test that mentions one of these names decides whether the code runs.
    DecidedBy(Vec<String>),
    IsAssigned,
    IsKey,
    InsideDecorator,
    UnderScope,
    OnlyEvaluation,
    AlsoEvaluation,
    OnlyTraining,
    Differentiated,
    LimitsAlone,
    OnlyMaps,
    /// The rule is applied to the original program.
    AsGiven,
    /// Only the first place of a project counts.
    FirstOfProject,
    /// The message is not left out where nothing uses the code.
    AlsoUnused,
    /// The message asks for nothing.
    ForInformation,
    /// One of these keywords, `name` or `name=value`.
    HasKeyword(Vec<String>),
    /// `keyword=pattern`.
    HasArgument(String, NodePattern),
    FileDefines(String),
    FileImports(String),
    FileTrains,
    LeadsToTraining,
    LoadedByProgram,
    StepLeft,
    MovesElsewhere,
    FileKeepsStep,
    TapesInGraphs,
    FirstDevice,
    KeepsToCpu,
    WrapsModels,
    ReplicatesModels,
    LossFirst,
    ComputeModes,
    ProjectImports(String),
    /// Some file calls one of these.
    ProjectCalls(Vec<String>),
    /// An expression in the function before the match, or behind it, matches, with what the rule's own metavariables stand for.
    Beyond(NodePattern, Ordering),
    EarlierInLoop(NodePattern),
    FollowedBy(NodePattern),
    /// The file contains it, with what the rule's own metavariables stand for.
    Besides(NodePattern),
    Option(String, String),
    FileContains(NodePattern),
    /// The project keeps a package below a version.
    ProjectPins(String, String),
}

/// The context in which a condition is evaluated.
pub(crate) struct Situation<'a, 't> {
    pub(crate) view: &'a FileView<'t>,
    pub(crate) project: &'a ProjectFacts<'a, 't>,
    pub(crate) settings: &'a Settings<'a>,
    /// The port uses branch style.
    pub(crate) branch: bool,
    /// The parts of the step as a verb found them, for the patches in its section.
    pub(crate) step: Option<&'a dyn StepParts>,
    /// What its conditions have searched for.
    pub(crate) searches: Searches,
}

impl<'a, 't> Situation<'a, 't> {
    /// A file outside of a verb; the style of the port is the project's.
    pub(crate) fn of_file(file: FileInProject<'a, 't>, settings: &'a Settings<'a>) -> Self {
        let FileInProject { view, project } = file;
        Self { view, project, settings, branch: project.modes.is_some(), step: None, searches: Searches::default() }
    }
}

/// Compiles the conditions of a rule.
pub(crate) struct Compiler<'a> {
    pub(crate) definitions: &'a Definitions,
    pub(crate) wanted: &'a Wanted,
}

/// The error in a condition, and its line in the guide.
pub(crate) type ConditionError = (usize, String);

impl Compiler<'_> {
    pub(crate) fn conditions(&self, conditions: &[guide::Condition]) -> Result<Vec<Condition>, ConditionError> {
        conditions.iter().map(|condition| self.condition(condition, &mut Vec::new())).collect()
    }

    /// `open` are the names of conditions that contain this one.
    fn condition(&self, condition: &guide::Condition, open: &mut Vec<String>) -> Result<Condition, ConditionError> {
        let (negated, rest) = negation(&condition.text);
        if rest == "any of:" {
            let any = condition.any_of.iter().map(|one| self.condition(one, open)).collect::<Result<_, _>>()?;
            return Ok(Condition { negated, test: Test::Any(any) });
        }
        let fault = |message| (condition.line, message);
        if let Some(name) = rest.strip_prefix('@') {
            if open.iter().any(|outer| outer == name) {
                return Err(fault(format!("`conditions {name}` includes itself")));
            }
            let named = self.definitions.wanted_conditions(name, self.wanted).map_err(fault)?;
            open.push(name.to_owned());
            let all = named.iter().map(|one| self.condition(one, open)).collect::<Result<_, ConditionError>>();
            open.pop();
            // An error inside belongs to the definition and has its line.
            return Ok(Condition { negated, test: Test::All(all?) });
        }
        self.simple(&condition.text).map_err(fault)
    }

    fn pattern(&self, text: &str) -> Result<NodePattern, String> {
        let mut pattern = pattern_of(text)?;
        pattern_by_place(&mut pattern, &|function| self.definitions.signature(function));
        Ok(pattern)
    }

    /// The entries of a list of values, with nested lists resolved.
    fn values(&self, list: &str) -> Result<Vec<String>, String> {
        let mut values = Vec::new();
        for value in list.split(',').map(str::trim) {
            match value.strip_prefix('@') {
                Some(name) => {
                    let names = self.definitions.wanted_names(name, self.wanted)?;
                    values.extend(names.iter().map(|listed| listed.name.clone()));
                }
                None => values.push(value.to_owned()),
            }
        }
        values.iter().for_each(|value| self.definitions.want_named(value, self.wanted));
        Ok(values)
    }
}

/// Whether a condition is negated, and the rest of it.
fn negation(text: &str) -> (bool, &str) {
    match text.strip_prefix("not ") {
        Some(rest) => (true, rest.trim()),
        None => (false, text.trim()),
    }
}

impl Compiler<'_> {
    /// A type that a list of names, forms or parts of the syntax completes.
    fn type_of_list(&self, words: &str) -> Result<Option<Type>, String> {
        let list = |lead: &str| words.strip_prefix(lead).map(|list| self.values(list)).transpose();
        if let Some(names) = list("first use of ")? {
            return Ok(Some(Type::FirstUse(names)));
        }
        if let Some(forms) = list("first annotation with ")? {
            return Ok(Some(Type::FirstAnnotation(forms)));
        }
        if let Some(forms) = list("first type with ")? {
            return Ok(Some(Type::FirstEvaluated(forms)));
        }
        let Some(parts) = list("first code with ")? else { return Ok(None) };
        let parts = parts.iter().map(|part| Syntax::parse(part).ok_or_else(|| format!("unknown syntax `{part}`")));
        Ok(Some(Type::FirstSyntax(parts.collect::<Result<_, _>>()?)))
    }

    fn simple(&self, text: &str) -> Result<Condition, String> {
        let (negated, rest) = negation(text);
        let unknown =
            || Err(format!("unknown condition `{text}`: see the list in guides/writing-a-recipe.md#conditions"));
        if let Some(variable) = rest.strip_prefix('$') {
            let name = variable_name(variable);
            let tail = &variable[name.len()..];
            let name = name.to_owned();
            if let Some(kind) = tail.strip_prefix(':') {
                let of_list = self.type_of_list(kind.trim())?;
                let Some(kind) = of_list.or_else(|| Type::parse(kind.trim())) else {
                    return Err(format!("unknown metavariable type `{}`", kind.trim()));
                };
                return Ok(Condition { negated, test: Test::Typed(name, kind) });
            }
            for (word, not) in [(" is not one of ", true), (" is one of ", false)] {
                if let Some(list) = tail.strip_prefix(word) {
                    let list = self.values(list)?;
                    return Ok(Condition { negated: negated != not, test: Test::OneOf(name, list) });
                }
            }
            if let Some(list) = tail.strip_prefix(" is only read as ") {
                return Ok(Condition { negated, test: Test::OnlyRead(name, self.values(list)?) });
            }
            if tail.trim() == "is unused" {
                return Ok(Condition { negated, test: Test::Unused(name) });
            }
            if tail.trim() == "is saved in the project" {
                return Ok(Condition { negated, test: Test::Saved(name) });
            }
            if tail.trim() == "comes from training" {
                return Ok(Condition { negated, test: Test::FromTraining(name) });
            }
            if tail.trim() == "works on a device" {
                return Ok(Condition { negated, test: Test::WorksOnDevice(name) });
            }
            if tail.trim() == "is read later" {
                return Ok(Condition { negated, test: Test::ReadLater(name) });
            }
            if tail.trim() == "keeps a module" {
                return Ok(Condition { negated, test: Test::KeepsModule(name) });
            }
            if tail.trim() == "differs within the class" {
                return Ok(Condition { negated, test: Test::Differs(name) });
            }
            return unknown();
        }
        let test = match rest {
            "inside the training step" => Test::InsideTraining,
            "inside a module's method" => Test::InsideModule,
            "inside the validation step" => Test::InsideValidation,
            "a forward pass reaches it" => Test::ForwardReaches,
            "a training step reaches it" => Test::StepReaches,
            "it makes a batch" => Test::Collates,
            "it sets a learning rate" => Test::SetsRate,
            "it goes to where a tensor is" => Test::GoesToTensor,
            "it gets a type" => Test::GetsType,
            "only CUDA reaches it" => Test::OnlyWithCuda,
            "inside a function" => Test::InsideFunction,
            "inside a loop" => Test::InsideLoop,
            "inside a comparison" => Test::InsideComparison,
            "inside a test" => Test::IsTested,
            "it is assigned" => Test::IsAssigned,
            "it is a key" => Test::IsKey,
            "it has a fallback" => Test::HasFallback,
            "inside a decorator" => Test::InsideDecorator,
            "under a strategy's scope" => Test::UnderScope,
            "only evaluation reads it" => Test::OnlyEvaluation,
            "evaluation reads it too" => Test::AlsoEvaluation,
            "only training reads it" => Test::OnlyTraining,
            "a backward pass goes through it" => Test::Differentiated,
            "it limits gradients with mixed precision alone" => Test::LimitsAlone,
            "only a pipeline's map applies it" => Test::OnlyMaps,
            "as the program was given" => Test::AsGiven,
            "first in the project" => Test::FirstOfProject,
            "also in unused code" => Test::AlsoUnused,
            "for information" => Test::ForInformation,
            "file trains" => Test::FileTrains,
            "file leads to training" => Test::LeadsToTraining,
            "a program loads the file" => Test::LoadedByProgram,
            "a training step is left" => Test::StepLeft,
            "another file moves something to a device" => Test::MovesElsewhere,
            "file keeps its training step" => Test::FileKeepsStep,
            "file trains in graph functions" => Test::TapesInGraphs,
            "project gets its first device" => Test::FirstDevice,
            "project wraps its models" => Test::WrapsModels,
            "project keeps to the CPU" => Test::KeepsToCpu,
            "project wraps its models for several processes" => Test::ReplicatesModels,
            "the model gives its loss first" => Test::LossFirst,
            "project has compute modes" => Test::ComputeModes,
            _ => {
                let option = rest.strip_prefix("option ").and_then(|o| o.split_once(" is "));
                if let Some((name, value)) = option {
                    Test::Option(name.trim().to_owned(), value.trim().to_owned())
                } else if let Some(names) = rest.strip_prefix("decided by ") {
                    Test::DecidedBy(self.values(names)?)
                } else if let Some(pattern) = rest.strip_prefix("besides ") {
                    Test::Besides(self.pattern(pattern)?)
                } else if let Some(name) = rest.strip_prefix("inside def ") {
                    Test::InsideDef(name.to_owned())
                } else if let Some(pattern) = rest.strip_prefix("inside with ") {
                    Test::InsideWith(self.pattern(pattern)?)
                } else if let Some(pattern) = rest.strip_prefix("guards ") {
                    Test::Guards(self.pattern(pattern)?)
                } else if let Some(pattern) = rest.strip_prefix("inside for ") {
                    Test::InsideFor(self.pattern(pattern)?)
                } else if let Some(name) = rest.strip_prefix("call has keyword ") {
                    match name.split_once('=').filter(|(_, value)| value.contains('$')) {
                        Some((name, value)) => Test::HasArgument(name.to_owned(), self.pattern(value)?),
                        None => Test::HasKeyword(vec![name.to_owned()]),
                    }
                } else if let Some(name) = rest.strip_prefix("call has no keyword ") {
                    let names = name.split(',').map(|name| name.trim().to_owned()).collect();
                    return Ok(Condition { negated: !negated, test: Test::HasKeyword(names) });
                } else if let Some(name) = rest.strip_prefix("file defines ") {
                    Test::FileDefines(name.to_owned())
                } else if let Some(name) = rest.strip_prefix("file imports ") {
                    Test::FileImports(name.to_owned())
                } else if let Some(names) = rest.strip_prefix("project calls ") {
                    Test::ProjectCalls(self.values(names)?)
                } else if let Some(pattern) = rest.strip_prefix("after ") {
                    Test::Beyond(self.pattern(pattern)?, Ordering::Less)
                } else if let Some(pattern) = rest.strip_prefix("in the loop after ") {
                    Test::EarlierInLoop(self.pattern(pattern)?)
                } else if let Some(pattern) = rest.strip_prefix("before ") {
                    Test::Beyond(self.pattern(pattern)?, Ordering::Greater)
                } else if let Some(name) = rest.strip_prefix("project imports ") {
                    Test::ProjectImports(name.to_owned())
                } else if let Some((name, given)) = rest.strip_prefix("project gives $").and_then(|g| g.split_once(' '))
                {
                    Test::ProjectGives(name.to_owned(), given.trim_matches('"').to_owned())
                } else if let Some((name, version)) = rest.strip_prefix("project pins ").and_then(|p| p.split_once('<'))
                {
                    Test::ProjectPins(name.trim().to_owned(), version.trim().to_owned())
                } else if let Some(pattern) = rest.strip_prefix("file contains ") {
                    Test::FileContains(self.pattern(pattern)?)
                } else if let Some(pattern) = rest.strip_prefix("followed by ") {
                    Test::FollowedBy(self.pattern(pattern)?)
                } else {
                    return unknown();
                }
            }
        };
        Ok(Condition { negated, test })
    }
}

impl Condition {
    /// That a metavariable is a part of a training step.
    pub(crate) fn of_step(variable: String, part: Part) -> Self {
        Self { negated: false, test: Test::Typed(variable, Type::StepPart(part)) }
    }

    /// Whether a rule with it is applied to the original program.
    pub(crate) fn is_as_given(&self) -> bool {
        self.any(&|test| matches!(test, Test::AsGiven))
    }

    /// Whether a rule with it reports one place of a project.
    pub(crate) fn is_first_of_project(&self) -> bool {
        self.any(&|test| matches!(test, Test::FirstOfProject))
    }

    /// Whether a rule with it reports unused code like any other.
    pub(crate) fn is_of_unused_too(&self) -> bool {
        self.any(&|test| matches!(test, Test::AlsoUnused))
    }

    /// Whether a rule with it reports what nobody has to act on.
    pub(crate) fn is_for_information(&self) -> bool {
        self.any(&|test| matches!(test, Test::ForInformation))
    }

    fn any(&self, is_one: &dyn Fn(&Test) -> bool) -> bool {
        match &self.test {
            Test::All(all) => all.iter().any(|condition| condition.any(is_one)),
            test => is_one(test),
        }
    }

    /// The types that it allows for a metavariable; none if it does not restrict them.
    pub(crate) fn types(&self, variable: &str) -> Vec<Type> {
        match &self.test {
            _ if self.negated => Vec::new(),
            Test::Typed(name, kind) if name == variable => vec![kind.clone()],
            Test::All(all) => {
                all.iter().map(|one| one.types(variable)).find(|types| !types.is_empty()).unwrap_or_default()
            }
            Test::Any(any) => {
                let types: Vec<Vec<Type>> = any.iter().map(|one| one.types(variable)).collect();
                if types.iter().any(Vec::is_empty) { Vec::new() } else { types.concat() }
            }
            _ => Vec::new(),
        }
    }

    /// The names that it allows for a metavariable; none if it does not restrict them.
    pub(crate) fn names(&self, variable: &str) -> Option<&[String]> {
        match &self.test {
            _ if self.negated => None,
            Test::OneOf(name, list) if name == variable => Some(list),
            Test::All(all) => all.iter().find_map(|one| one.names(variable)),
            _ => None,
        }
    }

    /// The metavariables in it.
    pub(crate) fn variables(&self) -> Vec<&str> {
        match &self.test {
            Test::Typed(name, _)
            | Test::OneOf(name, _)
            | Test::Unused(name)
            | Test::OnlyRead(name, _)
            | Test::Saved(name)
            | Test::Differs(name)
            | Test::KeepsModule(name)
            | Test::WorksOnDevice(name)
            | Test::FromTraining(name)
            | Test::ReadLater(name)
            | Test::ProjectGives(name, _) => {
                vec![name]
            }
            Test::All(inner) | Test::Any(inner) => inner.iter().flat_map(Self::variables).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether it can be true in a file at all, before anything is matched.
    pub(crate) fn holds_for_file(&self, s: &Situation<'_, '_>) -> bool {
        self.of_file(s) != Some(false)
    }

    /// Whether it is true in a file for any match; none if that depends on the match.
    fn of_file(&self, s: &Situation<'_, '_>) -> Option<bool> {
        let holds = match &self.test {
            Test::All(all) => {
                let known: Vec<Option<bool>> = all.iter().map(|one| one.of_file(s)).collect();
                if known.contains(&Some(false)) {
                    false
                } else {
                    known.into_iter().collect::<Option<Vec<_>>>().map(|_| true)?
                }
            }
            Test::Any(any) => {
                let known: Vec<Option<bool>> = any.iter().map(|one| one.of_file(s)).collect();
                if known.contains(&Some(true)) {
                    true
                } else {
                    known.into_iter().collect::<Option<Vec<_>>>().map(|_| false)?
                }
            }
            Test::FileDefines(name) => {
                s.view.defines(name) || s.view.names.bindings.iter().any(|b| b.local == *name) || s.view.assigns(name)
            }
            Test::FileImports(name) => imports(s.view, name),
            Test::FileTrains => trains(s),
            Test::LeadsToTraining => trains(s) || imports::leads_to_training(s),
            Test::LoadedByProgram => s.project.is_loaded_by_a_program(s.view),
            Test::StepLeft => s.project.step_is_left && !s.settings.target.imports_step_software(s.view),
            Test::MovesElsewhere => s.project.moves_elsewhere(s.view),
            Test::TapesInGraphs => !graph_functions(s.view).is_empty(),
            Test::FileKeepsStep => s.settings.target.keeps_training_step(s.view),
            Test::FirstDevice => s.project.moves_models,
            Test::KeepsToCpu => keeps_to_cpu(s.project),
            Test::WrapsModels => s.project.wraps_models,
            Test::ReplicatesModels => s.project.replicates_models,
            Test::LossFirst => s.step.map_or_else(|| gives_loss_first(s), |step| step.gives_loss_first()),
            Test::ComputeModes => s.project.has_compute_modes(),
            Test::ProjectImports(name) => s.project.imports(name),
            Test::ProjectCalls(names) => names.iter().any(|name| s.project.calls(name)),
            Test::Option(name, value) => s.settings.is(name, value),
            Test::FileContains(pattern) => contains(s, pattern, &Captures::new()),
            Test::ProjectPins(name, version) => s.settings.pins.iter().any(|pin| pin.keeps_below(name, version)),
            _ => return None,
        };
        Some(holds != self.negated)
    }

    /// Whether it is true for a match.
    pub(crate) fn holds<'t>(&self, s: &Situation<'_, 't>, found: &Match<'t>) -> bool {
        let view = s.view;
        let holds = match &self.test {
            Test::All(all) => all.iter().all(|one| one.holds_at(s, found)),
            Test::Any(any) => any.iter().any(|one| one.holds_at(s, found)),
            Test::Typed(name, kind) => captured(view, &found.env, name).is_some_and(|id| is_of_type(s, id, kind)),
            Test::OneOf(name, list) => captured(view, &found.env, name).is_some_and(|id| {
                let text = view.index.text_of(id);
                let content = plain_string(&view.index, id);
                let same =
                    |v: &str| content.is_some_and(|c| v.strip_prefix('"').and_then(|v| v.strip_suffix('"')) == Some(c));
                list.iter()
                    .any(|v| v == text || same(v) || (v.contains('.') && view.names.stands_for(&view.index, id, v)))
            }),
            Test::Unused(name) => captured(view, &found.env, name).is_some_and(|id| unused(s, id)),
            Test::OnlyRead(name, parts) => {
                captured(view, &found.env, name).is_some_and(|id| only_read(view, id, parts))
            }
            Test::Saved(name) => captured(view, &found.env, name).is_some_and(|id| s.project.given.saves(view, id)),
            Test::Differs(name) => captured(view, &found.env, name).is_some_and(|id| differs(view, found.node, id)),
            Test::FromTraining(name) => {
                captured(view, &found.env, name).is_some_and(|id| comes_from_training(view, id))
            }
            Test::ReadLater(name) => captured(view, &found.env, name).is_some_and(|id| is_read_later(view, id)),
            Test::KeepsModule(name) => {
                captured(view, &found.env, name).is_some_and(|id| s.project.keeps_module(view, id))
            }
            Test::WorksOnDevice(name) => {
                captured(view, &found.env, name).is_some_and(|id| works_on_device(view, s.project, id))
            }
            Test::InsideDef(name) => view
                .index
                .ancestors(found.node)
                .any(|a| view.index.kind(a) == kinds().function_definition && view.name_of(a) == name),
            Test::InsideTraining => view.steps.in_training(view, found.node),
            Test::InsideModule => in_module_method(view, found.node),
            Test::InsideValidation => view.steps.in_validation(view, found.node),
            Test::InsideWith(pattern) => inside_with(view, found.node, pattern),
            Test::Guards(pattern) => surroundings::guards(view, found.node, pattern),
            Test::InsideFor(pattern) => surroundings::inside_for(view, found.node, pattern),
            Test::ForwardReaches => s.project.reach.by_forward(view, found.node),
            Test::StepReaches => s.project.reach.by_step(view, found.node),
            Test::Collates => s.project.collate.contains(view, found.node),
            Test::SetsRate => sets_a_rate(FileInProject { view, project: s.project }, found.node),
            Test::OnlyWithCuda => only_with_cuda(view, found.node).is_some(),
            Test::ProjectGives(name, text) => {
                captured(view, &found.env, name).is_some_and(|id| s.project.given.gives(view, id, text))
            }
            Test::GoesToTensor => goes_to_a_tensor(view, found.node),
            Test::GetsType => gets_type(view, found.node),
            Test::InsideFunction => view.function_of(found.node).is_some(),
            Test::InsideLoop => view.index.ancestors(found.node).any(|a| {
                let kind = view.index.kind(a);
                kind == kinds().for_statement || kind == kinds().while_statement
            }),
            Test::UnderScope => s.project.keras.in_scope(view, found.node),
            Test::OnlyEvaluation => s.project.only_evaluates(view, found.node),
            Test::LimitsAlone => limits_alone(FileInProject { view, project: s.project }, found.node),
            Test::AlsoEvaluation => s.project.shared_loaders.makes(&s.project.readers, view, found.node),
            Test::OnlyTraining => {
                surroundings::call_of(view, found.node).is_some_and(|call| s.project.readers.only_train(view, call))
            }
            Test::Differentiated => is_differentiated(FileInProject { view, project: s.project }, found.node),
            Test::OnlyMaps => only_maps_apply(view, found.node),
            Test::InsideDecorator => view.index.ancestors(found.node).any(|a| view.index.kind(a) == kinds().decorator),
            Test::IsTested => is_tested(view, found.node),
            Test::IsAssigned => view.index.is_stored(found.node),
            Test::IsKey => surroundings::is_key(view, found.node),
            Test::HasFallback => has_fallback(view, found.node),
            Test::DecidedBy(names) => is_decided_by(view, found.node, names),
            Test::Besides(pattern) => contains(s, pattern, &found.env),
            Test::InsideComparison => view.index.ancestors(found.node).any(|a| {
                view.index.kind(a) == kinds().comparison_operator
                    || (view.index.kind(a) == kinds().call
                        && python::names::called_name(&view.index, a)
                            .is_some_and(|name| ["startswith", "hasattr"].contains(&name)))
            }),
            Test::HasKeyword(names) => names.iter().any(|name| has_keyword(s, found.node, name)),
            Test::HasArgument(name, pattern) => surroundings::has_argument(s, found, name, pattern),
            Test::Beyond(pattern, side) => surroundings::beyond(s, found, pattern, *side),
            Test::EarlierInLoop(pattern) => surroundings::earlier_in_loop(s, found, pattern),
            Test::FollowedBy(pattern) => followed_by(view, found, pattern),
            Test::FileDefines(_)
            | Test::FileImports(_)
            | Test::FileTrains
            | Test::LeadsToTraining
            | Test::LoadedByProgram
            | Test::FileContains(_)
            | Test::ProjectPins(..)
            | Test::StepLeft
            | Test::MovesElsewhere
            | Test::FileKeepsStep
            | Test::TapesInGraphs
            | Test::FirstDevice
            | Test::KeepsToCpu
            | Test::WrapsModels
            | Test::ReplicatesModels
            | Test::LossFirst
            | Test::ComputeModes
            | Test::ProjectImports(_)
            | Test::ProjectCalls(_)
            | Test::AsGiven
            | Test::FirstOfProject
            | Test::AlsoUnused
            | Test::ForInformation
            | Test::Option(..) => {
                return true;
            }
        };
        holds != self.negated
    }

    /// The same for one inside others, where the file was not checked before.
    fn holds_at<'t>(&self, s: &Situation<'_, 't>, found: &Match<'t>) -> bool {
        self.of_file(s).unwrap_or_else(|| self.holds(s, found))
    }
}

fn pattern_of(text: &str) -> Result<NodePattern, String> {
    NodePattern::parse(text).ok_or_else(|| format!("`{text}` is not a Python expression"))
}

fn captured(view: &FileView<'_>, captures: &Captures<'_>, name: &str) -> Option<Id> {
    captures.node(&view.index, name)
}
