//! Facts about all files of a project together: its models, the results of its functions, how it selects its compute
//! mode.

use crate::classes::Classes;
use crate::collate::Collate;
use crate::computing::computing;
use crate::counted::CountedParameters;
use crate::given::Given;
use crate::keras::Keras;
use crate::kinds::KnownKinds;
use crate::loading;
use crate::model_inputs::{InputUse, drops, model_inputs};
use crate::modes::{Modes, Region};
use crate::program_start::main_block;
use crate::reach::Reach;
use crate::readers::Readers;
use crate::roles::{ProjectRoles, Role, constructed};
use crate::settings::{changed, read};
use crate::shared_loaders::SharedLoaders;
use crate::step::calls_scaler;
use crate::target::TargetFacts;
use crate::unused::Unused;
use crate::view::FileView;
use crate::words::{
    DEVICE_CHOOSERS, DEVICE_SELECTIONS, MODEL_COMPILERS, MODEL_RETURNED, MODEL_WRAPPERS, MODULE_KEEPERS,
};
use python::names::called_name;
use python::origins::{Conventions, Origin, Origins, Place};
use python::syntax::Argument;
use python::tree::{Id, fields, kinds};
use sorting::{SortedMap, SortedSet};
use std::cell::OnceCell;
use std::ops::Deref;
use std::rc::Rc;

/// Folders of a path, and the module that the file is.
fn places(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.strip_suffix(".py").unwrap_or(path).split('/')
}

/// Whether a file selects a device or moves something to one: it contains `device` or `cuda`, calls `to` with more than
/// a type, or names the target's own device, as a port does that only tests whether there is one.
/// Code that no program reaches does not count.
fn names_device(view: &FileView<'_>, own: Option<&str>, unused: &Unused) -> bool {
    let is_used = |id: Id| unused.around(view, id).is_none() && unused.in_other_program(view, id).is_none();
    own.is_some_and(|device| view.has_word(device)) || device_places(view).any(is_used)
}

/// Where a file selects a device or moves something to one.
fn device_places(view: &FileView<'_>) -> impl Iterator<Item = Id> {
    // A device type alone is an argument of autocast, and moves nothing.
    let says = |word: &str| word == "cuda" || (has_part(word, "device") && word != "device_type");
    let chooses = |id: &Id| !selects_nothing(view, *id) && !follows_input(view, *id) && !loads(view, *id);
    let words = view.words().filter(move |(word, _)| says(word)).flat_map(|(_, ids)| ids.iter().copied());
    let moves = view.calls("to").iter().copied().filter(|call| moves_to_device(view, *call));
    let is_chooser = |call: &Id| {
        let callee = view.index.callee(*call);
        callee.is_some_and(|callee| DEVICE_CHOOSERS.iter().any(|name| view.names.stands_for(&view.index, callee, name)))
    };
    let last = |name: &'static &str| name.rsplit('.').next().unwrap_or(name);
    let choosers = DEVICE_CHOOSERS.iter().map(last).collect::<SortedSet<_>>().into_iter();
    let choosers = choosers.flat_map(|name| view.calls(name)).copied().filter(is_chooser);
    words.filter(move |id| chooses(id)).chain(moves).chain(choosers)
}

/// The functions and classes of a file that name a device.
fn naming_device<'v>(view: &'v FileView<'_>) -> impl Iterator<Item = &'v str> {
    let k = kinds();
    let definitions = move |id: Id| {
        view.index.ancestors(id).filter(|a| [k.function_definition, k.class_definition].contains(&view.index.kind(*a)))
    };
    device_places(view).flat_map(definitions).map(|definition| view.name_of(definition))
}

/// Whether a file moves something to a device.
fn moves(view: &FileView<'_>) -> bool {
    !view.calls("cuda").is_empty() || view.calls("to").iter().any(|call| moves_to_device(view, *call))
}

/// Whether a call of `to` has more than a type as its argument.
pub(crate) fn moves_to_device(view: &FileView<'_>, call: Id) -> bool {
    let is_type =
        |argument: Id| view.names.qualify(&view.index, argument).is_some_and(|name| name.starts_with("torch."));
    view.index.arguments(call).positional().any(|argument| !is_type(argument) && !follows_input(view, argument))
}

/// Whether an identifier is in the arguments of a call of `load`, which says where the tensors of a file go.
fn loads(view: &FileView<'_>, id: Id) -> bool {
    !view.calls("load").is_empty() && view.index.ancestors(id).any(|a| called_name(&view.index, a) == Some("load"))
}

/// Whether an expression or an identifier belongs to `x.device` or `device=x.device` in a `forward(self, x)`: the model then follows
/// its input to any device.
fn follows_input(view: &FileView<'_>, id: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let Some(function) = view.function_of(id).filter(|function| view.name_of(*function) == "forward") else {
        return false;
    };
    let around = index.ancestors(id).find(|a| index.kind(*a) == k.keyword_argument);
    let value = around.and_then(|argument| index.field(argument, fields().value));
    let attribute = std::iter::once(id).chain(index.parent(id)).chain(value);
    let mut owners = attribute.filter_map(|a| index.text_of(a).strip_suffix(".device"));
    let inputs = index.function(function).into_iter().flat_map(|f| f.parameters());
    let inputs: Vec<&str> = inputs.map(|input| input.name).filter(|name| *name != "self").collect();
    owners.any(|owner| inputs.contains(&owner))
}

/// Whether an identifier is composed of words that include this one, in the singular or plural: `use_device`,
/// `useDevices`, not `sounddevice`.
pub fn has_part(word: &str, part: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    lower.match_indices(part).any(|(at, _)| {
        let begins = at == 0
            || !word.as_bytes()[at - 1].is_ascii_alphabetic()
            || (word.as_bytes()[at].is_ascii_uppercase() && word.as_bytes()[at - 1].is_ascii_lowercase());
        let rest = &word[at + part.len()..];
        let rest = rest.strip_prefix(['s', 'S']).unwrap_or(rest);
        begins && !rest.starts_with(|c: char| c.is_ascii_lowercase())
    })
}

/// Whether a word is in a name of `torch.cuda` or `torch.backends.cuda` that selects no device, as in
/// `torch.cuda.manual_seed(3)`, or is what a scaler or a cast is told: `GradScaler(device="cpu")`.
fn selects_nothing(view: &FileView<'_>, word: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let given =
        index.parent(word).filter(|p| index.kind(*p) == k.keyword_argument && index.item(word).field == fields().name);
    let call = given.and_then(|given| index.parent(given)).and_then(|list| index.parent(list));
    if call.is_some_and(|call| matches!(called_name(index, call), Some("GradScaler" | "autocast"))) {
        return true;
    }
    let attributes = index.ancestors(word).take_while(|id| index.kind(*id) == k.attribute);
    // The longest one: `torch.cuda.amp.autocast`.
    let longest = std::iter::once(word).chain(attributes).last();
    let qualified = longest.and_then(|id| view.names.qualify(index, id));
    let name = qualified.filter(|name| name.starts_with("torch."));
    let last = name.as_deref().and_then(|name| name.rsplit('.').next());
    last.is_some_and(|last| last != "cuda" && !DEVICE_SELECTIONS.contains(&last) && !last.ends_with("Tensor"))
}

/// Facts about all files together.
pub struct ProjectFacts<'v, 't> {
    /// Where values come from.
    pub origins: Origins<'v, 't>,
    /// How the project selects its compute mode, if it does.
    pub modes: Option<Modes>,
    /// What each file shows about names in the others.
    pub roles: ProjectRoles,
    /// Where the project uses Keras models.
    pub keras: Keras,
    /// Its classes and their bases.
    pub classes: Classes,
    /// Classes that keep the target's bridge as an attribute.
    pub bridge_classes: SortedSet<String>,
    /// First parts of the names of modules that only the target's machine has.
    pub target_modules: Vec<String>,
    /// Whether some file selects a device or moves something to one.
    pub names_device: bool,
    /// Files that train in a program of which no file names a device.
    without_device: SortedSet<String>,
    /// Whether some file moves a model, in a project that names no device: see [`unmoved`](crate::unmoved).
    pub moves_models: bool,
    /// Functions and classes that name a device; queried for the original project.
    pub naming_device: Rc<SortedSet<String>>,
    /// Whether a module that another file imports, or a program with a main block, parses the command line on import.
    pub parses_on_load: bool,
    /// Whether some file has a PyTorch training step and does not use the target yet.
    pub step_is_left: bool,
    /// Modules that some file imports, or from which it imports something.
    imported: SortedSet<String>,
    /// Every identifier in imports of any file.
    imported_words: SortedSet<String>,
    /// Files that train or have modules of the target, and those that import such a file, directly or indirectly.
    leading_to_training: SortedSet<String>,
    /// Files loaded by a program that starts in another file, if it trains or selects a device.
    loaded_by_programs: SortedSet<String>,
    /// Files that are loaded by another one, if that one or another that it loads changes a learning rate.
    rates_change_elsewhere: SortedSet<String>,
    /// Whether some model of the project uses dropout.
    pub drops: bool,
    /// How the classes of its models use their inputs.
    pub model_inputs: SortedMap<String, Vec<(String, InputUse)>>,
    /// Whether some file trains with TensorFlow, rather than only reading data or writing logs with it.
    pub trains_in_tensorflow: bool,
    /// Names of the project's files and folders as they are imported.
    pub places: SortedSet<String>,
    /// The paths of its Python files.
    pub paths: SortedSet<String>,
    /// Its classes that are called with positional arguments, with the largest number in a call; `*xs` counts as larger
    /// than any number.
    given_by_place: SortedMap<String, usize>,
    /// The strings that its files assign to names.
    pub given: Given,
    /// The files that read each setting of the command line and the like.
    settings_read: SortedMap<String, SortedSet<String>>,
    /// Names that are values somewhere, once that was asked.
    pub(crate) passed_on: OnceCell<SortedSet<String>>,
    /// Its functions that only compute.
    pub(crate) computing: SortedSet<String>,
    /// Settings of the command line and the like that some file assigns.
    pub(crate) changed_settings: SortedSet<String>,
    /// Parameters that are given the number of an iteration.
    pub(crate) counted: CountedParameters,
    /// What reads its loaders.
    pub readers: Readers,
    /// Its functions whose loaders both training and evaluation read.
    pub shared_loaders: SharedLoaders,
    /// The functions that its forward passes and training steps reach.
    pub reach: Reach,
    /// The functions that make batches of samples.
    pub collate: Collate,
    /// The functions that compute gradients as a part of their result.
    pub differentiating: SortedSet<String>,
    /// What its expressions may be.
    pub(crate) known_kinds: KnownKinds,
    /// The names of the functions that its files call.
    called: SortedSet<String>,
    /// Names of objects that have a model of their own as `module`.
    keepers: SortedSet<String>,
    /// Whether some file passes a loss and an optimizer to a scaler.
    pub hands_losses: bool,
    /// Files that move something to a device.
    moving: SortedSet<String>,
    /// Whether some file of the original project wraps a model for several devices.
    pub wraps_models: bool,
    /// Whether one does so for several processes.
    pub replicates_models: bool,
    /// Code that none of its programs reaches; queried for the original project.
    pub unused: Rc<Unused>,
}

impl<'v, 't> ProjectFacts<'v, 't> {
    /// Whether the project selects its compute mode itself, so that the target's may be selected where its software is missing.
    #[must_use]
    pub fn has_compute_modes(&self) -> bool {
        self.modes.as_ref().is_some_and(|modes| modes.switch().is_none())
    }

    /// Whether a file uses a framework; also through other files, if that is where the work with it is.
    pub fn uses_framework(&self, view: &FileView<'_>, framework: &str) -> bool {
        view.names.uses_framework(framework) || (framework == "tensorflow" && self.keras.is_used(view))
    }

    /// Whether some file imports a module, or something of it.
    pub fn imports(&self, module: &str) -> bool {
        let inside = format!("{module}.");
        let mut within = self.imported.range(inside.clone()..);
        self.imported.contains(module) || within.next().is_some_and(|name| name.starts_with(&inside))
    }

    /// Whether a file selects a device or moves something to one.
    pub fn file_names_device(view: &FileView<'_>) -> bool {
        device_places(view).next().is_some()
    }

    /// The functions and classes of a project that name a device.
    pub fn definitions_that_name_device(views: &[&FileView<'_>]) -> SortedSet<String> {
        views.iter().flat_map(|view| naming_device(view)).map(str::to_owned).collect()
    }

    /// Whether code that a program reaches names a device.
    pub fn reached_code_names_device(&self, views: &[&FileView<'_>], target: &TargetFacts) -> bool {
        let own = target.ledger.autocast.as_ref().map(|a| a.device.as_str());
        views.iter().any(|view| names_device(view, own, &self.unused))
    }

    /// Whether another file of the project imports a file, judging by its name.
    pub fn is_imported(&self, view: &FileView<'_>) -> bool {
        places(view.path).next_back().is_some_and(|stem| self.imported_words.contains(stem))
    }

    /// Whether a program starts in a file: it has a main block, or it has an effect at the top level and no other file
    /// imports it.
    pub fn starts(&self, view: &FileView<'_>) -> bool {
        let k = kinds();
        let index = &view.index;
        let says = index.of_kind(k.string).iter().any(|s| matches!(index.text_of(*s), "\"__main__\"" | "'__main__'"));
        let acts = || {
            index.parts(python::tree::ROOT).any(|s| {
                let calls = index.kind(s) == k.expression_statement
                    && index.parts(s).next().is_some_and(|e| index.kind(e) == k.call);
                calls || [k.for_statement, k.while_statement, k.with_statement].contains(&index.kind(s))
            })
        };
        says || (!self.is_imported(view) && acts())
    }

    /// Whether a file trains or has modules of the target, or imports a file that does.
    pub fn leads_to_training(&self, view: &FileView<'_>) -> bool {
        self.leading_to_training.contains(view.path)
    }

    /// Whether a program starts in another file, trains or selects a device there, and loads this one.
    pub fn is_loaded_by_a_program(&self, view: &FileView<'_>) -> bool {
        self.loaded_by_programs.contains(view.path)
    }

    /// Whether a program trains in a file, and none of its files names a device.
    pub fn trains_without_device(&self, view: &FileView<'_>) -> bool {
        self.without_device.contains(view.path)
    }

    /// Whether another file moves something to a device.
    pub fn moves_elsewhere(&self, view: &FileView<'_>) -> bool {
        self.moving.iter().any(|path| path != view.path)
    }

    /// Whether another file that is loaded with this one changes a learning rate: the one that loads it, or another
    /// that it loads.
    pub fn changes_rates_elsewhere(&self, view: &FileView<'_>) -> bool {
        self.rates_change_elsewhere.contains(view.path)
    }

    /// Whether a file steps a scheduler, or something unknown, or assigns a rate.
    fn changes_rates(&self, view: &FileView<'_>) -> bool {
        let k = kinds();
        let index = &view.index;
        let is_statement = |call: Id| index.parent(call).is_some_and(|p| index.kind(p) == k.expression_statement);
        let steps = |call: &Id| {
            let of = index.receiver(*call).map(|object| self.role(view, object));
            is_statement(*call) && matches!(of, Some(None | Some(Role::Scheduler)))
        };
        let is_rate = |assignment: &Id| {
            let text = index.target(*assignment).map_or("", |left| index.text_of(left));
            text.ends_with("[\"lr\"]") || text.ends_with("['lr']")
        };
        ["step", "step_update"].iter().any(|name| view.calls(name).iter().any(steps))
            || [k.assignment, k.augmented_assignment].iter().any(|kind| index.of_kind(*kind).iter().any(is_rate))
    }

    fn parses_when_loaded(&self, view: &FileView<'_>) -> bool {
        let main = main_block(view);
        let is_outside = |call: &Id| {
            view.function_of(*call).is_none() && !main.is_some_and(|main| view.index.is_within(*call, main))
        };
        let parses = ["parse_args", "parse_known_args"].iter().any(|name| view.calls(name).iter().any(is_outside));
        parses && self.is_imported(view)
    }

    /// Reads all files of a project.
    pub fn collect(views: &[&'v FileView<'t>], target: &TargetFacts) -> Self {
        let k = kinds();
        // Facts learned about them among other files need not be true among these.
        for view in views {
            view.roles.forget();
        }
        let classes = Classes::collect(views.iter().map(|view| &view.file));
        let own_device = target.ledger.autocast.as_ref().map(|a| a.device.as_str());
        let mut bridge_classes = SortedSet::new();
        let bridge = target.bridge.as_ref().map(|b| format!("self.{}", b.name));
        for view in views {
            for &assignment in view.index.of_kind(k.assignment) {
                if view.index.target(assignment).is_some_and(|l| bridge.as_deref() == Some(view.index.text_of(l)))
                    && let Some(class) = view.class_of(assignment)
                {
                    bridge_classes.insert(view.name_of(class).to_owned());
                }
            }
        }
        let given_by_place = given_by_place(views, &classes);
        let keepers = keepers(views, &classes);
        let calls = |names: &[&str]| views.iter().any(|view| names.iter().any(|name| !view.calls(name).is_empty()));
        let mut facts = Self {
            origins: Origins::of(views.iter().map(|view| &view.file).collect(), CONVENTIONS),
            modes: Modes::collect(views, &target.mode, &target.compute_modes),
            roles: ProjectRoles::default(),
            keras: Keras::of_classes(classes.clone()),
            classes,
            bridge_classes,
            target_modules: target.modules.clone(),
            names_device: views.iter().any(|view| names_device(view, own_device, &Unused::default())),
            without_device: SortedSet::new(),
            moves_models: false,
            naming_device: Rc::default(),
            parses_on_load: false,
            step_is_left: views.iter().any(|view| target.keeps_training_step(view)),
            imported: views.iter().flat_map(|view| loading::imported(view)).map(str::to_owned).collect(),
            imported_words: views.iter().flat_map(|view| loading::imported_words(view)).map(str::to_owned).collect(),
            leading_to_training: loading::leading_to_training(views, &target.modules),
            loaded_by_programs: SortedSet::new(),
            rates_change_elsewhere: SortedSet::new(),
            drops: views.iter().any(|view| drops(view)),
            model_inputs: views.iter().flat_map(|view| model_inputs(view)).collect(),
            trains_in_tensorflow: false,
            paths: views.iter().map(|view| view.path.to_owned()).collect(),
            places: views.iter().flat_map(|view| places(view.path)).map(str::to_owned).collect(),
            given_by_place,
            given: Given::collect(views),
            settings_read: settings_read(views),
            passed_on: OnceCell::new(),
            computing: computing(views),
            changed_settings: views.iter().flat_map(|view| changed(view)).map(str::to_owned).collect(),
            shared_loaders: SharedLoaders::default(),
            counted: CountedParameters::default(),
            readers: Readers::default(),
            reach: Reach::collect(views),
            collate: Collate::collect(views),
            differentiating: views.iter().flat_map(|view| view.differentiating()).map(str::to_owned).collect(),
            known_kinds: KnownKinds::default(),
            called: views
                .iter()
                .flat_map(|view| view.index.calls().filter_map(|c| called_name(&view.index, c.id())))
                .map(str::to_owned)
                .collect(),
            keepers,
            hands_losses: views.iter().any(|view| calls_scaler(view)),
            moving: views.iter().filter(|view| moves(view)).map(|view| view.path.to_owned()).collect(),
            wraps_models: calls(&WRAPPERS),
            replicates_models: calls(&REPLICATORS),
            unused: Rc::default(),
        };
        facts.parses_on_load = views.iter().any(|view| facts.parses_when_loaded(view));
        let classes: Vec<String> = facts.classes.names().map(str::to_owned).collect();
        facts.roles.models = classes
            .into_iter()
            .filter(|c| {
                facts.classes.ancestors(c).iter().any(|a| {
                    let last = a.rsplit('.').next().unwrap_or(a);
                    matches!(last, "Module" | "LightningModule" | "PreTrainedModel" | "Sequential")
                })
            })
            .collect();
        // In the second pass it is known which functions return a model.
        for _ in 0..2 {
            facts.keras = Keras::collect(views, &facts.keras);
        }
        facts.trains_in_tensorflow = views.iter().any(|view| {
            let trains =
                ["GradientTape", "apply_gradients", "minimize"].iter().any(|name| !view.calls(name).is_empty());
            view.names.imports("tensorflow") && (trains || facts.keras.work(view).is_some())
        });
        for view in views {
            // Together, since each of them alone would move those behind it.
            let returns = view.roles.returns(view, &facts.roles);
            facts.roles.returns = std::mem::take(&mut facts.roles.returns).into_iter().chain(returns).collect();
        }
        for view in views {
            view.roles.forget();
            // The first role of each name: of several, a map keeps the last.
            let attributes = view.roles.attributes(view, &facts.roles).into_iter().rev();
            facts.roles.attributes = attributes.chain(std::mem::take(&mut facts.roles.attributes)).collect();
        }
        for view in views {
            view.roles.forget();
        }
        let programs = |view: &&FileView<'_>| facts.starts(view) && loading::trains(view, &target.modules, own_device);
        let programs: Vec<bool> = views.iter().map(programs).collect();
        let starts: Vec<bool> = views.iter().map(|view| facts.starts(view)).collect();
        facts.without_device = loading::without_device(views, &starts, |view: &FileView<'_>| {
            names_device(view, own_device, &Unused::default())
        });
        let rates: Vec<bool> = views.iter().map(|view| facts.changes_rates(view)).collect();
        [facts.loaded_by_programs, facts.rates_change_elsewhere] = loading::loaded(views, &programs, &rates);
        facts
    }

    /// Follows values through the project: what functions are given, and what reads its loaders.
    pub fn follow_values(&mut self, views: &[&FileView<'_>]) {
        let origins = &self.origins;
        self.roles.follow(origins, &views.iter().map(|view| &view.roles).collect::<Vec<_>>());
        for view in views {
            view.roles.forget();
        }
        self.counted = CountedParameters::collect(views, origins);
        self.readers = Readers::collect(views, origins);
        self.shared_loaders = SharedLoaders::collect(views, &self.readers);
    }

    /// Whether a method belongs to a Lightning module or callback: the trainer calls it, and enables gradients itself.
    pub fn is_lightning(&self, view: &FileView<'_>, method: Id) -> bool {
        view.class_of(method).is_some_and(|c| {
            self.classes.ancestors(view.name_of(c)).iter().map(|a| a.rsplit('.').next().unwrap_or(a)).any(|base| {
                base.starts_with("Lightning") || (base == "Callback" && view.names.uses_framework("lightning"))
            })
        })
    }

    /// The role of an expression.
    pub fn role(&self, view: &FileView<'_>, id: Id) -> Option<Role> {
        view.roles.role(view, &self.roles, id)
    }

    /// Whether a call passes more positional arguments to a class than these.
    pub fn gives_by_place(&self, class: &str, more_than: usize) -> bool {
        self.given_by_place.get(class).is_some_and(|most| *most > more_than)
    }

    /// Whether another file reads a setting of the command line.
    pub fn reads_setting_elsewhere(&self, view: &FileView<'_>, name: &str) -> bool {
        self.settings_read.get(name).is_some_and(|paths| paths.iter().any(|path| path != view.path))
    }

    /// Whether some file calls a function or a method of this name.
    pub fn calls(&self, name: &str) -> bool {
        self.called.contains(name)
    }

    /// Whether an expression is an object that has a model of its own as `module`, judging by its name.
    pub fn keeps_module(&self, view: &FileView<'_>, id: Id) -> bool {
        self.keepers.contains(last_part(view.index.text_of(id)))
    }

    /// Whether the value of a call, such as a loader, is read by evaluation only; not if other calls of the function that
    /// makes it may be for training.
    pub fn only_evaluates(&self, view: &FileView<'_>, call: Id) -> bool {
        self.readers.only_evaluate(view, call) && !self.shared_loaders.makes(&self.readers, view, call)
    }

    /// Whether a class of the project is a model.
    pub fn is_model(&self, class: &str) -> bool {
        self.roles.models.contains(class)
    }
}

/// The files that read each setting of the command line and the like.
fn settings_read(views: &[&FileView<'_>]) -> SortedMap<String, SortedSet<String>> {
    let mut files: SortedMap<String, SortedSet<String>> = SortedMap::new();
    for (view, name) in views.iter().flat_map(|view| read(view).into_iter().map(move |name| (view, name))) {
        files.entry(name.to_owned()).or_default().insert(view.path.to_owned());
    }
    files
}

/// The largest number of positional arguments in a call of each class.
fn given_by_place(views: &[&FileView<'_>], classes: &Classes) -> SortedMap<String, usize> {
    let given = |view: &FileView<'_>, call: Id| {
        let arguments = view.index.arguments(call);
        let unpacks = arguments.iter().any(|argument| matches!(argument, Argument::Unpacked(_)));
        if unpacks { usize::MAX } else { arguments.positional().count() }
    };
    let most = |class: &str| {
        let calls = views.iter().flat_map(|view| view.calls(class).iter().map(|call| given(view, *call)));
        calls.max().filter(|most| *most > 0)
    };
    classes.names().filter_map(|class| Some((class.to_owned(), most(class)?))).collect()
}

/// Names to which a file assigns an object that has a model as `module`: of a class that assigns it, that is derived from a wrapper,
/// or that is known to.
fn keepers(views: &[&FileView<'_>], classes: &Classes) -> SortedSet<String> {
    let mut keeping: SortedSet<&str> = MODULE_KEEPERS.iter().copied().collect();
    let wraps = |class: &&str| classes.ancestors(class).iter().any(|base| last_part(base) == "DataParallel");
    keeping.extend(classes.names().filter(wraps));
    for view in views {
        let keeps = view.index.assignments_to("self.module");
        keeping.extend(keeps.filter_map(|a| Some(view.name_of(view.class_of(a.id())?))));
    }
    let of_file = |view: &&FileView<'_>| {
        let index = &view.index;
        let makes = |call: &Id| called_name(index, *call).is_some_and(|name| keeping.contains(name));
        let made = index
            .assignments()
            .filter(|a| a.value().is_some_and(|v| index.of_kind_in(kinds().call, v).iter().any(makes)));
        let names = made.filter_map(|a| Some(last_part(index.text_of(a.target()?)).to_owned()));
        names.collect::<Vec<_>>()
    };
    views.iter().flat_map(of_file).collect()
}

/// How models are called.
const CONVENTIONS: Conventions = Conventions {
    called: &["__call__", "forward"],
    wrappers: &[MODEL_WRAPPERS, MODEL_COMPILERS],
    chained: MODEL_RETURNED,
};

/// Wrappers that put `module.` before the names of the weights.
const WRAPPERS: [&str; 3] = ["DDP", "DataParallel", "DistributedDataParallel"];
const REPLICATORS: [&str; 2] = ["DDP", "DistributedDataParallel"];

/// `Net` of `models.Net`.
fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// A file, read together with its project: another file may show the role of a name.
#[derive(Clone, Copy)]
pub struct FileInProject<'a, 't> {
    /// The file.
    pub view: &'a FileView<'t>,
    /// Facts about all files together.
    pub project: &'a ProjectFacts<'a, 't>,
}

impl<'t> Deref for FileInProject<'_, 't> {
    type Target = FileView<'t>;
    fn deref(&self) -> &FileView<'t> {
        self.view
    }
}

impl FileInProject<'_, '_> {
    /// The role of an expression.
    pub fn role(&self, id: Id) -> Option<Role> {
        self.project.role(self.view, id)
    }

    /// What makes the values of an expression, as qualified names of functions and classes; none for a value that no call makes.
    pub fn makers(&self, id: Id) -> Vec<Option<String>> {
        let origins = &self.project.origins;
        let Some(file) = origins.number(&self.view.file) else { return Vec::new() };
        let values = origins.origins(Place { file, id }).into_iter();
        // `loaders = {}` has no such item: it is set afterwards.
        let lacks = |value: &Origin<'_>| {
            origins.files()[value.place.file].index.kind(value.place.id) == kinds().dictionary && !value.is_whole()
        };
        let maker = |value: Origin<'_>| {
            let python = origins.files()[value.place.file];
            let callee = python.index.callee(value.place.id).filter(|_| value.is_whole())?;
            python.names.qualify(&python.index, callee)
        };
        values.filter(|value| !lacks(value)).map(maker).collect()
    }

    /// Whether an expression has a role: by its name, or because each of its values was made in this role.
    pub fn has_role(&self, id: Id, role: Role) -> bool {
        let is_made = |maker: &Option<String>| maker.as_deref().and_then(constructed) == Some(role);
        let by_values = || Some(self.makers(id)).filter(|makers| !makers.is_empty());
        self.role(id) == Some(role) || by_values().is_some_and(|makers| makers.iter().all(is_made))
    }

    /// How the value of an expression is written just before a statement, if it certainly is the same there.
    pub fn written_at(&self, value: Id, at: Id) -> Option<String> {
        let (origins, python, quote) = (&self.project.origins, &self.view.file, self.view.layout.quote);
        match origins.number(python) {
            Some(file) => origins.written_at(Place { file, id: value }, at, quote),
            // A text that is only tried is no file of the project.
            None => Origins::of(vec![python], CONVENTIONS).written_at(Place { file: 0, id: value }, at, quote),
        }
    }

    /// Whether the compute mode that the port adds is available to the code at a place; always true in a project
    /// without compute modes.
    pub fn is_reached(&self, id: Id) -> bool {
        let modes = self.project.modes.as_ref();
        modes.is_none_or(|m| matches!(m.region(&self.view.index, id), Region::Open | Region::Target))
    }

    /// The same for a program that runs a step: code that no program uses is not reached, unless the step is part of
    /// such code.
    pub fn is_reached_with(&self, step: Id, id: Id) -> bool {
        let is_unused = |id: Id| self.project.unused.around(self.view, id).is_some();
        self.is_reached(id) && (!is_unused(id) || is_unused(step))
    }
}

#[cfg(test)]
mod tests {
    use super::{ProjectFacts, has_part};
    use crate::marked;

    #[test]
    fn a_file_that_selects_a_device() {
        let check = |program: &str, expected: bool| {
            marked::check(&format!("import torch\n{program}\n"), expected, |at| {
                ProjectFacts::file_names_device(at.file().view)
            });
        };
        check("x = x.cuda()", true);
        check("device = args.device", true);
        check("x = x.to(place)", true);
        check("x = x.to(torch.float16)", false);
        check("torch.cuda.empty_cache()", false);
        check("if torch.cuda.is_available():\n    torch.cuda.manual_seed_all(seed)", false);
        check("torch.backends.cuda.matmul.allow_tf32 = True", false);
        check("torch.cuda.set_device(0)", true);
        check("x = torch.cuda.FloatTensor(3)", true);
        check("torch.load(path, map_location=device)", false);
        check("class A:\n    def forward(self, x):\n        return f(device=x.device)", false);
        check("class A:\n    def fit(self, x):\n        return f(device=x.device)", true);
        check("import sounddevice", false);
    }

    #[test]
    fn a_word_of_several_parts() {
        let check = |word: &str, expected: bool| assert_eq!(has_part(word, "device"), expected, "{word}");
        check("use_device", true);
        check("useDevices", true);
        check("device0", true);
        check("sounddevice", false);
        check("devicetree", false);
    }

    #[test]
    fn files_in_which_programs_start() {
        let check = |program: &str, expected: bool| {
            marked::check(program, expected, |at| at.project.starts(at.file().view));
        };
        check("f(1)\n^^^^\n", true);
        check("a = f(1)\n    ^^^^\n", false);
        check("#- a.py\nf(1)\n^^^^\n#- b.py\nimport a\n", false);
        check("#- a.py\nif __name__ == '__main__':\n    f(1)\n    ^^^^\n#- b.py\nimport a\n", true);
    }

    #[test]
    fn objects_with_a_model_of_their_own() {
        let check = |made: &str, expected: bool| {
            let class = "class Average:\n    def __init__(self, net):\n        self.module = net\n";
            marked::check(&format!("{class}a = {made}\nf(a)\n  ^\n"), expected, |at| {
                at.project.keeps_module(at.file().view, at.node())
            });
        };
        check("Average(net)", true);
        check("Other(net)", false);
    }
}
