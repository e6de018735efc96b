//! Problems with a request are reported at its fields.

use launch::{Request, Scheduler, Script, Target, plan, render, site_named};

#[track_caller]
fn check(target: &str, site: &str, change: impl Fn(&mut Request), field: &str) {
    let target = Target::named(target).expect("a target");
    let mut request = Request::new(target, "train.py");
    if target.name() == "ipu" || target.name() == "popdist" {
        request.values.insert("cache".into(), "/cache".into());
    }
    change(&mut request);
    let problems = plan(&request, &site_named(site, target).expect("a site")).expect_err("refused");
    assert!(problems.iter().any(|problem| problem.field == field), "{problems:?}");
}

#[test]
fn numbers() {
    let [hpu, rdu, ipu, popdist] = ["hpu", "rdu", "ipu", "popdist"];
    check(ipu, "alcf", |request| request.replicas = Some(0), "replicas");
    check(ipu, "alcf", |request| request.replicas = Some(10_000), "replicas");
    check(ipu, "alcf", |request| request.replicas = Some(3), "replicas");
    check(ipu, "alcf", |request| request.replicas = Some(128), "replicas");
    check(ipu, "alcf", |request| request.instances = Some(2), "instances");
    let uneven = |request: &mut Request| (request.instances, request.replicas) = (Some(3), Some(4));
    check(popdist, "tamu-aces", uneven, "replicas");
    check(hpu, "generic", |request| request.instances = Some(9), "instances");
    check(hpu, "generic", |request| drop(request.values.insert("modules".into(), "1,2".into())), "modules");
    check(hpu, "alcf", |request| request.nodes = 3, "nodes");
    check(rdu, "generic", |request| request.instances = Some(17), "instances");
    check(rdu, "generic", |request| request.nodes = 0, "nodes");
}

#[test]
fn indices_of_an_array() {
    let with = |array: &'static str| {
        move |request: &mut Request| {
            request.scheduler = Scheduler::Slurm;
            request.values.extend(
                [("partition", "p"), ("time", "01:00:00"), ("array", array)].map(|(n, v)| (n.into(), v.into())),
            );
        }
    };
    for array in ["x", "5-2", "0-99999999999999", "4000001", "0-9:0", "0-9%0", "1,,2", "1-", "1-2-3", "%4"] {
        check("hpu", "generic", with(array), "array");
    }
    let target = Target::named("hpu").expect("a target");
    for array in ["0", "0-9", "1,5,7", "0-15:4%2", "3-3", "0-4000000"] {
        let mut request = Request::new(target, "train.py");
        with(array)(&mut request);
        plan(&request, &site_named("generic", target).expect("a site")).expect(array);
    }
}

#[test]
fn launchers_that_a_scheduler_does_not_carry() {
    let over_pbs = |launcher| {
        move |request: &mut Request| {
            (request.scheduler, request.nodes, request.launcher) = (Scheduler::Pbs, 2, Some(String::from(launcher)));
            request.values.insert("select".into(), "ngpus=8".into());
        }
    };
    check("hpu", "generic", over_pbs("torchrun"), "launcher");
    check("hpu", "generic", over_pbs("lightning"), "launcher");
    check("hpu", "generic", |request| request.nodes = 2, "hosts");
    let by_mpich = |request: &mut Request| (request.nodes, request.launcher) = (2, Some("mpirun".into()));
    check("rdu", "generic", by_mpich, "launcher");
}

/// Problems with a value of `--set` are reported at its field: the allowed values, or the existing fields.
#[test]
fn values_of_set() {
    let says = |name: &str, value: &str, words: &[&str]| {
        let target = Target::named("hpu").expect("a target");
        let mut request = Request::new(target, "train.py");
        request.scheduler = Scheduler::Slurm;
        request.values.insert(name.into(), value.into());
        let problems = plan(&request, &site_named("generic", target).expect("a site")).expect_err("refused");
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        assert_eq!(problem.field, name);
        assert!(words.iter().all(|word| problem.message.contains(word)), "{words:?}: {problem}");
    };
    says("queue", "", &["is not a field of Any machine with Gaudi cards"]);
    says("launcher", "torchrun", &["has its own option: --launcher"]);
    says("port", "29500", &["has its own option: --port"]);
    says("time", "", &["is empty"]);
    says("cores", "", &["is empty"]);
    says("cores", "x", &["must be a number from 1"]);
    says("lazy", "no", &["must be on"]);
    says("profile", "off", &["must be on"]);
    says("requeue", "off", &["must be on"]);
    says("sdk", "new", &["must be a release such as"]);
}

/// A process sees only its own tile, or selects one by its local rank: never both, and never neither.
#[test]
fn a_tile_for_each_process() {
    let script = |change: &dyn Fn(&mut Request)| {
        let target = Target::named("xpu").expect("a target");
        let mut request = Request::new(target, "train.py");
        request.instances = Some(12);
        request.joined_by = launch::joins_of("environment");
        change(&mut request);
        render(&plan(&request, &site_named("alcf", target).expect("a site")).expect("a plan"))
    };
    let (mask, rank) = ("ZE_AFFINITY_MASK=\\$PALS_LOCAL_RANKID", "LOCAL_RANK=\\$PALS_LOCAL_RANKID;");
    let chooses = script(&|_| {});
    assert!(chooses.contains(rank) && !chooses.contains("MASK"), "{chooses}");
    for name in ["tile", "unplaced"] {
        let shown = script(&|request| drop(request.values.insert(name.into(), "on".into())));
        assert!(shown.contains(mask) && shown.contains("LOCAL_RANK=0 ") && !shown.contains(rank), "{shown}");
    }
    // The launcher that suits the program is independent of how the site starts it.
    let suited = script(&|request| request.suits = Some("torchrun".into()));
    assert!(suited.contains("run mpiexec ") && !suited.contains("torchrun"), "{suited}");
    let masked = |request: &mut Request| {
        request.instances = Some(2);
        request.values.insert("mask".into(), "3".into());
    };
    check("xpu", "generic", masked, "mask");
}

/// A program that starts processes itself gets their number; a number in its source must be the requested one.
#[test]
fn numbers_of_a_program_that_starts_processes() {
    let with = |launcher: &'static str, devices: &'static str, nodes: &'static str| {
        move |request: &mut Request| {
            (request.launcher, request.joined_by) = (Some(launcher.into()), launch::joins_of("lightning,spawn"));
            request.instances = Some(8);
            request.devices_key = Some(devices.to_string()).filter(|key| !key.is_empty());
            request.nodes_key = Some(nodes.to_string()).filter(|key| !key.is_empty());
            request.scheduler = Scheduler::Slurm;
        }
    };
    let of_two = |request: &mut Request| {
        with("lightning", "=8 a.py:3", "=1 a.py:3")(request);
        (request.nodes, request.instances) = (2, Some(16));
    };
    check("hpu", "generic", with("lightning", "=4 a.py:3", "=1 a.py:3"), "instances");
    check("hpu", "generic", with("program", "=4 a.py:3", ""), "instances");
    check("hpu", "generic", of_two, "nodes");
    let otherwise = |request: &mut Request| {
        with("program", "--gpus", "")(request);
        request.args = vec!["--gpus=4".into()];
    };
    check("hpu", "generic", otherwise, "instances");
    let script = |change: &dyn Fn(&mut Request)| {
        let target = Target::named("hpu").expect("a target");
        let mut request = Request::new(target, "train.py");
        change(&mut request);
        render(&plan(&request, &site_named("generic", target).expect("a site")).expect("a plan"))
    };
    let told = |change: &dyn Fn(&mut Request), words: &str| {
        let script = script(change);
        assert!(script.contains(words), "{words}\n{script}");
    };
    told(&with("program", "--gpus", ""), "python3 -u train.py --gpus=8\n");
    told(
        &with("lightning", "trainer.devices", "+trainer.num_nodes"),
        "train.py trainer.devices=8 +trainer.num_nodes=1\n",
    );
    told(&with("lightning", "=all a.py:3", "=1 a.py:3"), "train.py\n");
    // Its own number is unknown, or differs from the machine's number of cards: the script has a note.
    let part = |request: &mut Request| {
        with("lightning", "=all a.py:3", "=1 a.py:3")(request);
        request.instances = Some(2);
    };
    told(
        &part,
        "# the program's Trainer uses all visible cards (a.py:3): set it to devices=2 unless exactly 2 are visible\n",
    );
    let unread = |request: &mut Request| {
        with("lightning", "=8 a.py:3", "")(request);
        (request.nodes, request.instances) = (2, Some(16));
    };
    told(&unread, "# set num_nodes=2 in the Trainer: the source of this number was not found\n");
}

/// Under a scheduler mpirun receives the job's machines, and the job has a task for each process.
#[test]
fn mpirun_on_several_machines_of_a_job() {
    for (scheduler, asked) in [
        (Scheduler::Pbs, "\n#PBS -l select=2:ngpus=8:ncpus=48:mpiprocs=8\n"),
        (Scheduler::Slurm, "--ntasks-per-node=8"),
    ] {
        let mut request = Request::new(Target::named("hpu").expect("a target"), "train.py");
        (request.scheduler, request.nodes, request.launcher) = (scheduler, 2, Some("mpirun".into()));
        request.values.insert("select".into(), "ngpus=8".into());
        let plan = plan(&request, &site_named("generic", Target::named("hpu").expect("a target")).expect("a site"))
            .expect("a plan");
        let script = render(&plan);
        assert!(script.contains(asked) && script.contains("JOB_HOSTS=\"$(hosts 8)\""), "{script}");
    }
}

#[test]
fn what_only_the_user_knows() {
    check("ipu", "generic", |_| {}, "poplar");
    check("ipu", "alcf", |request| request.values.clear(), "cache");
    check("hpu", "tamu-aces", |request| request.scheduler = Scheduler::Slurm, "gres");
    check("hpu", "generic", |request| request.script = Script::Setup, "venv");
    check("hpu", "generic", |request| request.scheduler = Scheduler::Pbs, "select");
}

#[test]
fn words_that_could_be_read_otherwise() {
    let set = |name: &'static str, value: &'static str| {
        move |request: &mut Request| drop(request.values.insert(name.into(), value.into()))
    };
    check("hpu", "generic", set("account", "a\n#SBATCH --wrap=id"), "account");
    check("hpu", "generic", set("time", "$(id)"), "time");
    let select = |request: &mut Request| {
        request.scheduler = Scheduler::Pbs;
        request.values.insert("select".into(), "ngpus=8\n#PBS -q other".into());
    };
    check("hpu", "generic", select, "select");
    check("hpu", "generic", set("cash", "x"), "cash");
    check("hpu", "generic", |request| request.entry = "-c".into(), "entry");
    check("hpu", "generic", |request| request.entry.clear(), "entry");
    check("hpu", "generic", |request| request.hosts = vec!["a;b".into()], "hosts");
    check("popdist", "alcf", |_| {}, "scheduler");
    let split_again = |request: &mut Request| {
        (request.nodes, request.hosts) = (2, vec!["a".into(), "b".into()]);
        for (name, value) in [("poplar", "/p"), ("popart", "/q"), ("interface", "eno1 -x EVIL=1")] {
            request.values.insert(name.into(), value.into());
        }
    };
    check("popdist", "generic", split_again, "interface");
}

#[test]
fn one_training_not_many() {
    let apart = |request: &mut Request| {
        request.instances = Some(8);
        request.args = vec!["run.distributed=False".into()];
    };
    check("hpu", "generic", apart, "args");
    let twice = |request: &mut Request| request.args = vec!["run.distributed=True".into()];
    check("popdist", "tamu-aces", twice, "args");
}

#[test]
fn an_unknown_site_names_those_there_are() {
    let said = site_named("mars", Target::named("ipu").expect("a target")).expect_err("refused").to_string();
    assert!(said.contains("unknown site `mars`") && said.contains("alcf-pod64"), "{said}");
    let said = site_named("alcf-sn30", Target::named("ipu").expect("a target")).expect_err("refused").to_string();
    assert!(said.contains("`alcf-sn30` has no ipu"), "{said}");
}
