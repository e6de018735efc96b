//! The lines of a `where` fence: a small closed vocabulary over facts.

mod cuda_device;
mod surroundings;

pub(crate) use cuda_device::cuda_devices;
pub(crate) use surroundings::{inside_with, table_values};

use crate::facts::keras::is_model;
use crate::facts::keras_data::{is_pipeline, uncut};
use crate::facts::readers::only_evaluation_reads;
use crate::facts::roles::Role;
use crate::facts::{FileView, ProjectFacts};
use crate::matching::Match;
use crate::names::dotted;
use crate::pattern::{Env, NodePattern, node_pattern, plain_string};
use crate::settings::Settings;
use crate::template::variable_name;
use crate::tree::{Id, Root, Tree, fields, kinds};
use cuda_device::is_cuda_device;
use surroundings::{assigns, contains, followed_by, has_keyword, trains, unused};

/// A compiled condition.
#[derive(Clone)]
pub(crate) struct Condition {
    negated: bool,
    test: Test,
}

#[derive(Clone)]
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
    UnderScope,
    OnlyEvaluation,
    HasKeyword(String),
    FileDefines(String),
    FileImports(String),
    FileTrains,
    StepLeft,
    ComputeModes,
    ProjectImports(String),
    FollowedBy(NodePattern),
    Option(String, String),
    FileContains(NodePattern),
}

/// What a metavariable must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Role(Role),
    CudaDevice,
    FirstTorchImport,
    LastTorchImport,
    /// The first import of one of these packages, wherever it stands.
    FirstImport(Vec<String>),
    String,
    Number,
    Name,
    List,
    KerasModel,
    FirstKeras,
    ModelBeginning,
    Pipeline,
    Uncut,
    /// The value of a keyword in calls of a function.
    Argument {
        keyword: String,
        function: String,
    },
}

impl Type {
    fn parse(words: &str) -> Option<Self> {
        if let Some((keyword, function)) = words.strip_prefix("argument ").and_then(|w| w.split_once(" of ")) {
            return Some(Self::Argument { keyword: keyword.trim().to_owned(), function: function.trim().to_owned() });
        }
        if let Some(packages) = words.strip_prefix("first import of ") {
            return Some(Self::FirstImport(packages.split(',').map(|p| p.trim().to_owned()).collect()));
        }
        Some(match words {
            "cuda device" => Self::CudaDevice,
            "first torch import" => Self::FirstTorchImport,
            "end of the torch imports" => Self::LastTorchImport,
            "string" => Self::String,
            "number" => Self::Number,
            "name" => Self::Name,
            "list" => Self::List,
            "Keras model" => Self::KerasModel,
            "first Keras statement" => Self::FirstKeras,
            "beginning of a Keras model" => Self::ModelBeginning,
            "data pipeline" => Self::Pipeline,
            "uncut array" => Self::Uncut,
            role => Self::Role(Role::parse(role)?),
        })
    }
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
            "under a strategy's scope" => Test::UnderScope,
            "only evaluation reads it" => Test::OnlyEvaluation,
            "file trains" => Test::FileTrains,
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

/// Nodes of a type, for a pattern that is a metavariable alone.
pub(crate) fn nodes_of_type(s: &Situation<'_, '_>, kind: &Type) -> Vec<Id> {
    let k = kinds();
    let index = &s.view.index;
    match kind {
        Type::CudaDevice => cuda_devices(s.view),
        Type::FirstTorchImport => first_torch_import(s.view).into_iter().collect(),
        Type::LastTorchImport => last_torch_import(s.view).into_iter().collect(),
        Type::FirstImport(packages) => first_import(s.view, packages).into_iter().collect(),
        Type::String => index.of_kind(k.string).to_vec(),
        Type::Argument { keyword, function } => arguments(s.view, keyword, function),
        Type::List => index.of_kind(k.list).to_vec(),
        Type::Number => index.of_kind(k.integer).iter().chain(index.of_kind(k.float)).copied().collect(),
        Type::Uncut => uncut(s.view, s.project),
        Type::ModelBeginning => s.project.keras.beginnings(s.view, s.project),
        Type::FirstKeras => s.project.keras.work(s.view, s.project).map(|w| w.first).into_iter().collect(),
        Type::Name | Type::Role(_) | Type::KerasModel | Type::Pipeline => index
            .of_kind(k.identifier)
            .iter()
            .chain(index.of_kind(k.attribute))
            .copied()
            .filter(|id| is_of_type(s, *id, kind))
            .collect(),
    }
}

fn is_of_type(s: &Situation<'_, '_>, id: Id, kind: &Type) -> bool {
    let k = kinds();
    let index = &s.view.index;
    match kind {
        Type::Role(role) => s.project.role(s.view, id) == Some(*role),
        Type::CudaDevice => is_cuda_device(s.view, id),
        Type::FirstTorchImport => first_torch_import(s.view) == Some(id),
        Type::LastTorchImport => last_torch_import(s.view) == Some(id),
        Type::FirstImport(packages) => first_import(s.view, packages) == Some(id),
        Type::String => index.kind(id) == k.string || index.kind(id) == k.concatenated_string,
        Type::Number => index.kind(id) == k.integer || index.kind(id) == k.float,
        Type::Name => dotted(index, id).is_some(),
        Type::List => index.kind(id) == k.list,
        Type::KerasModel => is_model(s.view, s.project, id),
        Type::FirstKeras => s.project.keras.work(s.view, s.project).is_some_and(|w| w.first == id),
        Type::Pipeline => is_pipeline(s.view, id),
        Type::Uncut => uncut(s.view, s.project).contains(&id),
        Type::ModelBeginning => s.project.keras.beginnings(s.view, s.project).contains(&id),
        Type::Argument { keyword, function } => arguments(s.view, keyword, function).contains(&id),
    }
}

/// Values that calls of a function give to an argument: by its name, or by its place, counted from 0.
fn arguments(view: &FileView<'_>, argument: &str, function: &str) -> Vec<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let lists = view
        .names
        .last_names(function)
        .flat_map(|name| view.calls(name).iter().copied())
        .filter(|call| index.field(*call, f.function).is_some_and(|g| view.names.stands_for(index, g, function)))
        .filter_map(|call| index.field(call, f.arguments));
    if let Ok(place) = argument.parse::<usize>() {
        return lists
            .filter_map(|l| index.parts(l).nth(place))
            .filter(|a| index.kind(*a) != k.keyword_argument)
            .collect();
    }
    lists
        .flat_map(|list| index.parts(list).collect::<Vec<_>>())
        .filter(|a| index.kind(*a) == k.keyword_argument)
        .filter(|a| index.field(*a, f.name).is_some_and(|n| index.text_of(n) == argument))
        .filter_map(|a| index.field(a, f.value))
        .collect()
}

/// torch, and packages that are nothing without it.
const BUILT_ON_TORCH: [&str; 4] = ["torch", "lightning", "pytorch_lightning", "deepspeed"];

/// Modules that never load torch; every other import may.
const WITHOUT_TORCH: [&str; 66] = [
    "__future__",
    "abc",
    "argparse",
    "ast",
    "atexit",
    "collections",
    "contextlib",
    "copy",
    "csv",
    "ctypes",
    "dataclasses",
    "datetime",
    "enum",
    "errno",
    "fnmatch",
    "functools",
    "gc",
    "getpass",
    "glob",
    "gzip",
    "hashlib",
    "heapq",
    "importlib",
    "inspect",
    "io",
    "itertools",
    "json",
    "logging",
    "math",
    "multiprocessing",
    "operator",
    "os",
    "pathlib",
    "pdb",
    "pickle",
    "platform",
    "pprint",
    "queue",
    "random",
    "re",
    "resource",
    "shutil",
    "signal",
    "socket",
    "string",
    "struct",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "traceback",
    "types",
    "typing",
    "urllib",
    "uuid",
    "warnings",
    "numpy",
    "scipy",
    "matplotlib",
    "PIL",
    "yaml",
    "h5py",
    "tqdm",
    "mpi4py",
];

fn is_import(view: &FileView<'_>, id: Id) -> bool {
    [kinds().import_statement, kinds().import_from_statement].contains(&view.index.kind(id))
}

/// Heads of the modules that an import statement names; a relative import has none.
fn imported_heads<'t>(view: &FileView<'t>, id: Id) -> Vec<&'t str> {
    let k = kinds();
    let index = &view.index;
    let words = index.of_kind_in(k.dotted_name, id).iter().map(|n| index.text_of(*n));
    let take = if index.kind(id) == k.import_from_statement { 1 } else { usize::MAX };
    let relative = index.text_of(id).trim_start_matches("from").trim_start().starts_with('.');
    if relative { Vec::new() } else { words.take(take).map(|w| w.split('.').next().unwrap_or(w)).collect() }
}

/// Heads of the modules that a top-level statement imports: an import, or a `try` or `if` with imports in it.
fn loaded_heads<'t>(view: &FileView<'t>, id: Id) -> Option<Vec<&'t str>> {
    let k = kinds();
    let index = &view.index;
    if is_import(view, id) {
        return Some(imported_heads(view, id));
    }
    if index.kind(id) != k.try_statement && index.kind(id) != k.if_statement {
        return None;
    }
    let imports = index.of_kind_in(k.import_statement, id).iter().chain(index.of_kind_in(k.import_from_statement, id));
    let heads: Vec<&str> =
        imports.filter(|i| view.function_of(**i).is_none()).flat_map(|i| imported_heads(view, *i)).collect();
    (!heads.is_empty()).then_some(heads)
}

/// The first statement that imports torch or something that may.
fn first_torch_import(view: &FileView<'_>) -> Option<Id> {
    let loading: Vec<(Id, Vec<&str>)> =
        view.index.parts(crate::tree::ROOT).filter_map(|id| loaded_heads(view, id).map(|h| (id, h))).collect();
    // A file that never names torch, or what is built on it, has no business with its bridge.
    loading.iter().find(|(_, heads)| heads.iter().any(|h| BUILT_ON_TORCH.contains(h)))?;
    loading
        .into_iter()
        .find(|(_, heads)| heads.is_empty() || heads.iter().any(|h| !WITHOUT_TORCH.contains(h)))
        .map(|(id, _)| id)
}

/// The first statement that imports one of these packages, or something of it.
fn first_import(view: &FileView<'_>, packages: &[String]) -> Option<Id> {
    let k = kinds();
    let statements = view.index.of_kind(k.import_statement).iter().chain(view.index.of_kind(k.import_from_statement));
    let of_package = |id: &Id| imported_heads(view, *id).iter().any(|head| packages.iter().any(|p| p == head));
    statements.copied().filter(of_package).min()
}

/// The last statement of the run of imports that the first import of torch itself stands in.
fn last_torch_import(view: &FileView<'_>) -> Option<Id> {
    let statements: Vec<Id> = view.index.parts(crate::tree::ROOT).collect();
    let torch = statements.iter().position(|id| loaded_heads(view, *id).is_some_and(|h| h.contains(&"torch")))?;
    let run = statements[torch..].iter().copied();
    run.take_while(|id| loaded_heads(view, *id).is_some()).last()
}

/// Whether the file imports a module or a name, in any form.
pub(crate) fn imports(view: &FileView<'_>, qualified: &str) -> bool {
    view.names.modules.iter().any(|m| m == qualified || m.strip_prefix(qualified).is_some_and(|r| r.starts_with('.')))
        || view.names.imports(qualified)
}
