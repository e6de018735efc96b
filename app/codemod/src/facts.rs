//! What the engine knows of a project before it rewrites anything: which names are the model, the optimizer, the
//! scheduler; where the training and validation steps are; how the project chooses its compute mode.

pub(crate) mod counting;
pub(crate) mod keras;
pub(crate) mod keras_data;
pub(crate) mod modes;
pub(crate) mod readers;
pub(crate) mod roles;
pub(crate) mod steps;

use crate::names::Names;
use crate::order::{Map, Set};
use crate::settings::TargetFacts;
use crate::tree::{Id, Index, Tree, fields, kinds};
use keras::Keras;
use modes::Modes;
use roles::{Role, Roles};
use std::collections::HashMap;
use steps::Steps;

/// One file in one round: its nodes and what is known of it alone.
pub(crate) struct FileView<'t> {
    pub(crate) path: &'t str,
    pub(crate) index: Index<'t>,
    pub(crate) names: Names,
    pub(crate) roles: Roles,
    pub(crate) steps: Steps,
    pub(crate) layout: Layout,
    words: HashMap<&'t str, Vec<Id>>,
    /// Names that the module assigns, with the end of the first assignment.
    top_names: Map<&'t str, usize>,
    calls: Map<&'t str, Vec<Id>>,
}

/// How the file is written, so that new code looks like it.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// One level of indentation.
    pub(crate) indent: String,
    pub(crate) newline: &'static str,
    /// The quote that most strings of the file use.
    pub(crate) quote: char,
}

impl Layout {
    fn read(index: &Index<'_>) -> Self {
        let text = index.text;
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let k = kinds();
        let indent = index
            .of_kind(k.block)
            .iter()
            .find_map(|b| {
                let outer = index.parent(*b).map_or("", |p| line_indent(text, index.item(p).start));
                let start = index.item(*b).start;
                let own = line_indent(text, start);
                // A block on the header's own line says nothing.
                (text[..start].rfind('\n').map_or(0, |n| n + 1) + own.len() == start)
                    .then(|| own.strip_prefix(outer))
                    .flatten()
                    .filter(|unit| !unit.is_empty() && unit.len() <= 8)
                    .map(str::to_owned)
            })
            .unwrap_or_else(|| "    ".to_owned());
        let (mut single, mut double) = (0, 0);
        for s in index.of_kind(k.string) {
            let t = index.text_of(*s).trim_start_matches(|c: char| c.is_ascii_alphabetic());
            if t.starts_with("\"\"\"") || t.starts_with("'''") {
                continue;
            }
            if t.starts_with('\'') {
                single += 1;
            } else {
                double += 1;
            }
        }
        Self { indent, newline, quote: if single > double { '\'' } else { '"' } }
    }
}

/// The white space at the start of the line that holds an offset.
pub(crate) fn line_indent(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind('\n').map_or(0, |n| n + 1);
    let start = if start == 0 && text.starts_with('\u{feff}') { 3 } else { start };
    let line = &text[start..];
    let end = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
    &line[..end]
}

impl<'t> FileView<'t> {
    pub(crate) fn read(path: &'t str, tree: &'t Tree) -> Self {
        let index = tree.index();
        let names = Names::collect(&index);
        let k = kinds();
        let mut words: HashMap<&str, Vec<Id>> = HashMap::new();
        for &id in index.of_kind(k.identifier) {
            words.entry(index.text_of(id)).or_default().push(id);
        }
        let mut calls: Map<&str, Vec<Id>> = Map::new();
        for &call in index.of_kind(k.call) {
            if let Some(name) = crate::names::called_name(&index, call) {
                calls.get_or_default(name).push(call);
            }
        }
        let mut top_names: Map<&str, usize> = Map::new();
        for &assignment in index.of_kind(k.assignment) {
            let Some(left) = index.field(assignment, fields().left) else { continue };
            if !index
                .ancestors(assignment)
                .any(|a| [k.function_definition, k.class_definition].contains(&index.kind(a)))
            {
                top_names.get_or_insert(index.text_of(left), index.item(assignment).end);
            }
        }
        for binding in names.bindings.iter().filter(|b| b.scope.is_none()) {
            // The name as it stands in the text, which lives as long as the tree.
            let end = index.item(binding.statement).end;
            let within = index.text_of(binding.part);
            if let Some(at) = within.rfind(binding.local.as_str()) {
                top_names.get_or_insert(&within[at..at + binding.local.len()], end);
            }
        }
        let mut view = Self {
            top_names,
            path,
            layout: Layout::read(&index),
            words,
            calls,
            roles: Roles::default(),
            steps: Steps::default(),
            index,
            names,
        };
        view.roles = Roles::collect(&view);
        view.steps = Steps::collect(&view);
        view
    }

    pub(crate) fn has_word(&self, word: &str) -> bool {
        // `import torch.cuda.amp` holds its parts as one dotted name of identifiers, so they are all here.
        self.words.contains_key(word)
    }

    /// The identifiers of that text, in its order.
    pub(crate) fn identifiers(&self, name: &str) -> &[Id] {
        self.words.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether the file has signs of gradients that are part of the answer: forces, penalties, second derivatives.
    pub(crate) fn differentiates(&self) -> Option<Id> {
        let tells = |word: &str| {
            matches!(word, "enable_grad" | "create_graph" | "forces" | "hessian" | "jacobian" | "jacrev" | "vjp")
                || word.ends_with("_forces")
                || word.ends_with("_force")
                || word.contains("grad_state")
                || word.contains("gradient_penalty")
                || word.contains("gradwise")
        };
        let by_word = self.words.iter().filter(|(word, _)| tells(word)).flat_map(|(_, ids)| ids.iter().copied());
        let by_autograd = self.calls("grad").iter().copied().filter(|c| {
            self.index.field(*c, fields().function).is_some_and(|f| self.index.text_of(f).contains("autograd"))
        });
        by_word.chain(by_autograd).min()
    }

    /// Whether the module binds a name: before an offset, or anywhere when a function reads it later.
    pub(crate) fn binds_at_top(&self, name: &str, at: usize, in_function: bool) -> bool {
        self.top_names.get(name).is_some_and(|end| in_function || *end <= at)
    }

    /// Calls by the last name of their function.
    pub(crate) fn calls(&self, name: &str) -> &[Id] {
        self.calls.get(name).map_or(&[], Vec::as_slice)
    }

    /// Calls of a function by its own name, or as a method of something that is no model: `model.train()` is no call of a `train`.
    pub(crate) fn callers(&self, function: Id) -> impl Iterator<Item = Id> + '_ {
        self.calls(self.name_of(function)).iter().copied().filter(move |call| {
            let owner = self.index.field(*call, fields().function).and_then(|g| self.index.field(g, fields().object));
            owner.is_none_or(|o| {
                let owner = self.index.text_of(o);
                owner == "self"
                    || self.class_of(function).is_some() && !owner.contains("model") && !owner.contains("net")
            })
        })
    }

    /// The innermost function around a node.
    pub(crate) fn function_of(&self, id: Id) -> Option<Id> {
        self.index.ancestors(id).find(|a| self.index.kind(*a) == kinds().function_definition)
    }

    /// The innermost class around a node.
    pub(crate) fn class_of(&self, id: Id) -> Option<Id> {
        self.index.ancestors(id).find(|a| self.index.kind(*a) == kinds().class_definition)
    }

    pub(crate) fn name_of(&self, definition: Id) -> &'t str {
        self.index.field(definition, fields().name).map_or("", |n| self.index.text_of(n))
    }

    /// Whether a class, a function or a top-level assignment of that name is here.
    pub(crate) fn defines(&self, name: &str) -> bool {
        let k = kinds();
        let definitions =
            self.index.of_kind(k.class_definition).iter().chain(self.index.of_kind(k.function_definition));
        definitions.into_iter().any(|d| self.name_of(*d) == name)
    }

    /// The statement that holds a node: the child of a block or of the module.
    pub(crate) fn statement_of(&self, id: Id) -> Option<Id> {
        let k = kinds();
        std::iter::once(id).chain(self.index.ancestors(id)).find(|a| {
            self.index.parent(*a).is_some_and(|p| self.index.kind(p) == k.block || self.index.kind(p) == k.module)
        })
    }

    /// Whether a function takes or assigns a name.
    pub(crate) fn binds(&self, function: Id, name: &str) -> bool {
        self.bound_from(function, name).is_some()
    }

    /// Whether a function has taken or assigned a name when it comes to a node of its own.
    pub(crate) fn binds_before(&self, function: Id, name: &str, id: Id) -> bool {
        self.bound_from(function, name).is_some_and(|end| end <= self.index.item(id).start)
    }

    /// Where in the text a function has bound a name for the first time.
    fn bound_from(&self, function: Id, name: &str) -> Option<usize> {
        let (k, f) = (kinds(), fields());
        let bound_by = |id: Id| {
            let kind = self.index.kind(id);
            (kind == k.identifier && self.index.text_of(id) == name)
                || self.index.of_kind_in(k.identifier, id).iter().any(|i| {
                    self.index.text_of(*i) == name
                        && self.index.parent(*i).is_some_and(|p| {
                            let kind = self.index.kind(p);
                            kind != k.attribute && kind != k.subscript
                        })
                })
        };
        if let Some(parameters) = self.index.field(function, f.parameters) {
            let is_bound = self.index.children(parameters).any(|p| {
                let kind = self.index.kind(p);
                if kind == k.identifier {
                    self.index.text_of(p) == name
                } else {
                    self.index.children(p).next().is_some_and(|n| self.index.text_of(n) == name)
                }
            });
            if is_bound {
                return Some(self.index.item(parameters).end);
            }
        }
        let assignments = self.index.of_kind_in(k.assignment, function).iter();
        let binding = assignments.copied().find(|a| self.index.field(*a, f.left).is_some_and(bound_by))?;
        Some(self.index.item(binding).end)
    }
}

/// Folders of a path, and the module that its file is.
fn places(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.strip_suffix(".py").unwrap_or(path).split('/')
}

/// What is known of all files together.
pub(crate) struct ProjectFacts {
    /// How the project chooses its compute mode, if it does.
    pub(crate) modes: Option<Modes>,
    /// Roles of attributes (`self._opt`) over all files.
    attributes: Map<String, Role>,
    /// Classes of the project that are models.
    pub(crate) models: Set<String>,
    /// Where the project works with Keras models.
    pub(crate) keras: Keras,
    /// What functions of the project return.
    returns: Map<String, Vec<Option<Role>>>,
    /// Class name to the names of its bases.
    pub(crate) bases: Map<String, Vec<String>>,
    /// Classes that keep the target's bridge as an attribute.
    pub(crate) bridge_classes: Set<String>,
    /// Heads of the modules that only the target's machine has.
    pub(crate) target_modules: Vec<String>,
    /// Whether some file has a PyTorch training step and nothing of the target in it.
    pub(crate) step_is_left: bool,
    /// Modules that some file imports, or imports something of.
    imported: Set<String>,
    /// Every word of what is imported anywhere.
    imported_words: Set<String>,
    /// Names of the project's files and folders, as an import names them.
    pub(crate) places: Set<String>,
}

impl ProjectFacts {
    /// Whether some file imports a module, or something of it.
    pub(crate) fn imports(&self, module: &str) -> bool {
        self.imported
            .iter()
            .any(|name| name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    }

    /// Whether a program starts in a file: it says so, or it does something at the top and no other file imports it.
    pub(crate) fn starts(&self, view: &FileView<'_>) -> bool {
        let k = kinds();
        let index = &view.index;
        let says = index.of_kind(k.string).iter().any(|s| matches!(index.text_of(*s), "\"__main__\"" | "'__main__'"));
        let acts = || {
            index.parts(crate::tree::ROOT).any(|s| {
                let calls = index.kind(s) == k.expression_statement
                    && index.parts(s).next().is_some_and(|e| index.kind(e) == k.call);
                calls || [k.for_statement, k.while_statement, k.with_statement].contains(&index.kind(s))
            })
        };
        says || (places(view.path).last().is_none_or(|stem| !self.imported_words.contains(stem)) && acts())
    }

    pub(crate) fn collect<'v, 't: 'v>(views: impl Iterator<Item = &'v FileView<'t>>, target: &TargetFacts) -> Self {
        let (k, f) = (kinds(), fields());
        let views: Vec<&FileView<'t>> = views.collect();
        let mut bases: Map<String, Vec<String>> = Map::new();
        let mut bridge_classes = Set::new();
        let bridge = target.bridge.as_ref().map(|b| format!("self.{}", b.name));
        for view in &views {
            for &class in view.index.of_kind(k.class_definition) {
                let supers = view.index.field(class, f.superclasses).map_or_else(Vec::new, |s| {
                    view.index
                        .parts(s)
                        .filter(|p| view.index.kind(*p) != k.keyword_argument)
                        .map(|p| view.names.qualify(&view.index, p).unwrap_or_else(|| view.index.text_of(p).to_owned()))
                        .collect()
                });
                bases.get_or_default(view.name_of(class).to_owned()).extend(supers);
            }
            for &assignment in view.index.of_kind(k.assignment) {
                if view
                    .index
                    .field(assignment, f.left)
                    .is_some_and(|l| bridge.as_deref() == Some(view.index.text_of(l)))
                    && let Some(class) = view.class_of(assignment)
                {
                    bridge_classes.insert(view.name_of(class).to_owned());
                }
            }
        }
        let mut facts = Self {
            modes: Modes::collect(&views, &target.mode),
            attributes: Map::new(),
            models: Set::new(),
            keras: Keras::default(),
            returns: Map::new(),
            bases,
            bridge_classes,
            target_modules: target.modules.clone(),
            step_is_left: views.iter().any(|view| {
                let ported = target.modules.iter().any(|module| view.names.imports(module));
                !view.steps.training.is_empty() && !view.names.is_of_other_framework() && !ported
            }),
            imported: views.iter().flat_map(|view| view.names.modules.iter().cloned()).collect(),
            imported_words: views
                .iter()
                .flat_map(|view| {
                    let bound = view.names.bindings.iter().map(|b| b.qualified.as_str());
                    let whole = view.names.modules.iter().chain(&view.names.wildcards).map(String::as_str);
                    bound.chain(whole).flat_map(|name| name.split('.')).map(str::to_owned)
                })
                .collect(),
            places: views.iter().flat_map(|view| places(view.path)).map(str::to_owned).collect(),
        };
        let classes: Vec<String> = facts.bases.keys().cloned().collect();
        facts.models = classes
            .into_iter()
            .filter(|c| {
                facts.ancestors(c).iter().any(|a| {
                    let last = a.rsplit('.').next().unwrap_or(a);
                    matches!(last, "Module" | "LightningModule" | "PreTrainedModel" | "Sequential")
                })
            })
            .collect();
        // The second time it is known which functions give a model.
        for _ in 0..2 {
            facts.keras = Keras::collect(&views, &facts);
        }
        for view in &views {
            for (name, roles) in view.roles.returns(view, &facts) {
                facts.returns.insert(name, roles);
            }
        }
        for view in &views {
            view.roles.forget();
            for (name, role) in view.roles.attributes(view, &facts) {
                facts.attributes.get_or_insert(name, role);
            }
        }
        for view in &views {
            view.roles.forget();
        }
        facts
    }

    /// All bases of a class, as far as the project knows them.
    pub(crate) fn ancestors(&self, class: &str) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let mut todo = vec![class.to_owned()];
        while let Some(name) = todo.pop() {
            let last = name.rsplit('.').next().unwrap_or(&name).to_owned();
            for base in self.bases.get(&last).into_iter().flatten() {
                if !out.contains(base) {
                    out.push(base.clone());
                    todo.push(base.clone());
                }
            }
        }
        out
    }

    /// Whether a method belongs to a Lightning module or callback: the trainer calls it, and switches gradients by itself.
    pub(crate) fn is_lightning(&self, view: &FileView<'_>, method: Id) -> bool {
        view.class_of(method).is_some_and(|c| {
            self.ancestors(view.name_of(c)).iter().map(|a| a.rsplit('.').next().unwrap_or(a)).any(|base| {
                base.starts_with("Lightning") || (base == "Callback" && view.names.uses_framework("lightning"))
            })
        })
    }

    /// Whether one class is the other or inherits from it, either way round.
    pub(crate) fn related(&self, a: &str, b: &str) -> bool {
        let is_base = |base: &str, of: &str| self.ancestors(of).iter().any(|x| x.rsplit('.').next() == Some(base));
        a == b || is_base(a, b) || is_base(b, a)
    }

    /// The role of an expression.
    pub(crate) fn role(&self, view: &FileView<'_>, id: Id) -> Option<Role> {
        view.roles.role(view, self, id)
    }

    pub(crate) fn attribute_role(&self, text: &str) -> Option<Role> {
        self.attributes.get(text).copied()
    }

    pub(crate) fn returned(&self, function: &str) -> Option<&[Option<Role>]> {
        self.returns.get(function).map(Vec::as_slice)
    }
}
