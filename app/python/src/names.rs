//! The meaning of a name in a file: imports, aliases and the qualified names that they refer to.

use crate::tree::{Id, Index, fields, kinds};
use rustc_hash::FxHashMap;
use sorting::{SortedMap, SortedSet};
use std::borrow::Cow;

/// What names are that a file imports from others of its project, by the names as it imports them: `.compat.torch` is
/// `torch`.
pub type Packages = FxHashMap<String, String>;

/// One name that an import statement binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The name in the file.
    pub local: String,
    /// Its meaning, `torch.cuda.amp.autocast`.
    pub qualified: String,
    /// The import statement.
    pub statement: Id,
    /// The part of it that binds this name.
    pub part: Id,
    /// The function that contains the statement; none at the top level.
    pub scope: Option<Id>,
}

/// How many more parts a name has at most by another home: `lightning.pytorch` is `pytorch_lightning`.
const FURTHER_PARTS: usize = 4;

/// A binding that takes part only in its own arm, where its name has another in an alternative one.
#[derive(Debug)]
struct Either {
    /// Numbers of the bindings.
    fallback: usize,
    preferred: usize,
    /// The arm of the fallback.
    arm: Id,
}

/// All bindings of a file.
#[derive(Debug, Default)]
pub struct Names {
    /// What imports and top-level aliases bind.
    pub bindings: Vec<Binding>,
    by_local: FxHashMap<String, Vec<usize>>,
    /// By the canonical spelling of their meaning.
    by_canonical: FxHashMap<String, Vec<usize>>,
    /// By their meaning; of those at the top level only the shortest, which is how a new name is spelled.
    spellings: FxHashMap<String, Vec<usize>>,
    /// Functions (none: the module) that bind a name by other means than an import: parameters, assignments, loops.
    shadows: SortedMap<String, Vec<Option<Id>>>,
    /// Imported names with different meanings in different places; all others have one meaning everywhere.
    scoped: SortedSet<String>,
    /// Two imports of one thing for different releases: `torch.amp.GradScaler` in `try`, `torch.cuda.amp.GradScaler` in
    /// `except`.
    either: Vec<Either>,
    /// Modules that are imported by name, in full: `torch.nn` of `import torch.nn`.
    pub modules: Vec<String>,
    /// Modules of `from x import *`.
    pub wildcards: Vec<String>,
    /// The packages that a statement imports from another file of the project.
    pub packages: FxHashMap<Id, Vec<String>>,
}

/// An expression as it can be written before a dot or next to an operator: in brackets, unless it is a name.
pub fn as_operand(index: &Index<'_>, id: Id) -> String {
    let text = index.text_of(id);
    if dotted(index, id).is_some() { text.to_owned() } else { format!("({text})") }
}

/// Every module that an import statement names, with the statement; `.net` of `from .net import Net`.
pub fn imported_modules<'i, 't>(index: &'i Index<'t>) -> impl Iterator<Item = (Id, &'t str)> + use<'i, 't> {
    let (k, f) = (kinds(), fields());
    let by_name = index.of_kind(k.import_statement).iter().flat_map(move |&statement| {
        let parts = index.children(statement).filter(move |part| index.item(*part).field == f.name);
        parts.map(move |part| (statement, index.field(part, f.name).unwrap_or(part)))
    });
    let of_module = index.of_kind(k.import_from_statement).iter();
    let of_module = of_module.filter_map(move |&from| Some((from, index.field(from, f.module_name)?)));
    by_name.chain(of_module).map(move |(statement, module)| (statement, index.text_of(module)))
}

impl Names {
    /// Reads the imports and bindings of a file that imports these packages from others of its project.
    pub fn collect(index: &Index<'_>, packages: &Packages) -> Self {
        let mut names = Self::default();
        let (k, f) = (kinds(), fields());
        for &statement in index.of_kind(k.import_statement) {
            for part in index.children(statement).filter(|c| index.item(*c).field == f.name) {
                if index.kind(part) == k.aliased_import {
                    if let (Some(module), Some(alias)) = (index.field(part, f.name), index.field(part, f.alias)) {
                        names.modules.push(index.text_of(module).to_owned());
                        names.bind(index, index.text_of(alias), index.text_of(module), statement, part);
                    }
                } else {
                    // `import torch.nn` binds `torch`.
                    let module = index.text_of(part);
                    names.modules.push(module.to_owned());
                    let head = module.split('.').next().unwrap_or(module);
                    names.bind(index, head, head, statement, part);
                }
            }
        }
        for &statement in index.of_kind(k.import_from_statement) {
            let Some(module) = index.field(statement, f.module_name) else { continue };
            let module = public_home(index.text_of(module));
            for part in index.children(statement) {
                if index.kind(part) == k.wildcard_import {
                    names.wildcards.push(module.to_owned());
                } else if index.item(part).field == f.name {
                    let (name, local) = if index.kind(part) == k.aliased_import {
                        match (index.field(part, f.name), index.field(part, f.alias)) {
                            (Some(name), Some(alias)) => (index.text_of(name), index.text_of(alias)),
                            _ => continue,
                        }
                    } else {
                        (index.text_of(part), index.text_of(part))
                    };
                    let dot = if module.ends_with('.') { "" } else { "." };
                    let qualified = format!("{module}{dot}{name}");
                    let package = packages.get(&qualified);
                    names.bind(index, local, package.unwrap_or(&qualified), statement, part);
                    if let Some(package) = package {
                        names.packages.entry(statement).or_default().push(package.clone());
                    }
                }
            }
        }
        // `amp = torch.cuda.amp` at the top level is an alias like any other.
        for &assignment in index.of_kind(k.assignment) {
            let at_top =
                index.parent(assignment).and_then(|s| index.parent(s)).is_some_and(|p| index.kind(p) == k.module);
            let (Some(left), Some(right)) = (index.field(assignment, f.left), index.field(assignment, f.right)) else {
                continue;
            };
            if at_top
                && index.kind(left) == k.identifier
                && index.kind(right) == k.attribute
                && let Some(qualified) = names.qualify(index, right)
            {
                names.bind(index, index.text_of(left), &qualified, assignment, left);
            }
        }
        names.collect_shadows(index);
        names.scoped = names
            .bindings
            .iter()
            .filter(|b| b.scope.is_some() || names.shadows.contains_key(&b.local))
            .map(|b| b.local.clone())
            .collect();
        let pairs =
            names.by_local.values().flat_map(|n| n.iter().flat_map(move |one| n.iter().map(move |two| (*one, *two))));
        names.either = pairs.filter_map(|(one, two)| names.either(index, one, two)).collect();
        names
    }

    /// Two bindings of one thing, the first for releases without the second.
    fn either(&self, index: &Index<'_>, fallback: usize, preferred: usize) -> Option<Either> {
        let k = kinds();
        let (one, two) = (&self.bindings[fallback], &self.bindings[preferred]);
        let moved = is_new_home(&two.qualified, &one.qualified);
        if one.scope != two.scope || !moved && !is_new_home(&one.qualified, &two.qualified) {
            return None;
        }
        let around = index.ancestors(one.statement).find(|around| index.is_within(two.statement, *around))?;
        let arm = |binding: &Binding| index.ancestors(binding.statement).take_while(|at| *at != around).last();
        let (arm, other) = (arm(one)?, arm(two)?);
        let is_fallback = match index.kind(around) {
            kind if kind == k.if_statement => moved,
            kind if kind == k.try_statement => {
                index.kind(arm) == k.except_clause && index.kind(other) != k.finally_clause
            }
            _ => false,
        };
        is_fallback.then_some(Either { fallback, preferred, arm })
    }

    /// The name that an alternative import binds, of a binding for releases without it.
    pub fn newer_home(&self, binding: usize) -> Option<&str> {
        let either = self.either.iter().find(|either| either.fallback == binding)?;
        Some(&self.bindings[either.preferred].qualified)
    }

    /// Where names are bound by something other than an import.
    fn collect_shadows(&mut self, index: &Index<'_>) {
        let (k, f) = (kinds(), fields());
        let aliases: SortedSet<Id> = self.bindings.iter().map(|b| b.part).collect();
        let bound = index.of_kind(k.identifier).iter().filter_map(|&id| {
            let parent = index.parent(id)?;
            let kind = index.kind(parent);
            let field = index.item(id).field;
            let mut at = id;
            // `a, (b, c) = …`: the whole pattern is on the left.
            while let Some(p) = index.parent(at).filter(|p| [k.pattern_list, k.tuple_pattern].contains(&index.kind(*p)))
            {
                at = p;
            }
            let holder = index.parent(at).unwrap_or(parent);
            let left = index.item(at).field == f.left;
            let bound = (left && [k.assignment, k.for_statement, k.for_in_clause].contains(&index.kind(holder)))
                || (kind == k.parameters || kind == k.lambda_parameters)
                || ([k.default_parameter, k.typed_default_parameter].contains(&kind) && field == f.name)
                || (kind == k.typed_parameter && index.children(parent).next() == Some(id))
                || ((kind == k.function_definition || kind == k.class_definition) && field == f.name)
                || (kind == k.named_expression && field == f.name)
                || kind == k.as_pattern_target;
            if !bound || aliases.contains(&id) {
                return None;
            }
            // A definition's name belongs to the function around it.
            let from = if kind == k.function_definition || kind == k.class_definition { parent } else { id };
            let scope =
                index.ancestors(from).find(|a| index.kind(*a) == k.function_definition || index.kind(*a) == k.lambda);
            Some((index.text_of(id), scope))
        });
        let scopes = SortedMap::grouped(bound).into_iter();
        self.shadows = scopes
            .map(|(name, mut scopes)| {
                scopes.dedup();
                (name.to_owned(), scopes)
            })
            .collect();
    }

    /// The bindings of a name that count at a node: of two for different releases, the one of its arm, or the preferred one.
    fn named(&self, index: &Index<'_>, at: Id, name: &str) -> impl DoubleEndedIterator<Item = &Binding> {
        let counts = move |n: &&usize| {
            !self
                .either
                .iter()
                .any(|either| **n == if index.is_within(at, either.arm) { either.preferred } else { either.fallback })
        };
        self.by_local.get(name).into_iter().flatten().filter(counts).map(|n| &self.bindings[*n])
    }

    /// The import bindings that a plain name refers to at a node; none if something else binds it closer by.
    fn visible(&self, index: &Index<'_>, at: Id, name: &str) -> Option<Vec<&Binding>> {
        let k = kinds();
        let bindings: Vec<&Binding> = self.named(index, at, name).collect();
        let shadows = self.shadows.get(name);
        let functions = index
            .ancestors(at)
            .filter(|a| index.kind(*a) == k.function_definition || index.kind(*a) == k.lambda)
            .map(Some)
            .chain(std::iter::once(None));
        for scope in functions {
            let here: Vec<&Binding> = bindings.iter().copied().filter(|b| b.scope == scope).collect();
            if !here.is_empty() {
                return Some(here);
            }
            if shadows.is_some_and(|s| s.contains(&scope)) {
                return None;
            }
        }
        None
    }

    fn bind(&mut self, index: &Index<'_>, local: &str, qualified: &str, statement: Id, part: Id) {
        let number = self.bindings.len();
        self.by_local.entry(local.to_owned()).or_default().push(number);
        self.by_canonical.entry(canonical(qualified).into_owned()).or_default().push(number);
        let scope = index.ancestors(statement).find(|a| index.kind(*a) == kinds().function_definition);
        let spellings = self.spellings.entry(qualified.to_owned()).or_default();
        let at_top = spellings.iter().position(|n| scope.is_none() && self.bindings[*n].scope.is_none());
        match at_top.map(|at| &mut spellings[at]) {
            Some(known) if self.bindings[*known].local.len() > local.len() => *known = number,
            Some(_) => {}
            None => spellings.push(number),
        }
        self.bindings.push(Binding {
            local: local.to_owned(),
            qualified: qualified.to_owned(),
            statement,
            part,
            scope,
        });
    }

    /// The meaning of an identifier or a dotted chain, if imports give it several the last; none if its head is not imported.
    pub fn qualify(&self, index: &Index<'_>, id: Id) -> Option<String> {
        self.meanings(index, id).pop()
    }

    /// All meanings of an identifier or a dotted chain that imports give it, in the order of the imports.
    pub fn meanings(&self, index: &Index<'_>, id: Id) -> Vec<String> {
        let Some(text) = spelled(index, id) else { return Vec::new() };
        let (head, rest) = text.split_once('.').unwrap_or((&text, ""));
        let bindings = if self.scoped.contains(head) {
            self.visible(index, id, head).unwrap_or_default()
        } else {
            self.named(index, id, head).collect()
        };
        bindings.into_iter().map(|binding| joined(&binding.qualified, rest)).collect()
    }

    /// The node that names it, if an identifier or a dotted chain can refer to something in a module: the end of a
    /// chain, or the name in the import that binds it.
    pub fn member(&self, index: &Index<'_>, id: Id, module: &str) -> Option<Id> {
        let (k, f) = (kinds(), fields());
        if index.kind(id) == k.attribute {
            let of_module = index.field(id, f.object).is_some_and(|object| self.stands_for(index, object, module));
            return index.field(id, f.attribute).filter(|_| of_module);
        }
        let qualified = (index.kind(id) == k.identifier).then(|| self.qualify(index, id))??;
        let name = name_in(&qualified, module)?;
        let binding = self.bindings.iter().find(|b| b.local == index.text_of(id) && b.qualified == qualified)?;
        let part = binding.part;
        let named = if index.kind(part) == k.aliased_import { index.field(part, f.name)? } else { part };
        (index.text_of(named) == name).then_some(named)
    }

    /// Local names that an import binds to something of a module.
    pub fn members(&self, module: &str) -> SortedSet<&str> {
        let of_module = self.bindings.iter().filter(|b| name_in(&b.qualified, module).is_some());
        of_module.map(|b| &*b.local).collect()
    }

    /// Whether an identifier or a dotted chain can refer to a qualified name.
    pub fn stands_for(&self, index: &Index<'_>, id: Id, qualified: &str) -> bool {
        // A chain with more parts than any name of it can't mean it, and each of its parts may be asked in turn.
        let most = qualified.matches('.').count() + FURTHER_PARTS;
        let (k, f) = (kinds(), fields());
        let owners =
            std::iter::successors(Some(id), |at| index.field(*at, f.object).filter(|_| index.kind(*at) == k.attribute));
        if owners.take(most + 2).count() > most + 1 {
            return false;
        }
        let Some(text) = spelled(index, id) else { return false };
        let text = text.as_ref();
        let (head, rest) = text.split_once('.').unwrap_or((text, ""));
        // The part after the head is the end of the full name.
        let several = has_several_homes(qualified);
        if !rest.is_empty() && !several && !qualified.ends_with(rest) {
            return false;
        }
        let means = |b: &Binding| {
            let exactly = qualified.strip_prefix(b.qualified.as_str()).is_some_and(|tail| {
                if rest.is_empty() { tail.is_empty() } else { tail.strip_prefix('.') == Some(rest) }
            });
            exactly || (several && canonical(&joined(&b.qualified, rest)) == canonical(qualified))
        };
        match self.by_local.get(head) {
            Some(_) if !self.scoped.contains(head) => self.named(index, id, head).any(means),
            Some(_) => self.visible(index, id, head).is_some_and(|bindings| bindings.into_iter().any(means)),
            // A fragment without its imports, or a name that is not a module: it is taken literally.
            None => {
                !self.shadows.contains_key(head) && (text == qualified || (several && canonical(text) == qualified))
            }
        }
    }

    /// How a qualified name is spelled at a node, if an import makes it available there.
    pub fn spelling(&self, index: &Index<'_>, at: Id, qualified: &str) -> Option<String> {
        // `from torch import nn` makes `nn.X` available, `from torch.cuda import amp` does not make `torch` available.
        let starts = qualified.match_indices('.').map(|(dot, _)| dot).chain(std::iter::once(qualified.len()));
        let bound = starts.flat_map(|end| {
            let numbers = self.spellings.get(&qualified[..end]).into_iter().flatten();
            numbers.map(move |number| (*number, &qualified[end..]))
        });
        // Module-level code runs in order, and an import further down has not run by then.
        let runs_at_once =
            !index.ancestors(at).any(|a| [kinds().function_definition, kinds().lambda].contains(&index.kind(a)));
        let means_only_this = |number: usize| {
            let binding = &self.bindings[number];
            let visible = self.visible(index, at, &binding.local);
            visible.is_some_and(|visible| visible.iter().all(|other| other.qualified == binding.qualified))
        };
        let sure = bound.filter(|(number, _)| means_only_this(*number));
        let reached = sure.filter(|(number, _)| match &self.bindings[*number] {
            Binding { scope: Some(scope), .. } => index.is_within(at, *scope),
            Binding { statement, .. } => !runs_at_once || index.item(*statement).start <= index.item(at).start,
        });
        let length = |(number, rest): &(usize, &str)| (self.bindings[*number].local.len() + rest.len(), *number);
        reached.min_by_key(length).map(|(number, rest)| format!("{}{rest}", self.bindings[number].local))
    }

    /// Names under which the last part of a qualified name may appear in the file.
    pub fn last_names<'a>(&'a self, qualified: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        let last = qualified.rsplit('.').next().unwrap_or(qualified);
        let bound = self.by_canonical.get(canonical(qualified).as_ref()).into_iter().flatten();
        std::iter::once(last).chain(bound.map(|number| self.bindings[*number].local.as_str()))
    }

    /// The module of a `from module import *`, given its star.
    pub fn wildcard_module<'t>(index: &Index<'t>, star: Id) -> Option<&'t str> {
        let module = index.field(index.parent(star)?, fields().module_name)?;
        Some(index.text_of(module))
    }

    /// Whether the file imports a framework.
    pub fn uses_framework(&self, framework: &str) -> bool {
        let imports = |name: &str| self.imports(name) || self.imports_package(name);
        match framework {
            "tensorflow" => imports("tensorflow") || imports("keras"),
            "lightning" => imports("lightning") || imports("pytorch_lightning"),
            other => imports(other),
        }
    }

    /// Whether a module of a package is imported whole, or with a star.
    fn imports_package(&self, name: &str) -> bool {
        self.modules.iter().chain(&self.wildcards).any(|module| module.split('.').next() == Some(name))
    }

    /// Whether the file is written for a framework other than PyTorch.
    pub fn is_of_other_framework(&self) -> bool {
        let imports = |name: &str| self.imports(name) || self.imports_package(name);
        !imports("torch") && ["tensorflow", "keras", "jax", "flax"].into_iter().any(imports)
    }

    /// Whether nothing in the file binds a name, so that it is taken literally.
    pub fn is_free(&self, local: &str) -> bool {
        !self.by_local.contains_key(local) && !self.shadows.contains_key(local)
    }

    /// Whether an import binds a plain name.
    pub fn by_import(&self, local: &str) -> bool {
        self.by_local.contains_key(local)
    }

    /// Whether something other than an import binds a name at the top level: `model = Net()` below `import model`.
    pub fn is_rebound(&self, local: &str) -> bool {
        self.shadows.get(local).is_some_and(|scopes| scopes.contains(&None))
    }

    /// Whether the file imports a module, or something from it.
    pub fn imports(&self, qualified: &str) -> bool {
        self.bindings.iter().any(|b| {
            b.qualified == qualified || b.qualified.strip_prefix(qualified).is_some_and(|rest| rest.starts_with('.'))
        })
    }
}

/// Names that Lightning's top-level package re-exports from its PyTorch part.
const OF_LIGHTNING: [&str; 7] =
    ["Trainer", "LightningModule", "LightningDataModule", "Callback", "seed_everything", "LightningCLI", "callbacks"];

/// Whether names of this package can be imported in several ways.
pub fn has_several_homes(qualified: &str) -> bool {
    matches!(qualified.split('.').next(), Some("lightning" | "pytorch_lightning" | "tensorflow" | "keras"))
        || qualified == "torch.amp.GradScaler"
}

/// Whether a name is what newer releases of PyTorch call another: all of `torch.cuda.amp` is in `torch.amp`, as the deprecations in
/// `torch/cuda/amp` of PyTorch 2.4 say, and `torch.autocast` is that of `torch.amp`.
pub fn is_new_home(name: &str, of: &str) -> bool {
    let Some(part) = of.strip_prefix("torch.cuda.amp.") else { return false };
    name.strip_prefix("torch.amp.") == Some(part) || (name, part) == ("torch.autocast", "autocast")
}

/// What a qualified name is called in a module, if it is directly in it.
fn name_in<'n>(qualified: &'n str, module: &str) -> Option<&'n str> {
    let (parent, name) = qualified.rsplit_once('.')?;
    (canonical(parent) == canonical(module)).then_some(name)
}

/// The documented module of something that is imported from the file that defines it: `torch.utils.data.dataloader`.
fn public_home(module: &str) -> &str {
    const HOMES: [&str; 4] = ["torch.utils.data", "torch.nn.parallel", "torch.nn", "torch.optim"];
    let inner = |home: &&&str| module.strip_prefix(**home).and_then(|rest| rest.strip_prefix('.'));
    match HOMES.iter().find(|home| inner(home).is_some()) {
        Some(&"torch.utils.data") if module.ends_with(".dataloader") || module.ends_with(".dataset") => {
            "torch.utils.data"
        }
        Some(&"torch.nn.parallel") if module.ends_with(".distributed") => "torch.nn.parallel",
        Some(&"torch.nn") if module.starts_with("torch.nn.modules.") => "torch.nn",
        Some(&"torch.optim")
            if matches!(module.rsplit('.').next(), Some("adam" | "adamw" | "sgd" | "rmsprop" | "optimizer")) =>
        {
            "torch.optim"
        }
        _ => module,
    }
}

/// A package that is published under two names, whose classes are not the same: the canonical name, and the other.
pub const PUBLISHED_TWICE: (&str, &str) = ("lightning.pytorch", "pytorch_lightning");

/// One canonical spelling for names that a package exports under several: `pytorch_lightning.Trainer` and
/// `lightning.Trainer` are `lightning.pytorch.Trainer`, and `keras.Model` and `tensorflow.keras.models.Model` are
/// `tensorflow.keras.Model`.
pub fn canonical(qualified: &str) -> Cow<'_, str> {
    let (head, rest) = qualified.split_once('.').unwrap_or((qualified, ""));
    let first = rest.split('.').next().unwrap_or("");
    let keras = match head {
        _ if head == PUBLISHED_TWICE.1 => return joined(PUBLISHED_TWICE.0, rest).into(),
        "lightning" if OF_LIGHTNING.contains(&first) => return joined("lightning.pytorch", rest).into(),
        "torch" if rest == "GradScaler" => return "torch.amp.GradScaler".into(),
        "keras" => rest,
        "tensorflow" => {
            let inner = rest.strip_prefix("python.").or_else(|| rest.strip_prefix("compat.v2.")).unwrap_or(rest);
            match inner.strip_prefix("keras") {
                Some("") => "",
                Some(tail) if tail.starts_with('.') => &tail[1..],
                _ => return qualified.into(),
            }
        }
        _ => return qualified.into(),
    };
    let keras = match keras.strip_prefix("models.") {
        Some(class @ ("Model" | "Sequential")) => class,
        _ => keras,
    };
    joined("tensorflow.keras", keras).into()
}

fn joined(base: &str, rest: &str) -> String {
    if rest.is_empty() { base.to_owned() } else { format!("{base}.{rest}") }
}

/// The text of a chain of plain names, `a.b.c`; none for anything else.
pub fn dotted<'t>(index: &Index<'t>, id: Id) -> Option<&'t str> {
    let (k, f) = (kinds(), fields());
    let mut at = id;
    loop {
        let kind = index.kind(at);
        if kind == k.identifier || kind == k.dotted_name {
            let text = index.text_of(id);
            // Chains that span lines are rare enough to be ignored.
            return (!text.contains(|c: char| c.is_whitespace())).then_some(text);
        }
        if kind != k.attribute {
            return None;
        }
        at = index.field(at, f.object)?;
    }
}

/// The same, including chains that span lines.
fn spelled<'t>(index: &Index<'t>, id: Id) -> Option<Cow<'t, str>> {
    if let Some(text) = dotted(index, id) {
        return Some(Cow::Borrowed(text));
    }
    let (k, f) = (kinds(), fields());
    let (mut at, mut names) = (id, Vec::new());
    while index.kind(at) == k.attribute {
        names.push(index.text_of(index.field(at, f.attribute)?));
        at = index.field(at, f.object)?;
    }
    names.push((index.kind(at) == k.identifier).then(|| index.text_of(at))?);
    names.reverse();
    Some(Cow::Owned(names.join(".")))
}

/// The last part of the name of a call's function: `cuda` of `net.cuda()`, `autocast` of `autocast()`.
pub fn called_name<'t>(index: &Index<'t>, call: Id) -> Option<&'t str> {
    let (k, f) = (kinds(), fields());
    let function = index.field(call, f.function)?;
    if index.kind(function) == k.attribute {
        index.field(function, f.attribute).map(|a| index.text_of(a))
    } else if index.kind(function) == k.identifier {
        Some(index.text_of(function))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::PythonFile;
    use crate::tree::Tree;

    /// The meaning of the function that is called with `here`.
    #[track_caller]
    fn qualified(text: &str, expected: Option<&str>) {
        let tree = Tree::parse(text);
        let file = PythonFile::read("a.py", &tree);
        let call = file.identifiers("here").first().and_then(|id| file.index.ancestors(*id).nth(1));
        assert_eq!(file.qualified(call.expect("a call")).as_deref(), expected, "{text}");
    }

    #[test]
    fn the_meaning_of_a_name_by_its_import() {
        qualified("import torch.nn as nn\nnn.Linear(here)\n", Some("torch.nn.Linear"));
        qualified("from torch import nn\nnn.Linear(here)\n", Some("torch.nn.Linear"));
        qualified("import torch\ntorch.\\\n    zeros(here)\n", Some("torch.zeros"));
        qualified("from torch import zeros as z\nz(here)\n", Some("torch.zeros"));
        qualified("import torch\noptim = torch.optim\noptim.SGD(here)\n", Some("torch.optim.SGD"));
        qualified("zeros(here)\n", None);
    }

    #[test]
    fn a_name_that_a_scope_binds_again() {
        let import = "from torch import zeros\n";
        qualified(&format!("{import}def f(zeros):\n    zeros(here)\n"), None);
        qualified(&format!("{import}def f(zeros):\n    pass\nzeros(here)\n"), Some("torch.zeros"));
        qualified("def f():\n    from torch import zeros\n    zeros(here)\n", Some("torch.zeros"));
        qualified(
            "def f():\n    from numpy import zeros\n    zeros(here)\nfrom torch import zeros\n",
            Some("numpy.zeros"),
        );
    }

    #[test]
    fn a_name_with_two_homes_for_different_releases() {
        let check = |first: &str, second: &str, by_version: &str, by_error: &str| {
            qualified(&format!("if NEW:\n    {first}\nelse:\n    {second}\nX(here)\n"), Some(by_version));
            qualified(&format!("try:\n    {first}\nexcept ImportError:\n    {second}\nX(here)\n"), Some(by_error));
        };
        let (general, of_cuda) = ("from torch.amp import X", "from torch.cuda.amp import X");
        check(general, of_cuda, "torch.amp.X", "torch.amp.X");
        check(of_cuda, general, "torch.amp.X", "torch.cuda.amp.X");
        // Not one thing in two releases: the last one counts, as elsewhere.
        check("from torch.cpu.amp import X", of_cuda, "torch.cuda.amp.X", "torch.cuda.amp.X");
        check("from torch import X", "from torch.cuda import X", "torch.cuda.X", "torch.cuda.X");
        check("from torch.amp import Y as X", of_cuda, "torch.cuda.amp.X", "torch.cuda.amp.X");
        qualified(&format!("{general}\n{of_cuda}\nX(here)\n"), Some("torch.cuda.amp.X"));
        qualified(&format!("try:\n    {general}\nfinally:\n    {of_cuda}\nX(here)\n"), Some("torch.cuda.amp.X"));
        // In an arm its own import counts.
        let within = format!("if NEW:\n    {general}\nelse:\n    {of_cuda}\n    X(here)\n");
        qualified(&within, Some("torch.cuda.amp.X"));
        let functions = format!(
            "if NEW:\n    def f():\n        {general}\nelse:\n    def f():\n        {of_cuda}\n        X(here)\n"
        );
        qualified(&functions, Some("torch.cuda.amp.X"));
    }

    #[test]
    fn frameworks_of_a_file() {
        let check = |text: &str, framework: &str, uses: bool, other: bool| {
            let tree = Tree::parse(text);
            let names = Names::collect(&tree.index(), &Packages::default());
            assert_eq!((names.uses_framework(framework), names.is_of_other_framework()), (uses, other), "{text}");
        };
        check("import pytorch_lightning as pl\n", "lightning", true, false);
        check("from keras import layers\n", "tensorflow", true, true);
        check("import tensorflow.keras\nimport torch\n", "tensorflow", true, false);
        check("import torchvision\n", "torch", false, false);
    }

    #[test]
    fn one_spelling_for_several_homes() {
        let check = |name: &str, expected: &str| assert_eq!(canonical(name), expected, "{name}");
        check("pytorch_lightning.Trainer", "lightning.pytorch.Trainer");
        check("lightning.Trainer", "lightning.pytorch.Trainer");
        check("lightning.fabric.Fabric", "lightning.fabric.Fabric");
        check("keras.layers.Dense", "tensorflow.keras.layers.Dense");
        check("tensorflow.keras.models.Sequential", "tensorflow.keras.Sequential");
        check("tensorflow.python.keras.Model", "tensorflow.keras.Model");
        check("tensorflow.kerasify", "tensorflow.kerasify");
        check("torch.nn.Module", "torch.nn.Module");
    }
}
