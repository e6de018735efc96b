//! What the program that a script starts would refuse, as the plan of a launch would.

use super::model::{Model, Run, file_name};
use super::shell::{Command, Token};
use super::{Finding, directives, names, submitted};
use crate::draft::plan;
use crate::request::{Problem, Request};
use crate::site::site_named;
use crate::target::Target;
use tables::{Kind, Scheduler};

/// The problems of the commands that start a program, which is described by the facts of a request: arguments that it
/// requires or can't have, launchers whose ranks it does not read, processes that it does not join.
#[must_use]
pub fn refused(script: &str, target: Target, program: &Request) -> Vec<Finding> {
    let (own, within) = submitted::read(script);
    let mut found = refused_in(&own, target, program);
    for inner in within {
        let own = refused_in(&inner.text, target, program).into_iter();
        found.extend(own.map(|finding| Finding { line: inner.line(script, finding.line), ..finding }));
    }
    found
}

fn refused_in(script: &str, target: Target, program: &Request) -> Vec<Finding> {
    let model = Model::read(script);
    let asked = directives::read(script, script.len());
    let scheduler = match asked.first() {
        Some(directive) if directive.is_pbs => Scheduler::Pbs,
        Some(_) => Scheduler::Slurm,
        None => Scheduler::Bash,
    };
    let mut found = Vec::new();
    for run in model.runs.iter().filter(|run| !run.is_quiet()) {
        let is_program = |text: &str| !text.starts_with('-') && same_file(text, &program.entry);
        let words = &run.command.words;
        let Some(at) = words.iter().position(|word| is_program(&word.text)) else { continue };
        let mut request = program.clone();
        request.scheduler = scheduler;
        request.args = words[at + 1..].iter().map(|word| word.text.clone()).collect();
        // Arguments in a variable may be those that it requires.
        if request.args.iter().any(|word| word.starts_with('$')) {
            request.needs.clear();
        }
        let of_job = |option: &str| {
            asked.iter().find(|directive| directive.option == option).and_then(|directive| directive.value.parse().ok())
        };
        started(&mut request, &model, script, run, at, of_job);
        let line = 1 + script[..words[at].range.start].matches('\n').count();
        let mut add = |message: String| {
            let finding = Finding { line, rule: "refused".to_owned(), message };
            if !found.contains(&finding) {
                found.push(finding);
            }
        };
        if let Some(message) = without_ranks(&request, &model, &words[..at]) {
            add(message);
        }
        let (own, other) = (problems(&request, target), problems(&without_facts(&request), target));
        for problem in own.into_iter().filter(|problem| !other.contains(problem)) {
            add(match &*problem.field {
                "args" => format!("the program's arguments: {}", problem.message),
                _ => problem.message,
            });
        }
    }
    found
}

/// That a scheduler's starter runs a program in several processes, and does not set the variables from which it reads their
/// ranks; neither does the script. `before` are the words before the program.
fn without_ranks(request: &Request, model: &Model, before: &[Token]) -> Option<String> {
    let of_starter = |word: &Token| names::tells(file_name(&word.text), "").is_some();
    let starter = file_name(&before.iter().find(|word| of_starter(word))?.text);
    let others = || before.iter().filter(|word| !word.text.starts_with('-')).map(|word| file_name(&word.text));
    // Between them, another program may set them.
    let is_passed_on = others().any(|name| names::machine(name).is_some() || name.ends_with("sh"))
        || before.iter().any(|word| word.text.contains('/') && !file_name(&word.text).starts_with("python"));
    let count = request.instances.filter(|count| *count > 1 && !is_passed_on)?;
    let told = |source: &str| names::tells(starter, source).unwrap_or_default();
    let read = request.joined_by.iter().map(|(source, _)| names::of_source(source).filter(|_| !told(source)));
    let read: Vec<&str> = read.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
    let is_set = model.sets.iter().any(|set| read.contains(&&*set.name));
    (!read.is_empty() && !is_set).then(|| {
        let read = read.join(" and ");
        format!(
            "{starter} starts {count} processes, but does not set {read}, from which the program reads its ranks: start \
             torchrun once per machine, or set them in each process, e.g. srun bash -c 'RANK=$SLURM_PROCID \
             LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS python …'"
        )
    })
}

/// A Python program that a script starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its line, from 1.
    pub line: usize,
    /// Its path, as the script names it.
    pub path: String,
    /// Its options that begin with `--`, without their values.
    pub options: Vec<String>,
}

/// The Python programs that a script starts by a path that it shows, outside containers.
#[must_use]
pub fn started_programs(script: &str) -> Vec<Started> {
    let (own, within) = submitted::read(script);
    let mut found = started_in(&own);
    for inner in within.iter().filter(|_| !Model::read(&own).runs.iter().any(|run| leaves(&run.command))) {
        let own = started_in(&inner.text).into_iter();
        found.extend(own.map(|started| Started { line: inner.line(script, started.line), ..started }));
    }
    found
}

fn started_in(script: &str) -> Vec<Started> {
    let model = Model::read(script);
    let mut found: Vec<Started> = Vec::new();
    // Elsewhere, paths are those of another folder.
    let here = model.runs.iter().take_while(|run| !leaves(&run.command));
    for run in here.filter(|run| !run.is_quiet()) {
        let words = &run.command.words;
        let is_python = |name: &str| name.starts_with("python") || names::machine(name).is_some();
        let Some(python) = words.iter().position(|word| is_python(file_name(&word.text))) else { continue };
        let Some(at) = program_after(words, python) else { continue };
        let path = &words[at].text;
        let inside = words[..python].iter().any(|word| names::contains(file_name(&word.text)));
        if inside || path.contains(['`', '*']) || is_made(&script[..words[at].range.start], file_name(path)) {
            continue;
        }
        let options = words[at + 1..].iter().take_while(|word| word.text != "--").filter_map(|word| {
            let name = word.text.split('=').next().filter(|name| name.starts_with("--"))?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            name.chars().all(is_name).then(|| name.to_string())
        });
        let line = 1 + script[..words[at].range.start].matches('\n').count();
        let started = Started { line, path: path.clone(), options: options.collect() };
        if !found.contains(&started) {
            found.push(started);
        }
    }
    found
}

/// Whether a command changes to another folder than the one that a job is submitted from, or brings one.
fn leaves(command: &Command) -> bool {
    let clones = command.runs("git").is_some() && command.has("clone");
    let cd = ["cd", "pushd"].iter().find_map(|name| command.runs(name));
    clones || cd.is_some_and(|cd| !command.words.get(cd + 1).and_then(Token::variable).is_some_and(is_start))
}

/// Whether a variable is the folder that a job is submitted from.
pub(super) fn is_start(name: &str) -> bool {
    ["PBS_O_WORKDIR", "SLURM_SUBMIT_DIR"].contains(&name)
}

/// The position of the Python program that `python` or a launcher at a position starts: python's is the first word after
/// its own options; a launcher's options may have values.
fn program_after(words: &[Token], python: usize) -> Option<usize> {
    let mut is_launcher = names::machine(file_name(&words[python].text)).is_some();
    let mut at = python + 1;
    loop {
        let text = &*words.get(at)?.text;
        let is_value = is_launcher && words[at - 1].text.starts_with('-') && !words[at - 1].text.contains('=');
        match text {
            "-m" if !is_launcher && names::machine(&words.get(at + 1)?.text).is_some() => {
                is_launcher = true;
                at += 1;
            }
            "-m" | "--module" | "-c" => return None,
            "-W" | "-X" if !is_launcher => at += 1,
            _ if text.starts_with('-') => {}
            _ if text.ends_with(".py") => return (!text.contains('$')).then_some(at),
            _ if !is_launcher || (text.contains('$') && !is_value) => return None,
            _ => {}
        }
        at += 1;
    }
}

/// Whether the lines before a command write or fetch a file of that name.
fn is_made(before: &str, name: &str) -> bool {
    let makes = ["wget", "curl", "cp", "mv", "ln", "tee"];
    before.lines().filter(|line| line.contains(name)).any(|line| {
        line.split_whitespace().any(|word| makes.contains(&word))
            || line.split_once('>').is_some_and(|(_, to)| to.contains(name))
    })
}

/// Of several names, the one that is spelled most nearly as another.
#[must_use]
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = known.map(|own| (super::spelling::distance(name, own), own)).min();
    near.filter(|(distance, _)| *distance <= name.len() / 3).map(|(_, own)| own)
}

fn same_file(path: &str, entry: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").to_string();
    let (path, entry) = (plain(path), plain(entry));
    path == entry || (file_name(&path) == file_name(&entry) && (path.ends_with(&entry) || entry.ends_with(&path)))
}

/// The launcher and the numbers of a command whose program is at a position.
fn started(
    request: &mut Request,
    model: &Model,
    script: &str,
    run: &Run,
    at: usize,
    of_job: impl Fn(&str) -> Option<u64>,
) {
    let own = super::Command { words: run.command.words[..at].to_vec(), ..super::Command::default() };
    let number = |flags: &[&str]| model.number(script, &own, flags);
    let first = own.words.iter().map(|word| file_name(&word.text));
    let launcher = first.clone().find(|name| names::machine(name).is_some());
    let launcher = launcher.or_else(|| first.clone().find(|name| names::starts(name)));
    let nodes = number(&["--nnodes", "-N", "--nodes"]).or_else(|| of_job("nodes")).unwrap_or(1);
    let (name, instances) = match launcher {
        Some("torchrun" | "torch.distributed.run" | "torch.distributed.launch") => {
            let local = number(&["--nproc_per_node", "--nproc-per-node"]);
            (Some("torchrun"), local.map(|local| local.saturating_mul(nodes)))
        }
        Some("mpirun" | "mpiexec") => (Some("mpirun"), number(&["-n", "-np", "--np"])),
        Some("srun") => {
            let local = number(&["--ntasks-per-node"]).or_else(|| of_job("ntasks-per-node"));
            let all = number(&["-n", "--ntasks"]).or_else(|| of_job("ntasks"));
            // A launch by srun also sets the ranks, which this one does not.
            (None, all.or(local.map(|local| local * nodes)).or(Some(nodes)))
        }
        Some(_) => (None, None),
        None => (None, Some(1)),
    };
    request.launcher = name.map(str::to_string);
    request.instances = instances.and_then(|count| count.try_into().ok());
    request.nodes = nodes.try_into().unwrap_or(1);
}

/// The same command for a program of which nothing is known.
fn without_facts(request: &Request) -> Request {
    let mut plain = Request::new(request.target, &request.entry);
    plain.scheduler = request.scheduler;
    plain.args.clone_from(&request.args);
    plain.launcher.clone_from(&request.launcher);
    (plain.instances, plain.nodes) = (request.instances, request.nodes);
    plain
}

/// The problems of a request on any machine, whose own values are given.
fn problems(request: &Request, target: Target) -> Vec<Problem> {
    let Ok(site) = site_named("generic", target) else { return Vec::new() };
    let mut request = request.clone();
    for field in site.field.iter().chain(target.fields()).filter(|field| field.required) {
        let value = if field.kind == Kind::Number { "1" } else { "x" };
        if request.values.get(&field.name).is_none() {
            request.values.insert(field.name.clone(), value.to_string());
        }
    }
    plan(&request, &site).err().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(facts: impl Fn(&mut Request), script: &str, expected: &[(usize, &str)]) {
        let target = Target::named("hpu").expect("a target");
        let mut program = Request::new(target, "bin/train.py");
        facts(&mut program);
        let found = refused(script, target, &program);
        let found: Vec<(usize, &str)> = found.iter().map(|finding| (finding.line, &*finding.message)).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((line, message), (wanted, part)) in found.iter().zip(expected) {
            assert!(line == wanted && message.contains(part), "{found:?}");
        }
    }

    #[test]
    fn programs_that_a_script_starts() {
        let shown = |script: &str| {
            let started = started_programs(script).into_iter();
            started.map(|own| format!("{} {} {}", own.line, own.path, own.options.join(" "))).collect::<Vec<_>>()
        };
        assert_eq!(shown("A='--lr 1'\nsrun python -u src/t.py $A --b=2 -c x\n"), ["2 src/t.py --lr --b"]);
        assert_eq!(shown("torchrun --nnodes 1 t.py --a\necho python t.py\n"), ["1 t.py --a"]);
        assert_eq!(shown("cd $PBS_O_WORKDIR\npython -W x t.py a.py > t.py\n"), ["2 t.py "]);
        assert_eq!(shown("python -m torch.distributed.launch --nnodes $N t.py --a\n"), ["1 t.py --a"]);
        assert_eq!(shown("A=a\nsbatch <<E\ncd \\$PBS_O_WORKDIR\npython $A.py \\$B\nE\n"), ["4 a.py "]);
        for other in [
            "python $D/t.py",
            "python $X t.py --a",
            "python x t.py",
            "torchrun $X t.py",
            "torchrun -m a.b --c t.py",
            "python -c x t.py",
            "cd x\npython t.py",
            "git clone x\npython t.py",
            "wget x/t.py\npython t.py",
            "cat > t.py <<END\nx\nEND\npython t.py",
            "cd x\nsbatch <<END\npython t.py\nEND",
        ] {
            assert!(shown(&format!("{other}\n")).is_empty(), "{other}");
        }
        assert!(shown("python $D/t.py\napptainer exec i.sif python t.py\npython -m a.b --c\n").is_empty());
    }

    #[test]
    fn what_a_program_refuses() {
        let alone = |program: &mut Request| program.alone = true;
        check(alone, "torchrun --nproc_per_node 8 bin/train.py\n", &[(1, "no distributed training")]);
        check(alone, "cd x\npython ./bin/train.py\n", &[]);
        check(alone, "torchrun --nproc_per_node 8 bin/other.py\n", &[]);
        check(alone, "N=4\nC=\"mpirun -n $N python bin/train.py\"\n$C\n", &[(2, "no distributed training")]);
        let needs = |program: &mut Request| program.needs = vec!["--data".into()];
        check(needs, "python bin/train.py --lr 1\n", &[(1, "--data")]);
        check(needs, "python bin/train.py --data x\n", &[]);
        check(needs, "python bin/train.py $ARGS\n", &[]);
        let key = |program: &mut Request| program.distributed_key = Some("run.ddp".into());
        check(key, "torchrun --nproc_per_node 8 bin/train.py run.ddp=False\n", &[(1, "True")]);
        check(key, "torchrun --nproc_per_node 8 bin/train.py run.ddp=True\n", &[]);
        let reads =
            |source: &'static str| move |program: &mut Request| program.joined_by = vec![(source.into(), vec![])];
        let job = "#!/bin/bash\n#SBATCH --ntasks-per-node=4\n#SBATCH --nodes=2\n";
        let started = |command: &str| format!("{job}{command} bin/train.py --lr 1\n");
        check(reads("environment"), &started("srun python"), &[(4, "srun starts 8 processes, but does not set RANK")]);
        // One on each machine, if nothing says how many.
        let two = "#SBATCH --nodes=2\nsrun python bin/train.py\n";
        check(reads("environment"), two, &[(2, "srun starts 2 processes")]);
        check(reads("environment"), &two.replace('2', "1"), &[]);
        check(reads("environment"), &started("srun ./wrap python"), &[]);
        check(reads("slurm"), &started("srun python"), &[]);
        check(reads("mpi"), &started("srun python"), &[]);
        check(reads("environment"), &started("srun ./ranks.sh python"), &[]);
        check(reads("environment"), &started("srun torchrun --nproc_per_node 4"), &[]);
        check(reads("environment"), &started("srun -n 1 python"), &[]);
        check(
            reads("environment"),
            &started("srun bash -c 'RANK=$SLURM_PROCID LOCAL_RANK=0 python bin/train.py'\n:"),
            &[],
        );
        check(alone, &started("srun python"), &[(4, "no distributed training")]);
        let within = format!("sbatch <<END\n{}END\n", started("srun python"));
        check(alone, &within, &[(5, "no distributed training")]);
    }
}
