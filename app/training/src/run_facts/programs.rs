//! What each program of a project requires of its launch.

use super::settings::{last_name, top_number};
use super::{
    CommandLine, Join, JoinedBy, Place, Program, RunRole, RunSetting, SettingKind, are_devices, argparse, conditions,
    divided, hydra, keyword, literal, place, plain_yaml, positional, starters,
};
use crate::figure::Figure;
use crate::programs::{Started, programs};
use crate::target::TargetFacts;
use crate::training_loader::{loader, micro_batch};
use crate::view::FileView;
use crate::words::PROCESS_BEGINNINGS;
use crate::words::PROCESS_COUNTS;
use crate::words::PROCESS_WORDS;
use python::names::dotted;
use python::tree::{Id, kinds};
use sorting::SortedSet;

pub(crate) fn collect(views: &[&FileView<'_>], yaml: &[(&str, &str)], target: &TargetFacts) -> Vec<Program> {
    let read = |started: Started| {
        let reached: Vec<&FileView<'_>> = started.files.iter().map(|n| views[*n]).collect();
        program(&reached, started.at, started.hydra, yaml, target)
    };
    let mut found: Vec<Program> = programs(views).into_iter().map(read).collect();
    // Of a ported project, those that train with the target's modules come first.
    let trains = |path: &String| {
        let view = views.iter().find(|view| view.path == path);
        view.is_some_and(|view| {
            target.modules.iter().any(|m| view.names.imports(m)) && !view.calls("backward").is_empty()
        })
    };
    sorting::by_key(&mut found, |program| !program.files.iter().any(trains));
    found
}

fn program(
    reached: &[&FileView<'_>],
    start: Id,
    main: Option<Id>,
    yaml: &[(&str, &str)],
    target: &TargetFacts,
) -> Program {
    let view = reached[0];
    let (command_line, mut settings) = match main {
        Some(main) => (CommandLine::Hydra, hydra::settings(reached, main, yaml)),
        None => {
            // A parser of its own, otherwise that of a file it imports.
            let found = reached.iter().map(|view| argparse::options(view)).find(|options| !options.is_empty());
            let kind = if found.is_some() { CommandLine::Options } else { CommandLine::Unknown };
            let mut settings = found.unwrap_or_default();
            settings.extend(plain_yaml::settings(reached, &settings, yaml));
            (kind, settings)
        }
    };
    let divided = divided::divided(reached);
    if command_line == CommandLine::Hydra {
        // The part in front of Hydra's is read by a parser.
        let reads = |view: &&&FileView<'_>| divided.as_ref().is_some_and(|divided| divided.place.path == view.path);
        let options = reached.iter().filter(reads).flat_map(|view| argparse::options(view));
        settings.extend(options.filter(|option| option.required));
    }
    // A positional argument has no name that a launch could use.
    let is_named = |setting: &&mut RunSetting| command_line == CommandLine::Hydra || setting.name.starts_with('-');
    for setting in settings.iter_mut().filter(is_named).filter(|setting| are_devices(&setting.choices, target)) {
        setting.role = Some(RunRole::Device);
    }
    for setting in settings.iter_mut().filter(|setting| setting.required) {
        setting.required = !is_assigned(reached, &setting.name);
    }
    batch_role(reached, &mut settings, target);
    starters::roles(reached, &mut settings);
    let uses = |framework: &str| reached.iter().any(|view| view.names.uses_framework(framework));
    let tensorflow = uses("tensorflow") && !uses("torch");
    // A project for several frameworks has a trainer for each; these ports are about PyTorch's.
    let trains: Vec<&FileView<'_>> =
        reached.iter().copied().filter(|view| tensorflow || !is_of_tensorflow(view)).collect();
    // The target's own loader gives every replica a batch; any other reader's batch is shared among them.
    let own_reader = target.ledger.loader.is_some() && !tensorflow && loader(&trains, &target.ledger).is_none();
    let shared_batch = settings.iter().find(|setting| setting.role == Some(RunRole::Batch)).and_then(|setting| {
        if own_reader { Some(setting.place.clone()) } else { batch_divided(&trains, last_name(&setting.name)) }
    });
    let joins = joins(&trains, &settings);
    let reads_local_rank = reached.iter().any(|view| {
        let is_local = |id: &Id| literal(view, *id).as_deref() == Some("LOCAL_RANK") && !is_written(view, *id);
        view.index.of_kind(kinds().string).iter().any(is_local)
    });
    let by_torch = joins.len() == 1 && joins[0].by == JoinedBy::Environment;
    let by_library =
        |view: &FileView<'_>| view.names.bindings.iter().any(|binding| joins_by_the_environment(&binding.qualified));
    let is_placed = |view: &&FileView<'_>| takes_own_device(view) || by_library(view);
    let moves = reached.iter().any(|view| ["to", "cuda", "device"].iter().any(|name| !view.calls(name).is_empty()));
    Program {
        place: place(view, start),
        unplaced: by_torch && moves && !reads_local_rank && !reached.iter().any(is_placed),
        command_line,
        files: reached.iter().map(|view| view.path.to_owned()).collect(),
        imports: imports_of(reached),
        divided,
        requirements: None,
        shared_batch,
        alone: joins.is_empty() && !reached.iter().any(|view| speaks_of_processes(view)),
        joins,
        reads_local_rank,
        tensorflow,
        settings,
    }
}

/// Whether a file selects a process's device anywhere.
fn takes_own_device(view: &FileView<'_>) -> bool {
    let index = &view.index;
    let is_rank = |id: Id| {
        let text = index.text_of(id);
        ["rank", "gpu", "card", "device_id", "local"].iter().any(|word| text.to_ascii_lowercase().contains(word))
    };
    let numbered = |call: &Id| positional(view, *call).get(1).is_some();
    let device = |id: &Id| {
        index.text_of(*id).split(['"', '\'']).nth(1).is_some_and(|text| {
            text.split_once(":{").is_some_and(|(kind, _)| !kind.is_empty() && kind.chars().all(char::is_alphabetic))
        })
    };
    !view.calls("set_device").is_empty()
        || index.of_kind(kinds().call).iter().any(|call| keyword(view, *call, "device_ids").is_some())
        || view.calls("device").iter().any(numbered)
        || ["to", "cuda", "device"]
            .iter()
            .any(|name| view.calls(name).iter().any(|call| positional(view, *call).into_iter().any(is_rank)))
        || index.of_kind(kinds().string).iter().any(device)
}

fn is_of_tensorflow(view: &FileView<'_>) -> bool {
    let by_name = |module: &String| module.split('.').any(|part| part == "tensorflow");
    view.names.uses_framework("tensorflow")
        || view.names.modules.iter().any(by_name)
        || view.names.bindings.iter().any(|binding| by_name(&binding.qualified))
}

/// Identifiers that occur in programs with several processes. An accidental match only omits a warning.
///
/// Names are searched, and strings that could be names; comments and sentences are not code.
fn speaks_of_processes(view: &FileView<'_>) -> bool {
    let index = &view.index;
    let names = index.of_kind(kinds().identifier).iter().chain(index.of_kind(kinds().string));
    names.map(|node| index.text_of(*node)).filter(|text| !text.contains(char::is_whitespace)).any(|text| {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
        words.into_iter().any(|word| {
            PROCESS_WORDS.contains(&&*word) || PROCESS_BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
        })
    })
}

/// Whether the program sets a key itself: `args.network.data_format = …`.
fn is_assigned(reached: &[&FileView<'_>], key: &str) -> bool {
    let ending = format!(".{key}");
    key.contains('.')
        && reached.iter().any(|view| {
            let index = &view.index;
            index
                .of_kind(kinds().assignment)
                .iter()
                .any(|assignment| index.target(*assignment).is_some_and(|left| index.text_of(left).ends_with(&ending)))
        })
}

/// Marks the setting that is the batch size: the one that the training loader receives, otherwise the first with such a
/// name. A number in the source itself is one that can't be set on the command line.
fn batch_role(reached: &[&FileView<'_>], settings: &mut Vec<RunSetting>, target: &TargetFacts) {
    let loaders = reached.iter().filter_map(|view| micro_batch(view, &target.ledger));
    let figures: Vec<Figure> = loaders.filter(|figure| figure.place.is_some()).collect();
    let given = settings.iter().position(|setting| {
        let name = last_name(&setting.name);
        let same = |figure: &Figure| last_name(&figure.text) == name;
        setting.kind == SettingKind::Value && figures.iter().any(same)
    });
    let named = settings.iter().position(|setting| setting.role == Some(RunRole::Batch));
    if let Some(chosen) = given.or(named) {
        for (at, setting) in settings.iter_mut().enumerate() {
            if at == chosen {
                setting.role = Some(RunRole::Batch);
            } else if setting.role == Some(RunRole::Batch) {
                setting.role = None;
            }
        }
        return;
    }
    let constant = |figure: &Figure| {
        let (path, line) = figure.place.clone()?;
        if figure.text.parse::<u32>().is_ok() {
            return Some((figure.text.clone(), Place { path, line }));
        }
        reached.iter().find_map(|view| top_number(view, &figure.text))
    };
    let found = figures
        .iter()
        .find_map(constant)
        .or_else(|| reached[..1].iter().find_map(|view| top_number(view, "batch_size")));
    if let Some((value, place)) = found {
        settings.push(RunSetting {
            name: "batch_size".to_owned(),
            value: Some(value),
            kind: SettingKind::Constant,
            choices: Vec::new(),
            required: false,
            role: Some(RunRole::Batch),
            place,
        });
    }
}

/// Where a batch is divided by the number of processes.
fn batch_divided(reached: &[&FileView<'_>], batch: String) -> Option<Place> {
    reached.iter().find_map(|view| {
        let index = &view.index;
        index.of_kind(kinds().binary_operator).iter().find_map(|operation| {
            let parts: Vec<Id> = index.parts(*operation).collect();
            let [left, right] = parts.as_slice() else { return None };
            let sign = index.text[index.item(*left).end..index.item(*right).start].trim();
            let is_batch = dotted(index, *left).is_some_and(|text| last_name(text) == batch);
            let divisor = index.text_of(*right).to_ascii_lowercase();
            let by_processes = PROCESS_COUNTS.iter().any(|count| divisor.contains(count));
            (sign.starts_with('/') && is_batch && by_processes).then(|| place(view, *operation))
        })
    })
}

/// A program's imports, by full names.
fn imports_of(reached: &[&FileView<'_>]) -> SortedSet<String> {
    let modules = reached.iter().flat_map(|view| view.names.modules.iter().cloned());
    let names = reached.iter().flat_map(|view| view.names.bindings.iter().map(|binding| binding.qualified.clone()));
    modules.chain(names).collect()
}

fn joins(reached: &[&FileView<'_>], settings: &[RunSetting]) -> Vec<Join> {
    let mut found: Vec<Join> = Vec::new();
    let under = |view: &FileView<'_>, id: Id| conditions::words(reached, view, id, settings);
    for view in reached {
        let index = &view.index;
        for &string in index.of_kind(kinds().string) {
            match literal(view, string).as_deref() {
                // A program that sets them has its rank from elsewhere.
                Some("LOCAL_RANK" | "RANK" | "WORLD_SIZE") if !is_written(view, string) => {
                    let is_rank = literal(view, string).is_some_and(|text| text != "WORLD_SIZE");
                    if is_rank || found_environment(view) {
                        add(&mut found, Join::of(JoinedBy::Environment, place(view, string), under(view, string)));
                    }
                }
                Some("SLURM_PROCID" | "SLURM_LOCALID") => {
                    add(&mut found, Join::of(JoinedBy::Slurm, place(view, string), under(view, string)))
                }
                Some("PMI_RANK") => add(&mut found, Join::of(JoinedBy::Mpi, place(view, string), Vec::new())),
                Some(text) if text.starts_with("OMPI_COMM_WORLD_") => {
                    add(&mut found, Join::of(JoinedBy::OpenMpi, place(view, string), under(view, string)))
                }
                _ => {}
            }
        }
        if let Some(binding) = view.names.bindings.iter().find(|binding| joins_by_the_environment(&binding.qualified)) {
            add(&mut found, Join::of(JoinedBy::Environment, place(view, binding.statement), Vec::new()));
        }
        let imports = [("mpi4py", JoinedBy::Mpi), ("horovod", JoinedBy::Horovod), ("deepspeed", JoinedBy::Deepspeed)];
        for (module, by) in imports {
            let binding = view.names.bindings.iter().find(|binding| {
                let rest = binding.qualified.strip_prefix(module);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            });
            if let Some(binding) = binding {
                add(&mut found, Join::of(by, place(view, binding.statement), Vec::new()));
            }
        }
        for started in starters::started(view) {
            let call = started.call;
            let words = if started.by == JoinedBy::Spawn { under(view, call) } else { Vec::new() };
            let always = words.is_empty() && starters::is_unconditional(reached, view, call);
            let always = started.by == JoinedBy::Spawn && always;
            add(&mut found, Join { always, ..Join::of(started.by, place(view, call), words) });
        }
    }
    if let Some(target) = starters::of_configuration(settings) {
        add(&mut found, Join::of(JoinedBy::Lightning, target.place.clone(), Vec::new()));
    }
    // A Trainer starts DeepSpeed's processes, too.
    if found.iter().any(|join| join.by == JoinedBy::Lightning) {
        found.retain(|join| join.by != JoinedBy::Deepspeed);
    }
    // A program with its rank from elsewhere sets the environment itself, or passes it to the call.
    if found.iter().all(|join| join.by == JoinedBy::Environment) {
        for view in reached {
            let calls = view.calls("init_process_group").iter();
            for &call in calls.filter(|call| asks_the_environment(view, **call, settings)) {
                let join = Join::of(JoinedBy::Environment, place(view, call), under(view, call));
                add(&mut found, join);
            }
        }
    }
    sorting::by_key(&mut found, |join| join.by);
    found
}

/// A value that is read at several places depends on the conditions of any of them.
fn add(found: &mut Vec<Join>, new: Join) {
    match found.iter_mut().find(|join| join.by == new.by) {
        Some(join) => {
            join.always |= new.always;
            for word in new.under {
                if !join.under.contains(&word) {
                    join.under.push(word);
                }
            }
        }
        None => found.push(new),
    }
}

/// Whether a file reads its rank from the environment.
fn found_environment(view: &FileView<'_>) -> bool {
    let is_rank = |id: &Id| matches!(literal(view, *id).as_deref(), Some("RANK" | "LOCAL_RANK"));
    view.index.of_kind(kinds().string).iter().any(|id| is_rank(id) && !is_written(view, *id))
}

/// `os.environ["RANK"] = …` and `os.environ.setdefault("RANK", …)`.
fn is_written(view: &FileView<'_>, string: Id) -> bool {
    let index = &view.index;
    index.ancestors(string).take(3).any(|ancestor| {
        let is_target = index
            .parent(ancestor)
            .is_some_and(|parent| index.kind(parent) == kinds().assignment && index.target(parent) == Some(ancestor));
        let is_default = index.kind(ancestor) == kinds().call
            && index.text_of(ancestor).split('(').next().is_some_and(|name| name.ends_with(".setdefault"));
        is_target || is_default
    })
}

/// `init_process_group` reads rank and world size from the environment unless they are arguments:
/// <https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization>.
fn asks_the_environment(view: &FileView<'_>, call: Id, settings: &[RunSetting]) -> bool {
    let is_torch = view.qualified(call).is_some_and(|name| name.starts_with("torch.distributed"));
    let method = keyword(view, call, "init_method").or_else(|| positional(view, call).get(1).copied());
    let by_environment = method.is_none_or(|method| match literal(view, method) {
        Some(text) => text == "env://",
        None => {
            let name = last_name(view.index.text_of(method));
            settings.iter().any(|own| last_name(&own.name) == name && own.value.as_deref() == Some("env://"))
        }
    });
    is_torch && by_environment && keyword(view, call, "rank").is_none() && keyword(view, call, "store").is_none()
}

/// Libraries whose classes read the variables that torchrun sets.
fn joins_by_the_environment(name: &str) -> bool {
    let of = |module: &str| name.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'));
    name == "accelerate.Accelerator" || (of("transformers") || of("trl") || of("optimum")) && name.ends_with("Trainer")
}
