//! The types of metavariables: `$X: cuda device`.

use super::Situation;
use super::constant::values;
use super::cuda_device::{cuda_devices, is_cuda_device};
use super::imports::{first_import, first_torch_import, last_torch_import};
use super::moved_slice::is_moved_slice;
use super::surroundings::given_by_place;
use crate::step_parts::{self, Part};
use python::names::{called_name, dotted};
use python::newer::{self, Syntax};
use python::syntax::Argument;
use python::tables::table_values;
use python::tree::{Id, kinds};
use training::keras::is_model;
use training::keras_data::{is_pipeline, uncut};
use training::masks::{indices, is_element, is_mask};
use training::roles::Role;
use training::{FileInProject, Kinds};

/// The type of a metavariable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Role(Role),
    CudaDevice,
    CardNumber,
    FirstTorchImport,
    LastTorchImport,
    /// The first import of one of these packages, anywhere.
    FirstImport(Vec<String>),
    String,
    Number,
    Name,
    /// A name that is only ever assigned a new object of a class.
    Object,
    List,
    KerasModel,
    FirstKeras,
    ModelBeginning,
    Pipeline,
    Uncut,
    Mask,
    Element,
    MovedSlice,
    /// The first place that needs one of these names, for each of them.
    FirstUse(Vec<String>),
    /// The first place with each of these parts of the syntax.
    FirstSyntax(Vec<Syntax>),
    /// The first annotation, or the first type outside annotations, that Python evaluates and that has one of these forms.
    FirstAnnotation(Vec<String>),
    FirstEvaluated(Vec<String>),
    Float64,
    TrueForTraining,
    /// A part of a training step, for a rule that refers to its parts.
    StepPart(Part),
    /// The value of a keyword in calls of a function.
    Argument {
        keyword: String,
        function: String,
    },
}

impl Type {
    pub(super) fn parse(words: &str) -> Option<Self> {
        if let Some((keyword, function)) = words.strip_prefix("argument ").and_then(|w| w.split_once(" of ")) {
            return Some(Self::Argument { keyword: keyword.trim().to_owned(), function: function.trim().to_owned() });
        }
        if let Some(packages) = words.strip_prefix("first import of ") {
            return Some(Self::FirstImport(packages.split(',').map(|p| p.trim().to_owned()).collect()));
        }
        Some(match words {
            "cuda device" => Self::CudaDevice,
            "card number" => Self::CardNumber,
            "first torch import" => Self::FirstTorchImport,
            "end of the torch imports" => Self::LastTorchImport,
            "string" => Self::String,
            "number" => Self::Number,
            "name" => Self::Name,
            "object" => Self::Object,
            "list" => Self::List,
            "Keras model" => Self::KerasModel,
            "first Keras statement" => Self::FirstKeras,
            "beginning of a Keras model" => Self::ModelBeginning,
            "data pipeline" => Self::Pipeline,
            "uncut array" => Self::Uncut,
            "mask" => Self::Mask,
            "one number of a tensor" => Self::Element,
            "moved slice" => Self::MovedSlice,
            "float64 array" => Self::Float64,
            "true for training" => Self::TrueForTraining,
            role => Self::Role(Role::parse(role)?),
        })
    }
}

/// Nodes of a type, for a pattern that is only a metavariable.
pub(crate) fn nodes_of_type(s: &Situation<'_, '_>, kind: &Type) -> Vec<Id> {
    let k = kinds();
    let index = &s.view.index;
    match kind {
        Type::CudaDevice => cuda_devices(s.view),
        Type::FirstTorchImport => first_torch_import(s).into_iter().collect(),
        Type::LastTorchImport => last_torch_import(s.view, &s.settings.target.modules).into_iter().collect(),
        Type::FirstImport(packages) => first_import(s.view, packages).into_iter().collect(),
        Type::String => index.of_kind(k.string).to_vec(),
        Type::Argument { keyword, function } => arguments(s, keyword, function),
        Type::StepPart(part) => {
            let nodes = s.step.map_or_else(|| step_parts::nodes(s.view, s.project, *part), |step| step.nodes(*part));
            let statements = nodes.iter().filter_map(|node| step_parts::statement(s.view, *node));
            nodes.iter().copied().chain(statements).collect()
        }
        Type::List => index.of_kind(k.list).to_vec(),
        Type::Number => index.of_kind(k.integer).iter().chain(index.of_kind(k.float)).copied().collect(),
        Type::Uncut => uncut(s.view, &s.project.keras),
        Type::Mask | Type::Element => indices(s.view).filter(|id| is_of_type(s, *id, kind)).collect(),
        Type::FirstUse(names) => {
            // A file of the project may have the name of a module.
            let foreign = names.iter().filter(|name| !s.project.places.contains(name.as_str()));
            foreign.filter_map(|name| newer::first_use(s.view, name)).collect()
        }
        Type::FirstSyntax(parts) => parts.iter().filter_map(|part| part.first(s.view)).collect(),
        Type::FirstAnnotation(forms) => newer::first_annotation(s.view, forms).into_iter().collect(),
        Type::FirstEvaluated(forms) => newer::first_type(s.view, forms).into_iter().collect(),
        Type::ModelBeginning => s.project.keras.beginnings(s.view),
        Type::FirstKeras => s.project.keras.work(s.view).map(|w| w.first).into_iter().collect(),
        Type::Name
        | Type::CardNumber
        | Type::Object
        | Type::Role(_)
        | Type::KerasModel
        | Type::Pipeline
        | Type::MovedSlice
        | Type::Float64
        | Type::TrueForTraining => index
            .of_kind(k.identifier)
            .iter()
            .chain(index.of_kind(k.attribute))
            .copied()
            .filter(|id| is_of_type(s, *id, kind))
            .collect(),
    }
}

/// Whether a name is a parameter that need not be given: `def cuda(self, device=None)`.
fn may_be_none(s: &Situation<'_, '_>, id: Id) -> bool {
    let index = &s.view.index;
    let name = index.text_of(id);
    // A lambda reads what the function around it has.
    let functions = index.ancestors(id).filter_map(|around| index.function(around));
    let given = functions.flat_map(|f| f.parameters().map(move |one| (f, one))).find(|(_, one)| one.name == name);
    given.is_some_and(|(function, parameter)| {
        let is_set = |set: &Id| index.is_within(*set, function.id()) && index.item(*set).start < index.item(id).start;
        parameter.default.is_some_and(|default| index.kind(default) == kinds().none)
            && !index.bindings(name).iter().any(is_set)
    })
}

pub(super) fn is_of_type(s: &Situation<'_, '_>, id: Id, kind: &Type) -> bool {
    let k = kinds();
    let index = &s.view.index;
    match kind {
        Type::Role(role) => s.project.role(s.view, id) == Some(*role) && !(*role == Role::Device && may_be_none(s, id)),
        Type::CudaDevice => is_cuda_device(s.view, id),
        Type::FirstTorchImport => first_torch_import(s) == Some(id),
        Type::LastTorchImport => last_torch_import(s.view, &s.settings.target.modules) == Some(id),
        Type::FirstImport(packages) => first_import(s.view, packages) == Some(id),
        Type::String => index.kind(id) == k.string || index.kind(id) == k.concatenated_string,
        Type::Number => index.kind(id) == k.integer || index.kind(id) == k.float,
        Type::Name => dotted(index, id).is_some(),
        Type::CardNumber => is_card_number(s, id),
        Type::Object => is_object(s, index.text_of(id)),
        Type::List => index.kind(id) == k.list,
        Type::KerasModel => is_model(s.view, &s.project.keras, id),
        Type::FirstKeras => s.project.keras.work(s.view).is_some_and(|w| w.first == id),
        Type::Pipeline => is_pipeline(s.view, id),
        Type::Uncut => uncut(s.view, &s.project.keras).contains(&id),
        Type::Mask => is_mask(FileInProject { view: s.view, project: s.project }, id),
        Type::Element => is_element(FileInProject { view: s.view, project: s.project }, id),
        Type::MovedSlice => is_moved_slice(s.view, id),
        Type::FirstUse(_) | Type::FirstSyntax(_) | Type::FirstAnnotation(_) | Type::FirstEvaluated(_) => {
            nodes_of_type(s, kind).contains(&id)
        }
        Type::Float64 => FileInProject { view: s.view, project: s.project }.kinds(id).is(Kinds::FLOAT64),
        Type::TrueForTraining => s.project.shared_loaders.is_true_for_training(&s.project.readers, s.view, id),
        Type::ModelBeginning => s.project.keras.beginnings(s.view).contains(&id),
        Type::Argument { keyword, function } => arguments(s, keyword, function).contains(&id),
        Type::StepPart(_) => nodes_of_type(s, kind).contains(&id),
    }
}

/// Whether a name that is not a device's is passed to `torch.cuda.set_device` in the file, or is in `device_ids`. A device may be a
/// string, too.
fn is_card_number(s: &Situation<'_, '_>, id: Id) -> bool {
    let (index, text) = (&s.view.index, s.view.index.text_of(id));
    let sets = |call: &Id| index.arguments(*call).ids().any(|given| index.text_of(given) == text);
    let lists = |call: Id| {
        let ids = index.arguments(call).keyword("device_ids");
        ids.is_some_and(|ids| index.text_of(ids).trim_matches(['[', ']']) == text)
    };
    dotted(index, id).is_some()
        && s.project.role(s.view, id) != Some(Role::Device)
        && !FileInProject { view: s.view, project: s.project }.kinds(id).is(Kinds::TEXT)
        && (s.view.calls("set_device").iter().any(sets) || index.calls().any(|call| lists(call.id())))
}

/// Whether all that a file assigns to a name is a new object of a class, and no function takes it as a parameter.
fn is_object(s: &Situation<'_, '_>, name: &str) -> bool {
    let index = &s.view.index;
    let made = |value: Id| called_name(index, value).is_some_and(|class| class.starts_with(char::is_uppercase));
    let mut given = index.assignments_to(name).map(|a| a.value().is_some_and(made)).peekable();
    let is_parameter = || index.functions().any(|f| f.parameters().any(|p| p.name == name));
    given.peek().is_some() && given.all(|made| made) && !is_parameter()
}

/// Possible arguments of calls of a function: by name, or by position, counted from 0.
fn arguments(s: &Situation<'_, '_>, argument: &str, function: &str) -> Vec<Id> {
    let view = s.view;
    let index = &view.index;
    let calls: Vec<Id> = view
        .names
        .last_names(function)
        .flat_map(|name| view.calls(name).iter().copied())
        .filter(|call| index.callee(*call).is_some_and(|g| view.names.stands_for(index, g, function)))
        .collect();
    if let Ok(place) = argument.parse::<usize>() {
        return calls.iter().filter_map(|call| index.arguments(*call).positional().nth(place)).collect();
    }
    let named = calls.iter().filter_map(|call| index.arguments(*call).keyword(argument));
    let given = named.chain(calls.iter().filter_map(|call| given_by_place(s, *call, argument)));
    // `f(**options)`, whose table the file makes.
    let tables = calls.iter().flat_map(|call| {
        let unpacked = index.arguments(*call).iter().filter_map(|given| match given {
            Argument::UnpackedTable(table) => Some(index.text_of(table).trim_start_matches('*').trim()),
            _ => None,
        });
        unpacked.flat_map(|table| table_values(view, *call, table, argument)).collect::<Vec<_>>()
    });
    given.chain(tables).flat_map(|value| values(view, value)).collect()
}
