//! Every combination of target, site, scheduler, launcher and numbers that has a plan: the script parses, ShellCheck
//! finds nothing, and with recorders in place of the site's commands it runs to the end with the plan's words.

use launch::{Part, Plan, Request, Scheduler, Script, Site, Step, Target, Texts, Word, explained, plan, render, sites};
use sorting::{SortedMap, SortedSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

const HOSTILE: &str = "a b/\"q\" 'q' $HOME `id` $(id)\nline ; & * ~ \\ é.py";

const COMMANDS: [&str; 17] = [
    "docker",
    "module",
    "mpirun",
    "mpiexec",
    "torchrun",
    "srun",
    "poprun",
    "python",
    "python3",
    "virtualenv",
    "scontrol",
    "mkdir",
    "cp",
    "tar",
    "hl-smi",
    "gc-info",
    "snfadm",
];

const RECORDER: &str = r#"#!/bin/bash
if [ "${0##*/}" = scontrol ]; then
  if [ -n "$DRY_RUN" ]; then printf 'scontrol\2' >> "$RECORD"; fi
  printf 'host0\nhost1\n'; exit
fi
{ printf '%s\0' "${0##*/}" "$@"; printf '\1'; env -0; printf '\2'; } >> "$RECORD"
if [ "${0##*/}" = mkdir ]; then /bin/mkdir "$@"; fi
"#;

fn requests(target: Target, scheduler: Scheduler) -> Vec<Request> {
    let mut all = Vec::new();
    let launchers = [None, Some("mpirun"), Some("torchrun"), Some("srun"), Some("lightning"), Some("deepspeed")];
    for script in [Script::Train, Script::Setup, Script::Collect] {
        for (nodes, instances) in [(1, 1), (1, 2), (1, 8), (1, 16), (2, 2), (2, 16)] {
            for launcher in launchers {
                for tensorflow in [false, true] {
                    for replicas in [None, Some(2 * instances)] {
                        for full in [false, true] {
                            let mut request = Request::new(target, HOSTILE);
                            request.args = vec!["mode=train".into(), HOSTILE.into(), String::new(), "-".into()];
                            request.scheduler = scheduler;
                            request.script = script;
                            request.nodes = nodes;
                            request.instances = Some(instances);
                            request.launcher = launcher.map(str::to_string);
                            if tensorflow && target.has_field("tensorflow") {
                                request.values.insert("tensorflow".into(), "on".into());
                            }
                            request.replicas = replicas;
                            request.batch = Some(8);
                            request.hosts = if nodes == 2 { vec!["h0".into(), "h1".into()] } else { Vec::new() };
                            let values = [("venv", "ve nv$"), ("results", HOSTILE), ("gaudi_spawn", HOSTILE)];
                            request.values.extend(values.map(|(name, value)| (name.to_string(), value.to_string())));
                            request.values.insert("hostfile".into(), HOSTILE.into());
                            request.values.insert("select".into(), "ngpus=8".into());
                            if target.name() == "hpu" && instances == 2 && nodes == 1 {
                                request.values.insert("modules".into(), "2,3".into());
                            }
                            if full {
                                fill(&mut request);
                            }
                            request
                                .values
                                .retain(|name, _| launch::COMMON.contains(&&**name) || target.has_field(name));
                            all.push(request);
                        }
                    }
                }
            }
        }
    }
    all
}

fn full(request: &Request) -> bool {
    request.accumulation.is_some()
}

/// Every optional value is set.
fn fill(request: &mut Request) {
    // A line break can be in a path, but not in the profiler's JSON.
    let output = HOSTILE.replace('\n', " ");
    let values =
        [("output", &*output), ("time", "01:30:00"), ("account", "a-b"), ("job", "a.b"), ("pef", "my \"net\" $x")];
    request.values.extend(values.map(|(name, value)| (name.to_string(), value.to_string())));
    let archive = format!("kept {HOSTILE}");
    for (name, value) in [("interface", "eno1"), ("cores", "4"), ("threads", "3"), ("archive", &archive)] {
        request.values.insert(name.into(), value.into());
    }
    request.values.insert("requirements".into(), HOSTILE.into());
    for switch in ["compiled", "lazy", "profile"] {
        request.values.insert(switch.into(), "on".into());
    }
    if request.target.name() == "rdu" {
        request.values.remove("profile");
    }
    if request.scheduler != Scheduler::Bash && request.script == Script::Train {
        for (name, value) in [("mail", "a@b.c"), ("after", "12"), ("requeue", "on")] {
            request.values.insert(name.into(), value.into());
        }
        request.directives = vec!["--comment=x".into()];
    }
    // The jobs of an array have no checkpoint in common.
    let own = match request.scheduler {
        Scheduler::Pbs if request.script == Script::Train => [("array", "0-3"), ("array-key", "--seed")],
        _ => [("checkpoints", "check points/*.pt"), ("resume-key", "run.resume")],
    };
    request.values.extend(own.map(|(name, value)| (name.to_string(), value.to_string())));
    request.env = vec![("OWN".into(), HOSTILE.into())];
    request.load = vec!["gcc/12".into()];
    let target = request.target;
    request.values.retain(|name, _| launch::COMMON.contains(&&**name) || target.has_field(name));
    request.port = Some(23456);
    request.batch_key = Some("run.batch".into());
    request.batch_from = Some(HOSTILE.into());
    request.accumulation = Some(3);
    request.accumulation_key = Some("--accumulate".into());
    request.distributed_key = Some("run.distributed".into());
    request.shared_batch = Some("a.py:3".into());
}

/// The site with replaceable commands, and with a value for every field.
fn tamed(site: &Site, request: &mut Request) -> Site {
    let mut site = site.clone();
    for field in &site.field {
        let value = match &*field.name {
            "gres" | "partition" | "filesystems" => "gpu",
            "sdk" => "1.8.0",
            "account" => "a-b",
            "time" => "01:30:00",
            "cores" => "7",
            "interface" => "eno1",
            _ => "some where",
        };
        request.values.insert(field.name.clone(), value.into());
    }
    let program = |text: &String| text.rsplit('/').next().unwrap_or_default().to_string();
    if let Some(first) = site.prefix.first_mut() {
        *first = program(first);
    }
    if let Some(Texts::One(text)) = site.words.get_mut("mpirun") {
        *text = program(text);
    }
    if !site.enable.is_empty() {
        site.enable = vec!["./sdk/enable.sh".into()];
    }
    site
}

/// The plan with the machine's own paths below the test's folder.
fn at_home(mut plan: Plan) -> Plan {
    for step in &mut plan.steps {
        let word = match step {
            Step::Keep { argv, .. } => &mut argv[0],
            Step::Take { file, .. } => file,
            _ => continue,
        };
        if let Part::Text(text) = &mut word.0[0] {
            let is_program = text.contains("/bin/");
            match text.strip_prefix('/') {
                Some(path) if is_program => *text = path.rsplit('/').next().unwrap_or_default().to_string(),
                Some(path) => *text = format!("./{path}"),
                None => {}
            }
        }
    }
    plan
}

fn expanded(word: &Word, env: &SortedMap<String, String>) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Variable(name) => env.get(name).cloned().unwrap_or_default(),
        Part::Any => "*".into(),
        Part::FirstHost => "host0".into(),
        Part::Hosts(processes) => format!("host0:{processes},host1:{processes}"),
        // 77, the job's number in this test, and 3, its index.
        Part::JobPort(_) => "20080".into(),
        Part::Newest(..) => "./check points/b c.pt".into(),
        Part::WhenSet(name, text) => format!("{text}{}", env[name]),
    };
    word.0.iter().map(part).collect()
}

fn run(folder: &Path, plan: &Plan, script: &str) {
    let record = folder.join("record");
    let _ = fs::remove_file(&record);
    let mut env: SortedMap<String, String> = [
        ("HOME", "./home of"),
        ("HOSTNAME", "host0"),
        ("MPI_ROOT", "/m p i"),
        ("NODE_RANK", "1"),
        ("PBS_NODEFILE", "machine file"),
        ("POPLAR_SDK_ENABLED", "/nowhere of"),
        ("PBS_JOBID", "77.server"),
        ("SLURM_ARRAY_TASK_ID", "3"),
        ("PBS_ARRAY_INDEX", "3"),
        ("PWD", &folder.display().to_string()),
        ("SLURM_JOB_ID", "77"),
        ("USER", "ann"),
        ("SLURM_JOB_NODELIST", "host[0-1]"),
    ]
    .map(|(name, value)| (name.to_string(), value.to_string()))
    .into();
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    let mut command = Command::new("bash");
    command.env_clear().envs(&env).env("PATH", path).env("RECORD", &record);
    command.current_dir(folder).args(["-c", script]);
    let dry = command.env("DRY_RUN", "1").output().expect("bash runs");
    let shown = String::from_utf8_lossy(&dry.stderr);
    assert!(dry.status.success() && !record.exists(), "a dry run ran something: {script}\n{shown}");
    let is_shown = |step: &&Step| matches!(step, Step::Run { .. } | Step::Take { .. } | Step::Keep { .. });
    let commands = plan.steps.iter().filter(is_shown).count();
    assert_eq!(shown.matches("\n+ ").count() + usize::from(shown.starts_with("+ ")), commands, "{shown}");
    for (at, step) in plan.steps.iter().enumerate() {
        if let Step::Require { name, message } = step {
            let dry = command.env_remove(name).output().expect("bash runs");
            assert!(dry.status.success() && String::from_utf8_lossy(&dry.stderr).contains(message), "{dry:?}");
            let stopped = command.env_remove("DRY_RUN").output().expect("bash runs");
            let ran = fs::read_to_string(&record).unwrap_or_default().matches('\u{2}').count();
            let before = plan.steps[..at].iter().filter(|step| matches!(step, Step::Run { .. })).count();
            assert_eq!((stopped.status.code(), ran), (Some(2), before), "{stopped:?}");
            let _ = fs::remove_file(&record);
            command.env(name, &env[name]).env("DRY_RUN", "1");
        }
    }
    // The files that a script collects exist.
    for step in &plan.steps {
        if let Step::Take { file, .. } = step
            && !file.0.contains(&Part::Any)
        {
            let file = folder.join(expanded(file, &env).trim_start_matches("./"));
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            let _ = fs::write(&file, "");
        }
    }
    let done = command.env_remove("DRY_RUN").output().expect("bash runs");
    assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
    let text = fs::read_to_string(&record).expect("a record in UTF-8");
    let mut records = text.split_terminator('\u{2}');
    for step in &plan.steps {
        match step {
            Step::Set(setting) => drop(env.insert(setting.name.clone(), expanded(&setting.value, &env))),
            Step::Run { argv, .. } | Step::Keep { argv, .. } => {
                let (words, seen) = records.next().expect("a record a command").split_once('\u{1}').expect("both");
                let mut wanted: Vec<String> = argv.iter().map(|word| expanded(word, &env)).collect();
                wanted[0] = wanted[0].rsplit('/').next().unwrap_or_default().to_string();
                assert_eq!(words.split_terminator('\0').collect::<Vec<_>>(), wanted, "{script}");
                let seen: SortedMap<&str, &str> =
                    seen.split_terminator('\0').filter_map(|pair| pair.split_once('=')).collect();
                for (name, value) in &env {
                    assert_eq!(seen.get(&**name), Some(&&**value), "{name} in\n{script}");
                }
            }
            Step::Take { file, .. } if file.0.contains(&Part::Any) => {}
            Step::Take { file, into, .. } => {
                let (words, _) = records.next().expect("a record").split_once('\u{1}').expect("both");
                let into = expanded(into, &env) + "/";
                let wanted = ["cp", "-R", "--", &expanded(file, &env), &into];
                assert_eq!(words.split_terminator('\0').collect::<Vec<_>>(), wanted, "{script}");
            }
            Step::Source { .. } | Step::Require { .. } => {}
        }
    }
    assert_eq!(records.next(), None, "{script}");
}

fn folder_with_recorders() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["bin", "sdk", "ve nv$/bin", "home of", "check points"] {
        fs::create_dir_all(folder.path().join(name)).expect("a folder");
    }
    let recorder = folder.path().join("recorder");
    fs::write(&recorder, RECORDER).expect("written");
    fs::set_permissions(&recorder, fs::Permissions::from_mode(0o755)).expect("executable");
    for name in COMMANDS.map(|name| format!("bin/{name}")).iter().map(String::as_str).chain(["ve nv$/bin/pip"]) {
        symlink(&recorder, folder.path().join(name)).expect("linked");
    }
    fs::write(folder.path().join("machine file"), "host0\nhost0\nhost1\nhost1\n").expect("written");
    for name in ["sdk/enable.sh", "ve nv$/bin/activate", "check points/b c.pt"] {
        fs::write(folder.path().join(name), "").expect("written");
    }
    folder
}

#[test]
fn every_script_is_sound_and_does_what_its_plan_says() {
    let folder = folder_with_recorders();
    let mut scripts: SortedMap<String, Plan> = SortedMap::new();
    let mut reached: SortedSet<String> = SortedSet::new();
    for site in sites() {
        for target in site.targets.iter().filter_map(|name| Target::named(name)) {
            for &scheduler in &site.schedulers {
                for mut request in requests(target, scheduler) {
                    let site = tamed(&site, &mut request);
                    if let Ok(plan) = plan(&request, &site) {
                        let launcher = request.launcher.clone().unwrap_or("usual".into());
                        let (target, script) = (target.name(), format!("{:?}", request.script).to_lowercase());
                        reached.insert(format!("{target} {script} {}", site.name));
                        let nodes = request.nodes;
                        reached.insert(format!("{target} {script} {launcher} {} {nodes}", scheduler.name()));
                        let plan = at_home(plan);
                        scripts.insert(render(&plan), plan.clone());
                        if full(&request) {
                            scripts.insert(explained(&plan), plan);
                        }
                    }
                }
            }
        }
    }
    assert!(scripts.len() > 250, "{}", scripts.len());
    // Refused plans are skipped above, so the required ones are listed.
    for site in sites() {
        for target in &site.targets {
            for script in ["train", "setup", "collect"] {
                let wanted = format!("{target} {script} {}", site.name);
                assert!(reached.contains(&wanted), "{wanted}");
            }
        }
    }
    for wanted in [
        "hpu train mpirun bash 2",
        "hpu train mpirun slurm 2",
        "hpu train mpirun pbs 2",
        "hpu train torchrun bash 2",
        "hpu train torchrun slurm 2",
        "hpu train torchrun pbs 1",
        "hpu train lightning bash 2",
        "hpu train lightning slurm 2",
        "hpu train srun slurm 2",
        "hpu train deepspeed bash 2",
        "hpu train deepspeed slurm 2",
        "rdu train mpirun bash 1",
        "rdu train srun slurm 2",
        "ipu train usual bash 1",
        "ipu train usual slurm 1",
        "popdist train usual bash 2",
        "popdist train usual slurm 1",
    ] {
        assert!(reached.contains(wanted), "{wanted}");
    }
    let mut files = Vec::new();
    for (at, (script, plan)) in scripts.iter().enumerate() {
        assert!(!script.contains("\nline"), "what a user wrote begins a line: {script}");
        run(folder.path(), plan, script);
        let file = folder.path().join(format!("{at}.sh"));
        fs::write(&file, script).expect("written");
        files.push(file);
    }
    for file in &files {
        assert!(Command::new("bash").arg("-n").arg(file).status().expect("bash runs").success());
    }
    let checked = Command::new("shellcheck").args(&files).output().expect("`cargo xtask setup` installs ShellCheck");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

/// The check of other people's scripts finds nothing in the project's own.
#[test]
fn no_script_has_a_mistake_that_the_check_knows() {
    let mut scripts: SortedMap<String, Target> = SortedMap::new();
    let plain = |values: &mut SortedMap<String, String>| {
        let is_plain = |value: &str| !value.contains(['\n', ' ', '$']);
        values.iter_mut().filter(|(_, value)| !is_plain(value)).for_each(|(_, value)| *value = "some/where".into());
    };
    for site in sites() {
        for target in site.targets.iter().filter_map(|name| Target::named(name)) {
            for &scheduler in &site.schedulers {
                for mut request in requests(target, scheduler) {
                    request.entry = "train.py".into();
                    request.args = vec!["mode=train".into()];
                    request.env.clear();
                    request.batch_from = None;
                    let site = tamed(&site, &mut request);
                    plain(&mut request.values);
                    scripts.extend(plan(&request, &site).ok().map(|plan| (render(&plan), target)));
                }
            }
        }
    }
    assert!(scripts.len() > 150, "{}", scripts.len());
    for (script, target) in &scripts {
        let findings = launch::lint(script, *target).findings;
        // Some sites have an old release.
        assert!(findings.iter().all(|finding| finding.rule == "old-value"), "{findings:?}\n{script}");
    }
}
