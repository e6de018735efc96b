//! Roles of names: by what is assigned to them, then by how they are used, and only then by the name itself.

use crate::words::{
    CRITERION_NAMES, LOADER_NAMES, MODEL_NAMES, MODEL_RETURNED, MODEL_WRAPPERS, MODULE_METHODS, OPTIMIZER_CLASSES,
    OPTIMIZER_NAMES, SCHEDULER_NAMES, VERBS_OF_FUNCTIONS, WORDS_OF_DATA,
};
use python::PythonFile;
use python::names::dotted;
use python::origins::{Origin, Origins, Place};
use python::strings::plain_string;
use python::tree::{Id, Index, fields, kinds};
use rustc_hash::FxHashMap;
use sorting::{SortedMap, SortedSet};
use std::cell::RefCell;

/// What a name is in a training script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A module that is trained.
    Model,
    /// Updates its weights.
    Optimizer,
    /// Changes the learning rate.
    Scheduler,
    /// A function that returns a loss.
    Criterion,
    /// The tensor that a criterion returns.
    Loss,
    /// Scales the loss for mixed precision.
    Scaler,
    /// Yields batches.
    Loader,
    /// Where tensors are moved.
    Device,
    /// The data that a loader reads.
    Dataset,
}

impl Role {
    /// The role that a condition names: `optimizer`.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "model" => Self::Model,
            "optimizer" => Self::Optimizer,
            "scheduler" => Self::Scheduler,
            "loss" => Self::Loss,
            "scaler" => Self::Scaler,
            "loader" => Self::Loader,
            "device" => Self::Device,
            "dataset" => Self::Dataset,
            _ => return None,
        })
    }
}

/// What the files of a project show about names in one another.
#[derive(Debug, Default)]
pub struct ProjectRoles {
    /// Roles of attributes (`self._opt`) over all files.
    pub(crate) attributes: SortedMap<String, Role>,
    /// Classes of the project that are models.
    pub(crate) models: SortedSet<String>,
    /// The results of the project's functions.
    pub(crate) returns: SortedMap<String, Vec<Option<Role>>>,
    /// What functions are given for their parameters, by file and function.
    parameters: SortedMap<(String, Id), SortedMap<String, Role>>,
}

impl ProjectRoles {
    fn returned(&self, function: &str) -> Option<&[Option<Role>]> {
        self.returns.get(function).map(Vec::as_slice)
    }

    /// Learns what functions are given for their parameters, wherever the values come from; nothing where they differ.
    /// `roles_of` has an entry for each file.
    pub(crate) fn follow(&mut self, origins: &Origins<'_, '_>, roles_of: &[&Roles]) {
        let views = origins.files();
        let mut found = SortedMap::new();
        for (file, view) in views.iter().enumerate() {
            for function in view.index.functions() {
                let roles = function.parameters().filter_map(|parameter| {
                    let named = [parameter.id].into_iter().chain(view.index.children(parameter.id));
                    let id = named.into_iter().find(|id| view.index.is_text(*id, parameter.name))?;
                    let given = origins.origins(Place { file, id });
                    let role = |origin: &Origin<'_>| {
                        let Place { file, id } = origin.place;
                        let id = copied(views[file], id).unwrap_or(id);
                        origin.is_whole().then(|| roles_of[file].role(views[file], self, id)).flatten()
                    };
                    let is_none = |origin: &&Origin<'_>| {
                        views[origin.place.file].index.is_text(origin.place.id, "None") || origin.place.id == id
                    };
                    let mut roles = given.iter().filter(|origin| !is_none(origin)).map(role);
                    let first = roles.next()??;
                    roles.all(|role| role == Some(first)).then(|| (parameter.name.to_owned(), first))
                });
                let roles: SortedMap<String, Role> = roles.collect();
                if !roles.is_empty() {
                    found.insert((view.path.to_owned(), function.id()), roles);
                }
            }
        }
        self.parameters = found;
    }

    /// The role of a parameter where its function reads it.
    fn parameter(&self, view: &PythonFile<'_>, id: Id, name: &str) -> Option<Role> {
        let around = view.index.ancestors(id).filter(|a| view.index.kind(*a) == kinds().function_definition);
        let mut known = around.filter_map(|function| self.parameters.get(&(view.path.to_owned(), function)));
        known.find_map(|roles| roles.get(name).copied())
    }
}

/// Roles by the text of the name, `optimizer` or `self._opt`.
#[derive(Debug, Default)]
pub struct Roles {
    assigned: SortedMap<String, Vec<Id>>,
    used: SortedMap<String, Role>,
    /// Cached answers, by name; a name that is being resolved has no answer, which ends cycles.
    known: RefCell<FxHashMap<String, Option<Role>>>,
    /// Names that are unpacked from a value, with the value and their position in it.
    unpacked: SortedMap<String, Vec<(Id, usize)>>,
}

impl Roles {
    pub(crate) fn collect(view: &PythonFile<'_>) -> Self {
        let k = kinds();
        let index = &view.index;
        let assigned = SortedMap::grouped(index.of_kind(k.assignment).iter().filter_map(|assignment| {
            let (left, right) = index.sides(*assignment)?;
            Some((dotted(index, left)?.to_owned(), right))
        }));
        let lists = index.of_kind(k.pattern_list).iter().chain(index.of_kind(k.tuple_pattern));
        let unpacked = SortedMap::grouped(lists.flat_map(|list| {
            let right = index.parent(*list).and_then(|a| index.source(a));
            let names = index.parts(*list).enumerate();
            names.filter_map(move |(at, name)| Some((index.text_of(name).to_owned(), (right?, at))))
        }));
        Self { assigned, unpacked, used: uses(view), ..Self::default() }
    }

    /// The role of an expression of this file.
    pub(crate) fn role(&self, view: &PythonFile<'_>, project: &ProjectRoles, id: Id) -> Option<Role> {
        self.role_within(view, project, id, 6)
    }

    fn role_within(&self, view: &PythonFile<'_>, project: &ProjectRoles, id: Id, depth: usize) -> Option<Role> {
        let index = &view.index;
        if depth == 0 {
            return None;
        }
        if let Some(name) = dotted(index, id) {
            if let Some(role) = project.parameter(view, id, name) {
                return Some(role);
            }
            if let Some(known) = self.known.borrow().get(name) {
                return *known;
            }
            self.known.borrow_mut().insert(name.to_owned(), None);
            let role = self.role_of_name(view, project, id, name, depth);
            self.known.borrow_mut().insert(name.to_owned(), role);
            return role;
        }
        self.role_of_expression(view, project, id, depth)
    }

    /// Clears cached answers, because the project has learned more.
    pub(crate) fn forget(&self) {
        self.known.take();
    }

    fn role_of_name(
        &self,
        view: &PythonFile<'_>,
        project: &ProjectRoles,
        id: Id,
        name: &str,
        depth: usize,
    ) -> Option<Role> {
        let k = kinds();
        let index = &view.index;
        let mut known = false;
        for &right in self.assigned.get(name).into_iter().flatten() {
            // `x = x.to(d)` keeps its role.
            if index.is_within(id, right) {
                continue;
            }
            if index.text_of(right) == "None" {
                continue;
            }
            known = true;
            let role = self.role_within(view, project, copied(view, right).unwrap_or(right), depth - 1);
            // A name that is a loss here and a number there is not reliably a tensor.
            if role == Some(Role::Loss) && !self.only_losses(view, project, name, depth - 1) {
                return None;
            }
            if role.is_some() {
                return role;
            }
        }
        if let Some(role) = self.tuple_role(view, project, id, name, depth - 1) {
            return Some(role);
        }
        if let Some(role) = self.used.get(name) {
            return Some(*role);
        }
        if name.starts_with("self.")
            && let Some(role) = project.attributes.get(name).copied()
        {
            return Some(role);
        }
        // `import_module` is a function; a model that is imported is known by its use.
        let is_imported = index.kind(id) == k.identifier
            && name.contains('_')
            && view.names.qualify(index, id).is_some_and(|q| !q.starts_with('.'));
        let hint = hinted(name).filter(|role| *role != Role::Model || !is_imported);
        // A name to which something else is assigned does not have the role that the name suggests, unless a call of
        // unknown code returned it.
        let by_unknown_code = |right: &Id| {
            index.kind(*right) == k.call
                && !python::names::called_name(index, *right)
                    .is_some_and(|n| n == "partial" || n.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        if known && !self.assigned[name].iter().any(by_unknown_code) { None } else { hint }
    }

    fn role_of_expression(&self, view: &PythonFile<'_>, project: &ProjectRoles, id: Id, depth: usize) -> Option<Role> {
        let k = kinds();
        let index = &view.index;
        let kind = index.kind(id);
        if kind == k.parenthesized_expression {
            return index.parts(id).next().and_then(|c| self.role_within(view, project, c, depth - 1));
        }
        if kind == k.conditional_expression {
            return index.parts(id).find_map(|c| self.role_within(view, project, c, depth - 1));
        }
        if kind == k.subscript {
            // A dictionary of what a training function needs: `kwargs["optimizer"]`.
            let key = index.field(id, fields().subscript).and_then(|key| plain_string(index, key)).and_then(hinted);
            if let Some(role @ (Role::Optimizer | Role::Scheduler | Role::Scaler)) = key {
                return Some(role);
            }
            // What a checkpoint has under a key may be anything.
            let value = index.value(id).filter(|value| !self.is_loaded(view, index.text_of(*value)));
            return value.and_then(|value| self.role_within(view, project, value, depth - 1));
        }
        if kind != k.call {
            return None;
        }
        let function = index.callee(id)?;
        if let Some(qualified) = view.names.qualify(index, function)
            && let Some(role) = constructed(&qualified)
        {
            return Some(role);
        }
        // PyTorch's, or the target's own.
        if looked_up_in(view, id).is_some_and(|module| module.ends_with(".optim")) {
            return Some(Role::Optimizer);
        }
        let name = python::names::called_name(index, id)?;
        if let Some(argument) = first_argument(view, id)
            && MODEL_WRAPPERS.contains(&name)
            && self.role_within(view, project, argument, depth - 1) == Some(Role::Model)
        {
            return Some(Role::Model);
        }
        if index.kind(function) == k.attribute && MODEL_RETURNED.contains(&name) {
            return index.owner(function).and_then(|o| self.role_within(view, project, o, depth - 1));
        }
        if project.models.contains(name) {
            return Some(Role::Model);
        }
        let functional = view.names.qualify(index, function).is_some_and(|q| {
            q.strip_prefix("torch.nn.functional.").is_some_and(|f| {
                f.ends_with("loss") || f.ends_with("_loss") || f.contains("cross_entropy") || f == "kl_div"
            })
        });
        if functional || self.role_within(view, project, function, depth - 1) == Some(Role::Criterion) {
            return Some(Role::Loss);
        }
        if let Some([role]) = project.returned(name) {
            return *role;
        }
        if view.names.qualify(index, function).is_some() { None } else { constructed(name) }
    }

    /// Whether a name is read from a file of PyTorch's.
    fn is_loaded(&self, view: &PythonFile<'_>, name: &str) -> bool {
        let loads = |right: &Id| {
            let called = view.index.callee(*right).and_then(|function| view.names.qualify(&view.index, function));
            called.is_some_and(|name| name == "torch.load")
        };
        self.assigned.get(name).into_iter().flatten().any(loads)
    }

    /// Whether everything that is assigned to a name comes from a criterion.
    fn only_losses(&self, view: &PythonFile<'_>, project: &ProjectRoles, name: &str, depth: usize) -> bool {
        self.assigned
            .get(name)
            .into_iter()
            .flatten()
            .all(|right| self.role_within(view, project, *right, depth) == Some(Role::Loss))
    }

    /// `net, opt = build()` and `a, b = f(x), g(y)`.
    fn tuple_role(
        &self,
        view: &PythonFile<'_>,
        project: &ProjectRoles,
        id: Id,
        name: &str,
        depth: usize,
    ) -> Option<Role> {
        let (index, k) = (&view.index, kinds());
        for &(right, at) in self.unpacked.get(name).into_iter().flatten() {
            if index.kind(right) == k.call {
                if let Some(roles) = python::names::called_name(index, right).and_then(|n| project.returned(n))
                    && let Some(Some(role)) = roles.get(at)
                {
                    return Some(*role);
                }
            } else if [k.expression_list, k.tuple, k.list].contains(&index.kind(right))
                && let Some(value) = index.parts(right).nth(at)
                // `x, y = x.to(d), y.to(d)` keeps their roles.
                && !index.is_within(id, value)
                && let Some(role) = self.role_within(view, project, value, depth)
            {
                return Some(role);
            }
        }
        None
    }

    /// Roles of the results of this file's functions.
    pub(crate) fn returns(&self, view: &PythonFile<'_>, project: &ProjectRoles) -> Vec<(String, Vec<Option<Role>>)> {
        let k = kinds();
        let index = &view.index;
        let mut out = Vec::new();
        for &statement in index.of_kind(k.return_statement) {
            let Some(function) = view.function_of(statement) else { continue };
            let Some(value) = index.parts(statement).next() else { continue };
            let values: Vec<Id> = if [k.expression_list, k.tuple].contains(&index.kind(value)) {
                index.parts(value).collect()
            } else {
                vec![value]
            };
            let roles: Vec<_> = values.into_iter().map(|v| self.role(view, project, v)).collect();
            if roles.iter().any(Option::is_some) {
                out.push((view.name_of(function).to_owned(), roles));
            }
        }
        out
    }

    /// Roles of the attributes that this file assigns or uses.
    pub(crate) fn attributes(&self, view: &PythonFile<'_>, project: &ProjectRoles) -> Vec<(String, Role)> {
        let mut out = Vec::new();
        for (name, rights) in self.assigned.iter().filter(|(n, _)| n.starts_with("self.")) {
            for right in rights {
                if let Some(role) = self.role(view, project, *right) {
                    out.push((name.clone(), role));
                    break;
                }
            }
        }
        out.extend(self.used.iter().filter(|(n, _)| n.starts_with("self.")).map(|(n, r)| (n.clone(), *r)));
        out
    }
}

/// What a value is a copy of: `net` for `copy.deepcopy(net).to(device)`. A copy without a name is for one use, such as an export.
fn copied(view: &PythonFile<'_>, value: Id) -> Option<Id> {
    let index = &view.index;
    let value = given_back(index, value);
    let copies = view.names.qualify(index, index.callee(value)?);
    first_argument(view, value).filter(|_| matches!(copies.as_deref(), Some("copy.deepcopy" | "copy.copy")))
}

/// The model that calls on it give back: `Net()` of `Net().to(device)`.
pub(crate) fn given_back(index: &Index<'_>, mut value: Id) -> Id {
    while let Some(name) = python::names::called_name(index, value)
        && let Some(model) = index.receiver(value).filter(|_| MODEL_RETURNED.contains(&name))
    {
        value = model;
    }
    value
}

/// The module of a class that a call looks up by its name: `torch.optim` of `getattr(torch.optim, name)(…)`.
pub(crate) fn looked_up_in(view: &PythonFile<'_>, call: Id) -> Option<String> {
    let index = &view.index;
    let getter = index.callee(call).filter(|getter| python::names::called_name(index, *getter) == Some("getattr"))?;
    view.names.qualify(index, first_argument(view, getter)?)
}

fn first_argument(view: &PythonFile<'_>, call: Id) -> Option<Id> {
    view.index.arguments(call).ids().next()
}

/// The role of the result of a call of this name.
pub(crate) fn constructed(qualified: &str) -> Option<Role> {
    let last = qualified.rsplit('.').next().unwrap_or(qualified);
    let lower = last.to_ascii_lowercase();
    let class = last.starts_with(|c: char| c.is_ascii_uppercase());
    if qualified.contains("lr_scheduler.") || lower.contains("scheduler") {
        return Some(Role::Scheduler);
    }
    if (qualified.starts_with("torch.optim.") && class) || lower.contains("optimizer") {
        return Some(Role::Optimizer);
    }
    // A third-party class of that name may do something else.
    if last == "GradScaler" && (qualified.starts_with("torch.") || !qualified.contains('.')) {
        return Some(Role::Scaler);
    }
    if last.ends_with("Loader") && class {
        return Some(Role::Loader);
    }
    if class && (last.ends_with("Loss") || last.ends_with("Criterion")) {
        return Some(Role::Criterion);
    }
    if qualified == "torch.device" {
        return Some(Role::Device);
    }
    if last.ends_with("Dataset") && class {
        return Some(Role::Dataset);
    }
    if qualified.starts_with("torchvision.models.")
        || (qualified.starts_with("torch.nn.") && class && !qualified.contains("functional"))
        || last == "create_model"
        || last == "from_pretrained" && qualified.contains("Model")
    {
        return Some(Role::Model);
    }
    // `FusedLAMB`, `DeepSpeedCPUAdam`: the last word of the class name is the kind.
    (class && OPTIMIZER_CLASSES.iter().any(|o| last.ends_with(o))).then_some(Role::Optimizer)
}

/// Roles that follow from the methods called on a name.
fn uses(view: &PythonFile<'_>) -> SortedMap<String, Role> {
    let k = kinds();
    let index = &view.index;
    let mut methods: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for name in [
        "zero_grad",
        "step",
        "parameters",
        "named_parameters",
        "scale",
        "update",
        "unscale_",
        "get_last_lr",
        "load_state_dict",
        "eval",
        "train",
    ] {
        for &call in view.calls(name) {
            let Some(function) = index.callee(call) else { continue };
            if index.kind(function) == k.attribute
                && let Some(object) = index.owner(function)
                && let Some(text) = dotted(index, object)
            {
                methods.entry(text).or_default().push(name);
            }
        }
    }
    // The argument of a scaler's `step` or `unscale_` is an optimizer.
    let stepped = ["step", "unscale_"].iter().flat_map(|name| view.calls(name)).filter_map(|call| {
        let object = index.receiver(*call)?;
        let by_scaler = dotted(index, object)?.to_ascii_lowercase().contains("scaler");
        let given = first_argument(view, *call).filter(|_| by_scaler)?;
        Some((dotted(index, given)?.to_owned(), Role::Optimizer))
    });
    let mut known: SortedMap<String, Role> = stepped.collect();
    let by_methods = methods.into_iter().filter_map(|(name, called)| {
        let has = |m: &str| called.contains(&m);
        let role = if has("parameters") || has("named_parameters") || (has("eval") && has("train")) {
            Role::Model
        } else if has("scale") && (has("update") || has("step"))
            || has("unscale_")
            || has("step") && has("update") && name.to_ascii_lowercase().contains("scaler")
        {
            Role::Scaler
        } else if has("get_last_lr") {
            Role::Scheduler
        } else if has("zero_grad") && has("step") {
            Role::Optimizer
        } else {
            return None;
        };
        Some((name.to_owned(), role))
    });
    known.extend(by_methods);
    known
}

/// What the name alone suggests; used if nothing else is known.
pub(crate) fn hinted(name: &str) -> Option<Role> {
    let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
    // `model.add_module` is a method of the model.
    if MODULE_METHODS.contains(&last.as_str()) {
        return None;
    }
    let words: Vec<&str> =
        last.split('_').map(|w| w.trim_end_matches(|c: char| c.is_ascii_digit())).filter(|w| !w.is_empty()).collect();
    // `get_model` and `evaluate_net` describe what a function does.
    if words.len() > 1 && VERBS_OF_FUNCTIONS.contains(&words[0]) {
        return None;
    }
    // `model_input` and `encoder_outputs` are tensors: the last word of a name is the kind.
    if words.len() > 1 && words.last().is_some_and(|word| WORDS_OF_DATA.contains(word)) {
        return None;
    }
    let any = |set: &[&str]| words.iter().any(|w| set.contains(w));
    if any(SCHEDULER_NAMES) || last.contains("scheduler") {
        Some(Role::Scheduler)
    } else if any(OPTIMIZER_NAMES) || last.ends_with("optimizer") {
        Some(Role::Optimizer)
    } else if any(LOADER_NAMES) || last.ends_with("loader") {
        Some(Role::Loader)
    } else if any(&["dataset"]) {
        Some(Role::Dataset)
    } else if any(CRITERION_NAMES) || last.ends_with("loss_fn") || last.ends_with("loss_func") {
        Some(Role::Criterion)
    } else if any(MODEL_NAMES) {
        Some(Role::Model)
    } else if last == "device" {
        Some(Role::Device)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Role;
    use crate::marked;

    #[track_caller]
    fn check(program: &str, expected: impl Into<Option<Role>>) {
        marked::check(program, expected.into(), |at| at.file().role(at.node()));
    }

    #[test]
    fn the_role_of_what_a_name_is_assigned() {
        check("import torchvision\nnet = torchvision.models.resnet18()\nnet\n^^^\n", Role::Model);
        check("class Net(torch.nn.Module):\n    pass\nx = Net()\nx\n^\n", Role::Model);
        check("import torch\na = torch.optim.SGD(p, lr=1)\na\n^\n", Role::Optimizer);
        check("import torch\na = torch.optim.lr_scheduler.StepLR(b, 1)\na\n^\n", Role::Scheduler);
        check("import torch\na = torch.utils.data.DataLoader(b)\na\n^\n", Role::Loader);
        check("from torch import nn\na = nn.CrossEntropyLoss()\na\n^\n", Role::Criterion);
        check("from torch import nn\na = nn.CrossEntropyLoss()\nb = a(x, y)\nb\n^\n", Role::Loss);
        check("import torch\na = torch.amp.GradScaler()\na\n^\n", Role::Scaler);
        check("import torch\na = torch.device('cuda')\na\n^\n", Role::Device);
        check("from torchvision.datasets import ImageDataset\na = ImageDataset(path)\na\n^\n", Role::Dataset);
        check("import torch\na = getattr(torch.optim, name)(p)\na\n^\n", Role::Optimizer);
        check("import torch\na = torch.zeros(3)\na\n^\n", None);
        check("a = Steps()\na\n^\n", None);
    }

    #[test]
    fn a_role_that_goes_through_calls_and_tuples() {
        let built = "from torch import nn\ndef build():\n    return nn.Linear(2, 2), 3\n";
        check(&format!("{built}a, b = build()\na\n^\n"), Role::Model);
        check(&format!("{built}a, b = build()\nb\n^\n"), None);
        check("from torch import nn\na, b = nn.Linear(2, 2), nn.MSELoss()\nb\n^\n", Role::Criterion);
        check("from torch import nn\na = nn.Linear(2, 2).to(d)\na\n^\n", Role::Model);
        check("import torch\na = torch.compile(torch.nn.Linear(2, 2))\na\n^\n", Role::Model);
        check(
            "import copy\nfrom torch import nn\na = nn.Linear(2, 2)\nb = copy.deepcopy(a).to(d)\nb\n^\n",
            Role::Model,
        );
        check("import copy\nfrom torch import nn\nb = copy.deepcopy(nn.Linear(2, 2).state_dict())\nb\n^\n", None);
        check("run(kwargs['optimizer'])\n    ^^^^^^^^^^^^^^^^^^^\n", Role::Optimizer);
        check("import torch\nmodel_dict = torch.load(path)\na = model_dict['R']\na\n^\n", None);
    }

    #[test]
    fn a_role_that_another_file_shows() {
        let made = "#- nets.py\nimport torch\ndef build():\n    return torch.nn.Linear(2, 2)\n";
        check(&format!("{made}#- train.py\nfrom nets import build\na = build()\na\n^\n"), Role::Model);
        let kept = "#- base.py\nimport torch\nclass Base:\n    def setup(self):\n        self.o = torch.optim.SGD(p)\n";
        let read = "#- train.py\nclass Run(Base):\n    def fit(self):\n        self.o.step()\n        ^^^^^^\n";
        check(&format!("{kept}{read}"), Role::Optimizer);
    }

    #[test]
    fn the_role_of_what_a_function_is_given() {
        let fit = "#- fit.py\ndef fit(a):\n    a(x)\n    ^\n#- train.py\nfrom fit import fit\nfrom torch import nn\n";
        check(&format!("{fit}fit(nn.Linear(2, 2))\n"), Role::Model);
        check(&format!("{fit}b = {{'k': nn.MSELoss()}}\nfit(b['k'])\n"), Role::Criterion);
        check(&format!("{fit}fit(nn.MSELoss())\nfit(nn.Linear(2, 2))\n"), None);
        check(&format!("{fit}fit(None)\nfit(a=nn.Linear(2, 2))\n"), Role::Model);
        let copy = fit.replace("#- train.py\n", "#- train.py\nimport copy\n");
        check(&format!("{copy}net = nn.Linear(2, 2)\nfit(copy.deepcopy(net))\n"), Role::Model);
    }

    #[test]
    fn a_role_by_use() {
        check("def fit(a):\n    a.zero_grad()\n    a.step()\n    ^\n", Role::Optimizer);
        check("def fit(a):\n    a.step()\n    ^\n", None);
        check("def fit(a):\n    f(a.parameters())\n      ^\n", Role::Model);
        check("def fit(a, b):\n    a.scale(b).backward()\n    a.update()\n    ^\n", Role::Scaler);
    }

    #[test]
    fn a_role_by_name_alone() {
        check("def fit(model):\n    model(x)\n    ^^^^^\n", Role::Model);
        check("def fit(model_input):\n    f(model_input)\n      ^^^^^^^^^^^\n", None);
        check("get_model(x)\n^^^^^^^^^\n", None);
        check("for x in train_loader:\n         ^^^^^^^^^^^^\n    pass\n", Role::Loader);
        // It says something else than what is assigned.
        check("model = 3\nf(model)\n  ^^^^^\n", None);
    }

    #[test]
    fn a_number_is_no_loss() {
        let program = "from torch import nn\nfit = nn.MSELoss()\nloss = fit(x, y)\nf(loss)\n  ^^^^\n";
        check(program, Role::Loss);
        check(&format!("{program}loss = 0.0\n"), None);
    }

    #[test]
    #[ignore = "any call may return what the name says, also one of torch that makes a tensor"]
    fn a_tensor_with_the_name_of_a_model() {
        check("import torch\nnet = torch.zeros(3)\nf(net)\n  ^^^\n", None);
    }

    #[test]
    #[ignore = "names are looked up in the whole file, whatever their scope"]
    fn a_name_of_another_function() {
        let trains = "import torch\nnet = torch.nn.Linear(2, 2)\n";
        check(&format!("{trains}def report(path):\n    net = open(path)\n    net.close()\n    ^^^\n"), None);
    }
}
