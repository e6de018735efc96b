//! Which files are programs, and which of them is likely to train.

use super::{
    CommandLine, Join, JoinedBy, Place, Program, RunRole, RunSetting, SettingKind, argparse, hydra, imports, literal,
    place, plain_yaml, trainer,
};
use crate::facts::FileView;
use crate::names::dotted;
use crate::order::sort_by;
use crate::order::sort_by_key;
use crate::tree::{Id, ROOT, fields, kinds};

pub(super) fn collect(views: &[FileView<'_>], yaml: &[(&str, &str)]) -> Vec<Program> {
    let mut programs: Vec<(i32, Program)> = Vec::new();
    for at in 0..views.len() {
        let Some((start, main)) = begins(&views[at]) else { continue };
        let reached: Vec<&FileView<'_>> = imports::reached(views, at).into_iter().map(|n| &views[n]).collect();
        let program = program(&reached, start, main, yaml);
        programs.push((unlikeliness(&reached, main.is_some()), program));
    }
    sort_by(&mut programs, |(a, one), (b, other)| (a, &one.place).cmp(&(b, &other.place)));
    programs.into_iter().map(|(_, program)| program).collect()
}

/// Where a file begins to run, and the call of Hydra's decorator if it has one.
fn begins(view: &FileView<'_>) -> Option<(Id, Option<Id>)> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let main = view.calls("main").iter().copied().find(|call| {
        let function = index.field(*call, f.function).and_then(|function| view.names.qualify(index, function));
        function.is_some_and(|name| name == "hydra.main")
            && index.parent(*call).is_some_and(|parent| index.kind(parent) == k.decorator)
    });
    let guard = index.parts(ROOT).find(|statement| {
        index.kind(*statement) == k.if_statement
            && index.field(*statement, f.condition).is_some_and(|c| index.text_of(c).contains("__name__"))
    });
    if let Some(start) = guard.or(main) {
        return Some((start, main));
    }
    let name = view.path.rsplit('/').next().unwrap_or(view.path);
    if name == "__init__.py" || name == "setup.py" || name == "conftest.py" {
        return None;
    }
    // Without a guard the whole file runs; it is a program when it trains as it does so.
    let acts = |statement: &Id| {
        let trains = ["backward", "fit", "train"]
            .iter()
            .any(|word| view.calls(word).iter().any(|call| index.is_within(*call, *statement)));
        ![k.function_definition, k.class_definition, k.decorated_definition].contains(&index.kind(*statement)) && trains
    };
    index.parts(ROOT).find(acts).map(|start| (start, None))
}

fn program(reached: &[&FileView<'_>], start: Id, main: Option<Id>, yaml: &[(&str, &str)]) -> Program {
    let view = reached[0];
    let (command_line, mut settings) = match main {
        Some(main) => (CommandLine::Hydra, hydra::settings(reached, main, yaml)),
        None => {
            // A parser of its own, else the one that a file it imports makes.
            let found = reached.iter().map(|view| argparse::options(view)).find(|options| !options.is_empty());
            let kind = if found.is_some() { CommandLine::Options } else { CommandLine::Unknown };
            let mut settings = found.unwrap_or_default();
            settings.extend(plain_yaml::settings(reached, &settings, yaml));
            (kind, settings)
        }
    };
    for setting in settings.iter_mut().filter(|setting| setting.required) {
        setting.required = !is_assigned(reached, &setting.name);
    }
    batch_role(reached, &mut settings);
    trainer::roles(reached, &mut settings);
    let uses = |framework: &str| reached.iter().any(|view| view.names.uses_framework(framework));
    let tensorflow = uses("tensorflow") && !uses("torch");
    // A project for several frameworks has a trainer for each; the ports that this is about are of PyTorch's.
    let trains: Vec<&FileView<'_>> =
        reached.iter().copied().filter(|view| tensorflow || !is_of_tensorflow(view)).collect();
    let shared_batch = settings
        .iter()
        .find(|setting| setting.role == Some(RunRole::Batch))
        .and_then(|setting| divided(&trains, last_name(&setting.name)));
    Program {
        place: place(view, start),
        command_line,
        joins: joins(&trains),
        shared_batch,
        alone: !reached.iter().any(|view| speaks_of_processes(view)),
        popdist: reached.iter().any(|view| view.names.imports("popdist")),
        samba_options: reached.iter().any(|view| !view.calls("parse_app_args").is_empty()),
        tensorflow,
        settings,
    }
}

fn is_of_tensorflow(view: &FileView<'_>) -> bool {
    let by_name = |module: &String| module.split('.').any(|part| part == "tensorflow");
    view.names.uses_framework("tensorflow")
        || view.names.modules.iter().any(by_name)
        || view.names.bindings.iter().any(|binding| by_name(&binding.qualified))
}

/// Any word that programs of several processes have. One that only looks like it costs a warning that is not given.
///
/// Words of names, and of strings that could be names; what comments and sentences say is not code.
fn speaks_of_processes(view: &FileView<'_>) -> bool {
    const WHOLE: [&str; 10] =
        ["rank", "ranks", "localrank", "world", "worldsize", "accelerate", "hvd", "mpi4py", "strategy", "devices"];
    const BEGINNINGS: [&str; 8] =
        ["distribut", "ddp", "fsdp", "horovod", "deepspeed", "lightning", "transformers", "popdist"];
    let index = &view.index;
    let names = index.of_kind(kinds().identifier).iter().chain(index.of_kind(kinds().string));
    names.map(|node| index.text_of(*node)).filter(|text| !text.contains(char::is_whitespace)).any(|text| {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
        words
            .into_iter()
            .any(|word| WHOLE.contains(&&*word) || BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)))
    })
}

/// Whether the program gives a key its value itself: `args.network.data_format = …`.
fn is_assigned(reached: &[&FileView<'_>], key: &str) -> bool {
    let ending = format!(".{key}");
    key.contains('.')
        && reached.iter().any(|view| {
            let index = &view.index;
            index.of_kind(kinds().assignment).iter().any(|assignment| {
                index.field(*assignment, fields().left).is_some_and(|left| index.text_of(left).ends_with(&ending))
            })
        })
}

/// Says which setting is the batch: the one that the training loader is given, else the first that is called so. A number
/// in the source itself is one that the command line does not reach.
fn batch_role(reached: &[&FileView<'_>], settings: &mut Vec<RunSetting>) {
    let loaders = reached.iter().filter_map(|view| crate::ledger::micro_batch(view));
    let figures: Vec<crate::ledger::Figure> = loaders.filter(|figure| figure.place.is_some()).collect();
    let given = settings.iter().position(|setting| {
        let name = last_name(&setting.name);
        let same = |figure: &crate::ledger::Figure| last_name(&figure.text) == name;
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
    let constant = |figure: &crate::ledger::Figure| {
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

/// A number that a module gives a name.
pub(super) fn top_number(view: &FileView<'_>, name: &str) -> Option<(String, Place)> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    index.of_kind(k.assignment).iter().find_map(|assignment| {
        let left = index.field(*assignment, f.left).filter(|left| index.text_of(*left) == name)?;
        let at_top = index.parent(*assignment).and_then(|s| index.parent(s)) == Some(ROOT);
        let value = literal(view, index.field(*assignment, f.right)?).filter(|value| value.parse::<u32>().is_ok())?;
        at_top.then(|| (value, place(view, left)))
    })
}

/// `minibatch_size` of `run.minibatch_size`, `batch_size` of `--batch-size` and of `args.batch_size`.
pub(super) fn last_name(text: &str) -> String {
    text.trim_start_matches('-').rsplit('.').next().unwrap_or(text).replace('-', "_")
}

/// Where a batch is divided by the number of processes.
fn divided(reached: &[&FileView<'_>], batch: String) -> Option<Place> {
    let counts =
        ["world_size", "hvd.size", "comm.size", "get_size", "num_replicas", "ngpus", "n_gpus", "num_gpus", "nprocs"];
    reached.iter().find_map(|view| {
        let index = &view.index;
        index.of_kind(kinds().binary_operator).iter().find_map(|operation| {
            let parts: Vec<Id> = index.parts(*operation).collect();
            let [left, right] = parts.as_slice() else { return None };
            let sign = index.text[index.item(*left).end..index.item(*right).start].trim();
            let is_batch = dotted(index, *left).is_some_and(|text| last_name(text) == batch);
            let divisor = index.text_of(*right).to_ascii_lowercase();
            let by_processes = counts.iter().any(|count| divisor.contains(count));
            (sign.starts_with('/') && is_batch && by_processes).then(|| place(view, *operation))
        })
    })
}

fn joins(reached: &[&FileView<'_>]) -> Vec<Join> {
    let mut found: Vec<Join> = Vec::new();
    let mut say = |by: JoinedBy, place: Place| {
        if found.iter().all(|join| join.by != by) {
            found.push(Join { by, place });
        }
    };
    for view in reached {
        let index = &view.index;
        for &string in index.of_kind(kinds().string) {
            match literal(view, string).as_deref() {
                Some("LOCAL_RANK" | "RANK") => say(JoinedBy::Environment, place(view, string)),
                Some("SLURM_PROCID" | "SLURM_LOCALID") => say(JoinedBy::Slurm, place(view, string)),
                Some("PMI_RANK") => say(JoinedBy::Mpi, place(view, string)),
                Some(text) if text.starts_with("OMPI_COMM_WORLD_") => say(JoinedBy::OpenMpi, place(view, string)),
                _ => {}
            }
        }
        let imports = [
            ("mpi4py", JoinedBy::Mpi),
            ("horovod", JoinedBy::Horovod),
            ("deepspeed", JoinedBy::Deepspeed),
            // Takes its rank from torchrun's variables or from MPI's, whichever are there.
            ("habana_frameworks.torch.distributed.hccl.initialize_distributed_hpu", JoinedBy::Mpi),
        ];
        for (module, by) in imports {
            let binding = view.names.bindings.iter().find(|binding| {
                let rest = binding.qualified.strip_prefix(module);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            });
            if let Some(binding) = binding {
                say(by, place(view, binding.statement));
            }
        }
        for (name, module, by) in
            [("spawn", "torch.multiprocessing", JoinedBy::Spawn), ("Trainer", "lightning", JoinedBy::Lightning)]
        {
            for &call in view.calls(name) {
                let function = index.field(call, fields().function).and_then(|f| view.names.qualify(index, f));
                let of_module = |name: String| crate::names::canonical(&name).starts_with(module);
                if function.is_some_and(of_module) {
                    say(by, place(view, call));
                }
            }
        }
    }
    sort_by_key(&mut found, |join| join.by);
    found
}

/// Programs are listed by this, the smallest first.
fn unlikeliness(reached: &[&FileView<'_>], is_hydra: bool) -> i32 {
    let view = reached[0];
    let path = view.path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let trains = |view: &&FileView<'_>| ["backward", "fit"].iter().any(|word| !view.calls(word).is_empty());
    let mut score = i32::try_from(path.matches('/').count()).unwrap_or(9);
    if name.contains("train") || name.starts_with("main") {
        score -= 8;
    }
    if is_hydra {
        score -= 4;
    }
    if trains(&view) {
        score -= 4;
    } else if !reached.iter().any(trains) {
        score += 8;
    }
    let others =
        ["test", "eval", "predict", "infer", "valid", "export", "convert", "download", "plot", "analy", "prepro"];
    if others.iter().any(|word| name.contains(word)) || path.split('/').any(|part| part == "tests" || part == "test") {
        score += 16;
    }
    score
}
